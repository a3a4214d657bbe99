"""Pictures of an episode: the true world beside the agent's map, and a caption.

Tiles are MiniGrid's own. Frames are :class:`spca.act.frame.Frame`; every picture of a painter has the same size.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spca.act.frame import Frame
from spca.common.text import visible
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

_Tile: TypeAlias = tuple[int, int | None, bool]
"""What a cell shows: code, direction of an agent on it, whether it is lit."""


class Painter:
    """Paints frames of one episode.

    Args:
        frames: all frames that will be painted; they decide about the size.
        tile: pixels per cell; by default as many as fit.

    Attributes:
        size: width and height of every picture, both even.
    """

    def __init__(self, frames: Sequence[Frame], *, tile: int | None = None) -> None:
        self._top, self._left, self._rows, self._columns = _extent(frames)
        fitting = _PANEL // max(self._rows, self._columns)
        self._tile = tile or min(max(fitting, _TILES[0]), _TILES[1])
        panel = self._columns * self._tile
        content = max(2 * panel + _MARGIN, _MIN_WIDTH)
        self._lefts = (_MARGIN, _MARGIN + (content + _MARGIN) // 2)
        self._caption_top = _MARGIN + _LINE + self._rows * self._tile + _MARGIN // 2
        width, height = content + 2 * _MARGIN, self._caption_top + LINES * _LINE + _MARGIN // 2
        self.size = width + width % 2, height + height % 2

    def draw(self, frame: Frame, lines: Sequence[str] = ()) -> Picture:
        """A picture; each of at most ``LINES`` lines of the caption is cut to the width."""
        from PIL import Image, ImageDraw

        picture = np.full((self.size[1], self.size[0], 3), _GROUND, dtype=np.uint8)
        for left, cells in zip(self._lefts, (self._world(frame), self._map(frame)), strict=True):
            self._put(picture, left, cells)
        image = Image.fromarray(picture)
        canvas, font = ImageDraw.Draw(image), _font()
        for left, title in zip(self._lefts, _TITLES, strict=True):
            room = (self.size[0] - 3 * _MARGIN) // 2
            canvas.text((left, _MARGIN // 2), _cut(title, room, font), fill=_INK, font=font)
        for number, line in enumerate(lines[:LINES]):
            text = _cut(" ".join(visible(line[:_MAX_LINE]).split()), self.size[0] - 2 * _MARGIN, font)
            canvas.text((_MARGIN, self._caption_top + number * _LINE), text, fill=_INK, font=font)
        return np.asarray(image)

    def _world(self, frame: Frame) -> Iterator[tuple[int, int, _Tile]]:
        """Cells of the true world: row and column in the panel, and what they show."""
        seen = frame.view != UNSEEN
        for (row, column), code in np.ndenumerate(frame.truth):
            r, c = row - frame.view_at[0], column - frame.view_at[1]
            lit = 0 <= r < seen.shape[0] and 0 <= c < seen.shape[1] and bool(seen[r, c])
            agent = frame.direction if (row, column) == frame.position else None
            yield row - self._top, column - self._left, (int(code), agent, lit)

    def _map(self, frame: Frame) -> Iterator[tuple[int, int, _Tile]]:
        """Cells of the agent's map, those beyond it included."""
        codes = np.full((self._rows, self._columns), UNSEEN, dtype=np.uint8)
        rows, columns = np.nonzero(frame.known)
        at = rows + frame.known_at[0] - self._top, columns + frame.known_at[1] - self._left
        codes[at] = frame.known[rows, columns]
        position = frame.position[0] - self._top, frame.position[1] - self._left
        for (row, column), code in np.ndenumerate(codes):
            yield row, column, (int(code), frame.direction if (row, column) == position else None, False)

    def _put(self, picture: Picture, left: int, cells: Iterable[tuple[int, int, _Tile]]) -> None:
        size = self._tile
        for row, column, tile in cells:
            y, x = _MARGIN + _LINE + row * size, left + column * size
            picture[y : y + size, x : x + size] = _render_tile(tile, size)


def _extent(frames: Sequence[Frame]) -> tuple[int, int, int, int]:
    """Top, left, rows and columns that hold the true world and every cell of the maps that was seen."""
    tops, lefts, bottoms, rights = [0], [0], [], []
    for frame in frames:
        rows, columns = np.nonzero(frame.known)
        tops.append(int(rows.min()) + frame.known_at[0])
        lefts.append(int(columns.min()) + frame.known_at[1])
        bottoms += [int(rows.max()) + frame.known_at[0] + 1, frame.truth.shape[0]]
        rights += [int(columns.max()) + frame.known_at[1] + 1, frame.truth.shape[1]]
    top, left = min(tops), min(lefts)
    return top, left, max(bottoms) - top, max(rights) - left


def draw_tile(code: int, size: int) -> Picture:
    """Return the tile of a cell code, ``size`` pixels wide and high, without an agent and not lit."""
    return _render_tile((code, None, False), size)


@cache
def _render_tile(tile: _Tile, size: int) -> Picture:
    code, agent, lit = tile
    if code == UNSEEN and agent is None:
        y, x = np.indices((size, size))
        period = size / max(round(size / _HATCH_PERIOD), 1)
        hatched: Picture = np.array(_HATCH, dtype=np.uint8)[((x + y) % period < period / 4).astype(int)]
        return hatched
    from minigrid.core.grid import Grid

    rendered: Picture = np.asarray(Grid.render_tile(_object(code), agent, lit, tile_size=size)).astype(np.uint8)
    return rendered


def _object(code: int) -> Any:
    """MiniGrid's object that a cell code stands for; codes do not tell the colours of floors, which then are blue.

    What MiniGrid does not know looks like a box, in grey where its colour is not known either: a mechanism of gridworld
    tasks, too, which no world of MiniGrid has.
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
    """The beginning of a text that is at most ``width`` pixels wide."""
    if font.getlength(text) <= width:
        return text
    fitting = bisect_left(range(len(text)), True, key=lambda n: font.getlength(text[:n] + _MORE) > width)
    return text[: max(fitting - 1, 0)] + _MORE
