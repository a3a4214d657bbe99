"""Shortest walks between poses while no door opens or closes, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.search.relaxation.places import Mask, Numbers, Places

FAR: Final = 1 << 29
"""Means no way: longer than any walk; twice this value fits 32 bits."""

NO_POSE: Final = -1

_MAX_KEPT: Final = 1 << 26
"""Greatest number of distances of one kind that are cached."""

Steps: TypeAlias = NDArray[np.int32]


class Walks:
    """Fewest steps between poses while the same doors are open; measured on demand and cached.

    Args:
        layout: the task's layout.
        places: its poses.
        state: the state that says which doors and gates are open.
    """

    def __init__(self, layout: Layout, places: Places, state: State) -> None:
        shut: Mask = np.zeros(len(places), dtype=np.bool_)
        for cell in (*layout.doors, *layout.gates):
            if not layout.can_enter(cell, state):
                shut |= places.facing(cell)
        poses = np.arange(len(places))
        headings = places.headings
        first = poses // headings * headings
        turned = [first + (poses + turn) % headings for turn in (-1, 1)]
        moved = np.where(shut, NO_POSE, places.after)
        self._after: Numbers = np.stack([moved, *turned])
        self.faces = faces(places)
        self._ahead = _Rows(self._after, self.faces)
        self._back = _Rows(np.concatenate((_invert(moved), turned)), self.faces)

    def steps(self, poses: Numbers, ends: Numbers) -> Numbers:
        """Return the fewest steps from poses to others, ``FAR`` or more without a way; shapes broadcast."""
        rows, _, index = self._ahead.look_up(poses)
        return rows[index, ends].astype(np.int64)

    def detours(self, poses: Numbers, ends: Numbers, cells: Numbers) -> Steps:
        """Return the fewest steps from poses to others through some pose that has a given cell ahead.

        Returns:
            Shape (poses, cells); ``FAR`` or more without a way.
        """
        _, ahead, begin = self._ahead.look_up(poses)
        _, back, end = self._back.look_up(ends)
        there = ahead[begin][:, :, cells]
        on = back[end][:, :, cells]
        ways: Steps = (there + on).min(axis=1)
        return ways

    def facing(self, pose: int, end: int, cell: int) -> int:
        """Return the pose that has ``cell`` ahead on a shortest walk through such a pose."""
        fronts = self.faces[:, cell]
        fronts = fronts[fronts != NO_POSE]
        lengths = self.steps(np.array(pose), fronts) + self.steps(fronts, np.array(end))
        return int(fronts[np.argmin(lengths)])

    def list_actions(self, pose: int, end: int) -> Iterator[Action]:
        """Yield the actions of a shortest walk from a pose to another."""
        rows, _, row = self._back.look_up(np.array(end))
        left = rows[row]
        actions = (Action.MOVE_FORWARD, Action.TURN_LEFT, Action.TURN_RIGHT)
        while pose != end:
            nearer = (i for i, after in enumerate(self._after[:, pose]) if after >= 0 and left[after] < left[pose])
            chosen = next(nearer)
            yield actions[chosen]
            pose = int(self._after[chosen, pose])


class _Rows:
    """Distances in a graph from one node to all others, cached in growing arrays that are cleared when full.

    Args:
        beyond: by edge and node, the node that the edge leads to, or -1 without such an edge.
        order: the nodes in the order used by a second array.
    """

    def __init__(self, beyond: Numbers, order: Numbers) -> None:
        self._beyond = beyond
        self._order = order
        nodes = beyond.shape[1]
        self._row = np.full(nodes, -1)
        self._rows: Steps = np.empty((0, nodes + 1), dtype=np.int32)
        self._ordered: Steps = np.empty((0, *order.shape), dtype=np.int32)
        self._used = 0

    def look_up(self, nodes: Numbers) -> tuple[Steps, Steps, Numbers]:
        """Return distances from nodes to all, plus a last ``FAR``; the same in ``order``; and the rows of the nodes."""
        fresh = np.unique(nodes[self._row[nodes] < 0])
        if (self._used + len(fresh)) * len(self._row) > _MAX_KEPT:
            self._row[:] = -1
            self._used = 0
            self._rows = self._rows[:0]
            self._ordered = self._ordered[:0]
            fresh = np.unique(nodes)
        if len(fresh):
            used = self._used + len(fresh)
            if used > len(self._rows):
                self._rows = _enlarge(self._rows, 2 * used)
                self._ordered = _enlarge(self._ordered, 2 * used)
            rows = self._measure(fresh)
            self._rows[self._used : used] = rows
            self._ordered[self._used : used] = rows[:, self._order]
            self._row[fresh] = np.arange(self._used, used)
            self._used = used
        return self._rows, self._ordered, self._row[nodes]

    def _measure(self, nodes: Numbers) -> Steps:
        """Search breadth-first from all nodes at once."""
        width = len(self._row) + 1
        found = np.full(len(nodes) * width, FAR, dtype=np.int32)
        seen = np.zeros(len(found), dtype=np.int64)
        begins = np.arange(len(nodes)) * width
        border = nodes
        steps = 0
        while len(border):
            found[begins + border] = steps
            steps += 1
            beyond = self._beyond[:, border]
            numbers = (begins + beyond)[beyond >= 0]
            numbers = numbers[found[numbers] == FAR]
            seen[numbers] = np.arange(len(numbers))
            numbers = numbers[seen[numbers] == np.arange(len(numbers))]
            border = numbers % width
            begins = numbers - border
        return np.reshape(found, (len(nodes), width))


def faces(places: Places) -> Numbers:
    """Return, by heading and cell number, the pose that has the cell ahead, or ``NO_POSE``."""
    found: Numbers = np.full((places.headings, len(places.index)), NO_POSE, dtype=np.int64)
    poses = np.flatnonzero(places.ahead >= 0)
    found[poses % places.headings, places.ahead[poses]] = poses
    return found


def _invert(after: Numbers) -> Numbers:
    """Return, by row and node, a node with an edge to that node, or -1 beyond their number."""
    sources = np.flatnonzero(after >= 0)
    sources = sources[np.argsort(after[sources], kind="stable")]
    targets = after[sources]
    rank = np.arange(len(targets)) - np.searchsorted(targets, targets)
    count = 1 + int(rank.max(initial=0))
    found: Numbers = np.full((count, len(after)), -1)
    found[rank, targets] = sources
    return found


def _enlarge(rows: Steps, length: int) -> Steps:
    """Return a copy with ``length`` rows, the new ones uninitialised."""
    extra = np.empty((length - len(rows), *rows.shape[1:]), dtype=np.int32)
    return np.concatenate((rows, extra))
