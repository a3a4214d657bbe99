"""The cells that a ray from the eye crosses; at lattice poses they are fixed offsets, worked out once a direction.

A ray is walked by a DDA (Amanatides and Woo 1987): from cell to neighbouring cell, never diagonally, so that it
squeezes through no edge. Where it leaves a cell exactly at an edge it goes along x before y before z.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from math import floor, inf
from typing import Final

from explorer.scene import EYE_HEIGHT, Cell, Pose

REACH: Final = 4.5
"""Metres from the eye to where a ray enters a cell."""

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Crossing:
    """A cell of a ray.

    Attributes:
        offset: from the cell of the feet.
        distance: metres from the eye to where the ray enters it.
        before: offset of the cell that it comes from.
    """

    offset: Cell
    distance: float
    before: Cell


def ray(pose: Pose) -> tuple[Crossing, ...]:
    """Return what the crosshair crosses within :data:`REACH`, the eye's own cell first."""
    return _crossings(pose.facing, pose.pitch, pose.aim)


@cache
def _crossings(facing: int, pitch: int, aim: Cell | None) -> tuple[Crossing, ...]:
    return walk((0.5, EYE_HEIGHT, 0.5), Pose((0, 0, 0), facing, pitch, aim).direction, REACH)


def walk(start: Point, direction: Point, length: float) -> tuple[Crossing, ...]:
    """Return the cells that a ray crosses, the first one included.

    Args:
        direction: a unit vector.
        length: of the ray, metres.
    """
    cell = [floor(value) for value in start]
    step, each, ahead = [0, 0, 0], [inf, inf, inf], [inf, inf, inf]
    for axis, (value, slope) in enumerate(zip(start, direction, strict=True)):
        if abs(slope) > 1e-9:
            step[axis] = 1 if slope > 0 else -1
            each[axis] = 1 / abs(slope)
            ahead[axis] = ((cell[axis] + 1 - value) if slope > 0 else (value - cell[axis])) * each[axis]
    here = before = (cell[0], cell[1], cell[2])
    crossings = [Crossing(here, 0.0, before)]
    while (distance := min(ahead)) <= length:
        axis = ahead.index(distance)
        cell[axis] += step[axis]
        ahead[axis] += each[axis]
        before, here = here, (cell[0], cell[1], cell[2])
        crossings.append(Crossing(here, distance, before))
    return tuple(crossings)
