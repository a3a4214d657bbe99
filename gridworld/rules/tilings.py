"""Tilings: which cell lies ahead, how far cells are apart, and what a view cone shows (pure).

Cells are (column, row) on both tilings. Headings count clockwise from 0, to the right.
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
        name: as the user gives it.
        headings: how many there are; a turn is 360 degrees divided by it.
        heading_names: a word for each.
    """

    name: ClassVar[str]
    headings: ClassVar[int]
    heading_names: ClassVar[tuple[str, ...]]

    @abstractmethod
    def ahead(self, cell: Cell, heading: int) -> Cell:
        """Return the neighbour of a cell in a heading."""

    @abstractmethod
    def distance(self, one: Cell, other: Cell) -> int:
        """Return the fewest moves between two cells where nothing stands in the way."""

    @abstractmethod
    def cone(self, position: Cell, heading: int, view_size: int, opaque: Callable[[Cell], bool]) -> frozenset[Cell]:
        """Return cells in view; some may lie outside of the grid unless ``opaque`` stops the view at its border.

        Args:
            position: where the agent stands; always in view.
            heading: where it looks.
            view_size: odd, at least 3.
            opaque: whether a cell blocks the view; it is seen itself.
        """

    def neighbours(self, cell: Cell) -> tuple[Cell, ...]:
        """Return the cells beside a cell, by heading."""
        return tuple(self.ahead(cell, heading) for heading in range(self.headings))


class Square(Tiling):
    """Four headings; the cone is MiniGrid's (``minigrid.core.grid.Grid.process_vis``)."""

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
        """Spread light from the agent's row away from it, and within a row to the sides, as far as cells are clear.

        Args:
            position: where the agent stands, in the middle of the near row of ``view_size`` x ``view_size`` cells.
            heading: where it looks.
            view_size: odd, at least 3.
            opaque: whether a cell blocks the view; it is seen itself.
        """
        column, row = position
        right, down = self._STEPS[heading]
        half = view_size // 2
        lit = {half}
        seen = set[Cell]()
        for depth in range(view_size):
            # Column of the view i lies (i - half) cells to the agent's right, whose step is (-down, right).
            cells = [
                (column + right * depth - down * (i - half), row + down * depth + right * (i - half))
                for i in range(view_size)
            ]
            clear = [not opaque(cell) for cell in cells]
            if not depth:
                clear[half] = True
            further = set[int]()
            for i in range(view_size - 1):
                if i in lit and clear[i]:
                    lit.add(i + 1)
                    further.update((i, i + 1))
            for i in range(view_size - 1, 0, -1):
                if i in lit and clear[i]:
                    lit.add(i - 1)
                    further.update((i, i - 1))
            seen.update(cells[i] for i in lit)
            lit = further
        return frozenset(seen)


class Hex(Tiling):
    """Six headings on pointy-top hexagons, odd rows shifted right by half a cell ("odd-r" offset coordinates).

    Conversions and distance after Amit Patel, "Hexagonal Grids" (redblobgames.com/grids/hexagons).
    """

    name = "hex"
    headings = 6
    heading_names = ("right", "down-right", "down-left", "left", "up-left", "up-right")
    _AXIAL: Final = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))

    def to_axial(self, cell: Cell) -> tuple[int, int]:
        """Return axial coordinates (q, r) of a cell."""
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
        """Return cells within ``view_size - 1`` steps in the heading and the two next to it, through clear cells.

        Args:
            position: where the agent stands.
            heading: where it looks.
            view_size: odd, at least 3.
            opaque: whether a cell blocks the view; it is seen itself.
        """
        forward = [(heading + turn) % self.headings for turn in (-1, 0, 1)]
        seen = {position}
        border = [position]
        for _ in range(view_size - 1):
            reached = {self.ahead(cell, way) for cell in border for way in forward} - seen
            seen |= reached
            border = [cell for cell in reached if not opaque(cell)]
        return frozenset(seen)


SQUARE: Final = Square()
HEX: Final = Hex()
TILINGS: Final[dict[str, Tiling]] = {tiling.name: tiling for tiling in (SQUARE, HEX)}
"""Tilings by name, as ``--tiling`` takes them."""
