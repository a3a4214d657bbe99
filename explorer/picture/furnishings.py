"""Patterns of made things: panes, doors, chests, furniture; see :mod:`explorer.picture.patterns`."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from explorer.picture.drawings import DRAWINGS
from explorer.picture.patterns import (
    COLUMN,
    EDGE,
    NATURAL,
    ROW,
    SIDE,
    Pattern,
    Tile,
    bevel,
    grains,
    lit,
    noise,
    paint,
    planks,
    ribs,
    wool,
)


def glass(_draw: Generator, base: Tile, second: Tile) -> Tile:
    """A clear pane with a frame and glints; stained when the second colour is given."""
    tile = lit(base, 0.0)
    tile[..., 3] = 0.42 if second.any() else 0.08
    frame, glint = EDGE == 0, np.isin(ROW + COLUMN, (9, 10, 13)) & (EDGE > 1) & (ROW < 11)
    tile[frame, 3], tile[glint, 3] = 0.85, 0.6
    return _paint_colour(tile, glint, base * 0.3 + 178)


def _paint_colour(tile: Tile, where: NDArray[np.bool_], colour: Tile) -> Tile:
    tile[where, :3] = colour
    return tile


def clear(_draw: Generator, base: Tile, _second: Tile) -> Tile:
    """An invisible tile."""
    tile = lit(base, 0.0)
    tile[..., 3] = 0.0
    return tile


def bars(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Upright bars with two rails."""
    tile = lit(base, np.array([0.15, -0.15, 0.0, 0.0])[COLUMN % 4] + 0.05 * noise(draw, SIDE))
    tile[..., 3] = (COLUMN % 4 < 2) | (ROW % 12 < 2)
    return tile


def fence(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Two posts and two rails."""
    tile = planks(draw, base, second)
    tile[..., 3] = (COLUMN % 8 < 3) | np.isin(ROW, (3, 4, 5, 10, 11, 12))
    return tile


def web(_draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Threads from the middle, and rings."""
    tile = lit(base, 0.0)
    row, column = np.abs(ROW - 7.5), np.abs(COLUMN - 7.5)
    spokes = (np.abs(row - column) < 0.8) | (row < 0.7) | (column < 0.7)
    tile[..., 3] = np.where(spokes | (np.abs(row + column - 6) < 0.8) | (np.abs(row + column - 11) < 0.8), 0.9, 0.06)
    return tile


def books(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Two shelves of spines."""
    tile = planks(draw, base, second)
    covers = np.array([[150, 50, 40], [60, 90, 150], [70, 120, 60], [170, 130, 60], [110, 70, 130]], dtype=float)
    for top in (1, 9):
        column = 1
        while column < SIDE - 1:
            width, drop = int(draw.integers(1, 3)), int(draw.integers(0, 2))
            spine = (slice(top + drop, top + 6), slice(column, min(column + width, SIDE - 1)), slice(0, 3))
            tile[spine] = covers[draw.integers(len(covers))] * draw.uniform(0.75, 1.1)
            column += width
        tile[top : top + 6, 0, :3] = tile[top : top + 6, -1, :3] = base * 0.6
    return tile


def face(draw: Generator, base: Tile, second: Tile) -> Tile:
    """A gourd with a carved face."""
    tile = ribs(draw, base, base * 0.85)
    carving = np.array([[letter == "a" for letter in line] for line in DRAWINGS["carving"]])
    return paint(tile, carving, second)


def framed(draw: Generator, base: Tile, second: Tile) -> Tile:
    """A frame round a field of the second colour."""
    tile = lit(base, bevel(1, 0.2) + grains(draw, 0.1))
    paint(tile, EDGE > 2, second, 0.1 * noise(draw, SIDE))
    return paint(tile, EDGE == 3, second * 0.6)


def bench(draw: Generator, base: Tile, second: Tile) -> Tile:
    """The side of a workbench: a saw and a hammer before boards."""
    tile = planks(draw, base, second)
    paint(tile, (ROW < 3) | (COLUMN % 15 == 0), second, grains(draw, 0.1))
    paint(tile, (ROW > 4) & (ROW < 7) & (COLUMN > 1) & (COLUMN < 7), np.array([200.0, 200.0, 205.0]))
    paint(tile, (ROW > 4) & (ROW < 13) & (COLUMN > 9) & (COLUMN < 12), second * 1.25)
    return paint(tile, (ROW > 4) & (ROW < 8) & (COLUMN > 7) & (COLUMN < 14), np.array([120.0, 120.0, 125.0]))


def oven(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Stone with a mouth."""
    tile = lit(base, bevel() + grains(draw, 0.12))
    paint(tile, (ROW > 7) & (ROW < 14) & (COLUMN > 2) & (COLUMN < 13), second)
    return paint(tile, (ROW > 1) & (ROW < 5) & (COLUMN > 3) & (COLUMN < 12), second * 1.6 + 20)


def chest(draw: Generator, base: Tile, second: Tile) -> Tile:
    """A coffer with a lid and a lock."""
    tile = planks(draw, base, base)
    paint(tile, EDGE == 0, base * 0.38)
    paint(tile, (ROW == 6) & (EDGE > 0), base * 0.3)
    return paint(tile, (ROW > 3) & (ROW < 10) & (COLUMN > 5) & (COLUMN < 10), second, bevel() - 0.05)


def barrel(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Staves with two hoops."""
    tile = lit(base, np.where(COLUMN % 4 == 3, -0.28, grains(draw, 0.12)))
    return paint(tile, np.isin(ROW, (2, 3, 12, 13)), second, 0.08 * noise(draw, SIDE))


def bands(draw: Generator, base: Tile, second: Tile) -> Tile:
    """A band of the second colour across the middle."""
    tile = lit(base, np.where(COLUMN % 4 == 3, -0.14, grains(draw, 0.06)))
    return paint(tile, (ROW > 5) & (ROW < 11), second, 0.05 * noise(draw, SIDE))


def target(_draw: Generator, base: Tile, second: Tile) -> Tile:
    """Rings of two colours."""
    return paint(lit(base, 0.0), EDGE // 2 % 2 == 1, second)


def glazed(draw: Generator, base: Tile, second: Tile) -> Tile:
    """A pattern of diamonds."""
    far = np.abs(ROW % 8 - 3.5) + np.abs(COLUMN % 8 - 3.5)
    return paint(lit(base, grains(draw, 0.04)), (far > 2) & (far < 4), second)


def bed(draw: Generator, base: Tile, second: Tile) -> Tile:
    """A blanket on a frame, and a pillow."""
    tile = wool(draw, base, second)
    paint(tile, (ROW < 4) & (EDGE > 0), np.array([235.0, 235.0, 232.0]))
    return paint(tile, ROW > 12, np.array([150.0, 115.0, 66.0]), grains(draw, 0.1))


def door(draw: Generator, base: Tile, second: Tile) -> Tile:
    """A wooden leaf: two sunken panels and a handle."""
    tile = lit(base, grains(draw, 0.1))
    panel = (COLUMN > 2) & (COLUMN < 13) & (ROW % 8 > 0) & (ROW % 8 < 7)
    inner = (COLUMN > 3) & (COLUMN < 12) & (ROW % 8 > 1) & (ROW % 8 < 6)
    paint(tile, panel, base * 0.62)
    paint(tile, inner, base * 0.88, grains(draw, 0.1))
    paint(tile, (COLUMN == 0) | (COLUMN == 15), base * 0.5 + second * 0.1)
    return paint(tile, (ROW > 5) & (ROW < 9) & (COLUMN == 13), np.array([60.0, 56.0, 52.0]))


def iron_door(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """A plate with a frame, rivets and two slits."""
    tile = lit(base, bevel(1, 0.2) + 0.04 * noise(draw, 8) + 0.04 * np.sin(COLUMN * 0.9))
    paint(tile, EDGE == 2, base * 0.66)
    paint(tile, (ROW > 4) & (ROW < 7) & (COLUMN > 4) & (COLUMN < 11), base * 0.3)
    paint(tile, (ROW > 8) & (ROW < 11) & (COLUMN > 4) & (COLUMN < 11), base * 0.3)
    return paint(tile, np.isin(ROW, (1, 14)) & np.isin(COLUMN, (1, 7, 8, 14)), base * 0.5)


def hatch(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Boards with gaps."""
    tile = planks(draw, base, second)
    tile[..., 3] = 1.0 - ((ROW % 8 > 2) & (ROW % 8 < 6) & (COLUMN % 8 > 2) & (COLUMN % 8 < 6))
    return tile


PATTERNS: Final[dict[str, Pattern]] = {
    made.__name__: made
    for made in (
        *NATURAL, glass, clear, bars, fence, web, books, face, framed, bench, oven, chest, barrel, bands, target,
        glazed, bed, door, iron_door, hatch,
    )
}  # fmt: skip
"""Name -> pattern."""
