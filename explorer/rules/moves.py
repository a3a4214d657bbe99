"""Decide where a step of the body ends on the lattice of cells; a world may carry out the step with physics.

A world only needs to tell which block a cell holds. Cells outside the arena are solid.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from explorer.rules.actions import Primitive
from explorer.rules.blocks import LAVA, SOLID, code
from explorer.scene import FACINGS, Cell, Pose

DEEPEST: Final = 3
"""Greatest depth in cells to which a body moves down by walking."""
OUTSIDE: Final = code("bedrock")
"""Block of every cell outside the arena: solid, opaque, never broken."""
_TURNS: Final = {Primitive.FORWARD: 0, Primitive.BACK: 2, Primitive.LEFT: 3, Primitive.RIGHT: 1, Primitive.JUMP: 0}
"""Primitive -> quarter turns to the right from the facing to the direction of the move."""


class Terrain(Protocol):
    """Anything that can tell which block a cell holds."""

    def block(self, cell: Cell) -> int:
        """Return the code of the block in a cell; for cells outside the arena, return :data:`OUTSIDE`."""
        ...


@dataclass(frozen=True, slots=True)
class Way:
    """The way of a move, and where the move ends.

    Attributes:
        cell: cell of the feet after the move; if the move is refused, the cell before the move.
        end: ``moved``, ``refused`` or ``lava`` (the body touches lava).
        reason: why the move is refused, or "".
        kind: ``walk`` (may fall), ``up`` (jumps up) or ``over`` (jumps over a gap).
    """

    cell: Cell
    end: Literal["moved", "refused", "lava"]
    reason: str = ""
    kind: Literal["walk", "up", "over"] = "walk"


def find_heading(pose: Pose, primitive: Primitive) -> Cell:
    """Return the direction of a move as a unit offset."""
    return FACINGS[(pose.facing + _TURNS[primitive]) % 4]


def move(terrain: Terrain, pose: Pose, primitive: Primitive) -> Way:
    """Return the cells that a body passes on a move.

    Args:
        primitive: forward, back, left, right or jump.
    """
    towards = find_heading(pose, primitive)
    if primitive is Primitive.JUMP:
        return _jump(terrain, pose.cell, towards)
    return _walk(terrain, pose.cell, towards)


def fall(terrain: Terrain, cell: Cell) -> Way:
    """Return the way of a body that falls from a cell to the ground or into lava, from any height."""
    x, y, z = cell
    while True:
        if _has_lava(terrain, ((x, y, z), (x, y + 1, z))):
            return Way((x, y, z), "lava")
        if SOLID[terrain.block((x, y - 1, z))]:
            return Way((x, y, z), "moved")
        y -= 1


def stands(terrain: Terrain, cell: Cell) -> bool:
    """Return whether a body can stand in a cell: two free cells without lava above solid ground."""
    x, y, z = cell
    room = (cell, (x, y + 1, z))
    if not _is_free(terrain, room) or _has_lava(terrain, room):
        return False
    return SOLID[terrain.block((x, y - 1, z))] != 0


def _walk(terrain: Terrain, cell: Cell, towards: Cell) -> Way:
    """Return the way of a step to a neighbouring column, which may end up to :data:`DEEPEST` cells lower."""
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
    """Return the way of a jump: onto the block ahead if there is a block, otherwise over a gap of one cell."""
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
    """Return the way of a jump to the cell ``goal``; all crossed cells must be free."""
    if not _is_free(terrain, crossed):
        return Way(cell, "refused", "bumped", kind)
    return Way(goal, "lava" if _has_lava(terrain, crossed) else "moved", "", kind)


def _is_free(terrain: Terrain, cells: Iterable[Cell]) -> bool:
    return not any(SOLID[terrain.block(cell)] for cell in cells)


def _has_lava(terrain: Terrain, cells: Iterable[Cell]) -> bool:
    return any(terrain.block(cell) == LAVA for cell in cells)
