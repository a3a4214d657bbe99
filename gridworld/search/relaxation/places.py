"""Cells and poses by number, and the cells onto which blocks can be pushed (pure)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import Cell

Numbers: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

NO_CELL = -2
"""Equal to no number of a cell, nor to -1, which stands for a cell that cannot be entered."""


class Places:
    """The poses of a task: number of the cell x headings + heading.

    Args:
        layout: the task.
        start: where blocks stand at first.

    Attributes:
        index: number of every cell that the agent may ever be on.
        cell: number of the cell, by pose.
        ahead: number of the cell ahead, by pose; -1 if the agent can never be there.
        after: pose after moving ahead if nothing is in the way, by pose; -1 if it never can.
        component: number of the cell's connected component, by pose; doors and gates separate, and are one each.
        reach: by pushable block, the cells onto which it can be pushed if nothing else is in the way, numbered.
    """

    def __init__(self, layout: Layout, start: State) -> None:
        self.layout = layout
        self.headings = layout.tiling.headings
        self._bare = start._replace(key_cells=(), block_cells=())
        blocks = list(zip(layout.blocks, start.block_cells, strict=True))
        stuck = {cell for block, cell in blocks if not block.pushable}
        self._closed = layout.walls | layout.hazards.keys() | stuck
        grid = ((column, row) for row in range(layout.height) for column in range(layout.width))
        open_cells = (cell for cell in grid if cell not in self._closed)
        self.index = {cell: number for number, cell in enumerate(open_cells)}
        self._number_poses()
        self.reach = {block.id: self._find_reach(cell) for block, cell in blocks if block.pushable}

    def __len__(self) -> int:
        return len(self.cell)

    def pose(self, state: State) -> int:
        """Number of a state's pose."""
        return self.index[state.position] * self.headings + state.heading

    def on(self, cell: Cell) -> Mask:
        """Return which poses are on a cell."""
        return np.equal(self.cell, self.index.get(cell, NO_CELL))

    def facing(self, cell: Cell) -> Mask:
        """Return which poses have a cell ahead."""
        return np.equal(self.ahead, self.index.get(cell, NO_CELL))

    def parts(self, grain: int) -> dict[Cell, int]:
        """Map cells on which a key might be dropped to parts: components cut into squares of ``grain`` cells."""
        numbers = dict[tuple[int, ...], int]()
        parts = dict[Cell, int]()
        for cell in self.index:
            if self.layout.is_free(cell, self._bare):
                column, row = cell
                part = self._component_of[cell], column // grain, row // grain
                parts[cell] = numbers.setdefault(part, len(numbers))
        return parts

    def _components(self) -> dict[Cell, int]:
        passages = self.layout.doors.keys() | self.layout.gates.keys()
        found: dict[Cell, int] = {}
        for number, cell in enumerate(self.index):
            border = [] if cell in found else [cell]
            found.setdefault(cell, number)
            while border and cell not in passages:
                for other in self.layout.tiling.neighbours(border.pop()):
                    if other in self.index and other not in found and other not in passages:
                        found[other] = number
                        border.append(other)
        return found

    def _number_poses(self) -> None:
        layout = self.layout
        index = self.index
        ways = range(self.headings)
        self.cell: Numbers = np.repeat(np.arange(len(index)), self.headings)

        ahead = list[int]()
        exits = list[int]()
        for cell, number in index.items():
            ahead += [index.get(layout.tiling.ahead(cell, way), -1) for way in ways]
            portal = layout.portals.get(cell)
            exits.append(number if portal is None else index.get(portal.exit, -1))
        self.ahead: Numbers = np.array(ahead, dtype=np.int64)

        arrival = np.array(exits, dtype=np.int64)[self.ahead]
        never = (self.ahead < 0) | (arrival < 0)
        heading = np.tile(np.arange(self.headings), len(index))
        after = arrival * self.headings + heading
        self.after: Numbers = np.where(never, -1, after)

        self._component_of = self._components()
        components = [self._component_of[cell] for cell in index]
        self.component: Numbers = np.array(components, dtype=np.int64)[self.cell]

    def _find_reach(self, start: Cell) -> dict[Cell, int]:
        ahead = self.layout.tiling.ahead
        found = {start: 0}
        border = [start]
        while border:
            cell = border.pop()
            for way in range(self.headings):
                pusher = ahead(cell, (way + self.headings // 2) % self.headings)
                beyond = ahead(cell, way)
                if pusher in self.index and beyond not in found and self._takes_block(beyond):
                    found[beyond] = len(found)
                    border.append(beyond)
        return found

    def _takes_block(self, cell: Cell) -> bool:
        return cell not in self._closed and self.layout.takes_block(cell, self._bare)
