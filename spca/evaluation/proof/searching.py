"""Searching the true states of a maze: best first over purposeful moves, and all of them.

The first finds plans: it walks to where something can be done for the mission and does it, ordered by the steps so far
and an estimate of those that are left. The second visits every state that primitives reach, so that it can prove that
there is no plan. Both are bounded by states, never by time, and deterministic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

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

_DROPS = 6
"""Cells near the agent that what it holds may be dropped on, tried at most."""

_EAGERNESS = 3.0
"""Weight of the estimate: more finds plans sooner and longer ones."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search came to: the primitives of a plan, None where none was found; all states were visited or not."""

    plan: tuple[int, ...] | None
    states: int
    exhausted: bool


def find_plan(maze: Maze, mission: Mission, start: MazeState, states: int) -> Found:
    """Search best first, through at most ``states`` states."""
    order = count()
    paths: dict[MazeState, tuple[MazeState | None, tuple[int, ...], int]] = {start: (None, (), 0)}
    queue = [(0.0, next(order), start)]
    closed: set[MazeState] = set()
    while queue and len(paths) < states:
        _, _, state = heappop(queue)
        if state in closed:
            continue
        closed.add(state)
        steps = paths[state][2]
        for primitives in _Walk(maze, mission, state).moves():
            done, after, end = carry_out(maze, mission, state, primitives)
            if steps + len(done) > maze.limit or end == End.FAILURE:
                continue
            if end == End.SUCCESS:
                return Found((*_path(paths, state), *done), len(paths), False)
            total = steps + len(done)
            if after in paths and paths[after][2] <= total:
                continue
            estimate = mission.cost(Relaxed(maze, after, bound=False))
            if math.isfinite(estimate):
                paths[after] = state, done, total
                closed.discard(after)
                heappush(queue, (total + _EAGERNESS * estimate, next(order), after))
    return Found(None, len(paths), False)


def visit_all(maze: Maze, mission: Mission, start: MazeState, states: int) -> Found:
    """Search breadth first over primitives until there is a plan, no new state, or the step limit is reached.

    ``exhausted`` means that no plan within the step limit exists.
    """
    parents: dict[MazeState, tuple[MazeState, int] | None] = {start: None}
    frontier = [start]
    for _ in range(maze.limit):
        following = []
        for state in frontier:
            for action in Primitive:
                after, end = step_mission(maze, mission, state, action)
                if end == End.SUCCESS:
                    return Found((*_line(parents, state), int(action)), len(parents), False)
                if end == End.NONE and after not in parents:
                    parents[after] = state, int(action)
                    following.append(after)
        if len(parents) > states:
            return Found(None, len(parents), False)
        frontier = following
        if not frontier:
            break
    return Found(None, len(parents), True)


def carry_out(
    maze: Maze, mission: Mission, state: MazeState, primitives: tuple[int, ...]
) -> tuple[tuple[int, ...], MazeState, End]:
    """Carry out primitives until one of them ends the episode: those carried out, the state and the end."""
    end = End.NONE
    for number, action in enumerate(primitives, 1):
        state, end = step_mission(maze, mission, state, action)
        if end != End.NONE:
            return primitives[:number], state, end
    return primitives, state, end


def _path(paths: dict[MazeState, tuple[MazeState | None, tuple[int, ...], int]], state: MazeState) -> tuple[int, ...]:
    pieces = []
    at: MazeState | None = state
    while at is not None:
        at, primitives, _ = paths[at]
        pieces.append(primitives)
    return tuple(action for piece in reversed(pieces) for action in piece)


def _line(parents: dict[MazeState, tuple[MazeState, int] | None], state: MazeState) -> tuple[int, ...]:
    actions = []
    while (link := parents[state]) is not None:
        state, action = link
        actions.append(action)
    return tuple(reversed(actions))


class _Walk:
    """Where the agent can walk from a state, opening doors on the way, and what it can do there.

    Poses are numbered 4 * cell + heading; ``_facing`` has the nearest pose that faces a cell.
    """

    def __init__(self, maze: Maze, mission: Mission, state: MazeState) -> None:
        self._maze = maze
        self._mission = mission
        self._state = state
        self._items = {place: item for item, place in enumerate(state.places) if place != NOWHERE}
        first = 4 * state.cell + state.heading
        self._came: dict[int, tuple[int, tuple[int, ...]]] = {first: (first, ())}
        self._facing: dict[int, int] = {}
        self._spread(first)

    def _spread(self, first: int) -> None:
        """Breadth first over poses; passing a closed door takes a step more, so that those beyond wait for a turn."""
        maze = self._maze
        frontier = [first]
        late = list[tuple[int, int]]()
        while frontier or late:
            following: list[int] = []
            for pose, came in late:
                if pose not in self._came:
                    self._came[pose] = came, (TOGGLE, FORWARD)
                    following.append(pose)
            late = []
            for pose in frontier:
                cell, heading = divmod(pose, 4)
                ahead = cell + maze.offsets[heading]
                self._facing.setdefault(ahead, pose)
                for action, turned in ((LEFT, 4 * cell + (heading + 3) % 4), (RIGHT, 4 * cell + (heading + 1) % 4)):
                    if turned not in self._came:
                        self._came[turned] = pose, (action,)
                        following.append(turned)
                onward = 4 * ahead + heading
                passable = self._passable(ahead)
                if passable == DoorState.CLOSED:
                    late.append((onward, pose))
                elif passable == DoorState.OPEN and onward not in self._came:
                    self._came[onward] = pose, (FORWARD,)
                    following.append(onward)
            frontier = following

    def _passable(self, cell: int) -> DoorState:
        ground = self._maze.ground[cell]
        if cell in self._items or ground in {Ground.GOAL, Ground.LAVA, Ground.WALL}:
            return DoorState.LOCKED
        if ground != Ground.DOOR:
            return DoorState.OPEN
        state = DoorState(self._state.doors[self._maze.door_at[cell]])
        return DoorState.LOCKED if state == DoorState.CLOSED and self._mission.careful else state

    def moves(self) -> Iterator[tuple[int, ...]]:
        """Yield primitives: a walk and what is done at its end."""
        seen = set()
        for approach in self._approaches():
            if approach not in seen and approach.cell in self._facing:
                seen.add(approach)
                yield (*self._way(self._facing[approach.cell]), *approach.actions) or (DONE,)

    def _way(self, pose: int) -> tuple[int, ...]:
        pieces = []
        while (link := self._came[pose])[1]:
            pose, primitives = link
            pieces.append(primitives)
        return tuple(action for piece in reversed(pieces) for action in piece)

    def _approaches(self) -> Iterator[Approach]:
        maze = self._maze
        state = self._state
        for goal in self._mission.due(state.progress):
            yield from goal.approaches(maze, state)
        for number, door in enumerate(maze.doors):
            if state.doors[number] == DoorState.LOCKED and fits(maze, state.held, number):
                yield Approach(door.cell, (TOGGLE,))
        if state.held == NOWHERE:
            yield from (Approach(cell, (PICK_UP,)) for cell, item in self._items.items() if self._useful(cell, item))
        else:
            yield from (Approach(cell, (DROP,)) for cell in self._room())
        for cell, item in self._items.items():
            if maze.items[item].kind == "box":
                yield Approach(cell, (TOGGLE,))

    def _useful(self, cell: int, item: int) -> bool:
        """Return whether picking an item up opens a door or a way."""
        locked = (door for door, state in enumerate(self._state.doors) if state == DoorState.LOCKED)
        opens = any(fits(self._maze, item, door) for door in locked)
        return opens or any(self._new(near) for near in self._maze.neighbours(cell))

    def _new(self, cell: int) -> bool:
        return self._maze.ground[cell] != Ground.WALL and all(4 * cell + turn not in self._came for turn in range(4))

    def _room(self) -> Iterator[int]:
        """Return the nearest cells that something can be put into."""
        free = (cell for cell in self._facing if self._maze.ground[cell] == Ground.FREE and cell not in self._items)
        return (cell for cell, _ in zip(free, range(_DROPS), strict=False))
