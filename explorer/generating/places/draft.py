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

    def grown(self, cells: int) -> Box:
        """Return the box grown by some cells on every side."""
        low = self.least
        high = self.most
        return Box(
            (low[0] - cells, low[1] - cells, low[2] - cells), (high[0] + cells, high[1] + cells, high[2] + cells)
        )

    def joined(self, cell: Cell) -> Box:
        """Return the smallest box that contains this one and a cell."""
        low = tuple(map(min, self.least, cell))
        high = tuple(map(max, self.most, cell))
        return Box((low[0], low[1], low[2]), (high[0], high[1], high[2]))

    @property
    def slices(self) -> tuple[slice, slice, slice]:
        """Index of the box in an array ``[y, z, x]``."""
        x, y, z = self.least
        u, v, w = self.most
        return slice(y, v + 1), slice(z, w + 1), slice(x, u + 1)


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
    def of(cls, size: Cell, masonry: str) -> Draft:
        """Return a solid block of masonry."""
        shape = size[1], size[2], size[0]
        return cls(np.full(shape, code(masonry), np.uint16), np.full(shape, MASONRY, np.int16))

    def carve(self, box: Box, owner: int) -> None:
        """Empty a box for an area."""
        self.blocks[box.slices] = AIR
        self.owner[box.slices] = owner

    def fill(self, box: Box, name: str) -> None:
        """Fill a box with a block."""
        self.blocks[box.slices] = code(name)

    def put(self, cell: Cell, name: str) -> None:
        """Put a block into a cell."""
        self.blocks[cell[1], cell[2], cell[0]] = code(name)

    def is_air(self, cell: Cell) -> bool:
        """Return whether a cell is air."""
        return bool(self.blocks[cell[1], cell[2], cell[0]] == AIR)

    def holds(self, cell: Cell, name: str) -> bool:
        """Return whether a cell holds a block."""
        return bool(self.blocks[cell[1], cell[2], cell[0]] == code(name))

    def scene(self, name: str, spawn: Pose) -> Scene:
        """Return the scene; its array is read-only."""
        blocks = self.blocks.copy()
        blocks.flags.writeable = False
        return Scene(name, spawn, blocks, self.items, self.chests, tuple(self.mobs), tuple(self.wires))
