"""Cells as small images, made once for each look and size (pure, but for the cache).

A stamp fills a rectangle; of a hexagon only the pixels of its mask belong to the cell. Masks of neighbours tile the
plane exactly: each pixel belongs to the nearest middle of a cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridworld.drawing.glyphs import UNSEEN, Layer, agent, layers, mark
from gridworld.drawing.shapes import Distances, Shape, box, regular_polygon
from gridworld.observation import LOOKS
from gridworld.tilings import TILINGS

_REMEMBERED: Final = 0.58
"""Share of a remembered cell's colour that is left; the rest is that of unseen cells."""


class Stamp(NamedTuple):
    """What a cell shows.

    Attributes:
        code: index into ``LOOKS``.
        visible: seen now, else remembered.
        marked: framed as hidden from the agent.
        heading: of the agent on it, None without one.
        carrying: colour of the key in the agent's hand.
    """

    code: int
    visible: bool = True
    marked: bool = False
    heading: int | None = None
    carrying: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """How the cells of a tiling lie in a picture, in pixels.

    Attributes:
        width, height: of a stamp; ``width`` is also the distance of columns.
        pitch: distance of rows.
        shift: of odd rows to the right.
        mask: bool, shape (height, width): pixels of the cell.
        outline: of a cell, in units of its width.
        headings: of the tiling.
    """

    width: int
    height: int
    pitch: int
    shift: int
    mask: NDArray[np.bool_]
    outline: Shape
    headings: int


@lru_cache(maxsize=64)
def geometry(tiling: str, tile_size: int) -> Geometry:
    """The geometry of a tiling whose cells are ``tile_size`` wide; hexagons are an even number of pixels wide."""
    headings = TILINGS[tiling].headings
    if tiling == "square":
        mask = np.ones((tile_size, tile_size), dtype=np.bool_)
        return Geometry(tile_size, tile_size, tile_size, 0, mask, box(0.5, 0.5), headings)
    width = tile_size + tile_size % 2
    height = 2 * math.ceil(width / math.sqrt(3)) + 2
    pitch, shift = round(width * math.sqrt(3) / 2), width // 2
    mask = _nearest(width, height, pitch, shift)
    return Geometry(width, height, pitch, shift, mask, regular_polygon(6, 0.5), headings)


@lru_cache(maxsize=2048)
def stamp(tiling: str, tile_size: int, what: Stamp) -> NDArray[np.uint8]:
    """The image of a cell, shape (height, width, 3), RGB, read-only."""
    shape = geometry(tiling, tile_size)
    x, y = _centres(shape.width, shape.height)
    image = np.zeros((*x.shape, 3))
    look = LOOKS[what.code]
    drawn = layers(look, shape.outline)
    if what.marked:
        drawn += mark(shape.outline)
    if what.heading is not None:
        angle = math.tau * what.heading / shape.headings
        drawn += agent(angle, what.carrying, on_floor=look.kind == "floor")
    for layer in drawn:
        _paint(image, layer, x, y)
    if not what.visible:
        image = image * _REMEMBERED + np.array(UNSEEN) * (1 - _REMEMBERED)
    finished = np.rint(image).astype(np.uint8)
    finished.flags.writeable = False
    return finished


def _centres(width: int, height: int) -> tuple[Distances, Distances]:
    """Middles of pixels, in units of a cell's width."""
    across = (np.arange(width) + 0.5) / width - 0.5
    along = (np.arange(height) + 0.5 - height / 2) / width
    x, y = np.meshgrid(across, along)
    return x, y


def _paint(image: NDArray[np.float64], layer: Layer, x: Distances, y: Distances) -> None:
    """Lay a layer over an image; pixels that its edge crosses are mixed, in eighths to keep colours few."""
    cover = np.clip(0.5 - layer.shape(x, y) * x.shape[1], 0, 1)
    cover = np.rint(cover * 8)[..., None] / 8
    image *= 1 - cover
    image += cover * np.array(layer.colour)


def _nearest(width: int, height: int, pitch: int, shift: int) -> NDArray[np.bool_]:
    """Pixels nearer to the middle of their stamp than to those of the six neighbours; of equals the first one wins."""
    down, across = np.indices((height, width)) + 0.5
    down, across = down - height / 2, across - width / 2
    own = down**2 + across**2
    mask = np.ones((height, width), dtype=np.bool_)
    for row, column in ((-pitch, -shift), (-pitch, shift), (0, -width), (0, width), (pitch, -shift), (pitch, shift)):
        other = (down - row) ** 2 + (across - column) ** 2
        mask &= own < other if (row, column) < (0, 0) else own <= other
    return mask
