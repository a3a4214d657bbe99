"""Patterns of textures: plants, ground, and walls.

Each turns a seeded generator and two colours into a tile of 16 x 16 pixels. It returns RGBA as floats
``[16, 16, 4]``: colours nominally from 0 to 255, alpha from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

SIDE: Final = 16
"""Side of a tile in pixels."""
Tile = NDArray[np.float64]
Pattern = Callable[[Generator, Tile, Tile], Tile]
"""From a generator, the base colour ``[3]`` and the second colour ``[3]`` to a tile."""

ROW, COLUMN = np.mgrid[0:SIDE, 0:SIDE]
EDGE: Final = np.minimum.reduce([ROW, COLUMN, SIDE - 1 - ROW, SIDE - 1 - COLUMN])
"""Distance of each pixel from the edge."""


def noise(draw: Generator, cells: int) -> Tile:
    """Return smooth, tileable noise from -1 to 1; with 16 cells it is as fine as the pixels."""
    coarse = draw.uniform(-1, 1, (cells, cells))
    at = (np.arange(SIDE) + 0.5) * cells / SIDE - 0.5
    low, part = np.floor(at).astype(int), at - np.floor(at)
    low, high = low % cells, (low + 1) % cells
    rows = coarse[low] * (1 - part)[:, None] + coarse[high] * part[:, None]
    noise: Tile = rows[:, low] * (1 - part) + rows[:, high] * part
    return noise


def grains(draw: Generator, amount: float) -> Tile:
    """Return noise at three scales."""
    return amount * (0.5 * noise(draw, 4) + 0.5 * noise(draw, 8) + 0.6 * noise(draw, SIDE))


def lit(colour: Tile, shade: Tile | float) -> Tile:
    """Return an opaque tile of a colour, brighter where ``shade`` is positive."""
    tile = np.ones((SIDE, SIDE, 4))
    tile[..., :3] = colour * (1 + np.broadcast_to(shade, (SIDE, SIDE)))[..., None]
    return tile


def paint(tile: Tile, where: NDArray[np.bool_], colour: Tile, shade: Tile | float = 0.0) -> Tile:
    """Paint a colour onto a tile in place, where a mask is true; return the tile."""
    tile[where] = lit(colour, shade)[where]
    return tile


def bevel(width: int = 1, strength: float = 0.16) -> Tile:
    """Return a shade that is light at the top and left edges and dark at the others."""
    edge = np.zeros((SIDE, SIDE))
    bright, dim = np.minimum(ROW, COLUMN), np.minimum(SIDE - 1 - ROW, SIDE - 1 - COLUMN)
    edge[bright < width] = strength
    edge[dim < width] = -strength
    return edge


def _spots(draw: Generator, count: int, size: float) -> NDArray[np.bool_]:
    """Return scattered discs that do not touch the edge."""
    found = np.zeros((SIDE, SIDE), dtype=np.bool_)
    for row, column in draw.uniform(2, SIDE - 3, (count, 2)):
        found |= (ROW - row) ** 2 + (COLUMN - column) ** 2 <= size * draw.uniform(0.6, 1.4)
    return found


def _cells(draw: Generator, count: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the nearest of some points for each pixel, wrapped at the edges, and the borders between them."""
    points = draw.uniform(0, SIDE, (count, 2))
    apart = [np.abs(axis[..., None] - at) for axis, at in ((ROW, points[:, 0]), (COLUMN, points[:, 1]))]
    far = np.hypot(*(np.minimum(gap, SIDE - gap) for gap in apart))
    ranked = np.sort(far, axis=-1)
    return far.argmin(axis=-1), ranked[..., 1] - ranked[..., 0] < 1.1


def grain(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Soil and stone."""
    return lit(base, grains(draw, 0.16))


def smooth(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Concrete."""
    return lit(base, grains(draw, 0.03))


def sandy(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Sand, snow, clay."""
    return lit(base, 0.06 * noise(draw, SIDE) + 0.04 * noise(draw, 4))


def ice(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Pale streaks across."""
    streak = np.sin((ROW + COLUMN * 0.7 + 2 * noise(draw, 4)) * 0.9) > 0.86
    return paint(lit(base, 0.05 * noise(draw, 8)), streak, base * 0.4 + 150)


def pebbles(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Gravel."""
    cell, _ = _cells(draw, 34)
    return lit(base, draw.uniform(-0.28, 0.22, 34)[cell] + 0.06 * noise(draw, SIDE))


def cobble(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Round stones with dark joints."""
    cell, border = _cells(draw, 11)
    shade = draw.uniform(-0.1, 0.16, 11)[cell] + 0.06 * noise(draw, SIDE)
    return lit(base, np.where(border, -0.38, shade))


def speckle(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Flecks of a second colour."""
    return paint(lit(base, grains(draw, 0.12)), noise(draw, SIDE) + 0.5 * noise(draw, 8) > 0.55, second)


def furrows(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Tilled soil."""
    return lit(base, np.where(ROW % 4 < 2, 0.12, -0.2) + grains(draw, 0.1))


def ore(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Lumps in stone, each with a dark lower edge."""
    tile = lit(base, grains(draw, 0.14))
    lumps = _spots(draw, 8, 1.9)
    paint(tile, np.roll(lumps, (1, 1), (0, 1)) & ~lumps, base * 0.55)
    return paint(tile, lumps, second, 0.22 * noise(draw, SIDE))


def crystals(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Bright pieces."""
    cell, border = _cells(draw, 16)
    tile = lit(second, draw.uniform(-0.2, 0.05, 16)[cell])
    return paint(tile, border, base, 0.1 * noise(draw, SIDE))


def planks(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Four boards with staggered joints."""
    board = ROW // 4
    streaks = np.repeat(noise(draw, SIDE), 1, axis=0)
    streaks = (streaks + np.roll(streaks, 1, 1) + np.roll(streaks, 2, 1)) / 3
    shade = draw.uniform(-0.06, 0.06, 4)[board] + 0.13 * streaks
    shade = np.where(ROW % 4 == 3, -0.3, np.where(ROW % 4 == 0, shade + 0.05, shade))
    joint = (np.array([5, 12, 3, 10])[board] == COLUMN) & (ROW % 4 != 3)
    return lit(base, np.where(joint, -0.24, shade))


def bark(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Upright streaks."""
    wander = (COLUMN + np.round(1.2 * noise(draw, 4)).astype(int)) % SIDE
    shade = draw.uniform(-0.28, 0.22, SIDE)[wander]
    return lit(base, shade + 0.1 * noise(draw, SIDE))


def birch(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Pale bark with dark dashes."""
    tile = lit(base, 0.05 * noise(draw, SIDE))
    for row, column, length in zip(
        draw.permutation(SIDE)[:8], draw.integers(0, SIDE, 8), draw.integers(2, 6, 8), strict=True
    ):
        tile[row, (column + np.arange(length)) % SIDE, :3] = base * 0.28
    return tile


def rings(draw: Generator, base: Tile, second: Tile) -> Tile:
    """The cut end of a log: rings of ``base`` within bark of ``second``."""
    middle = (SIDE - 1) / 2
    far = np.maximum(np.abs(ROW - middle), np.abs(COLUMN - middle)) + 0.4 * noise(draw, 4)
    shade = np.where(np.round(far) % 2 == 0, 0.04, -0.16) + 0.04 * noise(draw, SIDE)
    return paint(lit(base, shade), EDGE == 0, second, 0.12 * noise(draw, SIDE))


def bricks(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Four courses of bricks."""
    return _courses(draw, base, 4, 8, base * 0.6 + 42)


def blocks(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Two courses of hewn stone."""
    return _courses(draw, base, 8, SIDE, base * 0.62)


def _courses(draw: Generator, base: Tile, high: int, wide: int, mortar: Tile) -> Tile:
    course = ROW // high
    along = (COLUMN + course % 2 * wide // 2) % SIDE
    number = course * SIDE // wide + along // wide
    shade = draw.uniform(-0.1, 0.08, SIDE)[number] + grains(draw, 0.07)
    shade = np.where(ROW % high == 0, shade + 0.1, np.where(ROW % high == high - 2, shade - 0.1, shade))
    joint = (ROW % high == high - 1) | (along % wide == wide - 1)
    return paint(lit(base, shade), joint, mortar, 0.05 * noise(draw, SIDE))


def mossy(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Hewn stone, partly overgrown."""
    grown = noise(draw, 4) + 0.5 * noise(draw, SIDE) > 0.25
    return paint(blocks(draw, base, second), grown, second, 0.2 * noise(draw, SIDE))


def cracked(draw: Generator, base: Tile, second: Tile) -> Tile:
    """Hewn stone with cracks."""
    tile = blocks(draw, base, second)
    for row, column in ((1, 3), (8, 9), (4, 13)):
        path = column + np.cumsum(draw.integers(-1, 2, 9))
        tile[(row + np.arange(9)) % SIDE, path % SIDE, :3] = base * 0.32
    return tile


def chiseled(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """A carved square."""
    shade = np.select([EDGE == 0, EDGE == 2, EDGE == 5], [-0.22, 0.12, -0.25], 0.0)
    return lit(base, shade + grains(draw, 0.06))


def polished(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """A slab with a bevelled edge."""
    return lit(base, bevel() + grains(draw, 0.05))


def tiles(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Four small slabs."""
    number = ROW // 8 * 2 + COLUMN // 8
    joint = (ROW % 8 == 7) | (COLUMN % 8 == 7)
    return lit(base, np.where(joint, -0.25, draw.uniform(-0.08, 0.08, 4)[number] + grains(draw, 0.06)))


def strata(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Layers of sandstone."""
    shade = draw.uniform(-0.08, 0.08, SIDE)[ROW] + grains(draw, 0.05)
    return lit(base, np.where((ROW == 3) | (ROW == 12), -0.16, shade))


def ridges(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Upright flutes."""
    return lit(base, np.array([-0.2, 0.04, 0.1, 0.0])[COLUMN % 4] + grains(draw, 0.06))


def metal(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """A bright block: bevels and a sheen."""
    sheen = 0.1 * np.sin((ROW + COLUMN) * 0.42) - 0.03
    return lit(base, np.where(EDGE == 1, 0.12, sheen) + bevel(1, 0.24) + 0.03 * noise(draw, SIDE))


def straw(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Bundled stalks with two cords."""
    shade = draw.uniform(-0.25, 0.2, SIDE)[COLUMN] + 0.12 * noise(draw, SIDE)
    tile = lit(base, shade)
    return paint(tile, (ROW == 3) | (ROW == 12), np.array([120.0, 50.0, 30.0]), 0.1 * noise(draw, SIDE))


def wool(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Soft loops."""
    return lit(base, 0.06 * np.where((ROW // 2 + COLUMN // 2) % 2, 1, -1) + grains(draw, 0.08))


def leaves(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Foliage with dark gaps."""
    shade = 0.3 * noise(draw, SIDE) + 0.2 * noise(draw, 8)
    return lit(base, np.where(shade < -0.2, -0.55, shade))


def liquid(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Water."""
    tile = lit(base, 0.1 * np.sin(ROW * 0.8 + 3 * noise(draw, 4)) + 0.06 * noise(draw, 8))
    tile[..., 3] = 0.66
    return tile


def lava(draw: Generator, base: Tile, _second: Tile) -> Tile:
    """Glowing flows with a dark crust."""
    heat = noise(draw, 4) + 0.5 * noise(draw, 8)
    tile = lit(base, 0.1 * heat)
    paint(tile, heat > 0.3, np.array([255.0, 196.0, 62.0]), 0.06 * heat)
    return paint(tile, heat < -0.55, np.array([150.0, 38.0, 12.0]))


def ribs(draw: Generator, base: Tile, second: Tile) -> Tile:
    """A gourd's or a cactus's sides."""
    shade = 0.1 * np.sin((COLUMN + 0.5) / SIDE * 8 * np.pi) + grains(draw, 0.08)
    return paint(lit(base, shade), COLUMN % 4 == 0, second, 0.08 * noise(draw, SIDE))


NATURAL: Final[tuple[Pattern, ...]] = (
    grain, smooth, sandy, ice, pebbles, cobble, speckle, furrows, ore, crystals, planks, bark, birch, rings, bricks,
    blocks, mossy, cracked, chiseled, polished, tiles, strata, ridges, metal, straw, wool, leaves, liquid, lava, ribs,
)  # fmt: skip
