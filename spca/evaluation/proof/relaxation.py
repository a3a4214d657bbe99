"""Costs of reaching cells, items and doors under a relaxation of the rules: every item can be cleared out of the way.

Everything that an agent can do under the rules is also possible under the relaxation. Therefore a cell that is
unreachable under the relaxation is unreachable under the rules. The relaxation is the delete relaxation of classical
planning (Hoffmann and Nebel, "The FF planning system", JAIR 2001). Its lower bounds are the costs h_max. Its estimates,
which guide a search, are like h_add (Bonet and Geffner, "Planning as heuristic search", AIJ 2001).
"""

from __future__ import annotations

import math
from heapq import heappop, heappush

from spca.evaluation.proof.dynamics import NOWHERE, DoorState, Ground, Maze, MazeState

_BLOCKED = frozenset((Ground.WALL, Ground.LAVA))

_CLEARING = 6
"""Estimated steps to clear an item away: pick it up, turn, drop it, turn back, and spare steps."""

_CLEARING_WITH_FULL_HAND = 10
"""Estimated steps to clear an item away for an agent that must first put down another item."""


class Relaxed:
    """Costs of reaching things from ``state``, in steps; implements :class:`spca.evaluation.proof.goals.Reach`.

    The costs are computed by Dijkstra's algorithm.

    Args:
        bound: whether the costs are lower bounds on the number of primitives; otherwise they are estimates.

    Attributes:
        at: steps to stand on a cell, by cell; only reachable cells are listed.
        colors: steps to hold the nearest key of a color, by color; only colors with a reachable key are listed.
    """

    def __init__(self, maze: Maze, state: MazeState, *, bound: bool) -> None:
        self.at: dict[int, float] = {}
        self.maze = maze
        self.state = state
        self.bound = bound
        self._clearing = _CLEARING if state.held == NOWHERE else _CLEARING_WITH_FULL_HAND
        if bound:
            self._clearing = 1

        self._items = {place: item for item, place in enumerate(state.places) if place != NOWHERE}
        self._box_of = {item.inside: box for box, item in enumerate(maze.items) if item.inside != NOWHERE}
        self.colors: dict[str, float] = {}
        # (steps to face the door, the door's cell) of reached locked doors without a key yet, by color.
        self._waiting: dict[str, list[tuple[float, int]]] = {}
        self._queue: list[tuple[float, int]] = [(0.0, state.cell)]
        if state.held != NOWHERE:
            self._obtain(state.held, 0.0)
        while self._queue:
            cost, cell = heappop(self._queue)
            self._expand(cost, cell)

    def face(self, cell: int) -> float:
        """Return the number of steps until the agent stands beside a cell; infinity if it can reach no neighbour."""
        costs = (self.at.get(near, math.inf) for near in self.maze.neighbours(cell))
        return min(costs, default=math.inf)

    def stand(self, cell: int) -> float:
        return self.at.get(cell, math.inf)

    def hold(self, item: int) -> float:
        """Return the number of steps until the agent holds an item; if the item is in a box, until the agent holds the
        box.
        """
        if self.state.held == item:
            return 0.0
        place = self.state.places[item]
        if place != NOWHERE:
            return self.face(place) + 1 + self._count_emptying_steps()
        box = self._box_of.get(item)
        return math.inf if box is None else self.hold(box)

    def open(self, door: int) -> float:
        """Return the number of steps until the agent has opened a door.

        An open door must be closed and opened again.
        """
        to_door = self.face(self.maze.doors[door].cell)
        state = self.state.doors[door]
        if state == DoorState.LOCKED:
            to_key = self.colors.get(self.maze.doors[door].color, math.inf)
            return self._join_costs(to_door, to_key) + 1
        return to_door + (2 if state == DoorState.OPEN else 1)

    def _count_emptying_steps(self) -> int:
        """Return the estimated number of steps to put down the held item; 0 for a lower bound or an empty hand."""
        return 0 if self.bound or self.state.held == NOWHERE else 2

    def _join_costs(self, to_door: float, to_key: float) -> float:
        """Return the number of steps to face a door with its key in hand, given the steps to the door and to the key.

        The lower bound is the larger of the two. The path from the key to the door is unknown; the estimate counts the
        larger of the two for this path, and adds the steps to the key.
        """
        if self.bound:
            return max(to_door, to_key)
        return to_key + max(to_door, to_key)

    def _expand(self, cost: float, cell: int) -> None:
        """Set the final cost of a cell and queue its neighbours."""
        if cell in self.at:
            return
        self.at[cell] = cost
        if self.maze.ground[cell] == Ground.GOAL:  # a goal square ends the episode
            return
        for near in self.maze.neighbours(cell):
            if near in self.at:
                continue
            ground = self.maze.ground[near]
            if near in self._items:
                self._obtain(self._items[near], cost + 1)
                heappush(self._queue, (cost + 1 + self._clearing, near))
            elif ground == Ground.DOOR:
                self._pass(self.maze.door_at[near], cost)
            elif ground not in _BLOCKED:
                heappush(self._queue, (cost + 1, near))

    def _pass(self, door: int, cost: float) -> None:
        """Queue the cell of a door that the agent faces after ``cost`` steps.

        If the door is locked and no key to it has been reached, record that it waits for a key.
        """
        cell = self.maze.doors[door].cell
        color = self.maze.doors[door].color
        state = self.state.doors[door]
        if state == DoorState.OPEN:
            heappush(self._queue, (cost + 1, cell))
        elif state == DoorState.CLOSED:
            heappush(self._queue, (cost + 2, cell))
        elif color in self.colors:
            with_key = self._join_costs(cost, self.colors[color])
            heappush(self._queue, (with_key + 2, cell))
        else:
            self._waiting.setdefault(color, []).append((cost, cell))

    def _obtain(self, item: int, cost: float) -> None:
        """Record the item if it is a key, and the keys that it contains; queue the doors that wait for these keys.

        Cells are expanded in the order of cost, so that the first cost of a color is the least cost.
        """
        while item != NOWHERE:
            thing = self.maze.items[item]
            if thing.kind == "key" and thing.color not in self.colors:
                self.colors[thing.color] = cost
                for to_door, cell in self._waiting.pop(thing.color, ()):
                    with_key = self._join_costs(to_door, cost)
                    heappush(self._queue, (with_key + 2, cell))
            item = thing.inside
