"""Tilings: neighbours of cells, distances between cells, and view cones (pure).

Cells are (column, row) on both tilings. Headings are numbered clockwise; 0 is to the right.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final, TypeAlias

Cell: TypeAlias = tuple[int, int]
"""(column, row), origin top-left."""


class Tiling(ABC):
    """A regular tiling of a rectangle.

    Attributes:
        name: the name of the tiling in command-line options.
        headings: the number of headings; a turn is 360 degrees divided by this number.
        heading_names: a word for each heading.
    """

    name: ClassVar[str]
    headings: ClassVar[int]
    heading_names: ClassVar[tuple[str, ...]]

    @abstractmethod
    def ahead(self, cell: Cell, heading: int) -> Cell:
        """Return the neighbour of a cell in the direction of a heading."""

    @abstractmethod
    def distance(self, one: Cell, other: Cell) -> int:
        """Return the least number of moves between two cells on an empty grid."""

    @abstractmethod
    def cone(self, position: Cell, heading: int, view_size: int, opaque: Callable[[Cell], bool]) -> frozenset[Cell]:
        """Return the cells in view.

        Cells outside of the grid may be in view if ``opaque`` is false for the border of the grid.

        Args:
            position: cell of the agent, which is always in view.
            heading: heading of the agent.
            view_size: size of the view in cells, odd, at least 3.
            opaque: function that returns whether a cell blocks the view; the opaque cell itself may be in view.
        """

    def neighbours(self, cell: Cell) -> tuple[Cell, ...]:
        """Return the neighbours of a cell, indexed by heading."""
        return tuple(self.ahead(cell, heading) for heading in range(self.headings))


class Square(Tiling):
    """Squares with four headings; the view cone is MiniGrid's (``minigrid.core.grid.Grid.process_vis``)."""

    name = "square"
    headings = 4
    heading_names = ("right", "down", "left", "up")
    _STEPS: Final = ((1, 0), (0, 1), (-1, 0), (0, -1))

    def ahead(self, cell: Cell, heading: int) -> Cell:
        right, down = self._STEPS[heading]
        return cell[0] + right, cell[1] + down

    def distance(self, one: Cell, other: Cell) -> int:
        return abs(one[0] - other[0]) + abs(one[1] - other[1])

    def cone(self, position: Cell, heading: int, view_size: int, opaque: Callable[[Cell], bool]) -> frozenset[Cell]:
        """Return the cells in view, in a square of ``view_size`` x ``view_size`` cells in front of the agent.

        Light starts at the agent. Row by row away from the agent, light spreads sideways through clear cells, and from
        clear cells to the next row.

        Args:
            position: cell of the agent, in the middle of the nearest row of the square.
            heading: heading of the agent.
            view_size: width and depth of the square in cells, odd, at least 3.
            opaque: function that returns whether a cell blocks the view; the opaque cell itself may be in view.
        """
        column, row = position
        right, down = self._STEPS[heading]
        half = view_size // 2
        # Cells of a row of the square have the numbers 0 to view_size - 1, from the agent's left to its right.
        lit = {half}
        seen: set[Cell] = set()
        for depth in range(view_size):
            middle_column = column + right * depth
            middle_row = row + down * depth
            # A step to the agent's right is (-down, right).
            offsets = range(-half, view_size - half)
            cells = [(middle_column - down * offset, middle_row + right * offset) for offset in offsets]
            clear = [not opaque(cell) for cell in cells]
            if depth == 0:
                clear[half] = True  # the agent sees out of its own cell, even if the cell is opaque
            lit_in_next_row: set[int] = set()
            for i in range(view_size - 1):
                if i in lit and clear[i]:
                    lit.add(i + 1)
                    lit_in_next_row.update((i, i + 1))
            for i in range(view_size - 1, 0, -1):
                if i in lit and clear[i]:
                    lit.add(i - 1)
                    lit_in_next_row.update((i, i - 1))
            seen.update(cells[i] for i in lit)
            lit = lit_in_next_row
        return frozenset(seen)


class Hex(Tiling):
    """Pointy-top hexagons with six headings; odd rows are shifted right by half a cell ("odd-r" offset coordinates).

    The conversions and the distance follow Amit Patel, "Hexagonal Grids" (redblobgames.com/grids/hexagons).
    """

    name = "hex"
    headings = 6
    heading_names = ("right", "down-right", "down-left", "left", "up-left", "up-right")
    _AXIAL: Final = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))

    def to_axial(self, cell: Cell) -> tuple[int, int]:
        """Return the axial coordinates (q, r) of a cell."""
        column, row = cell
        return column - (row - row % 2) // 2, row

    def from_axial(self, axial: tuple[int, int]) -> Cell:
        """Return the cell at axial coordinates (q, r)."""
        q, r = axial
        return q + (r - r % 2) // 2, r

    def ahead(self, cell: Cell, heading: int) -> Cell:
        q, r = self.to_axial(cell)
        dq, dr = self._AXIAL[heading]
        return self.from_axial((q + dq, r + dr))

    def distance(self, one: Cell, other: Cell) -> int:
        q1, r1 = self.to_axial(one)
        q2, r2 = self.to_axial(other)
        return (abs(q1 - q2) + abs(r1 - r2) + abs(q1 + r1 - q2 - r2)) // 2

    def cone(self, position: Cell, heading: int, view_size: int, opaque: Callable[[Cell], bool]) -> frozenset[Cell]:
        """Return the cells in view: cells within ``view_size - 1`` forward steps through clear cells.

        A forward step goes in the agent's heading, or in an adjacent heading.

        Args:
            position: cell of the agent.
            heading: heading of the agent.
            view_size: depth of the view in cells, odd, at least 3.
            opaque: function that returns whether a cell blocks the view; the opaque cell itself may be in view.
        """
        forward = [(heading + turn) % self.headings for turn in (-1, 0, 1)]
        seen = {position}
        frontier = [position]
        for _ in range(view_size - 1):
            reached = {self.ahead(cell, step) for cell in frontier for step in forward} - seen
            seen |= reached
            frontier = [cell for cell in reached if not opaque(cell)]
        return frozenset(seen)


SQUARE: Final = Square()
HEX: Final = Hex()
TILINGS: Final[dict[str, Tiling]] = {tiling.name: tiling for tiling in (SQUARE, HEX)}
"""Tilings by the names of the option ``--tiling``."""
