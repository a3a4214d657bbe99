"""A lower bound on the steps of any plan: distances between places where milestones can be achieved, all gates open.

A step of the lattice moves the body one cell sideways (up by at most one, down by any depth), or two cells over a gap.
If ``b`` cannot be achieved before ``a``, then reaching ``b`` takes at least as long as reaching some place of ``a`` and
going from there to a place of ``b``. The greatest of several such bounds holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.milestones import AtLeast, AtMost, InsideBox, InventoryHas, Milestone, NearWithFacing, Rule, bare
from explorer.rules.recipes import recipes_for
from explorer.scene import Cell
from explorer.solver.closure import Arena
from explorer.solver.flood import Bytes, shift
from explorer.solver.places import box_of, counted_cells, find_lying, find_sources, where_holds
from explorer.solver.proving import Proven
from explorer.solver.stock import most_blocks

NEVER: Final = 1 << 30
_ARM: Final = 5
"""Reach of the hands in cells along each axis from the eye's cell, rounded up."""
Steps = NDArray[np.int32]
"""Least steps to each cell of the flat array, :data:`NEVER` where the body cannot be."""


def lower_bound(arena: Arena, milestones: Sequence[Milestone], proven: Proven) -> int:
    """Return a lower bound on the steps of any plan that achieves the goal, at least 1."""
    ways = _Ways(arena, proven)
    start = np.full(arena.space.length, NEVER, np.int32)
    start[arena.space.at(arena.scene.spawn.cell)] = 0
    from_start = ways.spread(start)

    spread: dict[str, Steps] = {}
    for milestone in _sort_by_needs(milestones, proven):
        least = from_start
        for earlier in proven.before(milestone.milestone_id):
            if earlier in spread:
                least = np.maximum(least, spread[earlier])
        there = np.where(_find_places(arena, proven, milestone), least, NEVER)
        if milestone is milestones[-1]:
            return max(1, int(there.min()))
        spread[milestone.milestone_id] = ways.spread(there)
    return 1


def _sort_by_needs(milestones: Sequence[Milestone], proven: Proven) -> Iterator[Milestone]:
    """Yield milestones after those that they need; in a cycle, the first goes first, which weakens the bound."""
    left = list(milestones[:-1])
    while left:
        names = {each.milestone_id for each in left}
        ready = (each for each in left if names.isdisjoint(proven.before(each.milestone_id)))
        first = next(ready, left[0])
        left.remove(first)
        yield first
    yield milestones[-1]


class _Ways:
    """The moves that a body could ever make."""

    def __init__(self, arena: Arena, proven: Proven) -> None:
        space = arena.space
        self._space = space
        self._cells = space.flat(proven.everything.cells)
        ground = arena.ground.copy()
        if most_blocks(proven.everything.most):
            ground |= arena.fillable
        for cell in proven.everything.removed:
            ground[space.at(cell)] = 255
        self._rest = self._cells & shift(ground, space.up)
        self._gap = self._cells & ~shift(arena.lasting, space.up)

    def spread(self, start: Steps) -> Steps:
        """Return the least steps to every cell, given those to the start cells."""
        steps = start.copy()
        reached = np.zeros_like(self._cells)
        times = np.unique(start[start < NEVER])
        now = int(times[0]) if len(times) else NEVER
        last = int(times[-1]) if len(times) else 0

        while now < NEVER:
            here = (steps <= now) * np.uint8(255)
            grown = self._fall(self._step(here))
            fresh = (grown > 0) & (steps > now + 1)
            if not fresh.any() and now >= last and np.array_equal(here, reached):
                return steps
            steps[fresh] = now + 1
            reached = here
            now += 1
        return steps

    def _step(self, here: Bytes) -> Bytes:
        """Return the cells that one step leads to, before the body falls."""
        space = self._space
        raised = here | shift(here, space.up)
        grown = raised.copy()
        for by in (space.east, -space.east, space.south, -space.south):
            grown |= shift(raised, by)
            grown |= shift(shift(here, by) & self._gap, by)
        return grown & self._cells

    def _fall(self, grown: Bytes) -> Bytes:
        while True:
            lower = grown | (shift(grown, -self._space.up) & self._cells)
            if np.array_equal(lower, grown):
                return grown & self._rest
            grown = lower


def _find_places(arena: Arena, proven: Proven, milestone: Milestone) -> NDArray[np.bool_]:
    """Return the cells where the body may be in the step that achieves a milestone, or just before it."""
    everywhere = proven.everything.cells
    stands = [rule for rule in milestone.rules if isinstance(rule, InsideBox | NearWithFacing)]
    if stands:
        cells = np.logical_and.reduce([where_holds(arena, everywhere, rule, resting=True) for rule in stands])
    else:
        cells = np.logical_or.reduce([_find_in_reach(arena, proven, rule) for rule in milestone.rules]) & everywhere
    return arena.space.flat(cells).astype(np.bool_)


def _find_in_reach(arena: Arena, proven: Proven, rule: Rule) -> NDArray[np.bool_]:
    """Return the cells from which hands, or feet on an item, can make a rule hold."""
    near = np.zeros(arena.scene.blocks.shape, np.bool_)
    if isinstance(rule, InventoryHas):
        for x, y, z in find_lying(arena, bare(rule.item)):
            near[y, z, x] = True
    targets = _find_targets(arena, proven, rule)
    if targets is None:
        return np.ones_like(near)
    for x, y, z in targets:
        levels = slice(max(y - _ARM - 1, 0), y + _ARM + 1)
        rows = slice(max(z - _ARM, 0), z + _ARM + 1)
        columns = slice(max(x - _ARM, 0), x + _ARM + 1)
        near[levels, rows, columns] = True
    return near


def _find_targets(arena: Arena, proven: Proven, rule: Rule) -> Iterable[Cell] | None:
    """Return the cells that hands must reach for a rule to hold, or None if it may happen anywhere."""
    match rule:
        case InventoryHas():
            for recipe in recipes_for(rule.item):
                if all(kinds & proven.everything.most.keys() for kinds, _ in recipe.needs):
                    return None
            return find_sources(arena, bare(rule.item))
        case AtLeast() if rule.kind == "block" and len(counted_cells(arena, rule)) < rule.min_count:
            return box_of(arena, rule)
        case AtMost():
            return counted_cells(arena, rule)
        case _:
            return None
