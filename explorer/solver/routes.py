"""Find the cheapest routes of a body from cell to cell, with or without placing blocks."""

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
"""Cost of a jump; it is higher than the cost 1 of a step, because most jumps need a turn first."""
BLOCK_COST: Final = 50
"""Cost of a step onto a placed block; it is high because blocks are scarce."""

Box = tuple[Cell, Cell]
"""Lowest and highest cell of a box, both included."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One move of a route.

    Attributes:
        kind: kind of the move; with ``ahead``, the body first places a block in front; with ``below``, under itself.
        facing: facing with which the move leads forward.
        cell: cell of the feet after the move.
    """

    kind: Literal["walk", "jump", "ahead", "below"]
    facing: int
    cell: Cell
    cost: int


class Routes:
    """Finder of routes through a terrain that does not change."""

    def __init__(self, terrain: Terrain) -> None:
        self._terrain = terrain
        self._moves: dict[Cell, tuple[Leg, ...]] = {}

    def find(
        self, start: Cell, goal: Callable[[Cell], bool], near: Box, *, ahead: bool = False, below: bool = False
    ) -> tuple[Leg, ...] | None:
        """Return the cheapest route to a goal cell, found by A* search, or None if there is no route.

        Args:
            goal: function that returns whether a cell is a goal cell.
            near: a box that contains all goal cells.
            ahead: whether blocks may be placed as ground in front of the body.
            below: whether blocks may be placed below the feet.
        """
        best: dict[Cell, int] = {start: 0}
        # Cell -> the previous cell on the cheapest route, and the leg between both.
        came_from: dict[Cell, tuple[Cell, Leg]] = {}
        pending = [(_bound_cost(start, near), 0, start)]

        while pending:
            _, cost, cell = heapq.heappop(pending)
            # The queue still holds entries for which a cheaper route has been found since.
            if cost > best[cell]:
                continue
            if goal(cell):
                return tuple(_trace_back(came_from, cell))

            for leg in self._list_legs(cell, ahead=ahead, below=below):
                total = cost + leg.cost
                if total < best.get(leg.cell, total + 1):
                    best[leg.cell] = total
                    came_from[leg.cell] = cell, leg
                    heapq.heappush(pending, (total + _bound_cost(leg.cell, near), total, leg.cell))
        return None

    def _list_legs(self, cell: Cell, *, ahead: bool, below: bool) -> Iterator[Leg]:
        """Yield the legs that may begin in a cell."""
        moves = self._moves.get(cell)
        if moves is None:
            moves = self._moves[cell] = tuple(self._list_steps(cell))
        yield from moves
        if ahead:
            yield from self._list_bridges(cell)
        if below and self._can_pillar(cell):
            yield Leg("below", 0, move_by(cell, (0, 1, 0)), BLOCK_COST)

    def _list_steps(self, cell: Cell) -> Iterator[Leg]:
        """Yield the legs from a cell that place no block; in a direction in which a level step is possible, omit the
        jump.
        """
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
        """Yield the legs from a cell on which the body places a block ahead as ground and steps onto it."""
        x, y, z = cell
        for facing, (dx, _, dz) in enumerate(FACINGS):
            front = x + dx, y, z + dz
            feet = self._get_code(front, 0)
            head = self._get_code(front, 1)
            is_free = not SOLID[feet] and not SOLID[head]
            has_room = is_free and LAVA not in (feet, head)
            if has_room and REPLACEABLE[self._get_code(front, -1)]:
                yield Leg("ahead", facing, front, BLOCK_COST)

    def _can_pillar(self, cell: Cell) -> bool:
        """Return whether a body in a cell can jump and place a block into this cell."""
        has_headroom = not SOLID[self._get_code(cell, 2)]
        return has_headroom and REPLACEABLE[self._get_code(cell, 0)] != 0

    def _get_code(self, cell: Cell, up: int) -> int:
        """Return the code of the block that is ``up`` cells above a cell."""
        x, y, z = cell
        return self._terrain.block((x, y + up, z))


def _trace_back(came_from: dict[Cell, tuple[Cell, Leg]], cell: Cell) -> list[Leg]:
    """Return the legs of the route from the start to a cell.

    Args:
        came_from: cell -> the previous cell on its route, and the leg between both.
    """
    legs = []
    while cell in came_from:
        cell, leg = came_from[cell]
        legs.append(leg)
    return legs[::-1]


def _bound_cost(cell: Cell, box: Box) -> int:
    """Return a lower bound on the cost of a route from a cell to a box: the horizontal distance in cells.

    This is a lower bound because a leg costs at least as much as the number of cells that it leads sideways.
    """
    (low_x, _, low_z), (high_x, _, high_z) = box
    x, _, z = cell
    along_x = max(low_x - x, x - high_x, 0)
    along_z = max(low_z - z, z - high_z, 0)
    return along_x + along_z
