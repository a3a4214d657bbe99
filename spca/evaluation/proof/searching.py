"""Two searches over the states of a maze: weighted A* over useful moves, and breadth-first search over primitives.

:func:`find_plan` searches for a plan made of moves. In a move, the agent walks to a cell and carries out an action
there that serves the mission. The priority of a state is the number of steps so far plus the weighted estimate of the
steps that are left. :func:`visit_all` visits every state that primitives can reach, so that it can prove that there is
no plan. Both searches are deterministic, because they are limited by a number of states and not by time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, count, islice
from typing import TypeAlias

from spca.bodies.grid.primitives import GridPrimitive
from spca.evaluation.proof.dynamics import (
    DONE,
    DROP,
    FORWARD,
    LEFT,
    NOWHERE,
    PICK_UP,
    RIGHT,
    TOGGLE,
    DoorState,
    End,
    Ground,
    Maze,
    MazeState,
    fits,
)
from spca.evaluation.proof.goals import Approach
from spca.evaluation.proof.missions import Mission, step_mission
from spca.evaluation.proof.relaxation import Relaxed

_MAX_DROP_CELLS = 6
"""Largest number of cells near the agent on which dropping the held item is tried."""

_HEURISTIC_WEIGHT = 3.0
"""Weight of the estimate in weighted A*: a larger weight finds longer plans sooner."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search.

    Attributes:
        plan: primitives of a plan; None if the search found no plan.
        states: number of states that the search has seen.
        exhausted: whether the search has proven that there is no plan within the step limit.
    """

    plan: tuple[int, ...] | None
    states: int
    exhausted: bool


_Paths: TypeAlias = dict[MazeState, tuple[MazeState | None, tuple[int, ...], int]]
"""For each state: the previous state, the primitives that lead from it, and the number of steps from the first state.

The first state has no previous state (None).
"""

_Parents: TypeAlias = dict[MazeState, tuple[MazeState, int] | None]
"""For each state: the previous state and the primitive that leads from it; None for the first state."""


def find_plan(maze: Maze, mission: Mission, start: MazeState, states: int) -> Found:
    """Search for a plan by weighted A* until ``states`` states have been seen, and return the result."""
    order = count()  # breaks ties between equal priorities
    paths: _Paths = {start: (None, (), 0)}
    queue = [(0.0, next(order), start)]
    closed: set[MazeState] = set()
    while queue and len(paths) < states:
        _, _, state = heappop(queue)
        if state in closed:
            continue
        closed.add(state)
        steps = paths[state][2]
        for primitives in _Walk(maze, mission, state).moves():
            executed, after, end = carry_out(maze, mission, state, primitives)
            total = steps + len(executed)
            if total > maze.limit or end == End.FAILURE:
                continue
            if end == End.SUCCESS:
                return Found((*_path(paths, state), *executed), len(paths), exhausted=False)
            if after in paths and paths[after][2] <= total:
                continue
            estimate = mission.cost(Relaxed(maze, after, bound=False))
            if math.isfinite(estimate):
                paths[after] = state, executed, total
                closed.discard(after)  # a shorter path to a closed state opens the state again
                priority = total + _HEURISTIC_WEIGHT * estimate
                heappush(queue, (priority, next(order), after))
    return Found(None, len(paths), exhausted=False)


def visit_all(maze: Maze, mission: Mission, start: MazeState, states: int) -> Found:
    """Search breadth first over primitives and return the result.

    The search ends when it finds a plan, when there is no new state, or at the step limit. It also ends after more than
    ``states`` states; in this case the result is not ``exhausted``.
    """
    parents: _Parents = {start: None}
    frontier = [start]
    for _ in range(maze.limit):
        next_frontier = []
        for state in frontier:
            for action in GridPrimitive:
                after, end = step_mission(maze, mission, state, action)
                if end == End.SUCCESS:
                    plan = (*_trace_primitives(parents, state), int(action))
                    return Found(plan, len(parents), exhausted=False)
                if end == End.NONE and after not in parents:
                    parents[after] = state, int(action)
                    next_frontier.append(after)
        if len(parents) > states:
            return Found(None, len(parents), exhausted=False)
        frontier = next_frontier
        if not frontier:
            break
    return Found(None, len(parents), exhausted=True)


def carry_out(
    maze: Maze, mission: Mission, state: MazeState, primitives: tuple[int, ...]
) -> tuple[tuple[int, ...], MazeState, End]:
    """Carry out primitives until a primitive ends the episode.

    Returns:
        The executed primitives, the state after the last executed primitive, and how that primitive ended the episode.
    """
    end = End.NONE
    for number, action in enumerate(primitives, 1):
        state, end = step_mission(maze, mission, state, action)
        if end != End.NONE:
            return primitives[:number], state, end
    return primitives, state, end


def _path(paths: _Paths, state: MazeState) -> tuple[int, ...]:
    """Return the primitives from the first state of :func:`find_plan` to a state."""
    pieces = []
    current: MazeState | None = state
    while current is not None:
        current, primitives, _ = paths[current]
        pieces.append(primitives)
    return tuple(chain.from_iterable(reversed(pieces)))


def _trace_primitives(parents: _Parents, state: MazeState) -> tuple[int, ...]:
    """Return the primitives from the first state of :func:`visit_all` to a state."""
    actions = []
    while (link := parents[state]) is not None:
        state, action = link
        actions.append(action)
    return tuple(reversed(actions))


class _Walk:
    """The poses that the agent can walk to from a state, and the useful moves; the agent may open closed doors as it
    walks.

    A pose's number is 4 * cell + heading. ``_links`` maps each reached pose to the previous pose and the primitives
    that lead from the previous pose. The first pose is linked to itself without primitives. ``_facing`` maps a cell to
    the nearest pose that faces the cell; its keys are in the order of distance.
    """

    def __init__(self, maze: Maze, mission: Mission, state: MazeState) -> None:
        self._maze = maze
        self._mission = mission
        self._state = state
        self._items = {place: item for item, place in enumerate(state.places) if place != NOWHERE}
        first = 4 * state.cell + state.heading
        self._links: dict[int, tuple[int, tuple[int, ...]]] = {first: (first, ())}
        self._facing: dict[int, int] = {}
        self._spread(first)

    def _spread(self, first: int) -> None:
        """Fill ``_links`` and ``_facing`` by breadth-first search over poses; each round makes the walks one primitive
        longer.

        Entering the cell of a closed door takes two primitives. Therefore the pose in this cell is kept in ``delayed``
        and enters the frontier one round later.
        """
        maze = self._maze
        links = self._links
        frontier = [first]
        delayed: list[tuple[int, int]] = []
        while frontier or delayed:
            next_frontier: list[int] = []
            for pose, before in delayed:
                if pose not in links:
                    links[pose] = before, (TOGGLE, FORWARD)
                    next_frontier.append(pose)
            delayed = []
            for pose in frontier:
                cell, heading = divmod(pose, 4)
                ahead = cell + maze.offsets[heading]
                self._facing.setdefault(ahead, pose)
                left = 4 * cell + (heading + 3) % 4
                right = 4 * cell + (heading + 1) % 4
                for action, turned in ((LEFT, left), (RIGHT, right)):
                    if turned not in links:
                        links[turned] = pose, (action,)
                        next_frontier.append(turned)
                onward = 4 * ahead + heading
                access = self._access(ahead)
                if access == DoorState.CLOSED:
                    delayed.append((onward, pose))
                elif access == DoorState.OPEN and onward not in links:
                    links[onward] = pose, (FORWARD,)
                    next_frontier.append(onward)
            frontier = next_frontier

    def _access(self, cell: int) -> DoorState:
        """Return ``OPEN`` if the agent can enter a cell, ``CLOSED`` if it must first toggle the cell, and otherwise
        ``LOCKED``.
        """
        ground = self._maze.ground[cell]
        if cell in self._items or ground in {Ground.GOAL, Ground.LAVA, Ground.WALL}:
            return DoorState.LOCKED
        if ground != Ground.DOOR:
            return DoorState.OPEN
        state = DoorState(self._state.doors[self._maze.door_at[cell]])
        must_stay_closed = state == DoorState.CLOSED and self._mission.careful
        return DoorState.LOCKED if must_stay_closed else state

    def moves(self) -> Iterator[tuple[int, ...]]:
        """Yield moves, which are non-empty sequences of primitives: a walk, followed by the actions at the end of the
        walk.
        """
        seen = set()
        for approach in self._approaches():
            if approach not in seen and approach.cell in self._facing:
                seen.add(approach)
                walk = self._way(self._facing[approach.cell])
                primitives = (*walk, *approach.actions)
                # If the agent must do nothing, it needs a primitive without effect, so that the verifier judges.
                yield primitives or (DONE,)

    def _way(self, pose: int) -> tuple[int, ...]:
        """Return the primitives from the first pose to a pose."""
        pieces = []
        before, primitives = self._links[pose]
        while primitives:
            pieces.append(primitives)
            before, primitives = self._links[before]
        return tuple(chain.from_iterable(reversed(pieces)))

    def _approaches(self) -> Iterator[Approach]:
        """Yield approaches that may meet the current goals, unlock doors, lift or drop items, or open boxes."""
        maze = self._maze
        state = self._state
        for goal in self._mission.due(state.progress):
            yield from goal.approaches(maze, state)
        for number, door in enumerate(maze.doors):
            if state.doors[number] == DoorState.LOCKED and fits(maze, state.held, number):
                yield Approach(door.cell, (TOGGLE,))
        if state.held == NOWHERE:
            for cell, item in self._items.items():
                if self._is_useful(cell, item):
                    yield Approach(cell, (PICK_UP,))
        else:
            for cell in self._drop_cells():
                yield Approach(cell, (DROP,))
        for cell, item in self._items.items():
            if maze.items[item].kind == "box":
                yield Approach(cell, (TOGGLE,))

    def _is_useful(self, cell: int, item: int) -> bool:
        """Return whether picking up an item gives the agent a key to a locked door, or clears the path to an unreached
        cell.
        """
        locked = (door for door, state in enumerate(self._state.doors) if state == DoorState.LOCKED)
        if any(fits(self._maze, item, door) for door in locked):
            return True
        return any(self._is_unreached(near) for near in self._maze.neighbours(cell))

    def _is_unreached(self, cell: int) -> bool:
        """Return whether a cell is not a wall but the agent cannot walk to it."""
        if self._maze.ground[cell] == Ground.WALL:
            return False
        poses = range(4 * cell, 4 * cell + 4)
        return all(pose not in self._links for pose in poses)

    def _drop_cells(self) -> Iterator[int]:
        """Yield the nearest free cells, at most :data:`_MAX_DROP_CELLS`, on which the held item can be dropped."""
        ground = self._maze.ground
        free = (cell for cell in self._facing if ground[cell] == Ground.FREE and cell not in self._items)
        return islice(free, _MAX_DROP_CELLS)
