"""Cheapest routes over the lattice, with or without placing blocks."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Literal

from explorer.rules.actions import Primitive
from explorer.rules.blocks import LAVA, REPLACEABLE, SOLID
from explorer.rules.moves import Terrain, move
from explorer.scene import FACINGS, Cell, Pose

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
        pending = [(_apart(start, near), 0, start)]
        while pending:
            _, cost, cell = heapq.heappop(pending)
            if cost > best[cell]:
                continue
            if goal(cell):
                return tuple(_traced(came, cell))
            for leg in self._legs(cell, ahead=ahead, below=below):
                total = cost + leg.cost
                if total < best.get(leg.cell, total + 1):
                    best[leg.cell] = total
                    came[leg.cell] = cell, leg
                    heapq.heappush(pending, (total + _apart(leg.cell, near), total, leg.cell))
        return None

    def _legs(self, cell: Cell, *, ahead: bool, below: bool) -> Iterator[Leg]:
        moves = self._moves.get(cell)
        if moves is None:
            moves = self._moves[cell] = tuple(self._steps(cell))
        yield from moves
        if ahead:
            yield from self._bridges(cell)
        if below and not self._bars(cell, 2) and REPLACEABLE[self._at(cell, 0)]:
            yield Leg("below", 0, (cell[0], cell[1] + 1, cell[2]), BLOCK_COST)

    def _steps(self, cell: Cell) -> Iterator[Leg]:
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

    def _bridges(self, cell: Cell) -> Iterator[Leg]:
        x, y, z = cell
        for facing, (dx, _, dz) in enumerate(FACINGS):
            front = x + dx, y, z + dz
            room = not self._bars(front, 0) and not self._bars(front, 1)
            if room and LAVA not in (self._at(front, 0), self._at(front, 1)) and REPLACEABLE[self._at(front, -1)]:
                yield Leg("ahead", facing, front, BLOCK_COST)

    def _bars(self, cell: Cell, up: int) -> bool:
        return SOLID[self._at(cell, up)] != 0

    def _at(self, cell: Cell, up: int) -> int:
        return self._terrain.block((cell[0], cell[1] + up, cell[2]))


def _traced(came: dict[Cell, tuple[Cell, Leg]], cell: Cell) -> list[Leg]:
    legs = []
    while cell in came:
        cell, leg = came[cell]
        legs.append(leg)
    return legs[::-1]


def _apart(cell: Cell, box: Box) -> int:
    """Return a lower bound on the cost from a cell to a box: a step covers one cell, a jump two at a cost of two."""
    (low_x, _, low_z), (high_x, _, high_z) = box
    x, _, z = cell
    return max(low_x - x, x - high_x, 0) + max(low_z - z, z - high_z, 0)
