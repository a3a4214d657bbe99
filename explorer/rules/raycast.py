"""Compute the cells that a ray from the eye crosses.

At lattice poses, the offsets of these cells are fixed, so they are computed once per direction.

A digital differential analyser (Amanatides and Woo 1987) walks from cell to neighbouring cell, never diagonally, so no
ray slips through an edge. If a ray meets an edge exactly, the walk goes along x before y before z. Fractions make the
test for an edge exact.
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
"""Components of a direction below this count as 0."""
_NEVER: Final = Fraction(10**9)
"""Position along a ray that stands for a boundary which the ray never reaches."""


@dataclass(frozen=True, slots=True)
class Crossing:
    """A cell that a ray crosses.

    Attributes:
        offset: offset from the cell of the feet.
        distance: metres from the eye to the point where the ray enters the cell.
        before: offset of the previous cell on the ray; for the first cell, its own offset.
    """

    offset: Cell
    distance: float
    before: Cell


def ray(pose: Pose) -> tuple[Crossing, ...]:
    """Return the cells that the crosshair crosses within :data:`REACH`, the eye's own cell first."""
    return _crossings(pose.facing, pose.pitch, pose.aim)


@cache
def _crossings(facing: int, pitch: int, aim: Cell | None) -> tuple[Crossing, ...]:
    """Return the crossings of the crosshair.

    The crosshair points to the middle of the cell ``aim``, or, if ``aim`` is None, along ``facing`` and ``pitch``.
    """
    if aim is None:
        straight = Pose((0, 0, 0), facing, pitch).direction
        return walk(_EYE, tuple(map(Fraction, straight)), REACH)
    middle = [goal + Fraction(1, 2) for goal in aim]
    to_middle = tuple(goal - eye for goal, eye in zip(middle, _EYE, strict=True))
    return walk(_EYE, to_middle, REACH)


def walk(start: Vector, direction: Vector, length: float) -> tuple[Crossing, ...]:
    """Return the cells that a ray crosses, beginning with the cell of its start.

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
