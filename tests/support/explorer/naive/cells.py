"""Sets of cells as integers, a bit a cell: all cells of a set move on by one shift."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from explorer.scene import Cell

Cells = int
"""A set of cells; 0 is the empty one, ``|`` ``&`` ``& ~`` are what they are for sets."""
UP, DOWN = (0, 1, 0), (0, -1, 0)
COMPASS: tuple[Cell, ...] = ((1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1))
FACES: tuple[Cell, ...] = (*COMPASS, UP, DOWN)


class Grid:
    """Numbers the cells of an arena, with a rim of one cell all round that no set may hold.

    A shift by up to two cells leads into the rim, never to the arena's other side. Mask what was shifted.
    """

    def __init__(self, size: Cell) -> None:
        self.size = size
        self.row = size[0] + 2
        self.layer = self.row * (size[2] + 2)
        self.all = self.of((x, y, z) for y in range(size[1]) for z in range(size[2]) for x in range(size[0]))

    def at(self, cell: Cell) -> int:
        """Return the number of a cell."""
        return (cell[1] + 1) * self.layer + (cell[2] + 1) * self.row + cell[0] + 1

    def of(self, cells: Iterable[Cell]) -> Cells:
        """Return a set; cells outside the arena are left out."""
        found = bytearray((self.layer * (self.size[1] + 2) + 7) // 8)
        for cell in cells:
            if all(0 <= at < end for at, end in zip(cell, self.size, strict=True)):
                number = self.at(cell)
                found[number >> 3] |= 1 << (number & 7)
        return int.from_bytes(found, "little")

    def members(self, cells: Cells) -> Iterator[Cell]:
        """Yield the cells of a set."""
        while cells:
            number = (cells & -cells).bit_length() - 1
            cells &= cells - 1
            y, rest = divmod(number, self.layer)
            z, x = divmod(rest, self.row)
            yield x - 1, y - 1, z - 1

    def moved(self, cells: Cells, by: Cell) -> Cells:
        """Return each cell moved on by an offset; the rim may be hit."""
        shift = by[1] * self.layer + by[2] * self.row + by[0]
        return cells << shift if shift >= 0 else cells >> -shift

    def around(self, cells: Cells, free: Cells) -> Cells:
        """Return the cells, and what a body in one of them may overhang at the same level: never across a corner."""
        found = cells
        for east in COMPASS[:2]:
            for south in COMPASS[2:]:
                one, other = self.moved(cells, east) & free, self.moved(cells, south) & free
                found |= one | other | self.moved(one, south) & self.moved(other, east) & free
        return found
