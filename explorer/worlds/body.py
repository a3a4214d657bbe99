"""A body that walks, jumps and falls among full cells, tick by tick, with vanilla's constants (1.16.5).

20 ticks a second. Source of the constants: ``LivingEntity.travel`` and ``Entity.move`` of the game, as also implemented
by prismarine-physics. Any keys may be held at any tick, so it can reach whatever a player can.
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
"""Metres per tick squared."""
FALL_DRAG: Final = 0.98
JUMP: Final = 0.42
"""Metres per tick, upwards."""
GROUND_SLIP: Final = 0.6 * 0.91
AIR_SLIP: Final = 0.91
GROUND_PUSH: Final = 0.1
AIR_PUSH: Final = 0.02
SPRINT: Final = 1.3
INPUT: Final = 0.98
SPRINT_JUMP: Final = 0.2
HALF_WIDTH: Final = 0.3
HEIGHT: Final = 1.8
STILL: Final = 0.003
"""A slower body is at rest."""
EDGE: Final = 1e-7
"""How far a box may reach into a cell without being in it."""

FORWARD = 1
BACK = 2
LEFT = 4
RIGHT = 8
JUMPING = 16
SPRINTING = 32
"""Keys; add them up."""
FREE = 0
BARRED = 1
DEADLY = 2
"""What a cell means to a body."""
_TO_A_BODY: Final = np.frombuffer(SOLID, np.uint8).copy()
_TO_A_BODY[LAVA] = DEADLY


class Solids:
    """What each cell means to a body, as bytes: a mirror of the blocks with a border of barred cells.

    Args:
        blocks: uint16 ``[y, z, x]``.
    """

    __slots__ = ("across", "cells", "deadly", "layer")

    def __init__(self, blocks: NDArray[np.uint16]) -> None:
        _, depth, width = blocks.shape
        self.across: int = width + 2
        self.layer: int = (width + 2) * (depth + 2)
        self.cells = bytearray(np.pad(_TO_A_BODY[blocks], 1, constant_values=BARRED).tobytes())
        self.deadly = DEADLY in self.cells

    def at(self, x: int, y: int, z: int) -> int:
        """Return the index in ``cells`` of a cell, which may lie one outside the arena."""
        return (y + 1) * self.layer + (z + 1) * self.across + x + 1

    def put(self, cell: Cell, code: int) -> None:
        """Mirror a changed block."""
        self.cells[self.at(*cell)] = _TO_A_BODY[code]
        self.deadly = self.deadly or code == LAVA


@lru_cache(maxsize=1024)
def _find_direction(yaw: float) -> tuple[float, float]:
    return sin(radians(yaw)), cos(radians(yaw))


class Body:
    """A box of 0.6 x 1.8 x 0.6 m.

    Attributes:
        x, y, z: middle of its base, in metres.
        vx, vy, vz: velocity in metres per tick.
        on_ground: whether it landed on something in the last tick, before it moved sideways.
        burnt: whether it has ever touched lava.
        ticks: number of ticks since it was created.
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
        self.vy = -GRAVITY * FALL_DRAG
        self.on_ground = True

    @property
    def cell(self) -> Cell:
        """Cell of the feet."""
        return floor(self.x), floor(self.y + EDGE), floor(self.z)

    def tick(self, keys: int, yaw: float) -> None:
        """Advance by a twentieth of a second with some keys held.

        Args:
            yaw: in degrees, 0 south, 90 west.
        """
        self.ticks += 1
        vx = self.vx if abs(self.vx) >= STILL else 0.0
        vy = self.vy if abs(self.vy) >= STILL else 0.0
        vz = self.vz if abs(self.vz) >= STILL else 0.0
        slip = GROUND_SLIP if self.on_ground else AIR_SLIP
        if keys:
            vx, vy, vz = self._push(keys, yaw, vx, vy, vz)

        moved = self._rise(vy)
        self.on_ground = vy < 0 and moved != vy
        if moved != vy:
            vy = 0.0
        # As in vanilla, the greater sideways part moves first.
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
        if self.solids.deadly and not self.burnt and DEADLY in self._read_box():
            self.burnt = True

    def _push(self, keys: int, yaw: float, vx: float, vy: float, vz: float) -> tuple[float, float, float]:
        """Return the velocity after the push of the keys."""
        s, c = _find_direction(yaw)
        sprinting = keys & SPRINTING and keys & FORWARD
        push = (GROUND_PUSH if self.on_ground else AIR_PUSH) * (SPRINT if sprinting else 1)
        if keys & JUMPING and self.on_ground:
            vy = JUMP
            if sprinting:
                vx -= s * SPRINT_JUMP
                vz += c * SPRINT_JUMP

        ahead = INPUT * ((keys & FORWARD != 0) - (keys & BACK != 0))
        aside = INPUT * ((keys & LEFT != 0) - (keys & RIGHT != 0))
        if ahead and aside:
            push /= (ahead * ahead + aside * aside) ** 0.5
        vx += push * (aside * c - ahead * s)
        vz += push * (ahead * c + aside * s)
        return vx, vy, vz

    def _rise(self, by: float) -> float:
        """Move up or down as far as there is room; return the distance moved."""
        y = self.y
        if by < 0:
            new = y + by
            below = floor(y + EDGE) - 1
            if new < below + 1:
                for level in range(below, floor(new) - 1, -1):
                    if self._has_floor(level):
                        self.y = float(level + 1)
                        return self.y - y if new < level + 1 else by
            self.y = new
            return by

        top = y + HEIGHT
        above = ceil(top - EDGE)
        if top + by > above and self._has_floor(above):
            self.y = above - HEIGHT
            return self.y - y
        self.y = y + by
        return by

    def _has_floor(self, level: int) -> bool:
        """Return whether a cell over or under the body is barred at a level."""
        cells = self.solids.cells
        across = self.solids.across
        at = (level + 1) * self.solids.layer
        north = at + (floor(self.z - HALF_WIDTH + EDGE) + 1) * across
        south = at + (floor(self.z + HALF_WIDTH - EDGE) + 1) * across
        west = floor(self.x - HALF_WIDTH + EDGE) + 1
        east = floor(self.x + HALF_WIDTH - EDGE) + 1
        if BARRED in (cells[north + west], cells[north + east]):
            return True
        return BARRED in (cells[south + west], cells[south + east])

    def _move_east(self, by: float) -> float:
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
        """Return whether a cell beside the body, in column x or row z, is barred."""
        return BARRED in self._read_box(x, z)

    def _read_box(self, x: int | None = None, z: int | None = None) -> list[int]:
        """Return what the cells that the body overlaps mean to it, or those in a column x or row z at its height."""
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
    """Return the columns, or rows, of cells that a body overlaps whose middle is at ``middle``."""
    first = floor(middle - HALF_WIDTH + EDGE)
    last = floor(middle + HALF_WIDTH - EDGE)
    return (first,) if first == last else (first, last)
