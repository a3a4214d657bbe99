"""Cheapest routes over the lattice, with or without placing blocks."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from explorer.rules.actions import Primitive
from explorer.rules.blocks import LAVA, REPLACEABLE, SOLID
from explorer.rules.moves import Terrain, move
from explorer.scene import FACINGS, Cell, Pose, move_by

JUMP_COST: Final = 2
"""Cost of a jump, which most often needs a turn."""
BLOCK_COST: Final = 50
"""Cost of a placed block, high compared with a step."""

Box = tuple[Cell, Cell]
"""Least and greatest cell, both included."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One move of a route.

    Attributes:
        kind: ``ahead`` and ``below`` place a block first, then step onto it.
        facing: facing in which the move goes forward.
    """

    kind: Literal["walk", "jump", "ahead", "below"]
    facing: int
    cell: Cell
    cost: int


class Routes:
    """Route finder for a terrain that does not change."""

    def __init__(self, terrain: Terrain) -> None:
        self._terrain = terrain
        self._moves: dict[Cell, tuple[Leg, ...]] = {}

    def find(
        self, start: Cell, goal: Callable[[Cell], bool], near: Box, *, ahead: bool = False, below: bool = False
    ) -> tuple[Leg, ...] | None:
        """Return the cheapest route to a goal cell by A*, or None if there is none.

        Args:
            near: a box that contains every goal.
            ahead: whether blocks may be placed in front of the ground block.
            below: whether blocks may be placed below the feet.
        """
        best: dict[Cell, int] = {start: 0}
        came: dict[Cell, tuple[Cell, Leg]] = {}
        pending = [(_bound_cost(start, near), 0, start)]

        while pending:
            _, cost, cell = heapq.heappop(pending)
            if cost > best[cell]:
                continue
            if goal(cell):
                return tuple(_trace_back(came, cell))

            for leg in self._list_legs(cell, ahead=ahead, below=below):
                total = cost + leg.cost
                if total < best.get(leg.cell, total + 1):
                    best[leg.cell] = total
                    came[leg.cell] = cell, leg
                    heapq.heappush(pending, (total + _bound_cost(leg.cell, near), total, leg.cell))
        return None

    def _list_legs(self, cell: Cell, *, ahead: bool, below: bool) -> Iterator[Leg]:
        moves = self._moves.get(cell)
        if moves is None:
            moves = self._moves[cell] = tuple(self._list_steps(cell))
        yield from moves
        if ahead:
            yield from self._list_bridges(cell)
        if below and not self._bars(cell, 2) and REPLACEABLE[self._get_code(cell, 0)]:
            yield Leg("below", 0, move_by(cell, (0, 1, 0)), BLOCK_COST)

    def _list_steps(self, cell: Cell) -> Iterator[Leg]:
        for facing in range(4):
            pose = Pose(cell, facing)
            way = move(self._terrain, pose, Primitive.FORWARD)
            if way.end == "moved":
                yield Leg("walk", facing, way.cell, 1)
                if way.cell[1] == cell[1]:
                    continue
            way = move(self._terrain, pose, Primitive.JUMP)
            if way.end == "moved":
                yield Leg("jump", facing, way.cell, JUMP_COST)

    def _list_bridges(self, cell: Cell) -> Iterator[Leg]:
        x, y, z = cell
        for facing, (dx, _, dz) in enumerate(FACINGS):
            front = x + dx, y, z + dz
            feet = self._get_code(front, 0)
            head = self._get_code(front, 1)
            room = not SOLID[feet] and not SOLID[head] and LAVA not in (feet, head)
            if room and REPLACEABLE[self._get_code(front, -1)]:
                yield Leg("ahead", facing, front, BLOCK_COST)

    def _bars(self, cell: Cell, up: int) -> bool:
        return SOLID[self._get_code(cell, up)] != 0

    def _get_code(self, cell: Cell, up: int) -> int:
        x, y, z = cell
        return self._terrain.block((x, y + up, z))


def _trace_back(came: dict[Cell, tuple[Cell, Leg]], cell: Cell) -> list[Leg]:
    legs = []
    while cell in came:
        cell, leg = came[cell]
        legs.append(leg)
    return legs[::-1]


def _bound_cost(cell: Cell, box: Box) -> int:
    """Return a lower bound on the cost from a cell to a box: a step covers one cell, a jump two at a cost of two."""
    (low_x, _, low_z), (high_x, _, high_z) = box
    x, _, z = cell
    along_x = max(low_x - x, x - high_x, 0)
    along_z = max(low_z - z, z - high_z, 0)
    return along_x + along_z
