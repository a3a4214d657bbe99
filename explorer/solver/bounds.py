"""Compute a lower bound on the number of steps of any plan that achieves the goal.

Distances are measured as if all gates were open. A step of the body leads one cell sideways, or two cells over a gap.
During this step, the body may also rise by one cell or fall any depth.

Assume that a milestone B needs a milestone A. Then every plan first goes to a place where A can be achieved, and later
to a place where B can be achieved. If B needs several milestones, the greatest of their bounds counts.
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
"""Value in an array of steps for a cell that the body cannot reach."""
_ARM: Final = 5
"""Reach of the hands along each axis, as a number of cells from the cell of the eye, rounded up."""
Steps = NDArray[np.int32]
"""Flat array: the least number of steps to each cell; :data:`NEVER` for cells that the body cannot reach."""


def lower_bound(arena: Arena, milestones: Sequence[Milestone], proven: Proven) -> int:
    """Return a lower bound, at least 1, on the number of steps of any plan that achieves the goal.

    Args:
        milestones: all milestones; the last milestone is the goal.
        proven: what closures prove about the milestones.
    """
    ways = _Ways(arena, proven)
    start = np.full(arena.space.length, NEVER, np.int32)
    start[arena.space.at(arena.scene.spawn.cell)] = 0
    from_start = ways.spread(start)

    # Milestone -> least steps to each cell for plans that have achieved the milestone.
    steps_after: dict[str, Steps] = {}
    for milestone in _sort_by_needs(milestones, proven):
        least = from_start
        for earlier in proven.before(milestone.milestone_id):
            if earlier in steps_after:
                least = np.maximum(least, steps_after[earlier])
        steps_at_places = np.where(_find_places(arena, proven, milestone), least, NEVER)
        if milestone is milestones[-1]:
            return max(1, int(steps_at_places.min()))
        steps_after[milestone.milestone_id] = ways.spread(steps_at_places)
    return 1


def _sort_by_needs(milestones: Sequence[Milestone], proven: Proven) -> Iterator[Milestone]:
    """Yield the milestones, each after those that it needs; the goal comes last.

    In a cycle of milestones that need each other, the first milestone of the cycle is yielded first. This can only
    weaken the bound.
    """
    pending = list(milestones[:-1])
    while pending:
        names = {each.milestone_id for each in pending}
        ready = (each for each in pending if names.isdisjoint(proven.before(each.milestone_id)))
        following = next(ready, pending[0])
        pending.remove(following)
        yield following
    yield milestones[-1]


class _Ways:
    """The steps that a body could ever make if all gates were open."""

    def __init__(self, arena: Arena, proven: Proven) -> None:
        space = arena.space
        self._space = space
        self._cells = space.flat(proven.everything.cells)
        ground = arena.ground.copy()
        if most_blocks(proven.everything.most):
            ground |= arena.fillable
        for cell in proven.everything.removed:
            ground[space.at(cell)] = 255
        # Cells where a body can rest, and cells without lasting ground, which a body may jump over.
        self._rest = self._cells & shift(ground, space.up)
        self._gap = self._cells & ~shift(arena.lasting, space.up)

    def spread(self, start: Steps) -> Steps:
        """Return the least number of steps to each cell.

        This is a breadth-first search in which cells of the start join the search at different times.

        Args:
            start: for each cell of the start, the number of steps after which a body may be there; :data:`NEVER` for
                all other cells.
        """
        steps = start.copy()
        reached_before = np.zeros_like(self._cells)
        start_times = np.unique(start[start < NEVER])
        # Without a start cell, no cell can be reached.
        now = int(start_times[0]) if len(start_times) else NEVER
        last_start = int(start_times[-1]) if len(start_times) else 0

        while now < NEVER:
            reached_now = (steps <= now) * np.uint8(255)
            reached_next = self._fall(self._step(reached_now))
            is_new = (reached_next > 0) & (steps > now + 1)
            is_settled = not is_new.any() and now >= last_start
            if is_settled and np.array_equal(reached_now, reached_before):
                return steps
            steps[is_new] = now + 1
            reached_before = reached_now
            now += 1
        return steps

    def _step(self, here: Bytes) -> Bytes:
        """Return the mask of the cells that one step from the cells of ``here`` reaches, before the body falls."""
        space = self._space
        raised = here | shift(here, space.up)
        grown = raised.copy()
        for by in (space.east, -space.east, space.south, -space.south):
            grown |= shift(raised, by)
            grown |= shift(shift(here, by) & self._gap, by)
        return grown & self._cells

    def _fall(self, grown: Bytes) -> Bytes:
        """Return the mask of the cells where a body comes to rest after it falls any depth from a cell of ``grown``."""
        while True:
            lower = grown | (shift(grown, -self._space.up) & self._cells)
            if np.array_equal(lower, grown):
                return grown & self._rest
            grown = lower


def _find_places(arena: Arena, proven: Proven, milestone: Milestone) -> NDArray[np.bool_]:
    """Return a flat mask of the cells where the body may be in the step that achieves a milestone, or just before this
    step.
    """
    everywhere = proven.everything.cells
    place_rules = [rule for rule in milestone.rules if isinstance(rule, InsideBox | NearWithFacing)]
    if place_rules:
        # The body must be where all rules about its place hold.
        masks = [where_holds(arena, everywhere, rule, resting=True) for rule in place_rules]
        cells = np.logical_and.reduce(masks)
    else:
        masks = [_find_in_reach(arena, proven, rule) for rule in milestone.rules]
        cells = np.logical_or.reduce(masks) & everywhere
    return arena.space.flat(cells).astype(np.bool_)


def _find_in_reach(arena: Arena, proven: Proven, rule: Rule) -> NDArray[np.bool_]:
    """Return a mask ``[y, z, x]`` of the cells where the feet may be when the agent makes a rule true.

    The agent does so with its hands, or by stepping on an item.
    """
    near = np.zeros(arena.scene.blocks.shape, np.bool_)
    if isinstance(rule, InventoryHas):
        for x, y, z in find_lying(arena, bare(rule.item)):
            near[y, z, x] = True
    targets = _find_targets(arena, proven, rule)
    if targets is None:
        return np.ones_like(near)
    for x, y, z in targets:
        # The eye is one cell above the feet.
        levels = slice(max(y - _ARM - 1, 0), y + _ARM + 1)
        rows = slice(max(z - _ARM, 0), z + _ARM + 1)
        columns = slice(max(x - _ARM, 0), x + _ARM + 1)
        near[levels, rows, columns] = True
    return near


def _find_targets(arena: Arena, proven: Proven, rule: Rule) -> Iterable[Cell] | None:
    """Return the cells on which hands must act to make a rule true, or None if the agent may be anywhere."""
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
