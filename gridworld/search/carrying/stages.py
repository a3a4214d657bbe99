"""States of a task of keys and doors, packed into arrays.

A stage is a group of states with the same open doors, the same carried key and the same keys on the floor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from gridworld.rules.layout import NOTHING, Layout, State
from gridworld.search.carrying.walking import Walks, faces
from gridworld.search.relaxation.bounds import Lying
from gridworld.search.relaxation.places import Mask, Numbers
from gridworld.search.relaxation.relaxation import Relaxation


class Batch(NamedTuple):
    """States of one stage.

    Attributes:
        poses: poses of the agent, shape (states,).
        cells: number of the cell on which each key was dropped, shape (states, keys). A key that was never picked up or
            is not on the floor has the number ``Ground.size``, which is no cell.
        steps: steps from the start, shape (states,).
        origins: number of the predecessor of each state, -1 for the start, shape (states,).
    """

    poses: Numbers
    cells: Numbers
    steps: Numbers
    origins: Numbers

    def select(self, chosen: Numbers | Mask | slice) -> Batch:
        """Return the states at some indices, in a slice, or for which a mask is true."""
        return Batch(*(field[chosen] for field in self))


class Ground:
    """The unchanging properties of a task, as arrays indexed by the number of a cell.

    Attributes:
        size: number of cells; in place of the number of a cell, this value means "no cell".
        faces: pose in which the agent faces a cell, by heading and cell, shape (headings, cells).
        beside: whether two cells are neighbours, shape (cells + 1, cells + 1); the last row and column are for "no
            cell".
        homes: initial cell of each key, shape (keys,).
        parts: cells on which a key may be dropped, grouped into parts of the grid. Bounds do not distinguish the cells
            of a part.
    """

    def __init__(self, layout: Layout, relaxation: Relaxation) -> None:
        self.layout = layout
        self.relaxation = relaxation
        self.places = relaxation.places
        index = self.places.index
        self.size = len(index)
        self.faces = faces(self.places)
        self.parts = relaxation.parts()
        homes = [key.position.to_tuple() for key in layout.keys]
        self.homes = np.array([index.get(cell, self.size) for cell in homes])

        shape = (self.size + 1, self.size + 1)
        self.beside: Mask = np.zeros(shape, dtype=np.bool_)
        for cell, number in index.items():
            neighbours = [index[other] for other in layout.tiling.neighbours(cell) if other in index]
            self.beside[number, neighbours] = True

    def pack_state(self, state: State) -> Batch:
        """Return a batch that holds only this state, as the start of a search."""
        cells: list[int] = []
        for key, cell in zip(self.layout.keys, state.key_cells, strict=True):
            if cell is None or key.id not in state.collected:
                cells.append(self.size)
            else:
                cells.append(self.places.index[cell])
        pose = self.places.pose(state)
        return Batch(np.array([pose]), np.array([cells]), np.array([0]), np.array([-1]))


class Stage:
    """All states with the same open doors, the same carried key, and the same keys on the floor.

    Args:
        ground: the properties of the task.
        walks: shortest walks while the doors of the stage are open.
        state: any state of the stage.

    Attributes:
        state: the state of the stage in which every key on the floor is on its initial cell.
        hand: index of the carried key; None if the agent carries nothing.
        floor: indices of the keys on the floor.
        bounds: lower bounds for the states of the stage.
        known: fewest steps from the start to each expanded state; the state is given by pose and cells, as bytes.
        waiting: states that are to be expanded.
    """

    def __init__(self, ground: Ground, walks: Walks, state: State) -> None:
        layout = ground.layout
        keys = zip(layout.keys, state.key_cells, strict=True)
        homes = tuple(None if cell is None else key.position.to_tuple() for key, cell in keys)
        self.ground = ground
        self.walks = walks
        self.state = state._replace(key_cells=homes, collected=NOTHING)
        self.hand = None if state.carrying is None else layout.key_index[state.carrying]
        self.floor = [number for number, cell in enumerate(homes) if cell is not None]
        self.bounds = ground.relaxation.bounds(self.state)
        self.known: dict[bytes, int] = {}
        self.waiting: list[Batch] = []

    def locate_floor(self, cells: Numbers) -> Lying:
        """Return, by id of each key on the floor, its cell in each state, in the form that :attr:`bounds` needs."""
        keys = self.ground.layout.keys
        return {keys[key].id: cells[:, key] for key in self.floor}

    def left(self, batch: Batch) -> Numbers:
        """Return a lower bound on the remaining steps of each state."""
        return self.bounds.bound_states(batch.poses, self.locate_floor(batch.cells))

    def locate(self, cells: Numbers, key: int) -> Numbers:
        """Return the cell on which a key on the floor lies in each state."""
        dropped = cells[:, key]
        return np.where(dropped == self.ground.size, self.ground.homes[key], dropped)

    def locate_others(self, cells: Numbers, key: int) -> Iterator[Numbers]:
        """Yield for each other key on the floor the cell on which that key lies in each state."""
        return (self.locate(cells, other) for other in self.floor if other != key)

    def first(self) -> int:
        """Return the fewest steps from the start to a waiting state."""
        return min(int(batch.steps.min()) for batch in self.waiting)

    def take_batch(self, window: int, most: int) -> Batch:
        """Remove and return the waiting states with the fewest steps.

        States that were already expanded with the same number of steps or fewer are removed, but not returned.

        Args:
            window: greatest difference between the steps of the removed states.
            most: greatest number of removed states.
        """
        columns = zip(*self.waiting, strict=True)
        waiting = Batch(*(np.concatenate(column) for column in columns))
        waiting = waiting.select(np.argsort(waiting.steps, kind="stable"))
        last = waiting.steps[0] + window
        count = min(most, int(np.searchsorted(waiting.steps, last, side="right")))
        batch = waiting.select(slice(count))
        later = waiting.select(slice(count, None))
        self.waiting = [later] if len(later.poses) else []

        # Viewing a row of 32-bit numbers as one opaque value gives a hashable key of bytes.
        rows = np.column_stack((batch.poses, batch.cells[:, self.floor]))
        rows = rows.astype(np.int32, order="C")
        width = rows.shape[1] * rows.itemsize
        states = rows.view(f"V{width}").ravel().tolist()

        improved: list[int] = []
        known = self.known
        for index, (state, steps) in enumerate(zip(states, batch.steps.tolist(), strict=True)):
            if state not in known or steps < known[state]:
                known[state] = steps
                improved.append(index)
        return batch.select(np.array(improved, dtype=np.int64))
