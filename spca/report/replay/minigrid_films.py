"""Re-simulated episodes of MiniGrid as the player of our pages wants them, and the tiles that it draws them with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spca.act.frame import Frame
from spca.common.web.films import GridFilm, GridFrame, Tiles, draw_tiles, make_film
from spca.contracts import DIRECTIONS
from spca.report.replay.pictures import draw_tile
from spca.sense.perception import UNSEEN, VOCABULARY

_TILE: Final = 32
"""Pixels of a tile: a page draws none larger than 44."""
_PLAIN: Final = ("unseen", "empty", "wall", "floor", "agent")
"""Words that a legend and a description of a step leave out."""


def film_of(frames: Sequence[Frame]) -> GridFilm:
    """Return the film of an episode; ``frames`` must not be empty."""
    top = min(0, *(at[0] for frame in frames for at in (frame.known_at, frame.view_at)))
    left = min(0, *(at[1] for frame in frames for at in (frame.known_at, frame.view_at)))
    ends = [_find_end(frame) for frame in frames]
    shape = max(row for row, _ in ends) - top, max(column for _, column in ends) - left
    return make_film([_place_frame(frame, (top, left), shape) for frame in frames], top, left)


@cache
def minigrid_tiles() -> Tiles:
    """Return a tile for each word of the vocabulary."""
    return draw_tiles(VOCABULARY, lambda code: draw_tile(code, _TILE), plain=_PLAIN, directions=DIRECTIONS)


def _find_end(frame: Frame) -> tuple[int, int]:
    """Return the row and column of the true grid at which a frame ends."""
    placed = (((0, 0), frame.truth), (frame.known_at, frame.known), (frame.view_at, frame.view))
    rows = max(at[0] + grid.shape[0] for at, grid in placed)
    columns = max(at[1] + grid.shape[1] for at, grid in placed)
    return rows, columns


def _place_frame(frame: Frame, origin: tuple[int, int], shape: tuple[int, int]) -> GridFrame:
    """Return a frame whose grids all have one shape; ``origin`` is where its upper left cell lies in the true grid."""
    top, left = origin

    def place(grid: NDArray[np.uint8], at: tuple[int, int]) -> NDArray[np.uint8]:
        placed = np.full(shape, UNSEEN, dtype=np.uint8)
        row = at[0] - top
        column = at[1] - left
        placed[row : row + grid.shape[0], column : column + grid.shape[1]] = grid
        return placed

    row, column = frame.position
    return GridFrame(
        truth=place(frame.truth, (0, 0)),
        known=place(frame.known, frame.known_at),
        view=place(frame.view, frame.view_at) != UNSEEN,
        agent=(row - top, column - left, frame.direction),
        inventory=frame.inventory,
        reward=frame.reward,
    )
