"""Cells as small images, made once for each look and size (pure, but for the cache).

A stamp fills a rectangle, of which a hexagon covers a part. Each pixel belongs to the nearest middle of a cell, so the
cells tile the plane exactly, whatever whole numbers of pixels their distances are rounded to.
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
from gridworld.rules.observation import LOOKS
from gridworld.rules.tilings import TILINGS

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
        cover: uint8, shape (height, width): how much of each pixel is the cell's, in eighths.
        outline: of a cell, in units of its width.
        headings: of the tiling.
    """

    width: int
    height: int
    pitch: int
    shift: int
    cover: NDArray[np.uint8]
    outline: Shape
    headings: int


@lru_cache(maxsize=64)
def geometry(tiling: str, tile_size: int) -> Geometry:
    """Return the geometry of a tiling with cells ``tile_size`` wide; hexagons are an even number of pixels wide."""
    headings = TILINGS[tiling].headings
    if tiling == "square":
        cover = np.full((tile_size, tile_size), 8, dtype=np.uint8)
        return Geometry(tile_size, tile_size, tile_size, 0, cover, box(0.5, 0.5), headings)
    width = tile_size + tile_size % 2
    height = 2 * math.ceil(width / math.sqrt(3)) + 2
    pitch = round(width * math.sqrt(3) / 2)
    shift = width // 2
    cover = _nearest(width, height, pitch, shift)
    return Geometry(width, height, pitch, shift, cover, regular_polygon(6, 0.5), headings)


@lru_cache(maxsize=2048)
def stamp(tiling: str, tile_size: int, what: Stamp) -> NDArray[np.uint8]:
    """Return the image of a cell, shape (height, width, 3), RGB, read-only."""
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
    """Return the middles of pixels, in units of a cell's width."""
    across = (np.arange(width) + 0.5) / width - 0.5
    along = (np.arange(height) + 0.5 - height / 2) / width
    x, y = np.meshgrid(across, along)
    return x, y


def _paint(image: NDArray[np.float64], layer: Layer, x: Distances, y: Distances) -> None:
    """Lay a layer over an image; pixels that its edge crosses are mixed, in eighths to keep colours few."""
    distance = layer.shape(x, y) * x.shape[1]
    cover = np.clip(0.5 - distance, 0, 1)
    cover = np.rint(cover * 8)[..., None] / 8
    image *= 1 - cover
    image += cover * np.array(layer.colour)


def _nearest(width: int, height: int, pitch: int, shift: int) -> NDArray[np.uint8]:
    """Return, in eighths, how much of each pixel is nearer to its stamp's middle than to the neighbours'."""
    down, across = np.indices((height, width)) + 0.5
    down = down - height / 2
    across = across - width / 2
    upper = ((-pitch, -shift), (-pitch, shift))
    lower = ((pitch, -shift), (pitch, shift))
    edges = []
    for row, column in (*upper, (0, -width), (0, width), *lower):
        away = math.hypot(row, column)
        projection = (down * row + across * column) / away
        edges.append(projection - away / 2)
    outside = np.max(edges, axis=0)
    cover: NDArray[np.float64] = np.clip(0.5 - outside, 0, 1)
    return np.rint(cover * 8).astype(np.uint8)
