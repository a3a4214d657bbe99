"""Reaching cells, items and doors as if all that can be carried could be cleared away: a relaxation of the rules.

Whatever an agent can do under the rules can be done under the relaxation, so what the relaxation cannot reach nothing
reaches, and where its costs are lower bounds, no sequence of primitives is shorter. It is the delete relaxation of
classical planning (Hoffmann and Nebel, "The FF planning system", JAIR 2001) with the costs h_max and, to guide a
search, h_add (Bonet and Geffner, "Planning as heuristic search", AIJ 2001).
"""

from __future__ import annotations

import math
from heapq import heappop, heappush

from spca.evaluation.proof.dynamics import NOWHERE, DoorState, Ground, Maze, MazeState

_BLOCKED = frozenset((Ground.WALL, Ground.LAVA))

_CLEARING = 6
"""What clearing an item away costs in the estimate: pick up, turn, drop, turn back, and once more."""

_CLEARING_WITH_FULL_HAND = 10


class Relaxed:
    """Costs from a state; a value of this class is a :class:`spca.evaluation.proof.goals.Reach`.

    Args:
        bound: costs are lower bounds on primitives; else they are estimates.

    Attributes:
        at: steps to standing on a cell, for the cells that can be reached.
        colors: of the keys that can be held, and the steps to the first of each.
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
        self._within = {item.inside: box for box, item in enumerate(maze.items) if item.inside != NOWHERE}
        self.colors: dict[str, float] = {}
        self._waiting: dict[str, list[tuple[float, int]]] = {}
        self._queue: list[tuple[float, int]] = [(0.0, state.cell)]
        if state.held != NOWHERE:
            self._obtain(state.held, 0.0)
        while self._queue:
            self._expand(*heappop(self._queue))

    def face(self, cell: int) -> float:
        return min((self.at.get(near, math.inf) for near in self.maze.neighbours(cell)), default=math.inf)

    def stand(self, cell: int) -> float:
        return self.at.get(cell, math.inf)

    def hold(self, item: int) -> float:
        if self.state.held == item:
            return 0.0
        place = self.state.places[item]
        if place != NOWHERE:
            return self.face(place) + 1 + self._count_emptying_steps()
        box = self._within.get(item)
        return math.inf if box is None else self.hold(box)

    def open(self, door: int) -> float:
        """Return the steps to opening a door; of one that is open already, to opening it again."""
        there = self.face(self.maze.doors[door].cell)
        state = self.state.doors[door]
        if state == DoorState.LOCKED:
            key = self.colors.get(self.maze.doors[door].color, math.inf)
            return self._join_costs(there, key) + 1
        return there + (2 if state == DoorState.OPEN else 1)

    def _count_emptying_steps(self) -> int:
        return 0 if self.bound or self.state.held == NOWHERE else 2

    def _join_costs(self, there: float, key: float) -> float:
        """Return the steps to a door with its key.

        The way from the key to the door is taken for as long as the longer of both.
        """
        return max(there, key) if self.bound else key + max(there, key)

    def _expand(self, cost: float, cell: int) -> None:
        if cell in self.at:
            return
        self.at[cell] = cost
        if self.maze.ground[cell] == Ground.GOAL:
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
        cell = self.maze.doors[door].cell
        color = self.maze.doors[door].color
        state = self.state.doors[door]
        if state != DoorState.LOCKED:
            heappush(self._queue, (cost + 1 + (state == DoorState.CLOSED), cell))
        elif color in self.colors:
            heappush(self._queue, (self._join_costs(cost, self.colors[color]) + 2, cell))
        else:
            self._waiting.setdefault(color, []).append((cost, cell))

    def _obtain(self, item: int, cost: float) -> None:
        """Note the keys that an item is or holds, and push the doors that wait for them."""
        while item != NOWHERE:
            thing = self.maze.items[item]
            if thing.kind == "key" and thing.color not in self.colors:
                self.colors[thing.color] = cost
                for there, cell in self._waiting.pop(thing.color, ()):
                    heappush(self._queue, (self._join_costs(there, cost) + 2, cell))
            item = thing.inside
