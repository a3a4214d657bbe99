"""Distances to the goal in one projection, by breadth-first search backward from every state in which it may hold."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gridworld.rules.layout import State
from gridworld.rules.tilings import Cell
from gridworld.search.relaxation.events import Event
from gridworld.search.relaxation.measuring import UNREACHABLE, Edges, distances, layers
from gridworld.search.relaxation.modes import Modes
from gridworld.search.relaxation.numbering import GONE, HOME, Numbering, Pattern
from gridworld.search.relaxation.places import Mask, Numbers, Places
from gridworld.search.relaxation.possible import Possible
from gridworld.search.relaxation.worth import Worth

Steps: TypeAlias = tuple[Numbers, Numbers, Numbers]
"""Of the steps in a projection, the states before and after them and their costs."""


class Projection:
    """Exact distances in the projection that tracks ``pattern``; its states are numbered mode x poses + pose.

    Args:
        places: the poses of the task.
        start: the state that every state asked for is reached from.
        pattern: what is tracked.
        grain: size of the parts of the grid in which dropped keys are told apart.
        limit: of the number of states.
        anchors: for the worth of keys (:class:`Worth`); None: that is not looked at.

    Raises:
        TooLargeError: there would be more.
        EndlessError: the worth of keys makes a way around cost less than nothing.
    """

    def __init__(
        self,
        places: Places,
        start: State,
        pattern: Pattern,
        grain: int,
        limit: int,
        anchors: Collection[Cell] | None = None,
    ) -> None:
        self.places = places
        self.pattern = pattern
        numbering = Numbering(places, pattern, grain, limit)
        self._worth = None if anchors is None else Worth(numbering, anchors)
        self.modes = Modes(numbering, start, limit)
        self.possible = Possible(self.modes)
        self._known: dict[tuple[object, ...], tuple[int, int]] = {}
        self._distances = self._measured()

    def distance(self, state: State) -> int:
        """At least so many steps are left; ``UNREACHABLE``: there is no way."""
        row, worth = self._mode(state)
        steps = self._steps(state, row)
        return max(0, steps + worth) if steps < UNREACHABLE else UNREACHABLE

    def steps(self, codes: Numbers, poses: Numbers, worth: Numbers) -> Numbers:
        """The same for many modes and poses, with what the places of keys are worth in each; may be below 0."""
        rows = self.modes.rows(codes)
        steps = self._distances[rows * len(self.places) + poses].astype(np.int64)
        return np.where((rows >= 0) & (steps < UNREACHABLE), steps + worth, 2 * UNREACHABLE)

    def values(self, key: str) -> Numbers:
        """By number of cell, what it is worth that a tracked key lies there; the last: where it began."""
        return self._worth.values(key) if self._worth else np.zeros(len(self.places.index) + 1, dtype=np.int64)

    def _mode(self, state: State) -> tuple[int, int]:
        mode = state[2:8]
        known = self._known.get(mode)
        if known is None:
            known = self._known[mode] = self.modes.row(state), self._worth.of(state) if self._worth else 0
        return known

    def _steps(self, state: State, row: int) -> int:
        if row < 0 or state.dead:
            return UNREACHABLE
        return int(self._distances.item(row * len(self.places) + self.places.pose(state)))

    def _measured(self) -> NDArray[np.int32]:
        """Breadth-first, unless there is worth."""
        steps = [self._moves(), *self._pushes(), *map(self._changes, self.modes.events)]
        sources, targets = (np.concatenate([step[i] for step in steps]) for i in (0, 1))
        goals = self.possible.goal().ravel()
        headings = self.places.headings
        if self._worth is None:
            return layers(Edges.of(sources, targets, len(goals)), goals, headings)
        edges = Edges.of(sources, targets, len(goals), np.concatenate([step[2] for step in steps]))
        return distances(edges, goals, headings, self._worth.estimate(self.modes.codes).ravel())

    def _moves(self) -> Steps:
        places = self.places
        layout = self.places.layout
        allowed = np.tile(places.after >= 0, (len(self.modes), 1))
        passages = [(cell, door.id) for cell, door in layout.doors.items()]
        passages += [(cell, gate.id) for cell, gate in layout.gates.items()]
        for cell, name in passages:
            self._require(allowed, places.facing(cell), self.possible.open(name, True))
        for block, cells in self.modes.numbering.cells.items():
            for cell in cells:
                self._require(allowed, places.facing(cell), self.possible.at(block, cell, False))
        rows, poses = np.nonzero(allowed)
        return rows * len(places) + poses, rows * len(places) + places.after[poses], np.broadcast_to(1, len(rows))

    @staticmethod
    def _require(allowed: Mask, poses: Mask, condition: Mask) -> None:
        allowed[:, poses] &= condition if condition.shape[1] == 1 else condition[:, poses]

    def _pushes(self) -> Iterator[Steps]:
        """Steps onto a tracked block; what is tracked must not be in its way."""
        places = self.places
        numbering = self.modes.numbering
        layout = self.places.layout
        homes = {key.position.to_tuple(): key.id for key in layout.keys}
        for block, cells in numbering.cells.items():
            for cell, digit in cells.items():
                for pose in np.flatnonzero(places.facing(cell)):
                    beyond = layout.tiling.ahead(cell, int(pose) % places.headings)
                    if beyond not in cells:
                        continue
                    key = homes.get(beyond, "")
                    other = [
                        (o, reach[beyond]) for o, reach in numbering.cells.items() if self._blocks(o, beyond, block)
                    ]
                    other += [(key, HOME)] if key in self.modes else []
                    delta = (cells[beyond] - digit) * numbering.strides[block]
                    rows, after = self.modes.changes(Event(places.on(cell), ((block, digit),), tuple(other), delta))
                    cost = 1 + (self._worth.pushed(block, cell, beyond) if self._worth else 0)
                    after = after * len(places) + places.after[pose]
                    yield rows * len(places) + pose, after, np.broadcast_to(cost, len(rows))

    def _blocks(self, other: str, cell: Cell, block: str) -> bool:
        """Whether the projection knows when another block is in the way of a block on a cell."""
        numbering = self.modes.numbering
        return other != block and cell in numbering.cells[other] and numbering.exactly(other, cell)

    def _changes(self, event: Event) -> Steps:
        rows, after = self.modes.changes(event)
        poses = np.flatnonzero(event.poses)
        sources = rows[:, None] * len(self.places) + poses
        costs: Numbers = np.broadcast_to(1, sources.shape)
        if self._worth and event.key:
            # A key of no more use is worth nothing anywhere.
            kept = ~self.modes.having(event.key, GONE)[after]
            costs = costs + kept * self._worth.gain(event)[poses]
        return sources.ravel(), (after[:, None] * len(self.places) + poses).ravel(), costs.ravel()
