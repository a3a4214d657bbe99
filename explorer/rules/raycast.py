"""The cells that a ray from the eye crosses. At lattice poses these are fixed offsets, computed once per direction.

A DDA walks the ray (Amanatides and Woo 1987) from cell to neighbouring cell, never diagonally, so it cannot slip
through an edge. At an exact edge it goes along x before y before z; fractions make that test exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor, hypot
from typing import Final

from explorer.scene import EYE_HEIGHT, Cell, Pose

REACH: Final = 4.5
"""Farthest distance in metres from the eye to the point where a ray enters a cell."""

Number = Fraction | float
Vector = tuple[Number, ...]
"""x, y, z; fractions where edges matter."""
_EYE: Final = (Fraction(1, 2), Fraction(str(EYE_HEIGHT)), Fraction(1, 2))
_FLAT: Final = 1e-9
_NEVER: Final = Fraction(10**9)


@dataclass(frozen=True, slots=True)
class Crossing:
    """A cell that a ray crosses.

    Attributes:
        offset: offset from the cell of the feet.
        distance: metres from the eye to where the ray enters the cell.
        before: offset of the previous cell.
    """

    offset: Cell
    distance: float
    before: Cell


def ray(pose: Pose) -> tuple[Crossing, ...]:
    """Return the cells that the crosshair crosses within :data:`REACH`, the eye's own cell first."""
    return _crossings(pose.facing, pose.pitch, pose.aim)


@cache
def _crossings(facing: int, pitch: int, aim: Cell | None) -> tuple[Crossing, ...]:
    if aim is None:
        straight = Pose((0, 0, 0), facing, pitch).direction
        return walk(_EYE, tuple(map(Fraction, straight)), REACH)
    middle = [goal + Fraction(1, 2) for goal in aim]
    to_middle = tuple(goal - eye for goal, eye in zip(middle, _EYE, strict=True))
    return walk(_EYE, to_middle, REACH)


def walk(start: Vector, direction: Vector, length: float) -> tuple[Crossing, ...]:
    """Return the cells that a ray crosses, the first one included.

    Args:
        direction: any length but 0; components below 1e-9 count as 0.
        length: length of the ray in metres.
    """
    cell = [floor(value) for value in start]
    norm = hypot(*direction)
    step = [0, 0, 0]
    each: list[Number] = [_NEVER] * 3
    ahead: list[Number] = [_NEVER] * 3

    for axis, (value, slope) in enumerate(zip(start, direction, strict=True)):
        if slope > _FLAT:
            step[axis] = 1
            each[axis] = 1 / slope
            ahead[axis] = (cell[axis] + 1 - value) / slope
        elif slope < -_FLAT:
            step[axis] = -1
            each[axis] = -1 / slope
            ahead[axis] = (cell[axis] - value) / slope

    here = before = (cell[0], cell[1], cell[2])
    crossings = [Crossing(here, 0.0, before)]
    while (distance := float(first := min(ahead)) * norm) <= length:
        axis = ahead.index(first)
        cell[axis] += step[axis]
        ahead[axis] += each[axis]
        before = here
        here = (cell[0], cell[1], cell[2])
        crossings.append(Crossing(here, distance, before))
    return tuple(crossings)
