"""The floor of a maze as a graph: connected components, shortest paths, separating cells, and narrow cells (pure)."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from gridworld.rules.tilings import Cell, Tiling


class Floor:
    """The connected floor cells of a grid whose border is wall.

    Args:
        tiling: the tiling of the grid.
        width, height: the size of the grid in cells, border included.
        plan: the name of the floor plan.
        cells: cells that are not wall; only their largest connected component becomes floor.
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

        # The floor must be connected, so that the agent can reach every cell.
        largest = max(self.parts(), key=len, default=frozenset[Cell]())
        self.neighbours = {cell: near for cell, near in self.neighbours.items() if cell in largest}
        self.cells = tuple(self.neighbours)

    @cached_property
    def walls(self) -> tuple[Cell, ...]:
        """The inner cells that are not floor, row by row."""
        inner = ((x, y) for y in range(1, self.height - 1) for x in range(1, self.width - 1))
        return tuple(cell for cell in inner if cell not in self.neighbours)

    @cached_property
    def narrow(self) -> frozenset[Cell]:
        """The cells whose floor neighbours form two or more groups separated by walls: doorways and corridors, not
        corners.
        """
        return frozenset(cell for cell in self.cells if self._count_floor_runs(cell) >= 2)

    def parts(self) -> Iterator[frozenset[Cell]]:
        """Yield the connected components of the floor, in the order of their first cells."""
        seen: set[Cell] = set()
        for cell in self.neighbours:
            if cell not in seen:
                part = frozenset(self.distances(cell))
                seen |= part
                yield part

    def distances(self, start: Cell, without: Collection[Cell] = ()) -> dict[Cell, int]:
        """Return the number of moves from ``start`` to each reachable cell, nearest cell first.

        Args:
            without: cells that the moves must not enter.
        """
        moves = {start: 0}
        queue = deque([start])
        while queue:
            cell = queue.popleft()
            for near in self.neighbours[cell]:
                if near not in moves and near not in without:
                    moves[near] = moves[cell] + 1
                    queue.append(near)
        return moves

    def path(self, start: Cell, end: Cell, without: Collection[Cell] = ()) -> list[Cell]:
        """Return a shortest path from ``start`` to ``end``, both included; if no path exists, return an empty list.

        Args:
            without: cells that the path must not enter.
        """
        moves_to_end = self.distances(end, without)
        if start not in moves_to_end:
            return []
        way = [start]
        cell = start
        while cell != end:
            nearer = moves_to_end[cell] - 1
            cell = next(near for near in self.neighbours[cell] if moves_to_end.get(near) == nearer)
            way.append(cell)
        return way

    def cuts(self, start: Cell, end: Cell, without: Collection[Cell] = ()) -> list[Cell]:
        """Return the narrow cells that every path from ``start`` to ``end`` passes, in the order of the path.

        Args:
            without: cells that the path must not enter.
        """
        way = self.path(start, end, without)
        inner = [cell for cell in way[1:-1] if cell in self.narrow]
        return [cell for cell in inner if end not in self.distances(start, {*without, cell})]

    def _count_floor_runs(self, cell: Cell) -> int:
        """Return the number of groups of successive floor cells in the circle of a cell's neighbours."""
        is_floor = [near in self.neighbours for near in self.tiling.neighbours(cell)]
        runs = 0
        for index, here in enumerate(is_floor):
            # Index -1 closes the circle: the last neighbour is beside the first.
            is_start_of_run = here and not is_floor[index - 1]
            runs += is_start_of_run
        return runs
