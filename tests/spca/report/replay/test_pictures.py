"""Pictures of episodes: every cell where it belongs, and captions that fit."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from minigridenv import MiniGridEnv
from spca.act.frame import Frame
from spca.report.replay.pictures import Painter, Picture
from spca.sense.perception import UNSEEN, VOCABULARY
from tests.support.contracts.truth import simulator
from tests.support.report.walking import walked

TOP, LEFT = 38, 16
"""Pixels above and left of the first panel."""


@pytest.fixture(scope="module")
def frames() -> list[Frame]:
    return walked("MiniGrid-DoorKey-8x8-v0", (1, 1, 2, 2, 0, 2))


def cell(picture: Picture, row: int, column: int, tile: int, left: int = LEFT) -> Picture:
    y, x = TOP + row * tile, left + column * tile
    return picture[y : y + tile, x : x + tile]


@pytest.mark.parametrize("env_id", ["MiniGrid-DoorKey-8x8-v0", "MiniGrid-LavaCrossingS9N2-v0", "BabyAI-BossLevel-v0"])
def test_the_true_world_is_drawn_as_minigrid_draws_it(env_id: str) -> None:
    with closing(MiniGridEnv(env_id, 1)) as world:
        frame, sim = world.frame(), simulator(world)
        frame = replace(frame, view=np.full_like(frame.view, UNSEEN))
        expected = sim.grid.render(16, sim.agent_pos, sim.agent_dir)
    picture = Painter([frame], tile=16).draw(0)
    rows, columns = np.nonzero(frame.known)
    top = max(0, -(int(rows.min()) + frame.known_at[0]))
    left = max(0, -(int(columns.min()) + frame.known_at[1]))
    shown = picture[TOP + 16 * top :, LEFT + 16 * left :][: expected.shape[0], : expected.shape[1]]
    assert np.array_equal(shown, expected)


def test_the_present_view_is_lit_and_unseen_cells_are_hatched(frames: list[Frame]) -> None:
    frame = frames[0]
    painter = Painter([frame], tile=16)
    picture = painter.draw(0)
    right = LEFT + (painter.size[0] - 2 * LEFT + LEFT) // 2
    hatched = 0
    for row in range(8):
        for column in range(8):
            r, c = row - frame.view_at[0], column - frame.view_at[1]
            seen = 0 <= r < 7 and 0 <= c < 7 and frame.view[r, c] != UNSEEN
            agent = (row, column) == frame.position
            wall = VOCABULARY[frame.truth[row, column]] == "wall"
            if wall:
                assert (cell(picture, row, column, 16).mean() > 130) == seen
            if not seen and not agent:
                drawn = cell(picture, row, column, 16, right)
                assert len(np.unique(drawn.reshape(-1, 3), axis=0)) == 2
                hatched += 1
    assert hatched > 10


@pytest.mark.long
def test_pictures_of_an_episode_have_one_even_size_whatever_is_known_later(frames: list[Frame]) -> None:
    open_world = walked("MiniGrid-Empty-5x5-v0", (0, 0, 0, 1, 2))
    for film in (frames, open_world):
        painter = Painter(film)
        assert {painter.draw(number, ["x"] * 9).shape for number in range(len(film))} == {
            (painter.size[1], painter.size[0], 3)
        }
        assert painter.size[0] % 2 == painter.size[1] % 2 == 0
    rows = max(f.known.shape[0] for f in open_world)
    assert rows > 5, "it shows walls beyond its edge"


def test_large_worlds_get_small_tiles() -> None:
    film = walked("MiniGrid-FourRooms-v0", (0, 2))
    assert max(Painter(film).size) < 1300
    assert Painter(film, tile=8).size[0] < Painter(film, tile=32).size[0]


def test_captions_are_cut_to_the_width_and_say_what_they_hide(frames: list[Frame]) -> None:
    painter = Painter(frames)
    band = slice(TOP + 8 * 32 + 8, None)
    plain, long = painter.draw(0), painter.draw(0, ["W" * 100_000])
    assert np.array_equal(plain[band, -LEFT:], long[band, -LEFT:])
    assert not np.array_equal(plain[band], long[band])
    short = painter.draw(0, ["W" * 30])
    assert not np.array_equal(short, painter.draw(0, ["W" * 29]))
    for hostile in ("\x1b[31mred", "\u202eabc", "\ud800", "a\nb\tc", "\x00", ""):
        assert painter.draw(0, [hostile]).shape == plain.shape
    assert np.array_equal(painter.draw(0, ["a\nb"]), painter.draw(0, ["a b"]))
