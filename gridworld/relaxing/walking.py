"""Shortest walks between poses while no door opens or closes, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from gridworld.actions import Action
from gridworld.layout import Layout, State
from gridworld.relaxing.measuring import UNREACHABLE
from gridworld.relaxing.places import Mask, Numbers, Places
from gridworld.tilings import Cell

_MOST_KNOWN: Final = 20_000
"""Arrays of distances that are kept."""


class Walking:
    """Walks in one task; distances are kept."""

    def __init__(self, layout: Layout, places: Places) -> None:
        self.layout, self.places = layout, places
        self._cells = list(places.index)
        poses, headings = np.arange(len(places)), places.headings
        self._left, self._right = (poses // headings * headings + (poses + turn) % headings for turn in (-1, 1))
        self._faces = np.full((headings, len(self._cells)), -1, dtype=np.int64)
        ahead = poses[places.ahead >= 0]
        self._faces[ahead % headings, places.ahead[ahead]] = ahead
        self._droppable = np.zeros(len(self._cells), dtype=np.bool_)
        self._droppable[[places.index[cell] for cell in places.parts(1 << 20)]] = True
        self._exits = {portal.exit for portal in layout.portals.values()}
        self._known: dict[tuple[int, frozenset[str], bool], Numbers] = {}
        self._known_faces: dict[tuple[int, frozenset[str]], Numbers] = {}
        self._graphs: dict[frozenset[str], tuple[Numbers, tuple[Numbers, Numbers]]] = {}

    def pose(self, state: State) -> int:
        """Number of a state's pose."""
        return self.places.pose(state)

    def placed(self, state: State, pose: int) -> State:
        """A state with the agent elsewhere."""
        return state._replace(position=self._cells[int(self.places.cell[pose])], heading=pose % self.places.headings)

    def facing(self, cell: Cell) -> Iterator[int]:
        """Poses that have a cell ahead."""
        return (int(pose) for pose in self._faces[:, self.places.index[cell]] if pose >= 0)

    def pickups(self, state: State, cell: Cell) -> list[int]:
        """Poses from which a key that lies on a cell can be picked up when nothing was put down on the way.

        Standing on it is one only if it cannot be picked up a step earlier, from where it lies ahead: the agent is
        there already, another key lies where it comes from and would be picked up instead, or it comes by teleporter.
        """
        if self._is_odd(cell, state):
            return self._from_ahead(cell, state) + self._on(cell)
        return self._from_ahead(cell, state) + ([self.places.pose(state)] if state.position == cell else [])

    def swaps(self, state: State, cell: Cell, far: Numbers) -> tuple[Numbers, Numbers]:
        """The poses from which a key on a cell can be picked up after the one in hand was put down, and what both take.

        Standing on it is one of them for the same reasons, if the other key was put down from there, or lies where
        the agent comes from: on a cell beside it.

        Args:
            far: distances from where the agent is.

        Returns:
            The poses; by pose and number of the cell that the key in hand is put on, the steps, ``UNREACHABLE`` if
            that cannot be.
        """
        ahead, on = self._from_ahead(cell, state), self._on(cell)
        poses = np.array(ahead + on)
        ways = self._to_faces(far)[None] + np.array([self._back_to_faces(pose, state) for pose in poses.tolist()])
        steps: Numbers = np.minimum(ways.min(axis=1) + 2, UNREACHABLE)
        steps[:, ~self._droppable] = UNREACHABLE
        steps[:, [self.places.index[each] for each in state.key_cells if each is not None]] = UNREACHABLE
        for i in range(len(ahead)):
            steps[i, self.places.cell[poses[i]]] = UNREACHABLE  # it would be picked up instead
        if not self._is_odd(cell, state):
            neighbours = self.layout.tiling.neighbours(cell)
            near = [self.places.index[each] for each in neighbours if each in self.places.index]
            beside = steps[len(ahead) :, near].copy()
            steps[len(ahead) :] = UNREACHABLE
            steps[len(ahead) :, near] = beside
        return poses, steps

    def put_down(self, far: Numbers, cell: int, pose: int, state: State) -> int:
        """The pose from which a key is put on a cell, on a shortest walk to a pose."""
        ways = self._to_faces(far)[:, cell] + self._back_to_faces(pose, state)[:, cell]
        return int(self._faces[np.argmin(ways), cell])

    def _from_ahead(self, cell: Cell, state: State) -> list[int]:
        faces = (int(pose) for pose in self._faces[:, self.places.index[cell]] if pose >= 0)
        return [pose for pose in faces if self._cells[int(self.places.cell[pose])] not in state.key_cells]

    def _on(self, cell: Cell) -> list[int]:
        number, headings = self.places.index[cell], self.places.headings
        return list(range(number * headings, (number + 1) * headings))

    def _is_odd(self, cell: Cell, state: State) -> bool:
        return cell in self._exits or any(each in state.key_cells for each in self.layout.tiling.neighbours(cell))

    def _to_faces(self, far: Numbers) -> Numbers:
        """Distances to the poses that face a cell, by heading and number of the cell."""
        return np.append(far, UNREACHABLE)[self._faces]

    def _back_to_faces(self, pose: int, state: State) -> Numbers:
        known = self._known_faces.get((pose, state.open_doors))
        if known is None:
            if len(self._known_faces) >= _MOST_KNOWN:
                self._known_faces.clear()
            known = self._to_faces(self.distances(pose, state, back=True))
            self._known_faces[pose, state.open_doors] = known
        return known

    def lying(self, state: State, hand: int, cell: int, key: int, pose: int) -> State:
        """A state in which the key in hand lies on a cell and another one was picked up from a pose."""
        cells = list(state.key_cells)
        cells[hand], cells[key] = self._cells[cell], None
        name = self.layout.keys[key].id
        after = state._replace(carrying=name, key_cells=tuple(cells), collected=state.collected | {name})
        return self.placed(after, pose)

    def distances(self, pose: int, state: State, back: bool = False) -> Numbers:
        """Fewest steps from a pose to every other, or, ``back``, from every other to it."""
        known = self._known.get((pose, state.open_doors, back))
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[pose, state.open_doors, back] = self._measured(pose, state, back)
        return known

    def way(self, pose: int, end: int, state: State) -> Iterator[Action]:
        """Actions of a shortest walk from a pose to another."""
        left = self.distances(end, state, back=True)
        moved = self._graph(state)[0]
        while pose != end:
            for after, action in (
                (int(moved[pose]), Action.MOVE_FORWARD),
                (int(self._left[pose]), Action.TURN_LEFT),
                (int(self._right[pose]), Action.TURN_RIGHT),
            ):
                if after >= 0 and left[after] < left[pose]:
                    pose = after
                    yield action
                    break

    def _graph(self, state: State) -> tuple[Numbers, tuple[Numbers, Numbers]]:
        """By pose, the pose after a step ahead or -1; and the same steps by where they lead."""
        known = self._graphs.get(state.open_doors)
        if known is None:
            cells = [*self.layout.doors, *self.layout.gates]
            shut: Mask = np.zeros(len(self.places), dtype=np.bool_)
            for cell in cells:
                if not self.layout.can_enter(cell, state):
                    shut |= self.places.facing(cell)
            moved = np.where(shut, -1, self.places.after)
            origins = np.flatnonzero(moved >= 0)
            order = np.argsort(moved[origins], kind="stable")
            origins = origins[order]
            begin = np.searchsorted(moved[origins], np.arange(len(self.places) + 1))
            known = self._graphs[state.open_doors] = moved, (origins, begin)
        return known

    def _measured(self, pose: int, state: State, back: bool) -> Numbers:
        moved, (origins, begin) = self._graph(state)
        found = np.full(len(self.places), UNREACHABLE, dtype=np.int64)
        border, steps = np.array([pose]), 0
        found[pose] = 0
        while len(border):
            steps += 1
            if back:
                ends = begin[border + 1]
                lengths = ends - begin[border]
                offsets = np.repeat(begin[border] - (np.cumsum(lengths) - lengths), lengths)
                beyond = origins[offsets + np.arange(len(offsets))]
            else:
                beyond = moved[border]
                beyond = beyond[beyond >= 0]
            near = np.concatenate((beyond, self._left[border], self._right[border]))
            border = np.unique(near[found[near] == UNREACHABLE])
            found[border] = steps
        return found
