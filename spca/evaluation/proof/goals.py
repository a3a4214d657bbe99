"""What the parts of a mission ask for: judged as minigrid judges them, and how they can be brought about.

``verify`` is the simulator's judgement of one primitive, word for word (``minigrid.envs.babyai.core.verifier`` and the
``step`` of each class in ``minigrid.envs``). ``approaches`` proposes what to do for a goal, ``cost`` estimates what is
left to do; infinity means that it cannot be met even if everything movable were out of the way.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, Protocol

from spca.evaluation.proof.dynamics import (
    DONE,
    DROP,
    FORWARD,
    NOWHERE,
    PICK_UP,
    TOGGLE,
    DoorState,
    End,
    Ground,
    Maze,
    MazeState,
    front,
)


class Transition(NamedTuple):
    """A primitive between two states; ``begun`` is whether the verifier has looked at this goal before."""

    maze: Maze
    before: MazeState
    action: int
    after: MazeState
    begun: bool


class Approach(NamedTuple):
    """Face a cell, then carry out primitives."""

    cell: int
    actions: tuple[int, ...]


class Reach(Protocol):
    """Steps from a state to facing or standing on a cell, to holding an item and to opening a door.

    ``bound``: no sequence of primitives needs fewer; else an estimate that is near what is needed.
    """

    maze: Maze
    state: MazeState
    bound: bool

    def face(self, cell: int) -> float: ...
    def stand(self, cell: int) -> float: ...
    def hold(self, item: int) -> float: ...
    def open(self, door: int) -> float: ...


class Goal(ABC):
    """A part of a mission."""

    @property
    def careful(self) -> bool:
        """Whether doors on the way must not be opened."""
        return False

    @abstractmethod
    def verify(self, step: Transition) -> End:
        """Judge a primitive."""

    @abstractmethod
    def words(self, maze: Maze, state: MazeState) -> str:
        """Return what is asked for."""

    @abstractmethod
    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        """Yield what may meet the goal, or lead towards it."""

    @abstractmethod
    def cost(self, reach: Reach) -> float:
        """Estimate the steps that are left; infinity only where the goal cannot be met."""


@dataclass(frozen=True, slots=True)
class GoToGoal(Goal):
    """Face one of the listed items or of the fixed ``cells``: doors and walls."""

    items: tuple[int, ...]
    cells: tuple[int, ...]

    def verify(self, step: Transition) -> End:
        ahead = front(step.maze, step.after)
        met = ahead in self.cells or any(step.after.listed[item] == ahead for item in self.items)
        return End.SUCCESS if met else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        return f"face {maze.describe_things(self.items, self.cells, state)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:  # noqa: ARG002
        for cell in self._cells(state):
            yield Approach(cell, ())

    def cost(self, reach: Reach) -> float:
        listed = (reach.face(cell) for cell in self._cells(reach.state))
        return min(chain(listed, map(reach.hold, self.items)), default=math.inf)

    def _cells(self, state: MazeState) -> Iterator[int]:
        yield from self.cells
        for item in self.items:
            if state.listed[item] != NOWHERE:
                yield state.listed[item]


@dataclass(frozen=True, slots=True)
class OpenGoal(Goal):
    """Open one of some doors; strictly, no other door may be toggled."""

    doors: tuple[int, ...]
    strict: bool

    @property
    def careful(self) -> bool:
        return self.strict

    def verify(self, step: Transition) -> End:
        if step.action != TOGGLE:
            return End.NONE
        door = step.maze.door_at.get(front(step.maze, step.after))
        if door is None:
            return End.NONE
        if door in self.doors and step.after.doors[door] == DoorState.OPEN:
            return End.SUCCESS
        return End.FAILURE if self.strict else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        cells = (maze.doors[door].cell for door in self.doors)
        return f"open {maze.describe_things((), cells, state)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        for door in self.doors:
            again = (TOGGLE,) if state.doors[door] == DoorState.OPEN else ()
            yield Approach(maze.doors[door].cell, (*again, TOGGLE))

    def cost(self, reach: Reach) -> float:
        return min(map(reach.open, self.doors), default=math.inf)


@dataclass(frozen=True, slots=True)
class PickUpGoal(Goal):
    """Pick up one of some items, with an empty hand; strictly, nothing else may be picked up."""

    items: tuple[int, ...]
    strict: bool

    def verify(self, step: Transition) -> End:
        if step.action != PICK_UP:
            return End.NONE
        if step.after.held in self.items and not (step.begun and step.before.held != NOWHERE):
            return End.SUCCESS
        return End.FAILURE if self.strict and step.after.held != NOWHERE else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        return f"pick up {maze.describe_things(self.items, (), state)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:  # noqa: ARG002
        yield from _approach_to_lift(state, self.items)

    def cost(self, reach: Reach) -> float:
        again = 0.0 if reach.bound or reach.state.held not in self.items else 2.0
        return again + min(map(reach.hold, self.items), default=math.inf)


@dataclass(frozen=True, slots=True)
class PutNextGoal(Goal):
    """Put one of some items beside a listed item or one of the fixed ``cells``."""

    items: tuple[int, ...]
    others: tuple[int, ...]
    cells: tuple[int, ...]
    strict: bool

    def verify(self, step: Transition) -> End:
        if self.strict and step.action == PICK_UP and step.after.held != NOWHERE:
            return End.FAILURE
        put = step.before.held
        if step.action != DROP or not step.begun or put not in self.items or step.after.held == put:
            return End.NONE
        place = step.after.places[put]
        beside = any(step.maze.distance(place, cell) == 1 for cell in self._iterate_targets(step.after))
        return End.SUCCESS if beside else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        fixed = maze.describe_things(self.others, self.cells, state)
        return f"put {maze.describe_things(self.items, (), state)} beside {fixed}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        if state.held in self.items:
            beside = (near for cell in self._iterate_targets(state) for near in maze.neighbours(cell))
            yield from _approach_to_drop(maze, state, beside)
        elif state.held in self.others:
            beside = (near for cell in _iterate_places(state, self.items) for near in maze.neighbours(cell))
            yield from _approach_to_drop(maze, state, beside)
        else:
            yield from _approach_to_lift(state, self.items)

    def cost(self, reach: Reach) -> float:
        fixed = tuple(self._iterate_targets(reach.state))
        maze = reach.maze
        state = reach.state
        spots = {near for cell in fixed for near in maze.neighbours(cell) if maze.ground[near] == Ground.FREE}
        put = min(map(reach.face, spots), default=math.inf)
        if reach.bound or math.isinf(put):
            put = min((put, *map(reach.hold, self.others)))
        if state.held in self.items:
            return put + 1
        lift = min(map(reach.hold, self.items), default=math.inf)
        if reach.bound or math.isinf(put):
            return max(lift, put) + 1
        lying = list(_iterate_places(state, self.items))
        way = min((maze.distance(place, cell) for place in lying for cell in fixed), default=0)
        return lift + 1 + max(way, put)

    def _iterate_targets(self, state: MazeState) -> Iterator[int]:
        """Yield the cells that the item must lie beside."""
        yield from self.cells
        yield from _iterate_places(state, self.others)


@dataclass(frozen=True, slots=True)
class SquareGoal(Goal):
    """Stand on a goal square: the ground judges it."""

    def verify(self, step: Transition) -> End:  # noqa: ARG002
        return End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        return f"stand on {maze.describe_things((), _squares(maze), state)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:  # noqa: ARG002
        yield from (Approach(cell, (FORWARD,)) for cell in _squares(maze))

    def cost(self, reach: Reach) -> float:
        return min((reach.stand(cell) for cell in _squares(reach.maze)), default=math.inf)


@dataclass(frozen=True, slots=True)
class TakeGoal(Goal):
    """Have one of some items in hand; ``fetch``: taking anything else ends the episode."""

    items: tuple[int, ...]
    fetch: bool

    def verify(self, step: Transition) -> End:
        if step.after.held == NOWHERE or not (self.fetch or step.action == PICK_UP):
            return End.NONE
        if step.after.held in self.items:
            return End.SUCCESS
        return End.FAILURE if self.fetch else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        return f"take {maze.describe_things(self.items, (), state)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:  # noqa: ARG002
        yield from _approach_to_lift(state, self.items)

    def cost(self, reach: Reach) -> float:
        return min(map(reach.hold, self.items), default=math.inf)


@dataclass(frozen=True, slots=True)
class BesideGoal(Goal):
    """Carry out ``done`` beside a cell; ``toggle`` ends the episode."""

    cell: int

    def verify(self, step: Transition) -> End:
        if step.action not in {TOGGLE, DONE}:
            return End.NONE
        near = step.action == DONE and step.maze.distance(step.after.cell, self.cell) == 1
        return End.SUCCESS if near else End.FAILURE

    def words(self, maze: Maze, state: MazeState) -> str:  # noqa: ARG002
        return f"carry out done beside the cell at {maze.format_cell(self.cell)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:  # noqa: ARG002
        yield Approach(self.cell, (DONE,))

    def cost(self, reach: Reach) -> float:
        return reach.face(self.cell)


@dataclass(frozen=True, slots=True)
class PutNearGoal(Goal):
    """Put one of some items within a cell of ``cell``, diagonals included; any other pick-up or drop is fatal."""

    items: tuple[int, ...]
    cell: int

    def verify(self, step: Transition) -> End:
        if step.action == PICK_UP and step.after.held != NOWHERE and step.after.held not in self.items:
            return End.FAILURE
        put = step.before.held
        if step.action != DROP or put == NOWHERE:
            return End.NONE
        near = step.after.held == NOWHERE and step.after.places[put] in self._find_neighbours(step.maze)
        return End.SUCCESS if near else End.FAILURE

    def words(self, maze: Maze, state: MazeState) -> str:
        return f"put {maze.describe_things(self.items, (), state)} near the cell at {maze.format_cell(self.cell)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        if state.held in self.items:
            yield from _approach_to_drop(maze, state, self._find_neighbours(maze))
        else:
            yield from _approach_to_lift(state, self.items)

    def cost(self, reach: Reach) -> float:
        put = min((reach.face(cell) for cell in self._find_neighbours(reach.maze)), default=math.inf) + 1
        if reach.state.held in self.items:
            return put
        return max(put, min(map(reach.hold, self.items), default=math.inf))

    def _find_neighbours(self, maze: Maze) -> tuple[int, ...]:
        near = (self.cell + rows * maze.width + columns for rows in (-1, 0, 1) for columns in (-1, 0, 1))
        return tuple(cell for cell in near if 0 <= cell < len(maze.ground))


@dataclass(frozen=True, slots=True)
class InOrderGoal(Goal):
    """Open a door while another one is already open, which must not be done the other way round."""

    first: int
    second: int

    def verify(self, step: Transition) -> End:
        if step.after.doors[self.second] == DoorState.OPEN:
            return End.SUCCESS if step.before.doors[self.first] == DoorState.OPEN else End.FAILURE
        late = step.after.doors[self.first] == step.before.doors[self.second] == DoorState.OPEN
        return End.FAILURE if late else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        first, second = (
            maze.describe_things((), (maze.doors[door].cell,), state) for door in (self.first, self.second)
        )
        return f"open {first}, then {second}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        door = self.second if state.doors[self.first] == DoorState.OPEN else self.first
        yield Approach(maze.doors[door].cell, (TOGGLE,))

    def cost(self, reach: Reach) -> float:
        first = 0.0 if reach.state.doors[self.first] == DoorState.OPEN else reach.open(self.first)
        return max(first, reach.open(self.second))


def _approach_to_lift(state: MazeState, items: tuple[int, ...]) -> Iterator[Approach]:
    if state.held == NOWHERE:
        for place in _iterate_places(state, items):
            yield Approach(place, (PICK_UP,))


def _approach_to_drop(maze: Maze, state: MazeState, cells: Iterable[int]) -> Iterator[Approach]:
    for cell in cells:
        if maze.ground[cell] == Ground.FREE and cell not in state.places:
            yield Approach(cell, (DROP,))


def _iterate_places(state: MazeState, items: Iterable[int]) -> Iterator[int]:
    """Yield the cells of those items that lie in the grid."""
    for item in items:
        if state.places[item] != NOWHERE:
            yield state.places[item]


def _squares(maze: Maze) -> Iterator[int]:
    return (cell for cell, ground in enumerate(maze.ground) if ground == Ground.GOAL)
