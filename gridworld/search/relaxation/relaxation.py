"""Lower bounds on the remaining steps: exact distances in projections of the task (pattern databases).

A projection keeps the agent's pose and the state of the *tracked* mechanisms:

- key: never picked up, carried, used up, or dropped in a certain part of the grid;
- door: open or not;
- switch: active or not;
- block: its cell.

Within a part of the grid, a projection forgets the cell of a dropped key, so the agent can pick up the key anywhere in
the part. A key whose doors are all open is forgotten. Untracked mechanisms are forgotten too: the agent passes
untracked doors and gates, untracked blocks are not in the way, and an untracked key is at hand at its door.

A step in the task is a step in the projection, or no change. Distances in the projection therefore never overestimate,
and they are consistent. If the goal cannot be reached in the projection, it cannot be reached in the task. The worth of
the cells of dropped keys (:mod:`gridworld.search.relaxation.worth`) can be added to the distances.

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
"""Greatest number of states of a projection; a larger task gets several projections, and the greatest bound counts."""

COARSE: Final = 128
"""The grain at which a part of the grid is a whole connected component, because no grid is larger."""

_MAX_PAIRED: Final = 5
"""Greatest number of blocks whose pairs are all tracked; more blocks have too many pairs."""

__all__ = ["COARSE", "PROJECTION_LIMIT", "UNREACHABLE", "Relaxation", "goal_pattern", "whole_pattern"]


class Relaxation:
    """Lower bounds for all states that can be reached from ``start``.

    Args:
        layout: the task.
        start: the first state; None means the task's start.
        pattern: the mechanisms to track; None means all mechanisms that matter for the goal.
        grains: sizes in cells of the parts of the grid for dropped keys, finest first. The finest grain that keeps to
            the limit is taken.
        limit: limit of the number of states of one projection.
        pairs: whether blocks are tracked in pairs if one projection cannot track all blocks; otherwise one by one.
        worth: whether the worth of the cells of dropped keys is added to the bounds.
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
        """Return a lower bound on the steps to the goal; ``UNREACHABLE`` if the goal cannot be reached."""
        return max(projection.distance(state) for projection in self._projections.values())

    def bounds(self, state: State) -> Bounds:
        """Return lower bounds for the states that differ from ``state`` only in pose and cells of keys on the floor.

        Args:
            state: a state in which every key on the floor is on its initial cell.
        """
        return Bounds(tuple(self._projections.values()), state)

    def parts(self) -> tuple[Numbers, ...]:
        """Return the numbers of the cells on which a key may be dropped, grouped into parts of the grid.

        No projection distinguishes the cells of a part.
        """
        parts = defaultdict[tuple[int, ...], list[int]](list)
        for cell in self.places.parts(COARSE):
            numbers = [projection.modes.numbering.parts[cell] for projection in self._projections.values()]
            parts[tuple(numbers)].append(self.places.index[cell])
        return tuple(np.array(part) for part in parts.values())

    def _project(self, pattern: Pattern) -> None:
        """Add one projection for a pattern or, if the projection would be too large, projections for smaller patterns.

        The empty pattern has no limit, so that the recursion ends.
        """
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
        """Return a projection, with the worth of keys if possible.

        Several sets of anchors are tried in order. The farthest door comes first, because this anchor gives the best
        bounds for doors in a row.
        """
        anchor_sets: list[set[Cell]] = []
        doors = {cell for cell, door in self._layout.doors.items() if door.id in pattern.doors}
        if self._worth and pattern.keys and doors:
            anchor_sets = [self._farthest(doors), doors]
        elif self._worth and pattern.loose:
            anchor_sets = [set()]
        for anchors in anchor_sets:
            with suppress(EndlessError):
                return Projection(self.places, self._start, pattern, grain, limit, anchors)
        return Projection(self.places, self._start, pattern, grain, limit)

    def _farthest(self, cells: set[Cell]) -> set[Cell]:
        """Return the cell that is farthest from the start, as a set."""
        distance = moves(self.places, [self._start.position], back=False)
        index = self.places.index
        return {max(sorted(cells), key=lambda cell: distance[index[cell]])}

    def _parts(self, pattern: Pattern) -> tuple[Pattern, ...]:
        """Return smaller patterns that together track as much as possible of a pattern.

        The blocks are divided first, then separated from the other mechanisms, and at last keys, doors and switches
        are halved.
        """
        if pattern.loose and self._fits(pattern.blocks):
            return (replace(pattern, loose=pattern.loose[:-1]),)
        without_blocks = replace(pattern, blocks=())
        if len(pattern.blocks) > 1:
            in_pairs = self._pairs and 2 < len(pattern.blocks) <= _MAX_PAIRED
            groups = combinations(pattern.blocks, 2 if in_pairs else 1)
            return tuple(replace(pattern, blocks=group, loose=self._targets(pattern, group)) for group in groups)
        if pattern.blocks and without_blocks != Pattern():
            return without_blocks, Pattern(blocks=pattern.blocks)

        # Names are sorted by colour, so that keys and their doors stay together as far as possible.
        doors: dict[str, str] = {door.id: door.requires_key for door in self._layout.doors.values()}
        names = sorted((*pattern.keys, *pattern.doors), key=lambda name: self._colour(name, doors))
        names += pattern.switches
        half = len(names) // 2
        if half == 0:
            return (Pattern(),)
        return pattern.only(names[:half]), pattern.only(names[half:])

    def _fits(self, blocks: tuple[str, ...]) -> bool:
        """Return whether a projection that tracks only these blocks keeps to the limit."""
        cells = prod(len(self.places.reach[name]) for name in blocks)
        return cells * len(self.places) <= self._limit

    def _targets(self, pattern: Pattern, tracked: tuple[str, ...]) -> tuple[str, ...]:
        """Return the blocks of a pattern that have a target and are not in ``tracked``, in the task's order.

        If worth does not count, return no blocks.
        """
        goal = self._layout.spec.goal
        if not self._worth or goal.goal_type != "push_block_to":
            return ()
        others = {*pattern.blocks, *pattern.loose}.intersection(goal.target_ids).difference(tracked)
        return tuple(sorted(others, key=self._layout.block_index.__getitem__))

    def _colour(self, name: str, doors: dict[str, str]) -> str:
        """Return the colour of a door or key; ``doors`` has the colours of doors by id."""
        return doors[name] if name in doors else self._layout.colour_of_key[name]


def whole_pattern(layout: Layout) -> Pattern:
    """Return the pattern of all mechanisms that may matter.

    The pattern has the locked doors and their keys, the switches of closed gates, the pushable blocks, and the
    mechanisms that the goal names.
    """
    named = collect_named_ids(layout)
    doors = [door for door in layout.doors.values() if door.initial_state != "open"]
    colours = {door.requires_key for door in doors}
    keys = [key.id for key in layout.keys if key.color in colours or key.id in named]
    closed_gates = {gate.id for gate in layout.gates.values() if gate.initial_state != "open"}

    switches: list[str] = []
    for switch in layout.switches.values():
        matters = switch.id in named or not closed_gates.isdisjoint(switch.controls)
        if matters and layout.switch_type(switch.id) != "hold":
            switches.append(switch.id)

    return Pattern(
        keys=tuple(keys),
        doors=tuple(door.id for door in doors),
        switches=tuple(switches),
        blocks=tuple(block.id for block in layout.blocks if block.pushable),
    )


def goal_pattern(layout: Layout) -> Pattern:
    """Return the pattern of the mechanisms that the goal and its conditions name; all other locks are ignored."""
    return whole_pattern(layout).only(collect_named_ids(layout))
