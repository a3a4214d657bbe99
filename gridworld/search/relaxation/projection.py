"""Distances to the goal in one projection, by a backward search from all states in which the goal may hold."""

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
"""Steps in a projection: (states before the steps, states after the steps, costs of the steps)."""


class Projection:
    """A projection that tracks ``pattern``, with its exact distances to the goal.

    The number of a state is: row of its mode x number of poses + pose.

    Args:
        places: the poses of the task.
        start: the first state; the projection knows the distances of the states that can be reached from it.
        pattern: the tracked mechanisms.
        grain: size in cells of the parts of the grid for dropped keys, as for :class:`Numbering`.
        limit: limit of the number of states.
        anchors: the anchors of the worth of keys (:class:`DroppedKeyPotential`); None for a projection without worth.

    Raises:
        TooLargeError: the number of states would exceed the limit.
        EndlessError: the worth of keys gives a cycle a negative cost.
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
        self._rows_and_worths: dict[tuple[object, ...], tuple[int, int]] = {}
        self._distances = self._measure()

    def distance(self, state: State) -> int:
        """Return a lower bound on the remaining steps; ``UNREACHABLE`` means that the goal cannot be reached."""
        row, worth = self._row_and_worth(state)
        steps = self._steps(state, row)
        return max(0, steps + worth) if steps < UNREACHABLE else UNREACHABLE

    def steps(self, codes: Numbers, poses: Numbers, worth: Numbers) -> Numbers:
        """Return lower bounds on the remaining steps of many states; a bound may be below 0.

        Args:
            codes: codes of the modes.
            poses: poses of the agent.
            worth: worth of the dropped keys in each state.

        Returns:
            The bounds; a bound greater than ``UNREACHABLE`` means that the goal cannot be reached.
        """
        rows = self.modes.rows(codes)
        states = rows * len(self.places) + poses
        steps = self._distances[states].astype(np.int64)
        reachable = (rows >= 0) & (steps < UNREACHABLE)
        return np.where(reachable, steps + worth, 2 * UNREACHABLE)

    def values(self, key: str) -> Numbers:
        """Return the worth of a tracked key on each cell; the last value is for a key that was never picked up."""
        if self._worth:
            return self._worth.values(key)
        return np.zeros(len(self.places.index) + 1, dtype=np.int64)

    def _row_and_worth(self, state: State) -> tuple[int, int]:
        """Return (row of the mode of a state, worth of the state), from a cache."""
        mode = state[2:8]  # all fields from carrying to collected
        cached = self._rows_and_worths.get(mode)
        if cached is None:
            worth = self._worth.rate_state(state) if self._worth else 0
            cached = self.modes.row(state), worth
            self._rows_and_worths[mode] = cached
        return cached

    def _steps(self, state: State, row: int) -> int:
        """Return the distance of a state without its worth.

        Args:
            row: the row of the mode of the state, or -1 if the mode is not reachable.
        """
        if row < 0 or state.dead:
            return UNREACHABLE
        number = row * len(self.places) + self.places.pose(state)
        return int(self._distances.item(number))

    def _measure(self) -> NDArray[np.int32]:
        """Return the distance from each state to the goal: breadth-first, or by costs if keys have a worth."""
        steps = [self._moves(), *self._pushes(), *map(self._changes, self.modes.events)]
        sources = np.concatenate([before for before, _, _ in steps])
        targets = np.concatenate([after for _, after, _ in steps])
        goals = self.possible.goal().ravel()
        headings = self.places.headings
        if self._worth is None:
            return layers(Edges.build(sources, targets, len(goals)), goals, headings)

        costs = np.concatenate([cost for _, _, cost in steps])
        edges = Edges.build(sources, targets, len(goals), costs)
        estimate = self._worth.estimate(self.modes.codes).ravel()
        return distances(edges, goals, headings, estimate)

    def _moves(self) -> Steps:
        """Return the steps forward in which the agent does not push a block."""
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
        """Limit ``allowed``, in the columns of some poses, to the states in which a condition may hold."""
        allowed[:, poses] &= condition if condition.shape[1] == 1 else condition[:, poses]

    def _pushes(self) -> Iterator[Steps]:
        """Yield the steps that push a tracked block."""
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
        """Return the steps that push a block from a cell to the cell beyond, in all modes that permit the push.

        Args:
            block: id of the block.
            cell: cell of the block before the push.
            beyond: cell of the block after the push.
            pose: pose of the agent before the push.
            key: id of the key whose initial cell is ``beyond``, "" for none.
        """
        places = self.places
        numbering = self.modes.numbering
        digits = numbering.cells[block]

        obstacles: list[tuple[str, int]] = []
        for other, cells in numbering.cells.items():
            if self._is_obstacle(other, beyond, block):
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

    def _is_obstacle(self, other: str, cell: Cell, block: str) -> bool:
        """Return whether the projection knows exactly when the block ``other`` is on ``cell``, the target of a push.

        Args:
            block: id of the pushed block, which never obstructs itself.
        """
        numbering = self.modes.numbering
        if other == block or cell not in numbering.cells[other]:
            return False
        return numbering.exactly(other, cell)

    def _changes(self, event: Event) -> Steps:
        """Return the steps of an event, in all poses and modes that permit the event."""
        rows, after = self.modes.changes(event)
        poses = np.flatnonzero(event.poses)
        sources = rows[:, None] * len(self.places) + poses
        targets = after[:, None] * len(self.places) + poses
        costs: Numbers = np.broadcast_to(1, sources.shape)
        if self._worth and event.key:
            # A key without further use has no worth.
            is_useful = ~self.modes.has_digit(event.key, GONE)[after]
            costs = costs + is_useful * self._worth.gain(event)[poses]
        return sources.ravel(), targets.ravel(), costs.ravel()
