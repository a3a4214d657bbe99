"""The floor of a maze as a graph: what is connected, which cells separate, and where corridors are narrow (pure)."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from gridworld.rules.tilings import Cell, Tiling


class Floor:
    """Connected cells of a grid whose border is wall.

    Args:
        tiling: on which the cells lie.
        width, height: of the grid, border included.
        plan: what it was made by.
        cells: what is not wall; the largest connected part of it is kept.
    """

    def __init__(self, tiling: Tiling, width: int, height: int, cells: Iterable[Cell], plan: str = "") -> None:
        self.tiling = tiling
        self.width = width
        self.height = height
        self.plan = plan
        columns = range(1, width - 1)
        rows = range(1, height - 1)
        inside = {(x, y) for x, y in cells if x in columns and y in rows}
        self.neighbours: dict[Cell, tuple[Cell, ...]] = {}
        for cell in sorted(inside):
            self.neighbours[cell] = tuple(near for near in tiling.neighbours(cell) if near in inside)

        # What remains must be connected, so that every cell is within reach.
        kept = max(self.parts(), key=len, default=frozenset[Cell]())
        self.neighbours = {cell: near for cell, near in self.neighbours.items() if cell in kept}
        self.cells = tuple(self.neighbours)

    @cached_property
    def walls(self) -> tuple[Cell, ...]:
        """Inner cells that are not floor, row by row."""
        inner = ((x, y) for y in range(1, self.height - 1) for x in range(1, self.width - 1))
        return tuple(cell for cell in inner if cell not in self.neighbours)

    @cached_property
    def narrow(self) -> frozenset[Cell]:
        """Cells that walls pass on two sides: doorways, straight corridors; not corners, not the middle of a room."""
        return frozenset(cell for cell in self.cells if self._sides(cell) >= 2)

    def parts(self) -> Iterator[frozenset[Cell]]:
        """Yield the connected parts, in the order of their first cells."""
        seen = set[Cell]()
        for cell in self.neighbours:
            if cell not in seen:
                part = frozenset(self.distances(cell))
                seen |= part
                yield part

    def distances(self, start: Cell, without: Collection[Cell] = ()) -> dict[Cell, int]:
        """Return the moves from a cell to every cell reachable without those of ``without``; nearest first."""
        found = {start: 0}
        queue = deque([start])
        while queue:
            cell = queue.popleft()
            for near in self.neighbours[cell]:
                if near not in found and near not in without:
                    found[near] = found[cell] + 1
                    queue.append(near)
        return found

    def path(self, start: Cell, end: Cell, without: Collection[Cell] = ()) -> list[Cell]:
        """Return a shortest way, both ends included; empty if there is none."""
        back = self.distances(end, without)
        if start not in back:
            return []
        way = [start]
        while (cell := way[-1]) != end:
            nearer = back[cell] - 1
            way.append(next(near for near in self.neighbours[cell] if back.get(near) == nearer))
        return way

    def cuts(self, start: Cell, end: Cell, without: Collection[Cell] = ()) -> list[Cell]:
        """Return narrow cells that every way between two cells passes, the first of the way first."""
        way = self.path(start, end, without)
        inner = [cell for cell in way[1:-1] if cell in self.narrow]
        return [cell for cell in inner if end not in self.distances(start, {*without, cell})]

    def _sides(self, cell: Cell) -> int:
        """Count the runs of floor around a cell, by heading."""
        around = [near in self.neighbours for near in self.tiling.neighbours(cell)]
        before = [around[-1], *around[:-1]]
        return sum(here and not earlier for earlier, here in zip(before, around, strict=True))
