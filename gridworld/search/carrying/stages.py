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

    def at(self, chosen: Numbers | Mask | slice) -> Batch:
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
        self.size, self.faces, self.parts = len(index), faces(self.places), relaxation.parts()
        self.homes = np.array([index.get(key.position.to_tuple(), self.size) for key in layout.keys])
        self.beside: Mask = np.zeros((self.size + 1, self.size + 1), dtype=np.bool_)
        for cell, number in index.items():
            self.beside[number, [index[near] for near in layout.tiling.neighbours(cell) if near in index]] = True

    def packed(self, state: State) -> Batch:
        """Return a batch of this one state."""
        cells = [
            self.size if cell is None or key.id not in state.collected else self.places.index[cell]
            for key, cell in zip(self.layout.keys, state.key_cells, strict=True)
        ]
        return Batch(np.array([self.places.pose(state)]), np.array([cells]), np.array([0]), np.array([-1]))


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

    def lying(self, cells: Numbers) -> Lying:
        """Cells of the keys on the floor, for bounds."""
        return {self.ground.layout.keys[key].id: cells[:, key] for key in self.floor}

    def left(self, batch: Batch) -> Numbers:
        """Return a lower bound on the steps left, by state."""
        return self.bounds.of(batch.poses, self.lying(batch.cells))

    def where(self, cells: Numbers, key: int) -> Numbers:
        """Return the cells on which a key on the floor lies, by state."""
        return np.where(cells[:, key] == self.ground.size, self.ground.homes[key], cells[:, key])

    def others(self, cells: Numbers, key: int) -> Iterator[Numbers]:
        """Return, for each other key on the floor, the cells on which it lies."""
        return (self.where(cells, other) for other in self.floor if other != key)

    def first(self) -> int:
        """Return the fewest steps from the start to a waiting state."""
        return min(int(batch.steps.min()) for batch in self.waiting)

    def taken(self, window: int, most: int) -> Batch:
        """Take up to ``most`` waiting states within ``window`` steps of the first; skip those known in as few."""
        waiting = Batch(*(np.concatenate(fields) for fields in zip(*self.waiting, strict=True)))
        waiting = waiting.at(np.argsort(waiting.steps, kind="stable"))
        count = min(most, int(np.searchsorted(waiting.steps, waiting.steps[0] + window, side="right")))
        batch = waiting.at(slice(count))
        later = waiting.at(slice(count, None))
        self.waiting = [later] if len(later.poses) else []
        rows = np.column_stack((batch.poses, batch.cells[:, self.floor])).astype(np.int32, order="C")
        states = rows.view(f"V{rows.shape[1] * rows.itemsize}").ravel().tolist()
        fresh = list[int]()
        for number, (state, steps) in enumerate(zip(states, batch.steps.tolist(), strict=True)):
            if state not in self.known or steps < self.known[state]:
                self.known[state] = steps
                fresh.append(number)
        return batch.at(np.array(fresh, dtype=np.int64))
