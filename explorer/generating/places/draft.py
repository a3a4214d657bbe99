"""The canvas of a scene: masonry from which rooms are carved."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from explorer.rules.blocks import AIR, code
from explorer.scene import Cell, Mob, Pose, Scene, Stack, Wire

MASONRY = -1
"""Owner of cells that belong to no area."""


@dataclass(frozen=True, slots=True)
class Box:
    """Cells between two corners, both included."""

    least: Cell
    most: Cell

    def grow(self, cells: int) -> Box:
        """Return the box grown by some cells on every side."""
        x, y, z = self.least
        u, v, w = self.most
        return Box((x - cells, y - cells, z - cells), (u + cells, v + cells, w + cells))

    def include(self, cell: Cell) -> Box:
        """Return the smallest box that contains this one and a cell."""
        x, y, z = map(min, self.least, cell)
        u, v, w = map(max, self.most, cell)
        return Box((x, y, z), (u, v, w))

    @property
    def slices(self) -> tuple[slice, slice, slice]:
        """Index of the box in an array ``[y, z, x]``."""
        x, y, z = self.least
        u, v, w = self.most
        return slice(y, v + 1), slice(z, w + 1), slice(x, u + 1)


def column_box(spot: tuple[int, int], floor: int, height: int) -> Box:
    """Return the ``height`` cells of a column (x, z) from a level upwards."""
    x, z = spot
    return Box((x, floor, z), (x, floor + height - 1, z))


@dataclass(slots=True, eq=False)
class Draft:
    """A scene under construction.

    Attributes:
        blocks: uint16 ``[y, z, x]``.
        owner: int16 ``[y, z, x]``: number of the area that an open cell belongs to, :data:`MASONRY` elsewhere.
    """

    blocks: NDArray[np.uint16]
    owner: NDArray[np.int16]
    items: dict[Cell, tuple[Stack, ...]] = field(default_factory=dict)
    chests: dict[Cell, tuple[Stack, ...]] = field(default_factory=dict)
    mobs: list[Mob] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)

    @classmethod
    def make_solid(cls, size: Cell, masonry: str) -> Draft:
        """Return a solid block of masonry."""
        x, y, z = size
        blocks = np.full((y, z, x), code(masonry), np.uint16)
        owner = np.full((y, z, x), MASONRY, np.int16)
        return cls(blocks, owner)

    def carve(self, box: Box, owner: int) -> None:
        """Empty a box for an area."""
        self.blocks[box.slices] = AIR
        self.owner[box.slices] = owner

    def fill(self, box: Box, name: str) -> None:
        """Fill a box with a block."""
        self.blocks[box.slices] = code(name)

    def put(self, cell: Cell, name: str) -> None:
        """Put a block into a cell."""
        x, y, z = cell
        self.blocks[y, z, x] = code(name)

    def is_air(self, cell: Cell) -> bool:
        """Return whether a cell is air."""
        x, y, z = cell
        return bool(self.blocks[y, z, x] == AIR)

    def contains_block(self, cell: Cell, name: str) -> bool:
        """Return whether a cell holds a block."""
        x, y, z = cell
        return bool(self.blocks[y, z, x] == code(name))

    def scene(self, name: str, spawn: Pose) -> Scene:
        """Return the scene; its array is read-only."""
        blocks = self.blocks.copy()
        blocks.flags.writeable = False
        return Scene(name, spawn, blocks, self.items, self.chests, tuple(self.mobs), tuple(self.wires))
