"""Distances to the goal in one projection, by breadth-first search backward from every state in which it may hold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gridworld.layout import State
from gridworld.relaxing.events import Event
from gridworld.relaxing.modes import Modes
from gridworld.relaxing.numbering import HOME, Numbering, Pattern
from gridworld.relaxing.places import Mask, Numbers, Places
from gridworld.relaxing.possible import Possible

UNREACHABLE: Final = 1 << 30
"""Distance of states from which there is no way; more than any other."""


class Projection:
    """Exact distances in the projection that tracks ``pattern``; its states are numbered mode x poses + pose.

    Args:
        places: the poses of the task.
        start: the state that every state asked for is reached from.
        pattern: what is tracked.
        grain: size of the parts of the grid in which dropped keys are told apart.
        limit: of the number of states.

    Raises:
        TooLargeError: there would be more.
    """

    def __init__(self, places: Places, start: State, pattern: Pattern, grain: int, limit: int) -> None:
        self.places, self.pattern = places, pattern
        self.modes = Modes(Numbering(places, pattern, grain, limit), start, limit)
        self.possible = Possible(self.modes)
        self._rows: dict[tuple[object, ...], int] = {}
        self._distances = self._measured()

    def distance(self, state: State) -> int:
        """At least so many steps are left; ``UNREACHABLE``: there is no way."""
        mode = state[2:8]
        row = self._rows.get(mode)
        if row is None:
            row = self._rows[mode] = self.modes.row(state)
        if row < 0 or state.dead:
            return UNREACHABLE
        return int(self._distances.item(row * len(self.places) + self.places.pose(state)))

    def _measured(self) -> NDArray[np.int32]:
        poses, headings = len(self.places), self.places.headings
        before, sources = self._edges()
        distances = np.full(len(self.modes) * poses, UNREACHABLE, dtype=np.int32)
        border = np.flatnonzero(self.possible.goal())
        steps = 0
        while len(border):
            distances[border] = steps
            cell, heading = border - border % headings, border % headings
            found = np.concatenate(
                (
                    cell + (heading + 1) % headings,
                    cell + (heading - 1) % headings,
                    sources[_spans(before[border], before[border + 1])],
                )
            )
            border = np.unique(found[distances[found] == UNREACHABLE])
            steps += 1
        return distances

    def _edges(self) -> tuple[Numbers, Numbers]:
        """All steps but turns: where those into a state begin in ``sources``, and the states they come from."""
        pairs = [self._moves(), *self._pushes(), *map(self._changes, self.modes.events)]
        sources = np.concatenate([source for source, _ in pairs])
        targets = np.concatenate([target for _, target in pairs])
        states = len(self.modes) * len(self.places)
        before = np.zeros(states + 1, dtype=np.int64)
        np.cumsum(np.bincount(targets, minlength=states), out=before[1:])
        return before, sources[np.argsort(targets, kind="stable")]

    def _moves(self) -> tuple[Numbers, Numbers]:
        places, layout = self.places, self.places.layout
        allowed = np.tile(places.after >= 0, (len(self.modes), 1))
        passages = [(cell, door.id) for cell, door in layout.doors.items()]
        passages += [(cell, gate.id) for cell, gate in layout.gates.items()]
        for cell, name in passages:
            self._require(allowed, places.facing(cell), self.possible.open(name, True))
        for block in self.pattern.blocks:
            for cell in places.reach[block]:
                self._require(allowed, places.facing(cell), self.possible.at(block, cell, False))
        rows, poses = np.nonzero(allowed)
        return rows * len(places) + poses, rows * len(places) + places.after[poses]

    @staticmethod
    def _require(allowed: Mask, poses: Mask, condition: Mask) -> None:
        allowed[:, poses] &= condition if condition.shape[1] == 1 else condition[:, poses]

    def _pushes(self) -> Iterator[tuple[Numbers, Numbers]]:
        """Steps onto a tracked block; what is tracked must not be in its way."""
        places, tiling = self.places, self.places.layout.tiling
        homes = {key.position.to_tuple(): key.id for key in places.layout.keys}
        for block in self.pattern.blocks:
            reach, stride = places.reach[block], self.modes.numbering.strides[block]
            others = [other for other in self.pattern.blocks if other != block]
            for cell, digit in reach.items():
                for pose in np.flatnonzero(places.facing(cell)):
                    beyond = tiling.ahead(cell, int(pose) % places.headings)
                    if beyond not in reach:
                        continue
                    key = homes.get(beyond, "")
                    other = [(o, places.reach[o][beyond]) for o in others if beyond in places.reach[o]]
                    other += [(key, HOME)] if key in self.modes else []
                    event = Event(places.on(cell), ((block, digit),), tuple(other), (reach[beyond] - digit) * stride)
                    rows, after = self.modes.changes(event)
                    yield rows * len(places) + pose, after * len(places) + places.after[pose]

    def _changes(self, event: Event) -> tuple[Numbers, Numbers]:
        rows, after = self.modes.changes(event)
        poses = np.flatnonzero(event.poses)
        sources = rows[:, None] * len(self.places) + poses
        return sources.ravel(), (after[:, None] * len(self.places) + poses).ravel()


def _spans(begin: Numbers, end: Numbers) -> Numbers:
    """All numbers of the ranges ``begin[i]`` to ``end[i] - 1``."""
    lengths = end - begin
    offsets = np.repeat(begin - (np.cumsum(lengths) - lengths), lengths)
    return offsets + np.arange(len(offsets))
