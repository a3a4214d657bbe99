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
from explorer.solver.flood import Bytes, shifted
from explorer.solver.places import box_of, counted_cells, lying, sources, where_holds
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
    for milestone in _in_order(milestones, proven):
        least = from_start
        for earlier in proven.before(milestone.milestone_id):
            if earlier in spread:
                least = np.maximum(least, spread[earlier])
        there = np.where(_places(arena, proven, milestone), least, NEVER)
        if milestone is milestones[-1]:
            return max(1, int(there.min()))
        spread[milestone.milestone_id] = ways.spread(there)
    return 1


def _in_order(milestones: Sequence[Milestone], proven: Proven) -> Iterator[Milestone]:
    """Yield milestones after those that they need; in a cycle, the first goes first, which weakens the bound."""
    left = list(milestones[:-1])
    while left:
        names = {each.milestone_id for each in left}
        ready = next((each for each in left if not names & set(proven.before(each.milestone_id))), left[0])
        left.remove(ready)
        yield ready
    yield milestones[-1]


class _Ways:
    """The moves that a body could ever make."""

    def __init__(self, arena: Arena, proven: Proven) -> None:
        space = arena.space
        self._space = space
        self._cells = space.flat(proven.everything.cells)
        ground = arena.ground | (arena.fillable if most_blocks(proven.everything.most) else np.uint8(0))
        for cell in proven.everything.removed:
            ground[space.at(cell)] = 255
        self._rest = self._cells & shifted(ground, space.up)
        self._gap = self._cells & ~shifted(arena.lasting, space.up)

    def spread(self, start: Steps) -> Steps:
        """Return the least steps to every cell, given those to the start cells."""
        steps = start.copy()
        reached = np.zeros_like(self._cells)
        times = np.unique(start[start < NEVER])
        now = int(times[0]) if len(times) else NEVER
        last = int(times[-1]) if len(times) else 0
        while now < NEVER:
            here = (steps <= now) * np.uint8(255)
            grown = self._fallen(self._stepped(here))
            fresh = (grown > 0) & (steps > now + 1)
            if not fresh.any() and now >= last and np.array_equal(here, reached):
                return steps
            steps[fresh] = now + 1
            reached = here
            now += 1
        return steps

    def _stepped(self, here: Bytes) -> Bytes:
        """Return the cells that one step leads to, before the body falls."""
        space = self._space
        raised = here | shifted(here, space.up)
        grown = raised.copy()
        for by in (space.east, -space.east, space.south, -space.south):
            grown |= shifted(raised, by)
            grown |= shifted(shifted(here, by) & self._gap, by)
        return grown & self._cells

    def _fallen(self, grown: Bytes) -> Bytes:
        while True:
            lower = grown | (shifted(grown, -self._space.up) & self._cells)
            if np.array_equal(lower, grown):
                return grown & self._rest
            grown = lower


def _places(arena: Arena, proven: Proven, milestone: Milestone) -> NDArray[np.bool_]:
    """Return the cells where the body may be in the step that achieves a milestone, or just before it."""
    rules = milestone.rules
    everywhere = proven.everything.cells
    stands = [
        where_holds(arena, everywhere, rule, resting=True)
        for rule in rules
        if isinstance(rule, InsideBox | NearWithFacing)
    ]
    if stands:
        cells = np.logical_and.reduce(stands)
    else:
        cells = np.logical_or.reduce([_within_reach(arena, proven, rule) & everywhere for rule in rules])
    return arena.space.flat(cells).astype(np.bool_)


def _within_reach(arena: Arena, proven: Proven, rule: Rule) -> NDArray[np.bool_]:
    """Return the cells from which hands, or feet on an item, can make a rule hold."""
    near = np.zeros(arena.scene.blocks.shape, np.bool_)
    if isinstance(rule, InventoryHas):
        for x, y, z in lying(arena, bare(rule.item)):
            near[y, z, x] = True
    targets = _targets(arena, proven, rule)
    if targets is None:
        return np.ones_like(near)
    for x, y, z in targets:
        columns = slice(max(z - _ARM, 0), z + _ARM + 1), slice(max(x - _ARM, 0), x + _ARM + 1)
        near[max(y - _ARM - 1, 0) : y + _ARM + 1, columns[0], columns[1]] = True
    return near


def _targets(arena: Arena, proven: Proven, rule: Rule) -> Iterable[Cell] | None:
    """Return the cells that hands must reach for a rule to hold, or None if it may happen anywhere."""
    match rule:
        case InventoryHas():
            most = proven.everything.most.keys()
            made = any(all(kinds & most for kinds, _ in recipe.needs) for recipe in recipes_for(rule.item))
            return None if made else sources(arena, bare(rule.item))
        case AtLeast() if rule.kind == "block" and len(counted_cells(arena, rule)) < rule.min_count:
            return box_of(arena, rule)
        case AtMost():
            return counted_cells(arena, rule)
        case _:
            return None
