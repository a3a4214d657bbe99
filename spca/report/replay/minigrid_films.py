"""Films of re-simulated MiniGrid episodes, and the tiles of the films, in the format of the player in our pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from spca.act.frame import Frame
from spca.common.web.films import GridFilm, Tiles, draw_sheet, make_film
from spca.report.replay.pictures import draw_tile, place_frames
from spca.sense.perception import DIRECTIONS, vocabulary

_TILE: Final = 32
"""Width and height of a tile in pixels; a page draws a tile with at most 44 pixels."""
_PLAIN: Final = ("unseen", "empty", "wall", "floor", "agent")
"""Words that legends and descriptions of steps leave out."""


def film_of(frames: Sequence[Frame]) -> GridFilm:
    """Return the film of an episode; ``frames`` must not be empty."""
    placed_frames, top, left = place_frames(frames)
    return make_film(placed_frames, top, left)


def minigrid_tiles() -> Tiles:
    """Return a sheet with a tile for each word of the vocabulary, in the order of the words' codes."""
    return _draw_tiles(vocabulary())


@cache
def _draw_tiles(words: tuple[str, ...]) -> Tiles:
    tiles = [draw_tile(code, _TILE) for code in range(len(words))]
    picture, size = draw_sheet(tiles)
    return Tiles(picture, size, words, _PLAIN, DIRECTIONS)
