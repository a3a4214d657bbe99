"""Numbering of cells and poses, and the cells onto which blocks can be pushed (pure)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import Cell

Numbers: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]

NO_CELL = -2
"""Number in place of a cell that the agent cannot enter; it differs from all numbers of cells, and from -1.

In :attr:`Places.ahead`, -1 means that the agent cannot enter the cell ahead.
"""


class Places:
    """The poses of a task; the number of a pose is: number of its cell x number of headings + heading.

    Args:
        layout: the task.
        start: the initial state, for the initial cells of blocks.

    Attributes:
        index: number of each cell on which the agent may ever be, row by row from 0.
        cell: number of the cell of each pose.
        ahead: number of the cell ahead of each pose; -1 if the agent can never be on the cell ahead.
        after: pose after moving forward from each pose if nothing is in the way; -1 if the agent can never move
            forward.
        component: number of the connected component of each pose. Doors and gates separate components; each door and
            each gate is a component of its own.
        reach: by pushable block: the cells onto which the block can be pushed if nothing is in the way. The cells are
            numbered from 0, which is the initial cell.
    """

    def __init__(self, layout: Layout, start: State) -> None:
        self.layout = layout
        self.headings = layout.tiling.headings
        self._without_movables = start._replace(key_cells=(), block_cells=())
        blocks = list(zip(layout.blocks, start.block_cells, strict=True))
        fixed_blocks = {cell for block, cell in blocks if not block.pushable}
        self._closed = layout.walls | layout.hazards.keys() | fixed_blocks
        grid = ((column, row) for row in range(layout.height) for column in range(layout.width))
        open_cells = (cell for cell in grid if cell not in self._closed)
        self.index = {cell: number for number, cell in enumerate(open_cells)}
        self._number_poses()
        self.reach = {block.id: self._find_reach(cell) for block, cell in blocks if block.pushable}

    def __len__(self) -> int:
        return len(self.cell)

    def pose(self, state: State) -> int:
        """Return the number of a state's pose."""
        return self.index[state.position] * self.headings + state.heading

    def on(self, cell: Cell) -> Mask:
        """Return for each pose whether the agent is on ``cell``."""
        return np.equal(self.cell, self.index.get(cell, NO_CELL))

    def facing(self, cell: Cell) -> Mask:
        """Return for each pose whether ``cell`` is ahead of the agent."""
        return np.equal(self.ahead, self.index.get(cell, NO_CELL))

    def parts(self, grain: int) -> dict[Cell, int]:
        """Return, by cell on which a key might be dropped, the number of its part of the grid.

        A part is the intersection of a connected component and a square of ``grain`` x ``grain`` cells.
        """
        numbers: dict[tuple[int, ...], int] = {}
        parts: dict[Cell, int] = {}
        for cell in self.index:
            if self.layout.is_free(cell, self._without_movables):
                column, row = cell
                part = self._component_of[cell], column // grain, row // grain
                parts[cell] = numbers.setdefault(part, len(numbers))
        return parts

    def _components(self) -> dict[Cell, int]:
        """Return the component of each cell; the number of a component is the number of its first cell."""
        passages = self.layout.doors.keys() | self.layout.gates.keys()
        components: dict[Cell, int] = {}
        for number, cell in enumerate(self.index):
            if cell in components:
                continue
            components[cell] = number
            frontier = [] if cell in passages else [cell]
            while frontier:
                for other in self.layout.tiling.neighbours(frontier.pop()):
                    if other in self.index and other not in components and other not in passages:
                        components[other] = number
                        frontier.append(other)
        return components

    def _number_poses(self) -> None:
        """Set the attributes that have an entry for each pose."""
        layout = self.layout
        index = self.index
        self.cell: Numbers = np.repeat(np.arange(len(index)), self.headings)

        ahead: list[int] = []
        exits = list[int]()  # by cell: the cell where the agent is after entering
        for cell, number in index.items():
            ahead += [index.get(layout.tiling.ahead(cell, heading), -1) for heading in range(self.headings)]
            portal = layout.portals.get(cell)
            exits.append(number if portal is None else index.get(portal.exit, -1))
        self.ahead: Numbers = np.array(ahead, dtype=np.int64)

        arrival = np.array(exits, dtype=np.int64)[self.ahead]
        is_barred = (self.ahead < 0) | (arrival < 0)
        headings = np.tile(np.arange(self.headings), len(index))
        after = arrival * self.headings + headings
        self.after: Numbers = np.where(is_barred, -1, after)

        self._component_of = self._components()
        components = [self._component_of[cell] for cell in index]
        self.component: Numbers = np.array(components, dtype=np.int64)[self.cell]

    def _find_reach(self, start: Cell) -> dict[Cell, int]:
        """Return the cells onto which a block can be pushed from ``start``, numbered from 0 for ``start``."""
        ahead = self.layout.tiling.ahead
        numbers = {start: 0}
        frontier = [start]
        while frontier:
            cell = frontier.pop()
            for heading in range(self.headings):
                opposite = (heading + self.headings // 2) % self.headings
                pusher = ahead(cell, opposite)
                beyond = ahead(cell, heading)
                if pusher in self.index and beyond not in numbers and self._takes_block(beyond):
                    numbers[beyond] = len(numbers)
                    frontier.append(beyond)
        return numbers

    def _takes_block(self, cell: Cell) -> bool:
        return cell not in self._closed and self.layout.takes_block(cell, self._without_movables)
