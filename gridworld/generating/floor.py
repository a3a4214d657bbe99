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
        inside = {cell for cell in cells if 0 < cell[0] < width - 1 and 0 < cell[1] < height - 1}
        self.neighbours = {
            cell: tuple(near for near in tiling.neighbours(cell) if near in inside) for cell in sorted(inside)
        }
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
        """The connected parts, in the order of their first cells."""
        seen = set[Cell]()
        for cell in self.neighbours:
            if cell not in seen:
                part = frozenset(self.distances(cell))
                seen |= part
                yield part

    def distances(self, start: Cell, without: Collection[Cell] = ()) -> dict[Cell, int]:
        """Moves from a cell to every cell that can be reached, never through those of ``without``; nearest first."""
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
        """A shortest way, both ends included; empty if there is none."""
        back = self.distances(end, without)
        if start not in back:
            return []
        way = [start]
        while way[-1] != end:
            way.append(next(near for near in self.neighbours[way[-1]] if back.get(near) == back[way[-1]] - 1))
        return way

    def cuts(self, start: Cell, end: Cell, without: Collection[Cell] = ()) -> list[Cell]:
        """Narrow cells that every way between two cells passes, the first of the way first."""
        inner = [cell for cell in self.path(start, end, without)[1:-1] if cell in self.narrow]
        return [cell for cell in inner if end not in self.distances(start, {*without, cell})]

    def _sides(self, cell: Cell) -> int:
        """How many runs of floor there are around a cell, by heading."""
        around = [near in self.neighbours for near in self.tiling.neighbours(cell)]
        return sum(here and not before for before, here in zip([around[-1], *around], around, strict=False))
