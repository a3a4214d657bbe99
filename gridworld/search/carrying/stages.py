"""States of a task of keys and doors, packed into arrays: a stage is what many of them have in common."""

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
        poses: of the agent; shape (states,).
        cells: by state and key the number of the cell that it was dropped on, the number of all cells if it was never
            picked up or is not on the floor; shape (states, keys).
        steps: from the start.
        origins: numbers of the states before, -1 for the start.
    """

    poses: Numbers
    cells: Numbers
    steps: Numbers
    origins: Numbers

    def select(self, chosen: Numbers | Mask | slice) -> Batch:
        """Return some of the states."""
        return Batch(*(field[chosen] for field in self))


class Ground:
    """What never changes in a task, as arrays by number of cell.

    Attributes:
        size: how many cells there are.
        faces: poses by heading and cell ahead.
        beside: whether two cells touch; the one more that stands for no cell touches none.
        homes: cells where keys begin, by key.
        parts: cells on which a key may be dropped, in parts that no bound tells apart.
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
            near = [index[other] for other in layout.tiling.neighbours(cell) if other in index]
            self.beside[number, near] = True

    def pack_state(self, state: State) -> Batch:
        """Return a batch of this one state."""
        cells = list[int]()
        for key, cell in zip(self.layout.keys, state.key_cells, strict=True):
            if cell is None or key.id not in state.collected:
                cells.append(self.size)
            else:
                cells.append(self.places.index[cell])
        pose = self.places.pose(state)
        return Batch(np.array([pose]), np.array([cells]), np.array([0]), np.array([-1]))


class Stage:
    """Which doors are open, which key is in hand, and which keys are on the floor.

    Args:
        ground: of the task.
        walks: while these doors are open.
        state: one of the stage.

    Attributes:
        state: one of the stage, in which no key on the floor was ever picked up.
        hand: index of the key in hand, or None if the hand is empty.
        floor: indices of the keys on the floor.
        known: fewest steps to the states that were expanded, by pose and cells as bytes.
        waiting: states to expand.
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
        """Return the cells of the keys on the floor, for bounds."""
        keys = self.ground.layout.keys
        return {keys[key].id: cells[:, key] for key in self.floor}

    def left(self, batch: Batch) -> Numbers:
        """Return a lower bound on the steps left, by state."""
        return self.bounds.bound_states(batch.poses, self.locate_floor(batch.cells))

    def locate(self, cells: Numbers, key: int) -> Numbers:
        """Return the cells on which a key on the floor lies, by state."""
        lying = cells[:, key]
        return np.where(lying == self.ground.size, self.ground.homes[key], lying)

    def locate_others(self, cells: Numbers, key: int) -> Iterator[Numbers]:
        """Return, for each other key on the floor, the cells on which it lies."""
        return (self.locate(cells, other) for other in self.floor if other != key)

    def first(self) -> int:
        """Return the fewest steps from the start to a waiting state."""
        return min(int(batch.steps.min()) for batch in self.waiting)

    def take_batch(self, window: int, most: int) -> Batch:
        """Take up to ``most`` waiting states within ``window`` steps of the first; skip those known in as few."""
        waiting = Batch(*(np.concatenate(fields) for fields in zip(*self.waiting, strict=True)))
        waiting = waiting.select(np.argsort(waiting.steps, kind="stable"))
        last = waiting.steps[0] + window
        count = min(most, int(np.searchsorted(waiting.steps, last, side="right")))
        batch = waiting.select(slice(count))
        later = waiting.select(slice(count, None))
        self.waiting = [later] if len(later.poses) else []

        # A row of 32-bit numbers as one opaque value becomes a hashable key of bytes.
        rows = np.column_stack((batch.poses, batch.cells[:, self.floor]))
        rows = rows.astype(np.int32, order="C")
        width = rows.shape[1] * rows.itemsize
        states = rows.view(f"V{width}").ravel().tolist()

        fresh = list[int]()
        known = self.known
        for number, (state, steps) in enumerate(zip(states, batch.steps.tolist(), strict=True)):
            if state not in known or steps < known[state]:
                known[state] = steps
                fresh.append(number)
        return batch.select(np.array(fresh, dtype=np.int64))
