"""Lower bounds on the steps that are left: exact distances in projections of the task (pattern databases).

A projection keeps the agent's pose and the *tracked* things: of a key whether it was never picked up, is in hand, is
used up, or in which part of the grid it was dropped; whether doors are open and switches active; where blocks stand.
It forgets where in that part a key lies, so it can be picked up anywhere there, keys whose doors are all open, and
everything untracked: such doors and gates are passed freely, such blocks are not in the way, such keys are at hand
where a door needs one. A step in the task is a step or a stay in the projection: distances never overestimate and are
consistent, and where it has no way to the goal the task has none. What it is worth that a key lies where it lies
(:mod:`gridworld.search.relaxation.worth`) need not be forgotten.
After Culberson and Schaeffer, "Pattern Databases" (1998), and Edelkamp, "Planning with Pattern Databases" (2001).
"""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import replace
from itertools import combinations
from math import prod
from typing import Final

import numpy as np

from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import Cell
from gridworld.search.relaxation.bounds import Bounds
from gridworld.search.relaxation.measuring import UNREACHABLE, EndlessError
from gridworld.search.relaxation.numbering import Pattern, TooLargeError, collect_named_ids
from gridworld.search.relaxation.places import Numbers, Places
from gridworld.search.relaxation.projection import Projection
from gridworld.search.relaxation.worth import moves

PROJECTION_LIMIT: Final = 200_000
"""Most states of one projection; a task that needs more gets several smaller ones, and the greatest bound counts."""

COARSE: Final = 128
"""The grain at which dropped keys differ only by connected component; as large as a grid can be."""

_MAX_PAIRED: Final = 5
"""Blocks whose pairs are all tracked; more blocks have too many pairs."""

__all__ = ["COARSE", "PROJECTION_LIMIT", "UNREACHABLE", "Relaxation", "goal_pattern", "whole_pattern"]


class Relaxation:
    """A lower bound for every state that is reached from ``start``.

    Args:
        layout: the task.
        start: the task's own start by default.
        pattern: what is tracked; by default everything that matters for the goal.
        grains: sizes of the parts in which dropped keys are told apart, finest first; the first that fits is taken.
        limit: of the number of states of one projection.
        pairs: track blocks in pairs where there is no room for all of them together; else one by one.
        worth: look at what it is worth where dropped keys lie.
    """

    def __init__(
        self,
        layout: Layout,
        start: State | None = None,
        pattern: Pattern | None = None,
        grains: tuple[int, ...] = (COARSE,),
        limit: int = PROJECTION_LIMIT,
        pairs: bool = False,
        worth: bool = False,
    ) -> None:
        self._layout = layout
        self._start = layout.start() if start is None else start
        self.places = Places(layout, self._start)
        self._grains = grains
        self._limit = limit
        self._pairs = pairs
        self._worth = worth
        self._projections: dict[Pattern, Projection] = {}
        self._project(whole_pattern(layout) if pattern is None else pattern)

    def distance(self, state: State) -> int:
        """Return a lower bound on the steps to the goal; ``UNREACHABLE`` if it cannot be reached any more."""
        return max(projection.distance(state) for projection in self._projections.values())

    def bounds(self, state: State) -> Bounds:
        """Return the same for many states like one in which no key on the floor was ever picked up."""
        return Bounds(tuple(self._projections.values()), state)

    def parts(self) -> tuple[Numbers, ...]:
        """Return the numbers of cells on which a key may be dropped, in parts that no projection distinguishes."""
        parts = defaultdict[tuple[int, ...], list[int]](list)
        for cell in self.places.parts(COARSE):
            numbers = [projection.modes.numbering.parts[cell] for projection in self._projections.values()]
            parts[tuple(numbers)].append(self.places.index[cell])
        return tuple(np.array(part) for part in parts.values())

    def _project(self, pattern: Pattern) -> None:
        """Track a pattern by one projection if it is small enough, else by several; the poses alone always are."""
        if pattern in self._projections:
            return
        limit = self._limit if pattern != Pattern() else UNREACHABLE
        for grain in self._grains if pattern.keys else (COARSE,):
            try:
                self._projections[pattern] = self._projection(pattern, grain, limit)
            except TooLargeError:
                continue
            return
        for part in self._parts(pattern):
            self._project(part)

    def _projection(self, pattern: Pattern, grain: int, limit: int) -> Projection:
        """Project with worth if it is looked at; from the farthest door it says most where doors stand in a row."""
        anchors = list[set[Cell]]()
        doors = {cell for cell, door in self._layout.doors.items() if door.id in pattern.doors}
        if self._worth and pattern.keys and doors:
            anchors = [self._farthest(doors), doors]
        elif self._worth and pattern.loose:
            anchors = [set()]
        for cells in anchors:
            with suppress(EndlessError):
                return Projection(self.places, self._start, pattern, grain, limit, cells)
        return Projection(self.places, self._start, pattern, grain, limit)

    def _farthest(self, cells: set[Cell]) -> set[Cell]:
        far = moves(self.places, [self._start.position], back=False)
        index = self.places.index
        return {max(sorted(cells), key=lambda cell: far[index[cell]])}

    def _parts(self, pattern: Pattern) -> tuple[Pattern, ...]:
        """Return smaller patterns that together track the same: fewer blocks, then none, then halves."""
        if pattern.loose and self._fits(pattern.blocks):
            return (replace(pattern, loose=pattern.loose[:-1]),)
        without = replace(pattern, blocks=())
        if len(pattern.blocks) > 1:
            in_pairs = self._pairs and 2 < len(pattern.blocks) <= _MAX_PAIRED
            fewer = combinations(pattern.blocks, 2 if in_pairs else 1)
            return tuple(replace(pattern, blocks=blocks, loose=self._targets(pattern, blocks)) for blocks in fewer)
        if pattern.blocks and without != Pattern():
            return without, Pattern(blocks=pattern.blocks)

        # Sorted by colour, so that keys and their doors stay together as far as possible.
        doors: dict[str, str] = {door.id: door.requires_key for door in self._layout.doors.values()}
        names = sorted((*pattern.keys, *pattern.doors), key=lambda name: self._colour(name, doors))
        names += pattern.switches
        half = len(names) // 2
        if not half:
            return (Pattern(),)
        return pattern.only(names[:half]), pattern.only(names[half:])

    def _fits(self, blocks: tuple[str, ...]) -> bool:
        """Return whether blocks can be tracked together, if nothing else is."""
        cells = prod(len(self.places.reach[name]) for name in blocks)
        return cells * len(self.places) <= self._limit

    def _targets(self, pattern: Pattern, tracked: tuple[str, ...]) -> tuple[str, ...]:
        """Return the other blocks that have a target, in the task's order, if worth is looked at."""
        goal = self._layout.spec.goal
        if not self._worth or goal.goal_type != "push_block_to":
            return ()
        others = {*pattern.blocks, *pattern.loose}.intersection(goal.target_ids).difference(tracked)
        return tuple(sorted(others, key=self._layout.block_index.__getitem__))

    def _colour(self, name: str, doors: dict[str, str]) -> str:
        return doors[name] if name in doors else self._layout.colour_of_key[name]


def whole_pattern(layout: Layout) -> Pattern:
    """Track all that may matter: locked doors, keys that fit, switches of gates, blocks, what is named."""
    wanted = collect_named_ids(layout)
    doors = [door for door in layout.doors.values() if door.initial_state != "open"]
    colours = {door.requires_key for door in doors}
    keys = [key.id for key in layout.keys if key.color in colours or key.id in wanted]
    shut = {gate.id for gate in layout.gates.values() if gate.initial_state != "open"}

    switches = list[str]()
    for switch in layout.switches.values():
        matters = switch.id in wanted or not shut.isdisjoint(switch.controls)
        if matters and layout.switch_type(switch.id) != "hold":
            switches.append(switch.id)

    return Pattern(
        keys=tuple(keys),
        doors=tuple(door.id for door in doors),
        switches=tuple(switches),
        blocks=tuple(block.id for block in layout.blocks if block.pushable),
    )


def goal_pattern(layout: Layout) -> Pattern:
    """Return the pattern of what the goal and auxiliary conditions name; it ignores locks."""
    return whole_pattern(layout).only(collect_named_ids(layout))
