"""Two searches over the states of a maze: weighted A* over purposeful moves, and breadth-first search over primitives.

:func:`find_plan` finds plans. A move walks to a cell and carries out an action there that serves the mission. The
priority is the steps so far plus the weighted estimate of the steps that are left. :func:`visit_all` visits every state
that primitives reach, so that it can prove that there is no plan. Both searches are deterministic, because their limit
is a number of states and not a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, count, islice
from typing import TypeAlias

from spca.contracts import Primitive
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
"""For each state: the state before, the primitives from there, and the number of steps from the first state."""

_Parents: TypeAlias = dict[MazeState, tuple[MazeState, int] | None]
"""For each state: the state before and the primitive from there; None for the first state."""


def find_plan(maze: Maze, mission: Mission, start: MazeState, states: int) -> Found:
    """Search for a plan by weighted A*, until ``states`` states have been seen."""
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
    """Search breadth first over primitives until there is a plan, no new state, or the step limit is reached.

    The search also ends after more than ``states`` states. In this case the result is not ``exhausted``.
    """
    parents: _Parents = {start: None}
    frontier = [start]
    for _ in range(maze.limit):
        next_frontier = []
        for state in frontier:
            for action in Primitive:
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
    """The poses that the agent can walk to from a state, opening closed doors on the way, and the useful moves.

    A pose's number is 4 * cell + heading. ``_links`` maps each reached pose to the pose before and the primitives in
    between; the first pose is linked to itself without primitives. ``_facing`` maps a cell to the nearest pose that
    faces the cell; its keys are in the order of distance.
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
        """Fill ``_links`` and ``_facing`` by breadth-first search over poses; each round is one primitive longer.

        Passing a closed door takes two primitives. Therefore a pose in a closed door enters the frontier one round
        later, from ``delayed``.
        """
        maze = self._maze
        links = self._links
        frontier = [first]
        delayed = list[tuple[int, int]]()
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
        """Return whether the agent can enter a cell (``OPEN``), after toggling the cell (``CLOSED``), or not."""
        ground = self._maze.ground[cell]
        if cell in self._items or ground in {Ground.GOAL, Ground.LAVA, Ground.WALL}:
            return DoorState.LOCKED
        if ground != Ground.DOOR:
            return DoorState.OPEN
        state = DoorState(self._state.doors[self._maze.door_at[cell]])
        must_stay_closed = state == DoorState.CLOSED and self._mission.careful
        return DoorState.LOCKED if must_stay_closed else state

    def moves(self) -> Iterator[tuple[int, ...]]:
        """Yield moves as non-empty sequences of primitives: a walk, and the actions at its end."""
        seen = set()
        for approach in self._approaches():
            if approach not in seen and approach.cell in self._facing:
                seen.add(approach)
                walk = self._way(self._facing[approach.cell])
                primitives = (*walk, *approach.actions)
                # If the agent must do nothing, it needs a primitive without effect, so that the verifier judges.
                yield primitives if primitives else (DONE,)

    def _way(self, pose: int) -> tuple[int, ...]:
        """Return the primitives from the first pose to a pose."""
        pieces = []
        before, primitives = self._links[pose]
        while primitives:
            pieces.append(primitives)
            before, primitives = self._links[before]
        return tuple(chain.from_iterable(reversed(pieces)))

    def _approaches(self) -> Iterator[Approach]:
        """Yield approaches for the current goals, to unlock doors, to lift or drop items, and to open boxes."""
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
        """Return whether picking up an item yields a key of a locked door, or clears the way to an unreached cell."""
        locked = (door for door, state in enumerate(self._state.doors) if state == DoorState.LOCKED)
        if any(fits(self._maze, item, door) for door in locked):
            return True
        return any(self._is_unreached(near) for near in self._maze.neighbours(cell))

    def _is_unreached(self, cell: int) -> bool:
        """Return whether a cell is no wall, and the agent cannot walk to the cell."""
        if self._maze.ground[cell] == Ground.WALL:
            return False
        poses = range(4 * cell, 4 * cell + 4)
        return all(pose not in self._links for pose in poses)

    def _drop_cells(self) -> Iterator[int]:
        """Yield the nearest cells that the held item can be dropped on."""
        ground = self._maze.ground
        free = (cell for cell in self._facing if ground[cell] == Ground.FREE and cell not in self._items)
        return islice(free, _MAX_DROP_CELLS)
