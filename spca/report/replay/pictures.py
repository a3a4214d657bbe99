"""Pictures of an episode: the true world beside the agent's map, and a caption.

Tiles are MiniGrid's own. Frames are :class:`spca.act.frame.Frame`; every picture of a painter has the same size.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spca.act.frame import Frame
from spca.common.text import visible
from spca.common.web.films import GridFrame
from spca.sense.perception import DOOR_STATES, UNSEEN, VOCABULARY

if TYPE_CHECKING:
    from PIL import ImageFont

Picture: TypeAlias = NDArray[np.uint8]
"""Red, green and blue; shape (height, width, 3)."""

LINES: Final = 5
"""Lines of a caption."""

_PANEL: Final = 544
"""Pixels that a panel should not exceed, if tiles of 8 pixels allow it."""
_TILES: Final = (8, 32)
_MIN_WIDTH: Final = 640
_MARGIN: Final = 16
_TEXT_SIZE: Final = 15
_LINE: Final = 22
_GROUND: Final = (24, 24, 30)
_INK: Final = (232, 232, 236)
_HATCH: Final = ((44, 44, 56), (66, 66, 84))
_HATCH_PERIOD: Final = 8
_TITLES: Final = ("the world, the agent's view lit", "what the agent knows, unseen cells hatched")
_MORE: Final = "..."
_MAX_LINE: Final = 400
"""Characters of a line of a caption that are looked at."""


class Painter:
    """Paints frames of one episode.

    Args:
        frames: all frames that will be painted; they decide about the size.
        tile: pixels per cell; by default as many as fit.

    Attributes:
        size: width and height of every picture, both even.
    """

    def __init__(self, frames: Sequence[Frame], *, tile: int | None = None) -> None:
        self._frames = place_frames(frames)[0]
        used_by_frame = [(frame.truth != UNSEEN) | (frame.known != UNSEEN) for frame in self._frames]
        used = np.any(used_by_frame, axis=0)
        self._box = tuple(slice(at.min(), at.max() + 1) for at in np.nonzero(used))
        rows, columns = used[self._box].shape
        fitting = _PANEL // max(rows, columns)
        self._tile = tile or min(max(fitting, _TILES[0]), _TILES[1])
        content = max(2 * columns * self._tile + _MARGIN, _MIN_WIDTH)
        self._lefts = (_MARGIN, _MARGIN + (content + _MARGIN) // 2)
        self._caption_top = _MARGIN + _LINE + rows * self._tile + _MARGIN // 2
        width = content + 2 * _MARGIN
        height = self._caption_top + LINES * _LINE + _MARGIN // 2
        self.size = width + width % 2, height + height % 2

    def draw(self, number: int, lines: Sequence[str] = ()) -> Picture:
        """Return the picture of a frame; each of at most ``LINES`` lines of the caption is cut to the width."""
        from PIL import Image, ImageDraw

        frame = self._frames[number]
        width, height = self.size
        picture = np.full((height, width, 3), _GROUND, dtype=np.uint8)
        self._paint(picture, self._lefts[0], frame, frame.truth, frame.view)
        self._paint(picture, self._lefts[1], frame, frame.known, np.zeros_like(frame.view))
        image = Image.fromarray(picture)
        canvas = ImageDraw.Draw(image)
        font = _font()

        title_width = (width - 3 * _MARGIN) // 2
        for left, title in zip(self._lefts, _TITLES, strict=True):
            text = _cut(title, title_width, font)
            canvas.text((left, _MARGIN // 2), text, fill=_INK, font=font)

        for line_number, line in enumerate(lines[:LINES]):
            words = visible(line[:_MAX_LINE]).split()
            text = _cut(" ".join(words), width - 2 * _MARGIN, font)
            y = self._caption_top + line_number * _LINE
            canvas.text((_MARGIN, y), text, fill=_INK, font=font)
        return np.asarray(image)

    def _paint(
        self, picture: Picture, left: int, frame: GridFrame, codes: NDArray[np.uint8], lit: NDArray[np.bool_]
    ) -> None:
        """Paint a panel; of the true world, cells outside of it stay empty."""
        *cell, direction = frame.agent
        agent = tuple(at - within.start for at, within in zip(cell, self._box, strict=True))
        lights = lit[self._box]
        for place, code in np.ndenumerate(codes[self._box]):
            if code == UNSEEN and codes is frame.truth:
                continue
            row, column = place
            y = _MARGIN + _LINE + row * self._tile
            x = left + column * self._tile
            agent_here = direction if place == agent else None
            tile = draw_tile(int(code), self._tile, agent_here, bool(lights[place]))
            picture[y : y + self._tile, x : x + self._tile] = tile


def place_frames(frames: Sequence[Frame]) -> tuple[list[GridFrame], int, int]:
    """Return frames whose grids all have one shape, and the row and column of their upper left cell in the true grid.

    Args:
        frames: at least one.
    """
    grids = [each for frame in frames for each in _list_grids(frame)]
    starts = np.array([at for _, at in grids])
    ends = starts + [grid.shape for grid, _ in grids]
    top, left = starts.min(axis=0).tolist()
    rows, columns = ends.max(axis=0).tolist()

    def place(grid: NDArray[np.uint8], at: tuple[int, int]) -> NDArray[np.uint8]:
        placed = np.full((rows - top, columns - left), UNSEEN, dtype=np.uint8)
        row = at[0] - top
        column = at[1] - left
        height, width = grid.shape
        placed[row : row + height, column : column + width] = grid
        return placed

    placed_frames = []
    for frame in frames:
        truth, known, view = (place(grid, at) for grid, at in _list_grids(frame))
        agent = frame.position[0] - top, frame.position[1] - left, frame.direction
        placed_frames.append(GridFrame(truth, known, view != UNSEEN, agent, frame.inventory, frame.reward))
    return placed_frames, top, left


def _list_grids(frame: Frame) -> tuple[tuple[NDArray[np.uint8], tuple[int, int]], ...]:
    """Return the grids of a frame with the places of their upper left cells in the true grid."""
    return (frame.truth, (0, 0)), (frame.known, frame.known_at), (frame.view, frame.view_at)


@cache
def draw_tile(code: int, size: int, agent: int | None = None, lit: bool = False) -> Picture:
    """Return the tile of a cell code, ``size`` pixels wide and high; ``agent`` is the direction of one on it."""
    if code == UNSEEN and agent is None:
        y, x = np.indices((size, size))
        period = size / max(round(size / _HATCH_PERIOD), 1)
        is_stripe = (x + y) % period < period / 4
        hatched: Picture = np.array(_HATCH, dtype=np.uint8)[is_stripe.astype(int)]
        return hatched

    from minigrid.core.grid import Grid

    tile = Grid.render_tile(_object(code), agent, lit, tile_size=size)
    rendered: Picture = np.asarray(tile).astype(np.uint8)
    return rendered


def _object(code: int) -> Any:
    """Return MiniGrid's object of a cell code; codes do not tell the colours of floors, which then are blue.

    A kind unknown to MiniGrid, such as a mechanism of gridworld tasks, looks like a box. An unknown colour is grey.
    """
    from minigrid.core.constants import COLOR_TO_IDX, OBJECT_TO_IDX
    from minigrid.core.world_object import WorldObj

    kind, *rest = VOCABULARY[code].split()
    colour = rest[0] if rest else {"floor": "blue"}.get(kind, "grey")
    state = DOOR_STATES.index(rest[1]) if kind == "door" else 0
    known = OBJECT_TO_IDX.get(kind, OBJECT_TO_IDX["box"])
    return WorldObj.decode(known, COLOR_TO_IDX.get(colour, COLOR_TO_IDX["grey"]), state)


@cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    from PIL import ImageFont

    return ImageFont.load_default(_TEXT_SIZE)


def _cut(text: str, width: int, font: ImageFont.FreeTypeFont | ImageFont.ImageFont) -> str:
    """Return the beginning of a text that is at most ``width`` pixels wide."""
    if font.getlength(text) <= width:
        return text

    def is_too_wide(count: int) -> bool:
        return font.getlength(text[:count] + _MORE) > width

    fitting = bisect_left(range(len(text)), True, key=is_too_wide)
    return text[: max(fitting - 1, 0)] + _MORE
