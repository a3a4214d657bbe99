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
from gridworld.search.relaxation.worth import DroppedKeyPotential

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
        anchors: for the worth of keys (:class:`DroppedKeyPotential`); None: that is not looked at.

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
        self._worth = None if anchors is None else DroppedKeyPotential(numbering, anchors)
        self.modes = Modes(numbering, start, limit)
        self.possible = Possible(self.modes)
        self._known: dict[tuple[object, ...], tuple[int, int]] = {}
        self._distances = self._measure()

    def distance(self, state: State) -> int:
        """Return a lower bound on the steps left; ``UNREACHABLE``: there is no way."""
        row, worth = self._mode(state)
        steps = self._steps(state, row)
        return max(0, steps + worth) if steps < UNREACHABLE else UNREACHABLE

    def steps(self, codes: Numbers, poses: Numbers, worth: Numbers) -> Numbers:
        """Return the same for many modes and poses, with what the places of keys are worth in each; may be below 0."""
        rows = self.modes.rows(codes)
        states = rows * len(self.places) + poses
        steps = self._distances[states].astype(np.int64)
        reachable = (rows >= 0) & (steps < UNREACHABLE)
        return np.where(reachable, steps + worth, 2 * UNREACHABLE)

    def values(self, key: str) -> Numbers:
        """Return, by number of cell, the worth of a tracked key that lies there; the last: where it began."""
        if self._worth:
            return self._worth.values(key)
        return np.zeros(len(self.places.index) + 1, dtype=np.int64)

    def _mode(self, state: State) -> tuple[int, int]:
        mode = state[2:8]
        known = self._known.get(mode)
        if known is None:
            worth = self._worth.rate_state(state) if self._worth else 0
            known = self.modes.row(state), worth
            self._known[mode] = known
        return known

    def _steps(self, state: State, row: int) -> int:
        if row < 0 or state.dead:
            return UNREACHABLE
        number = row * len(self.places) + self.places.pose(state)
        return int(self._distances.item(number))

    def _measure(self) -> NDArray[np.int32]:
        """Measure distances breadth-first, unless there is worth."""
        steps = [self._moves(), *self._pushes(), *map(self._changes, self.modes.events)]
        sources = np.concatenate([step[0] for step in steps])
        targets = np.concatenate([step[1] for step in steps])
        goals = self.possible.goal().ravel()
        headings = self.places.headings
        if self._worth is None:
            return layers(Edges.build(sources, targets, len(goals)), goals, headings)

        costs = np.concatenate([step[2] for step in steps])
        edges = Edges.build(sources, targets, len(goals), costs)
        estimate = self._worth.estimate(self.modes.codes).ravel()
        return distances(edges, goals, headings, estimate)

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
                self._require(allowed, places.facing(cell), self.possible.stands_on(block, cell, False))

        rows, poses = np.nonzero(allowed)
        first = rows * len(places)
        return first + poses, first + places.after[poses], np.broadcast_to(1, len(rows))

    @staticmethod
    def _require(allowed: Mask, poses: Mask, condition: Mask) -> None:
        allowed[:, poses] &= condition if condition.shape[1] == 1 else condition[:, poses]

    def _pushes(self) -> Iterator[Steps]:
        """Yield steps onto a tracked block; what is tracked must not be in its way."""
        places = self.places
        tiling = places.layout.tiling
        homes = {key.position.to_tuple(): key.id for key in places.layout.keys}
        for block, cells in self.modes.numbering.cells.items():
            for cell in cells:
                for pose in np.flatnonzero(places.facing(cell)).tolist():
                    beyond = tiling.ahead(cell, pose % places.headings)
                    if beyond in cells:
                        yield self._push(block, cell, beyond, pose, homes.get(beyond, ""))

    def _push(self, block: str, cell: Cell, beyond: Cell, pose: int, key: str) -> Steps:
        """Return the steps from a pose that push a block on to ``beyond``, where ``key`` lies at first ("": none)."""
        places = self.places
        numbering = self.modes.numbering
        digits = numbering.cells[block]

        obstacles = list[tuple[str, int]]()
        for other, cells in numbering.cells.items():
            if self._blocks(other, beyond, block):
                obstacles.append((other, cells[beyond]))
        if key in self.modes:
            obstacles.append((key, HOME))

        delta = (digits[beyond] - digits[cell]) * numbering.strides[block]
        push = Event(places.on(cell), ((block, digits[cell]),), tuple(obstacles), delta)
        rows, after = self.modes.changes(push)
        gain = self._worth.rate_push(block, cell, beyond) if self._worth else 0

        sources = rows * len(places) + pose
        targets = after * len(places) + places.after[pose]
        return sources, targets, np.broadcast_to(1 + gain, len(rows))

    def _blocks(self, other: str, cell: Cell, block: str) -> bool:
        """Return whether the projection knows when another block is in the way of a block on a cell."""
        numbering = self.modes.numbering
        if other == block or cell not in numbering.cells[other]:
            return False
        return numbering.exactly(other, cell)

    def _changes(self, event: Event) -> Steps:
        rows, after = self.modes.changes(event)
        poses = np.flatnonzero(event.poses)
        sources = rows[:, None] * len(self.places) + poses
        targets = after[:, None] * len(self.places) + poses
        costs: Numbers = np.broadcast_to(1, sources.shape)
        if self._worth and event.key:
            # A key of no more use is worth nothing anywhere.
            kept = ~self.modes.has_digit(event.key, GONE)[after]
            costs = costs + kept * self._worth.gain(event)[poses]
        return sources.ravel(), targets.ravel(), costs.ravel()
