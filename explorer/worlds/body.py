"""A body that walks, jumps and falls among full cells, tick by tick, with the constants of vanilla Minecraft 1.16.5.

A second has 20 ticks. The constants come from ``LivingEntity.travel`` and ``Entity.move`` of the game;
prismarine-physics implements the same constants. Any keys may be held in any tick, so the body can do everything that a
player can do.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, cos, floor, radians, sin
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.rules.blocks import LAVA, SOLID
from explorer.scene import Cell

GRAVITY: Final = 0.08
"""Loss of vertical velocity in each tick, in metres per tick."""
FALL_DRAG: Final = 0.98
"""Factor of the vertical velocity in each tick."""
JUMP: Final = 0.42
"""Vertical velocity at the beginning of a jump, in metres per tick."""
GROUND_SLIP: Final = 0.6 * 0.91
AIR_SLIP: Final = 0.91
"""Factors of the sideways velocity in each tick: on the ground, and in the air."""
GROUND_PUSH: Final = 0.1
AIR_PUSH: Final = 0.02
"""Velocity in metres per tick that a held key adds in each tick: on the ground, and in the air.

The value still has to be multiplied by :data:`INPUT`.
"""
SPRINT: Final = 1.3
"""Factor of the velocity that a key adds while the body sprints."""
INPUT: Final = 0.98
"""Factor of the velocity that any key adds."""
SPRINT_JUMP: Final = 0.2
"""Forward velocity in metres per tick that a jump adds while the body sprints."""
HALF_WIDTH: Final = 0.3
HEIGHT: Final = 1.8
"""Half the width of the body, and its height, in metres."""
STILL: Final = 0.003
"""A velocity below this, in metres per tick, counts as 0."""
EDGE: Final = 1e-7
"""Depth in metres to which the body may reach into a cell before it counts as overlapping the cell."""

FORWARD = 1
BACK = 2
LEFT = 4
RIGHT = 8
JUMPING = 16
SPRINTING = 32
"""The keys as bits; a set of held keys is the sum of their bits."""
FREE = 0
BARRED = 1
DEADLY = 2
"""The three meanings that a cell can have to a body."""
_TO_A_BODY: Final = np.frombuffer(SOLID, np.uint8).copy()
_TO_A_BODY[LAVA] = DEADLY


class Solids:
    """A byte for each cell that says what the cell is to a body: free, barred or deadly.

    A border of barred cells surrounds the arena.

    Attributes:
        across, layer: number of entries in ``cells`` for a row and for a layer.
        cells: the bytes in the order y, z, x.
        deadly: whether the arena contains, or has ever contained, a deadly cell.

    Args:
        blocks: codes of blocks, uint16 ``[y, z, x]``.
    """

    __slots__ = ("across", "cells", "deadly", "layer")

    def __init__(self, blocks: NDArray[np.uint16]) -> None:
        _, depth, width = blocks.shape
        self.across: int = width + 2
        self.layer: int = (width + 2) * (depth + 2)
        self.cells = bytearray(np.pad(_TO_A_BODY[blocks], 1, constant_values=BARRED).tobytes())
        self.deadly = DEADLY in self.cells

    def at(self, x: int, y: int, z: int) -> int:
        """Return the index in ``cells`` of a cell, which lies in the arena or in its border."""
        return (y + 1) * self.layer + (z + 1) * self.across + x + 1

    def put(self, cell: Cell, code: int) -> None:
        """Update the byte of a cell whose block has changed to ``code``."""
        self.cells[self.at(*cell)] = _TO_A_BODY[code]
        self.deadly = self.deadly or code == LAVA


@lru_cache(maxsize=1024)
def _compute_sine_cosine(yaw: float) -> tuple[float, float]:
    """Return the sine and the cosine of a yaw in degrees."""
    return sin(radians(yaw)), cos(radians(yaw))


class Body:
    """A body: a box that is 0.6 m wide and long and 1.8 m high.

    Attributes:
        x, y, z: middle of the body's base, in metres.
        vx, vy, vz: velocity in metres per tick.
        on_ground: whether, in the last tick, the ground stopped the body, before it moved sideways.
        burnt: whether the body has ever touched lava.
        ticks: number of ticks since the body was created.
    """

    __slots__ = ("burnt", "on_ground", "solids", "ticks", "vx", "vy", "vz", "x", "y", "z")

    def __init__(self, solids: Solids, cell: Cell) -> None:
        self.solids = solids
        self.burnt = False
        self.ticks = 0
        self.place(cell)

    def place(self, cell: Cell) -> None:
        """Put the body at rest in the middle of a cell."""
        self.x = cell[0] + 0.5
        self.y = float(cell[1])
        self.z = cell[2] + 0.5
        self.vx = self.vz = 0.0
        # At rest, gravity pulls the body down by this much in each tick.
        self.vy = -GRAVITY * FALL_DRAG
        self.on_ground = True

    @property
    def cell(self) -> Cell:
        """Cell of the feet."""
        return floor(self.x), floor(self.y + EDGE), floor(self.z)

    def tick(self, keys: int, yaw: float) -> None:
        """Advance by one tick while some keys are held.

        Args:
            keys: sum of the bits of the held keys.
            yaw: direction of the view in degrees: 0 is south, 90 is west.
        """
        self.ticks += 1
        vx = self.vx if abs(self.vx) >= STILL else 0.0
        vy = self.vy if abs(self.vy) >= STILL else 0.0
        vz = self.vz if abs(self.vz) >= STILL else 0.0
        slip = GROUND_SLIP if self.on_ground else AIR_SLIP
        if keys:
            vx, vy, vz = self._push(keys, yaw, vx, vy, vz)

        # A part of the velocity becomes 0 if the body cannot move all the way.
        moved = self._rise(vy)
        self.on_ground = vy < 0 and moved != vy
        if moved != vy:
            vy = 0.0
        # As in vanilla, the body moves first along the axis of the greater sideways velocity.
        if abs(vx) < abs(vz):
            if vz and self._move_south(vz) != vz:
                vz = 0.0
            if vx and self._move_east(vx) != vx:
                vx = 0.0
        else:
            if vx and self._move_east(vx) != vx:
                vx = 0.0
            if vz and self._move_south(vz) != vz:
                vz = 0.0

        self.vx = vx * slip
        self.vy = (vy - GRAVITY) * FALL_DRAG
        self.vz = vz * slip
        may_burn = self.solids.deadly and not self.burnt
        if may_burn and DEADLY in self._read_box():
            self.burnt = True

    def _push(self, keys: int, yaw: float, vx: float, vy: float, vz: float) -> tuple[float, float, float]:
        """Return the velocity (x, y, z) after the held keys have changed it.

        Args:
            vx, vy, vz: velocity before.
        """
        sine, cosine = _compute_sine_cosine(yaw)
        sprinting = keys & SPRINTING and keys & FORWARD
        push = (GROUND_PUSH if self.on_ground else AIR_PUSH) * (SPRINT if sprinting else 1)
        if keys & JUMPING and self.on_ground:
            vy = JUMP
            if sprinting:
                vx -= sine * SPRINT_JUMP
                vz += cosine * SPRINT_JUMP

        ahead = INPUT * ((keys & FORWARD != 0) - (keys & BACK != 0))
        aside = INPUT * ((keys & LEFT != 0) - (keys & RIGHT != 0))
        # A diagonal push is as strong as a straight push.
        if ahead and aside:
            push /= (ahead * ahead + aside * aside) ** 0.5
        vx += push * (aside * cosine - ahead * sine)
        vz += push * (ahead * cosine + aside * sine)
        return vx, vy, vz

    def _rise(self, by: float) -> float:
        """Move up by ``by`` metres, or down if ``by`` is negative, until something is in the way; return the metres
        moved.
        """
        y = self.y
        if by < 0:
            new_y = y + by
            below = floor(y + EDGE) - 1
            if new_y < below + 1:
                for level in range(below, floor(new_y) - 1, -1):
                    if self._has_floor(level):
                        self.y = float(level + 1)
                        return self.y - y if new_y < level + 1 else by
            self.y = new_y
            return by

        top = y + HEIGHT
        above = ceil(top - EDGE)
        if top + by > above and self._has_floor(above):
            self.y = above - HEIGHT
            return self.y - y
        self.y = y + by
        return by

    def _has_floor(self, level: int) -> bool:
        """Return whether a barred cell at a level is above or below any part of the body."""
        # The body overlaps at most 2 x 2 columns, those of its corners.
        cells = self.solids.cells
        across = self.solids.across
        start = (level + 1) * self.solids.layer
        north = start + (floor(self.z - HALF_WIDTH + EDGE) + 1) * across
        south = start + (floor(self.z + HALF_WIDTH - EDGE) + 1) * across
        west = floor(self.x - HALF_WIDTH + EDGE) + 1
        east = floor(self.x + HALF_WIDTH - EDGE) + 1
        if BARRED in (cells[north + west], cells[north + east]):
            return True
        return BARRED in (cells[south + west], cells[south + east])

    def _move_east(self, by: float) -> float:
        """Move along x by ``by`` metres, until something is in the way; return the metres moved."""
        x = self.x
        if by > 0:
            wall = ceil(x + HALF_WIDTH - EDGE)
            if x + by + HALF_WIDTH > wall and self._is_barred(wall, None):
                self.x = wall - HALF_WIDTH
                return self.x - x
        else:
            wall = floor(x - HALF_WIDTH + EDGE)
            if x + by - HALF_WIDTH < wall and self._is_barred(wall - 1, None):
                self.x = wall + HALF_WIDTH
                return self.x - x
        self.x = x + by
        return by

    def _move_south(self, by: float) -> float:
        """Move along z by ``by`` metres, until something is in the way; return the metres moved."""
        z = self.z
        if by > 0:
            wall = ceil(z + HALF_WIDTH - EDGE)
            if z + by + HALF_WIDTH > wall and self._is_barred(None, wall):
                self.z = wall - HALF_WIDTH
                return self.z - z
        else:
            wall = floor(z - HALF_WIDTH + EDGE)
            if z + by - HALF_WIDTH < wall and self._is_barred(None, wall - 1):
                self.z = wall + HALF_WIDTH
                return self.z - z
        self.z = z + by
        return by

    def _is_barred(self, x: int | None, z: int | None) -> bool:
        """Return whether a cell at the height of the body is barred, in the column ``x`` or the row ``z`` beside the
        body.
        """
        return BARRED in self._read_box(x, z)

    def _read_box(self, x: int | None = None, z: int | None = None) -> list[int]:
        """Return what the cells that the body overlaps are to a body (free, barred or deadly).

        If ``x`` or ``z`` is given, the body counts as being in this column or row along that axis.
        """
        solids = self.solids
        columns = _find_overlapped(self.x) if x is None else (x,)
        rows = _find_overlapped(self.z) if z is None else (z,)
        lowest = floor(self.y + EDGE)
        highest = floor(self.y + HEIGHT - EDGE)

        meanings = []
        for level in range(lowest, highest + 1):
            for row in rows:
                start = solids.at(0, level, row)
                for column in columns:
                    meanings.append(solids.cells[start + column])
        return meanings


def _find_overlapped(middle: float) -> tuple[int, ...]:
    """Return the coordinates, one or two, of the cells that a body overlaps along an axis.

    Args:
        middle: coordinate of the middle of the body.
    """
    first = floor(middle - HALF_WIDTH + EDGE)
    last = floor(middle + HALF_WIDTH - EDGE)
    return (first,) if first == last else (first, last)
