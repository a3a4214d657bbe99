"""Decide in which cell a step of the body ends.

On the lattice, a body stands in the middle of a cell and faces one of four directions. A world may carry out the steps
with physics, but needs only to know which block each cell holds. Cells outside the arena are solid.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from explorer.rules.actions import Primitive
from explorer.rules.blocks import LAVA, SOLID, code
from explorer.scene import FACINGS, Cell, Pose

DEEPEST: Final = 3
"""Greatest number of cells that a step down by walking may descend; deeper steps are refused."""
OUTSIDE: Final = code("bedrock")
"""Code of the block that fills every cell outside the arena: it is solid and opaque and never breaks."""
_TURNS: Final = {Primitive.FORWARD: 0, Primitive.BACK: 2, Primitive.LEFT: 3, Primitive.RIGHT: 1, Primitive.JUMP: 0}
"""Primitive -> direction of the move relative to the facing, as a number of quarter turns to the right."""


class Terrain(Protocol):
    """Any object that returns the block in a cell."""

    def block(self, cell: Cell) -> int:
        """Return the code of the block in a cell; for cells outside the arena, return :data:`OUTSIDE`."""
        ...


@dataclass(frozen=True, slots=True)
class Way:
    """The course of a move and its end.

    Attributes:
        cell: cell of the feet after the move; if the move is refused, the cell before the move.
        end: ``moved``, ``refused``, or ``lava`` if the body touches lava.
        reason: why the move is refused, or "".
        kind: ``walk`` (which may end in a fall), ``up`` (a jump onto a block) or ``over`` (a jump over a gap).
    """

    cell: Cell
    end: Literal["moved", "refused", "lava"]
    reason: str = ""
    kind: Literal["walk", "up", "over"] = "walk"


def find_heading(pose: Pose, primitive: Primitive) -> Cell:
    """Return the direction of a move as an offset of one cell."""
    return FACINGS[(pose.facing + _TURNS[primitive]) % 4]


def move(terrain: Terrain, pose: Pose, primitive: Primitive) -> Way:
    """Return the course and the end of a move.

    Args:
        primitive: forward, back, left, right or jump.
    """
    towards = find_heading(pose, primitive)
    if primitive is Primitive.JUMP:
        return _jump(terrain, pose.cell, towards)
    return _walk(terrain, pose.cell, towards)


def fall(terrain: Terrain, cell: Cell) -> Way:
    """Return the course of a body that falls from a cell, at any height, until it reaches the ground or lava."""
    x, y, z = cell
    while True:
        if _has_lava(terrain, ((x, y, z), (x, y + 1, z))):
            return Way((x, y, z), "lava")
        if SOLID[terrain.block((x, y - 1, z))]:
            return Way((x, y, z), "moved")
        y -= 1


def stands(terrain: Terrain, cell: Cell) -> bool:
    """Return whether a body can stand in a cell: this cell and the next above are free, and the ground below is solid.

    Lava does not count as free.
    """
    x, y, z = cell
    room = (cell, (x, y + 1, z))
    if not _is_free(terrain, room) or _has_lava(terrain, room):
        return False
    return SOLID[terrain.block((x, y - 1, z))] != 0


def _walk(terrain: Terrain, cell: Cell, towards: Cell) -> Way:
    """Return the course of a step to a neighbouring column; it may end up to :data:`DEEPEST` cells lower."""
    x = cell[0] + towards[0]
    y = cell[1]
    z = cell[2] + towards[2]
    room = ((x, y, z), (x, y + 1, z))
    if not _is_free(terrain, room):
        return Way(cell, "refused", "bumped")
    if _has_lava(terrain, room):
        return Way((x, y, z), "lava")

    for below in range(DEEPEST + 1):
        if terrain.block((x, y - below, z)) == LAVA:
            return Way((x, y - below, z), "lava")
        if SOLID[terrain.block((x, y - below - 1, z))]:
            return Way((x, y - below, z), "moved")
    return Way(cell, "refused", "too deep")


def _jump(terrain: Terrain, cell: Cell, towards: Cell) -> Way:
    """Return the course of a jump: if a block is ahead, onto this block; otherwise, over a gap of one cell."""
    x, y, z = cell
    dx, _, dz = towards
    head_room = x, y + 2, z
    near_x = x + dx
    near_z = z + dz
    if SOLID[terrain.block((near_x, y, near_z))]:
        up = near_x, y + 1, near_z
        return _fly(terrain, cell, up, (head_room, up, (near_x, y + 2, near_z)), "up")

    far_x = near_x + dx
    far_z = near_z + dz
    has_gap = not SOLID[terrain.block((near_x, y - 1, near_z))]
    if not has_gap or not SOLID[terrain.block((far_x, y - 1, far_z))]:
        return Way(cell, "refused", "nothing to jump on")
    crossed = [head_room]
    for rise in range(3):
        crossed.append((near_x, y + rise, near_z))
        crossed.append((far_x, y + rise, far_z))
    return _fly(terrain, cell, (far_x, y, far_z), crossed, "over")


def _fly(terrain: Terrain, cell: Cell, goal: Cell, crossed: Collection[Cell], kind: Literal["up", "over"]) -> Way:
    """Return the course of a jump to the cell ``goal``.

    If a solid block is in one of the cells ``crossed``, the jump is refused.
    """
    if not _is_free(terrain, crossed):
        return Way(cell, "refused", "bumped", kind)
    return Way(goal, "lava" if _has_lava(terrain, crossed) else "moved", "", kind)


def _is_free(terrain: Terrain, cells: Iterable[Cell]) -> bool:
    return not any(SOLID[terrain.block(cell)] for cell in cells)


def _has_lava(terrain: Terrain, cells: Iterable[Cell]) -> bool:
    return any(terrain.block(cell) == LAVA for cell in cells)
