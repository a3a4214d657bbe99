"""How far a body gets from where it stands, and its hands from where it is, before anything is placed: never too near.

The constants are those of :mod:`explorer.worlds.body`. What is assumed of a body that is driven at will:

* It rises 1.2522 m at most, so its feet get into the next cell above the ground, never two above.
* It is never faster at a take-off than after endless jumps under a ceiling of two cells, where it is down again after
  three ticks at the soonest. After the take-off it pushes on for as long as its feet are above where it lands.
* It takes off and lands with up to 0.3 m of it beyond the edge.

So it crosses at most 5 missing cells at level (a body that has run freely crosses 4), 4 to a cell higher.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import cache, reduce
from math import hypot
from operator import itemgetter, mul, or_

from explorer.rules.raycast import REACH
from explorer.scene import EYE_HEIGHT, Cell
from explorer.worlds.body import (
    AIR_PUSH,
    AIR_SLIP,
    FALL_DRAG,
    GRAVITY,
    GROUND_PUSH,
    GROUND_SLIP,
    HALF_WIDTH,
    JUMP,
    SPRINT,
    SPRINT_JUMP,
)
from tests.support.explorer.naive.cells import COMPASS, DOWN, FACES, UP, Cells, Grid

_LEAP = GROUND_PUSH * SPRINT + SPRINT_JUMP
_AIR = AIR_PUSH * SPRINT


def fastest() -> float:
    """Return a speed before a take-off that no body exceeds, metres per tick."""
    speed = 0.0
    for _ in range(200):
        speed = (speed + _LEAP) * GROUND_SLIP
        speed = (speed + _AIR) * AIR_SLIP
        speed = (speed + _AIR) * AIR_SLIP
    return speed


@cache
def lengths(deepest: int) -> dict[int, float]:
    """Return metres along a flight until it lands, by the level of the landing relative to that of the take-off."""
    found: dict[int, float] = {}
    rise, height, step, length, slip = JUMP, 0.0, fastest() + _LEAP, 0.0, GROUND_SLIP
    while len(found) < deepest + 2:
        height, length = height + rise, length + step
        level = 1 - len(found)
        while rise < 0 and height < level and level >= -deepest:
            found[level] = length
            level -= 1
        rise, step, slip = (rise - GRAVITY) * FALL_DRAG, step * slip + _AIR, AIR_SLIP
    return found


class Flights:
    """Where bodies get to from the cells in which they stand, by one jump or fall."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid
        far = lengths(grid.size[1])
        self.within = {
            (x, level, z)
            for level, length in far.items()
            for x in range(-grid.size[0], grid.size[0] + 1)
            for z in range(-grid.size[2], grid.size[2] + 1)
            if hypot(_apart(x, HALF_WIDTH), _apart(z, HALF_WIDTH)) <= length
        }

    def reached(self, standing: Cells, room: Cells) -> Cells:
        """Return the cells that bodies pass, those that they start from included.

        Args:
            room: where a body may be.
        """
        at: dict[Cell, Cells] = defaultdict(int)
        new: dict[Cell, Cells] = {(0, 0, 0): standing & room}
        while new:
            offset = max(new, key=itemgetter(1))
            fresh = new.pop(offset) & ~at[offset]
            at[offset] |= fresh
            for step in FACES if offset[1] == 0 else (*COMPASS, DOWN):
                to = offset[0] + step[0], offset[1] + step[1], offset[2] + step[2]
                if to in self.within and (moved := self.grid.moved(fresh, step) & room & ~at[to]):
                    new[to] = new.get(to, 0) | moved
        return union(at.values())


class Hands:
    """What hands touch from where bodies are."""

    def __init__(self, grid: Grid) -> None:
        self.grid = grid

    def touched(self, bodies: Cells, clear: Cells) -> Cells:
        """Return the cells that a ray enters, solid or not.

        The eye is anywhere in the second cell of a body or, in the air, in the third. A ray never turns back along an
        axis; that is all that is asked of its path.

        Args:
            clear: cells that stop no ray.
        """
        eyes = self.grid.moved(bodies, UP)
        high = self.grid.moved(eyes, UP) & clear
        found = eyes | high
        for x in (1, -1):
            for y in (1, -1):
                for z in (1, -1):
                    found |= self._octant(((x, 0, 0), (0, y, 0), (0, 0, z)), {(0, 1, 0): eyes, (0, 2, 0): high}, clear)
        return found & self.grid.all

    def _octant(self, steps: tuple[Cell, ...], starts: dict[Cell, Cells], clear: Cells) -> Cells:
        """Return what rays enter that go along some of three directions."""
        found, new = 0, dict(starts)
        within = _in_reach(steps)
        for offset in within:
            here = new.get(offset, 0) & clear
            for step in steps if here else ():
                to = offset[0] + step[0], offset[1] + step[1], offset[2] + step[2]
                if to in within:
                    moved = self.grid.moved(here, step)
                    found |= moved
                    new[to] = new.get(to, 0) | moved
        return found


@cache
def _in_reach(steps: tuple[Cell, ...]) -> dict[Cell, None]:
    """Return the cells that hands could get at, each behind those from which one of some steps leads to it."""
    cells = [
        (x, y, z)
        for x in range(-6, 7)
        for y in range(-6, 9)
        for z in range(-6, 7)
        if hypot(_apart(x, 0), max(0, y - EYE_HEIGHT - 1, EYE_HEIGHT - y - 1), _apart(z, 0)) <= REACH
    ]
    return dict.fromkeys(sorted(cells, key=lambda cell: sum(sum(map(mul, step, cell)) for step in steps)))


def union(sets: Iterable[Cells]) -> Cells:
    """Return what is in any of some sets."""
    return reduce(or_, sets, 0)


def _apart(cells: int, overhang: float) -> float:
    """Return the least metres along an axis from a cell, with what a body may overhang, to another cell."""
    return max(0.0, abs(cells) - 1 - overhang)
