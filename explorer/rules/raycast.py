"""Compute the cells that a ray from the eye crosses.

A ray walks from cell to cell by a digital differential analyser (Amanatides and Woo 1987). It never walks diagonally,
so no ray passes through an edge. If a ray meets an edge exactly, the walk goes along x before y before z. Fractions
make this test exact.

In every pose of the lattice, the eye is at the same point of its cell. So the offsets of the crossed cells depend only
on the direction, and are computed once for each direction.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import floor, hypot
from typing import Final

from explorer.scene import EYE_HEIGHT, Cell, Pose

REACH: Final = 4.5
"""Greatest distance in metres from the eye to the point where a ray enters a cell that hands can reach."""

Number = Fraction | float
Vector = tuple[Number, ...]
"""Components x, y, z; they are fractions where a ray may meet an edge exactly."""
_EYE: Final = (Fraction(1, 2), Fraction(str(EYE_HEIGHT)), Fraction(1, 2))
_FLAT: Final = 1e-9
"""Components of a direction with a smaller absolute value count as 0."""
_NEVER: Final = Fraction(10**9)
"""Position along a ray that means "never", for boundaries of cells that the ray does not reach."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A cell that a ray from the eye crosses.

    Attributes:
        offset: offset of the cell from the cell of the feet.
        distance: distance in metres from the eye to the point where the ray enters the cell.
        before: offset of the previous cell on the ray; for the first cell, the same as ``offset``.
    """

    offset: Cell
    distance: float
    before: Cell


def ray(pose: Pose) -> tuple[Crossing, ...]:
    """Return the cells on the line of the crosshair, up to :data:`REACH` from the eye; the cell of the eye is first."""
    return _crossings(pose.facing, pose.pitch, pose.aim)


@cache
def _crossings(facing: int, pitch: int, aim: Cell | None) -> tuple[Crossing, ...]:
    """Return the cells on the line of the crosshair.

    The line goes to the middle of the cell ``aim``; if ``aim`` is None, its direction is ``facing`` and ``pitch``.
    """
    if aim is None:
        straight = Pose((0, 0, 0), facing, pitch).direction
        return walk(_EYE, tuple(map(Fraction, straight)), REACH)
    middle = [goal + Fraction(1, 2) for goal in aim]
    to_middle = tuple(goal - eye for goal, eye in zip(middle, _EYE, strict=True))
    return walk(_EYE, to_middle, REACH)


def walk(start: Vector, direction: Vector, length: float) -> tuple[Crossing, ...]:
    """Return the cells that a ray crosses; the cell that contains its start is first.

    Args:
        direction: vector of any length except 0; components below 1e-9 count as 0.
        length: length of the ray in metres.
    """
    cell = [floor(value) for value in start]
    norm = hypot(*direction)
    step = [0, 0, 0]
    # Along each axis, in units of ``direction``: between two boundaries of cells, and from the start to the next one.
    spacing: list[Number] = [_NEVER] * 3
    next_boundary: list[Number] = [_NEVER] * 3

    for axis, (value, slope) in enumerate(zip(start, direction, strict=True)):
        if slope > _FLAT:
            step[axis] = 1
            spacing[axis] = 1 / slope
            next_boundary[axis] = (cell[axis] + 1 - value) / slope
        elif slope < -_FLAT:
            step[axis] = -1
            spacing[axis] = -1 / slope
            next_boundary[axis] = (cell[axis] - value) / slope

    here = before = (cell[0], cell[1], cell[2])
    crossings = [Crossing(here, 0.0, before)]
    while True:
        nearest = min(next_boundary)
        distance = float(nearest) * norm
        if distance > length:
            return tuple(crossings)
        axis = next_boundary.index(nearest)
        cell[axis] += step[axis]
        next_boundary[axis] += spacing[axis]
        before = here
        here = (cell[0], cell[1], cell[2])
        crossings.append(Crossing(here, distance, before))
