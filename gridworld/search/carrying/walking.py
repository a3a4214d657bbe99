"""Shortest walks between poses while no door opens or closes, as arrays.

A pose is a number: the number of the cell times the number of headings, plus the heading.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gridworld.actions import Action
from gridworld.rules.layout import Layout, State
from gridworld.search.relaxation.places import Mask, Numbers, Places

FAR: Final = 1 << 29
"""Distance that means "no walk exists"; greater than the length of any walk, and twice the value fits 32 bits."""

NO_POSE: Final = -1
"""Number in place of a pose that does not exist."""

_MAX_KEPT: Final = 1 << 26
"""Greatest number of distances in each cache."""

Steps: TypeAlias = NDArray[np.int32]


class Walks:
    """Fewest steps between poses while the same doors are open; computed on demand and cached.

    Args:
        layout: the task.
        places: the poses of the task.
        state: a state in which these doors are open.

    Attributes:
        faces: pose in which the agent faces a cell, by heading and cell, shape (headings, cells).
    """

    def __init__(self, layout: Layout, places: Places, state: State) -> None:
        shut: Mask = np.zeros(len(places), dtype=np.bool_)
        for cell in (*layout.doors, *layout.gates):
            if not layout.can_enter(cell, state):
                shut |= places.facing(cell)
        poses = np.arange(len(places))
        headings = places.headings
        first_of_cell = poses // headings * headings
        turned = [first_of_cell + (poses + turn) % headings for turn in (-1, 1)]
        moved = np.where(shut, NO_POSE, places.after)
        # Pose after moving forward, turning left, turning right, shape (3, poses).
        self._after: Numbers = np.stack([moved, *turned])
        self.faces = faces(places)
        self._from = _Rows(self._after, self.faces)
        # Distances to a pose are distances from the pose in the inverse graph; left and right turns are inverse.
        self._to = _Rows(np.concatenate((_invert(moved), turned)), self.faces)

    def steps(self, poses: Numbers, ends: Numbers) -> Numbers:
        """Return the fewest steps from each of ``poses`` to the corresponding pose of ``ends``.

        A value of ``FAR`` or more means that no walk exists. The shapes of ``poses`` and ``ends`` are broadcast.
        """
        rows, _, index = self._from.look_up(poses)
        return rows[index, ends].astype(np.int64)

    def detours(self, poses: Numbers, ends: Numbers, cells: Numbers) -> Steps:
        """Return the fewest steps from each pose to its end, through a pose in which the agent faces a given cell.

        Args:
            poses, ends: arrays of the same length.
            cells: the cells that the agent has to face.

        Returns:
            An array of shape (poses, cells); a value of ``FAR`` or more means that no walk exists.
        """
        _, steps_from, rows_from = self._from.look_up(poses)
        _, steps_to, rows_to = self._to.look_up(ends)
        # Shape (poses, headings, cells), for each of the poses that face a cell.
        to_front = steps_from[rows_from][:, :, cells]
        to_end = steps_to[rows_to][:, :, cells]
        ways: Steps = (to_front + to_end).min(axis=1)
        return ways

    def facing(self, pose: int, end: int, cell: int) -> int:
        """Return the pose facing ``cell`` that makes the walk from ``pose`` through this pose to ``end`` shortest."""
        fronts = self.faces[:, cell]
        fronts = fronts[fronts != NO_POSE]
        lengths = self.steps(np.array(pose), fronts) + self.steps(fronts, np.array(end))
        return int(fronts[np.argmin(lengths)])

    def list_actions(self, pose: int, end: int) -> Iterator[Action]:
        """Yield the actions of a shortest walk from ``pose`` to ``end``; a walk must exist."""
        rows, _, row = self._to.look_up(np.array(end))
        remaining = rows[row]
        actions = (Action.MOVE_FORWARD, Action.TURN_LEFT, Action.TURN_RIGHT)
        while pose != end:
            for action, after in zip(actions, self._after[:, pose].tolist(), strict=True):
                if after != NO_POSE and remaining[after] < remaining[pose]:
                    yield action
                    pose = after
                    break
            else:
                raise RuntimeError(f"no walk leads from pose {pose} to pose {end}")


class _Rows:
    """Distances in a graph from one node to all others, cached in growing arrays that are cleared when full.

    Args:
        successors: node to which each edge of a node leads, or -1 for no edge, shape (edges of a node, nodes).
        order: array of nodes, of any shape; a second cached array has the distances to these nodes, in this shape.
    """

    def __init__(self, successors: Numbers, order: Numbers) -> None:
        self._successors = successors
        self._order = order
        nodes = successors.shape[1]
        # Row of each node in the cached arrays, -1 for a node that is not cached.
        self._row = np.full(nodes, -1)
        self._rows: Steps = np.empty((0, nodes + 1), dtype=np.int32)
        self._ordered: Steps = np.empty((0, *order.shape), dtype=np.int32)
        self._used = 0

    def look_up(self, nodes: Numbers) -> tuple[Steps, Steps, Numbers]:
        """Return (distances, ordered distances, rows) for some nodes.

        The distances from ``nodes[i]`` are in row ``rows[i]`` of both arrays. A row of the first array has the distance
        to each node, and a last value ``FAR`` for the index -1. A row of the second array has the distances to the
        nodes of ``order``.
        """
        fresh = np.unique(nodes[self._row[nodes] < 0])
        is_full = (self._used + len(fresh)) * len(self._row) > _MAX_KEPT
        if is_full:
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
        """Return the distances from each node, by breadth-first searches that run side by side.

        The shape is (nodes, width); the width is the number of all nodes + 1. In the flattened array, the index of an
        entry is: number of the search x width + node.
        """
        width = len(self._row) + 1
        distances = np.full(len(nodes) * width, FAR, dtype=np.int32)
        last_writer = np.zeros(len(distances), dtype=np.int64)
        begins = np.arange(len(nodes)) * width
        frontier = nodes
        steps = 0
        while len(frontier):
            distances[begins + frontier] = steps
            steps += 1
            successors = self._successors[:, frontier]
            entries = (begins + successors)[successors >= 0]
            entries = entries[distances[entries] == FAR]
            # Remove duplicates without sorting: of equal entries, only the last written index survives.
            last_writer[entries] = np.arange(len(entries))
            entries = entries[last_writer[entries] == np.arange(len(entries))]
            frontier = entries % width
            begins = entries - frontier
        return np.reshape(distances, (len(nodes), width))


def faces(places: Places) -> Numbers:
    """Return the pose in which the agent faces a cell, by heading and cell, or ``NO_POSE``; shape (headings, cells)."""
    facing: Numbers = np.full((places.headings, len(places.index)), NO_POSE, dtype=np.int64)
    poses = np.flatnonzero(places.ahead >= 0)
    facing[poses % places.headings, places.ahead[poses]] = poses
    return facing


def _invert(after: Numbers) -> Numbers:
    """Return the predecessors of each node, filled up with -1, shape (greatest number of predecessors, nodes).

    Args:
        after: the successor of each node, -1 for none.
    """
    sources = np.flatnonzero(after >= 0)
    sources = sources[np.argsort(after[sources], kind="stable")]
    targets = after[sources]
    # Number of a source among the sources with the same target, from 0.
    rank = np.arange(len(targets)) - np.searchsorted(targets, targets)
    count = 1 + int(rank.max(initial=0))
    predecessors: Numbers = np.full((count, len(after)), -1)
    predecessors[rank, targets] = sources
    return predecessors


def _enlarge(rows: Steps, length: int) -> Steps:
    """Return a copy with ``length`` rows; the additional rows are uninitialised."""
    extra = np.empty((length - len(rows), *rows.shape[1:]), dtype=np.int32)
    return np.concatenate((rows, extra))
