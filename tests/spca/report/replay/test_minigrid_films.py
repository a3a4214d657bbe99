"""Films of MiniGrid for the player: what is drawn is what a frame holds, whatever the agent knows later."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from spca.act.frame import Frame
from spca.common.web.films import Changes, GridFilm
from spca.report.replay.minigrid_films import film_of, minigrid_tiles
from spca.report.replay.pictures import draw_tile
from spca.sense.perception import UNSEEN, VOCABULARY
from tests.support.report.walking import walked

WALKS = [
    ("MiniGrid-DoorKey-8x8-v0", (1, 1, 2, 2, 0, 2, 3, 5)),
    ("MiniGrid-Empty-5x5-v0", (0, 0, 0, 1, 2)),  # its agent sees beyond the edge of the world
]


def read_grids(changes: Changes, film: GridFilm) -> list[NDArray[np.uint8]]:
    """Return a grid at every frame, as the player makes it."""
    grid = np.array(changes.first, dtype=np.uint8)
    found = [grid.copy()]
    for step in changes.steps:
        grid[list(step[::2])] = step[1::2]
        found.append(grid.copy())
    return [each.reshape(film.rows, film.columns) for each in found]


def list_cells(grid: NDArray[np.uint8], at: tuple[int, int]) -> set[tuple[int, int, int]]:
    """Return row and column in the true grid, and code, of each cell that is not unseen."""
    rows, columns = np.nonzero(grid != UNSEEN)
    places = zip(rows.tolist(), columns.tolist(), strict=True)
    return {(row + at[0], column + at[1], int(grid[row, column])) for row, column in places}


@pytest.mark.parametrize(("env_id", "codes"), WALKS)
def test_each_frame_is_what_was_to_be_seen(env_id: str, codes: tuple[int, ...]) -> None:
    frames = walked(env_id, codes)
    film = film_of(frames)
    at = film.top, film.left
    truths = read_grids(film.truth, film)
    maps = read_grids(film.known, film)
    assert len(truths) == len(maps) == len(film.view) == len(frames)
    for number, frame in enumerate(frames):
        assert list_cells(truths[number], at) == list_cells(frame.truth, (0, 0))
        assert list_cells(maps[number], at) == list_cells(frame.known, frame.known_at)
        seen = [divmod(cell, film.columns) for cell in film.view[number]]
        expected = {(row, column) for row, column, _ in list_cells(frame.view, frame.view_at)}
        assert {(row + film.top, column + film.left) for row, column in seen} == expected
        row, column, direction = film.agent[number]
        assert (row + film.top, column + film.left) == frame.position
        assert (direction, film.inventory[number]) == (frame.direction, frame.inventory)
        assert film.reward[number] == frame.reward


def test_an_episode_without_a_step_is_one_frame() -> None:
    frames: list[Frame] = walked("MiniGrid-Empty-5x5-v0", ())
    film = film_of(frames)
    assert (len(film.agent), film.truth.steps) == (1, ())


def test_each_word_has_a_tile_of_its_own_place() -> None:
    tiles = minigrid_tiles()
    assert tiles.words == tuple(VOCABULARY)
    assert tiles.directions == ("East", "South", "West", "North")
    assert set(tiles.plain) < set(VOCABULARY)
    sheet = np.asarray(Image.open(io.BytesIO(base64.b64decode(tiles.picture))).convert("RGB"))
    for code, word in enumerate(VOCABULARY):
        row, column = divmod(code, tiles.columns)
        shown = sheet[32 * row : 32 * row + 32, 32 * column : 32 * column + 32]
        off = np.abs(shown.astype(int) - draw_tile(code, 32))
        assert off.max() < 16, word  # the picture has a palette
