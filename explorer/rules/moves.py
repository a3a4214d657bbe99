"""Where a step of the body ends on the lattice; physics is one way to carry such steps out.

A world need only say which block a cell holds. Cells outside the arena are solid.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final, Literal, Protocol

from explorer.rules.actions import Primitive
from explorer.rules.blocks import LAVA, SOLID, code
from explorer.scene import FACINGS, Cell, Pose

DEEPEST: Final = 3
"""Deepest fall of a move, in cells."""
OUTSIDE: Final = code("bedrock")
"""Block of every cell outside the arena: solid, opaque, never broken."""
_TURNS: Final = {Primitive.FORWARD: 0, Primitive.BACK: 2, Primitive.LEFT: 3, Primitive.RIGHT: 1, Primitive.JUMP: 0}


class Terrain(Protocol):
    """Anything that can say which block a cell holds."""

    def block(self, cell: Cell) -> int:
        """Return the code of a cell, :data:`OUTSIDE` outside the arena."""
        ...


@dataclass(frozen=True, slots=True)
class Way:
    """Where a move ends.

    Attributes:
        cell: cell of the feet afterwards.
        end: ``moved``, ``refused`` (then ``cell`` is where the move began) or ``lava``.
        reason: why it was refused.
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
    """Return where forward, back, left, right or jump ends."""
    towards = find_heading(pose, primitive)
    if primitive is Primitive.JUMP:
        return _jump(terrain, pose.cell, towards)
    return _walk(terrain, pose.cell, towards)


def fall(terrain: Terrain, cell: Cell) -> Way:
    """Return where a body that starts in a cell comes to rest; it may fall any depth."""
    x, y, z = cell
    while True:
        if _has_lava(terrain, ((x, y, z), (x, y + 1, z))):
            return Way((x, y, z), "lava")
        if SOLID[terrain.block((x, y - 1, z))]:
            return Way((x, y, z), "moved")
        y -= 1


def stands(terrain: Terrain, cell: Cell) -> bool:
    """Return whether a body can stand in a cell: two free cells without lava, on solid ground."""
    x, y, z = cell
    room = (cell, (x, y + 1, z))
    if not _is_free(terrain, room) or _has_lava(terrain, room):
        return False
    return SOLID[terrain.block((x, y - 1, z))] != 0


def _walk(terrain: Terrain, cell: Cell, towards: Cell) -> Way:
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
    """Return where a jump up, or over a gap of one cell, ends."""
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
    way = [head_room]
    for rise in range(3):
        way.append((near_x, y + rise, near_z))
        way.append((far_x, y + rise, far_z))
    return _fly(terrain, cell, (far_x, y, far_z), way, "over")


def _fly(terrain: Terrain, cell: Cell, goal: Cell, way: Collection[Cell], kind: Literal["up", "over"]) -> Way:
    """Return where a jump ends that leads through the cells of a way."""
    if not _is_free(terrain, way):
        return Way(cell, "refused", "bumped", kind)
    return Way(goal, "lava" if _has_lava(terrain, way) else "moved", "", kind)


def _is_free(terrain: Terrain, cells: Iterable[Cell]) -> bool:
    return not any(SOLID[terrain.block(cell)] for cell in cells)


def _has_lava(terrain: Terrain, cells: Iterable[Cell]) -> bool:
    return any(terrain.block(cell) == LAVA for cell in cells)
