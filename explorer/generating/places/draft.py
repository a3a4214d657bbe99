"""A scene under construction, which begins as solid masonry; rooms and passages are carved out of the masonry.

An area is a room of the plan. A column is all cells with the same x and z.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.rules.blocks import AIR, code
from explorer.scene import Cell, Mob, Pose, Scene, Stack, Wire, move_by, offset_to

MASONRY = -1
"""Value of :attr:`Draft.owner` for cells that belong to no area."""


@dataclass(frozen=True, slots=True)
class Box:
    """The cells between two corner cells; the box includes both corners."""

    least: Cell
    most: Cell

    def grow(self, cells: int) -> Box:
        """Return the box grown by ``cells`` cells in every direction."""
        margin = (cells, cells, cells)
        return Box(offset_to(margin, self.least), move_by(self.most, margin))

    def include(self, cell: Cell) -> Box:
        """Return the smallest box that contains this box and a cell."""
        west, bottom, north = map(min, self.least, cell)
        east, top, south = map(max, self.most, cell)
        return Box((west, bottom, north), (east, top, south))

    @property
    def slices(self) -> tuple[slice, slice, slice]:
        """Index that selects the box from an array ``[y, z, x]``."""
        xs, ys, zs = (slice(low, high + 1) for low, high in zip(self.least, self.most, strict=True))
        return ys, zs, xs


def column_box(spot: tuple[int, int], floor: int, height: int) -> Box:
    """Return the box of the ``height`` lowest cells of a column, from the level ``floor`` upwards.

    Args:
        spot: x and z of the column.
    """
    x, z = spot
    return Box((x, floor, z), (x, floor + height - 1, z))


@dataclass(slots=True, eq=False)
class Draft:
    """A scene under construction.

    Attributes:
        blocks: code of the block in each cell, uint16 ``[y, z, x]``.
        owner: number of the area to which each open cell belongs, int16 ``[y, z, x]``; :data:`MASONRY` for cells of no
            area.
        items: cell -> stacks that lie in the cell.
        chests: cell of a chest -> stacks in the chest.
    """

    blocks: NDArray[np.uint16]
    owner: NDArray[np.int16]
    items: dict[Cell, tuple[Stack, ...]] = field(default_factory=dict)
    chests: dict[Cell, tuple[Stack, ...]] = field(default_factory=dict)
    mobs: list[Mob] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)

    @classmethod
    def make_solid(cls, size: Cell, masonry: str) -> Draft:
        """Return a draft of the given size (x, y, z) in which every cell holds the block ``masonry``."""
        x, y, z = size
        blocks = np.full((y, z, x), code(masonry), np.uint16)
        owner = np.full((y, z, x), MASONRY, np.int16)
        return cls(blocks, owner)

    def carve(self, box: Box, owner: int) -> None:
        """Fill a box with air, and assign its cells to the area with the number ``owner``."""
        self.blocks[box.slices] = AIR
        self.owner[box.slices] = owner

    def fill(self, box: Box, name: str) -> None:
        """Put the block called ``name`` into every cell of a box."""
        self.blocks[box.slices] = code(name)

    def put(self, cell: Cell, name: str) -> None:
        """Put the block called ``name`` into a cell."""
        x, y, z = cell
        self.blocks[y, z, x] = code(name)

    def is_air(self, cell: Cell) -> bool:
        """Return whether a cell is air."""
        x, y, z = cell
        return bool(self.blocks[y, z, x] == AIR)

    def contains_block(self, cell: Cell, name: str) -> bool:
        """Return whether a cell holds the block called ``name``."""
        x, y, z = cell
        return bool(self.blocks[y, z, x] == code(name))

    def scene(self, name: str, spawn: Pose) -> Scene:
        """Return the draft as a finished scene called ``name``; its array of blocks is a read-only copy."""
        blocks = self.blocks.copy()
        blocks.flags.writeable = False
        return Scene(name, spawn, blocks, self.items, self.chests, tuple(self.mobs), tuple(self.wires))
