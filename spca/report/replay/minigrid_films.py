"""Re-simulated episodes of MiniGrid as the player of our pages wants them, and the tiles that it draws them with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from spca.act.frame import Frame
from spca.common.web.films import GridFilm, Tiles, draw_sheet, make_film
from spca.contracts import DIRECTIONS
from spca.report.replay.pictures import draw_tile, place_frames
from spca.sense.perception import VOCABULARY

_TILE: Final = 32
"""Pixels of a tile: a page draws none larger than 44."""
_PLAIN: Final = ("unseen", "empty", "wall", "floor", "agent")
"""Words that a legend and a description of a step leave out."""


def film_of(frames: Sequence[Frame]) -> GridFilm:
    """Return the film of an episode; ``frames`` must not be empty."""
    return make_film(*place_frames(frames))


@cache
def minigrid_tiles() -> Tiles:
    """Return a tile for each word of the vocabulary."""
    picture, size = draw_sheet([draw_tile(code, _TILE) for code in range(len(VOCABULARY))])
    return Tiles(picture, size, VOCABULARY, _PLAIN, DIRECTIONS)
