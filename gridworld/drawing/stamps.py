"""Images of single cells, drawn once for each look and size (pure except for the cache).

The image of a cell is called a stamp. A stamp is a rectangle; a hexagon covers only a part of it. Each pixel belongs to
the cell whose middle is nearest. Cells therefore tile the plane exactly, although widths and distances are rounded to
whole pixels.
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
"""Weight of the original colour in a remembered cell. The remaining weight is that of the colour of unseen cells."""


class Stamp(NamedTuple):
    """The content of a cell in a picture, which determines the image of the cell.

    Attributes:
        code: index into ``LOOKS``.
        visible: whether the agent sees the cell now. If False, the agent only remembers the cell.
        marked: whether a frame marks the cell as hidden from the agent.
        heading: heading of the agent in this cell; None if the agent is elsewhere.
        carrying: colour of the key that the agent carries; None without a key.
    """

    code: int
    visible: bool = True
    marked: bool = False
    heading: int | None = None
    carrying: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Geometry:
    """Positions and outlines of the cells of a tiling in a picture.

    Attributes:
        width, height: size of a stamp, in pixels; ``width`` is also the distance between columns.
        pitch: distance between rows, in pixels.
        shift: shift of odd rows to the right, in pixels.
        cover: fraction of each pixel of a stamp that the cell covers, in eighths; uint8, shape (height, width).
        outline: outline of a cell, in widths of a cell.
        headings: number of headings of the tiling.
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
    """Return the geometry of a tiling whose cells are ``tile_size`` pixels wide. For hexagons, an odd width is
    increased by 1.
    """
    headings = TILINGS[tiling].headings
    if tiling == "square":
        cover = np.full((tile_size, tile_size), 8, dtype=np.uint8)
        return Geometry(tile_size, tile_size, tile_size, 0, cover, box(0.5, 0.5), headings)
    width = tile_size + tile_size % 2  # even, so that half a width is whole
    # A hexagon is 2 / sqrt(3) widths high; the height is even and leaves a margin of a pixel at both corners.
    height = 2 * math.ceil(width / math.sqrt(3)) + 2
    pitch = round(width * math.sqrt(3) / 2)
    shift = width // 2
    cover = _hexagon_cover(width, height, pitch, shift)
    return Geometry(width, height, pitch, shift, cover, regular_polygon(6, 0.5), headings)


@lru_cache(maxsize=2048)
def stamp(tiling: str, tile_size: int, what: Stamp) -> NDArray[np.uint8]:
    """Return the image of a cell, RGB, shape (height, width, 3); the cached array is read-only."""
    shape = geometry(tiling, tile_size)
    x, y = _pixel_centres(shape.width, shape.height)
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


def _pixel_centres(width: int, height: int) -> tuple[Distances, Distances]:
    """Return (x, y): the coordinates of the centres of a stamp's pixels.

    Coordinates are in widths of a cell; the origin is the middle of the stamp.
    """
    across = (np.arange(width) + 0.5) / width - 0.5
    along = (np.arange(height) + 0.5 - height / 2) / width
    x, y = np.meshgrid(across, along)
    return x, y


def _paint(image: NDArray[np.float64], layer: Layer, x: Distances, y: Distances) -> None:
    """Paint a layer onto an image in place.

    At the edge of the layer, each pixel is covered by a number of eighths, which keeps the number of colours low.
    """
    distance = layer.shape(x, y) * x.shape[1]  # in pixels
    cover = np.clip(0.5 - distance, 0, 1)
    cover = np.rint(cover * 8)[..., None] / 8
    image *= 1 - cover
    image += cover * np.array(layer.colour)


def _hexagon_cover(width: int, height: int, pitch: int, shift: int) -> NDArray[np.uint8]:
    """Return the fraction of each pixel that is nearer to the stamp's middle than to the middle of any neighbour.

    Fractions are in eighths; the array is uint8, shape (height, width).
    """
    down, across = np.indices((height, width)) + 0.5
    down = down - height / 2
    across = across - width / 2
    # Middles of the six neighbours, as (down, across) from this middle.
    upper = ((-pitch, -shift), (-pitch, shift))
    lower = ((pitch, -shift), (pitch, shift))
    edge_distances = []
    for neighbour_down, neighbour_across in (*upper, (0, -width), (0, width), *lower):
        away = math.hypot(neighbour_down, neighbour_across)
        projection = (down * neighbour_down + across * neighbour_across) / away
        edge_distances.append(projection - away / 2)
    outside = np.max(edge_distances, axis=0)
    cover: NDArray[np.float64] = np.clip(0.5 - outside, 0, 1)
    return np.rint(cover * 8).astype(np.uint8)
