"""The goals of missions: how minigrid judges a goal, which actions may meet it, and how many steps it still needs.

``verify`` repeats the simulator's judgement of one primitive exactly (``minigrid.envs.babyai.core.verifier`` and the
``step`` of each class in ``minigrid.envs``). ``approaches`` proposes actions. ``cost`` returns the steps that are left;
infinity means that the goal cannot be met even if every item were out of the way.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, product
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
    """A primitive and the states before and after it; ``begun`` is whether the verifier has judged the goal before."""

    maze: Maze
    before: MazeState
    action: int
    after: MazeState
    begun: bool


class Approach(NamedTuple):
    """A proposal to face a cell and then carry out primitives."""

    cell: int
    actions: tuple[int, ...]


class Reach(Protocol):
    """Numbers of steps from ``state``; if ``bound`` is set, lower bounds, else estimates; infinity if out of reach."""

    maze: Maze
    state: MazeState
    bound: bool

    def face(self, cell: int) -> float:
        """Return the steps to stand beside a cell."""

    def stand(self, cell: int) -> float:
        """Return the steps to stand on a cell."""

    def hold(self, item: int) -> float:
        """Return the steps to hold an item, by number."""

    def open(self, door: int) -> float:
        """Return the steps to open a door, by number."""


class Goal(ABC):
    """A part of a mission."""

    @property
    def careful(self) -> bool:
        """Whether the agent must not open doors on its way."""
        return False

    @abstractmethod
    def verify(self, step: Transition) -> End:
        """Return whether a primitive meets the goal (``SUCCESS``), fails the mission (``FAILURE``), or neither."""

    @abstractmethod
    def words(self, maze: Maze, state: MazeState) -> str:
        """Return the goal in words, such as "pick up the red key at (2, 3)"."""

    @abstractmethod
    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        """Yield actions that may meet the goal or lead towards it."""

    @abstractmethod
    def cost(self, reach: Reach) -> float:
        """Return the steps that the goal still needs; infinity only if the goal cannot be met.

        If ``reach.bound`` is set, the result is a lower bound, else an estimate.
        """


@dataclass(frozen=True, slots=True)
class GoToGoal(Goal):
    """Face an item of ``items``, or a cell of ``cells`` with a door or a wall.

    As in minigrid, the place of an item is its place at the last drop (``MazeState.listed``), even if the item is gone.
    """

    items: tuple[int, ...]
    cells: tuple[int, ...]

    def verify(self, step: Transition) -> End:
        ahead = front(step.maze, step.after)
        faces_item = any(step.after.listed[item] == ahead for item in self.items)
        return End.SUCCESS if faces_item or ahead in self.cells else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        return f"face {maze.describe_things(self.items, self.cells, state)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:  # noqa: ARG002
        for cell in self._cells(state):
            yield Approach(cell, ())

    def cost(self, reach: Reach) -> float:
        facing = (reach.face(cell) for cell in self._cells(reach.state))
        # An item that is not listed, such as an item in a box, must be obtained first.
        return min(chain(facing, map(reach.hold, self.items)), default=math.inf)

    def _cells(self, state: MazeState) -> Iterator[int]:
        """Yield the cells that meet the goal when the agent faces them."""
        yield from self.cells
        for item in self.items:
            if state.listed[item] != NOWHERE:
                yield state.listed[item]


@dataclass(frozen=True, slots=True)
class OpenGoal(Goal):
    """Open a door of ``doors``; if ``strict`` is set, toggling any door without opening a door of ``doors`` fails."""

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
            # An open door must be closed and opened again.
            actions = (TOGGLE, TOGGLE) if state.doors[door] == DoorState.OPEN else (TOGGLE,)
            yield Approach(maze.doors[door].cell, actions)

    def cost(self, reach: Reach) -> float:
        return min(map(reach.open, self.doors), default=math.inf)


@dataclass(frozen=True, slots=True)
class PickUpGoal(Goal):
    """Pick up an item of ``items``; if ``strict`` is set, picking up anything else fails the mission.

    The hand must be empty before, unless the verifier has not yet judged the goal.
    """

    items: tuple[int, ...]
    strict: bool

    def verify(self, step: Transition) -> End:
        if step.action != PICK_UP:
            return End.NONE
        hand_was_full = step.begun and step.before.held != NOWHERE
        if step.after.held in self.items and not hand_was_full:
            return End.SUCCESS
        return End.FAILURE if self.strict and step.after.held != NOWHERE else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        return f"pick up {maze.describe_things(self.items, (), state)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:  # noqa: ARG002
        yield from _approach_to_lift(state, self.items)

    def cost(self, reach: Reach) -> float:
        holds_item = reach.state.held in self.items
        # A held item must be dropped and picked up again; a lower bound ignores these steps.
        lift_again = 2.0 if holds_item and not reach.bound else 0.0
        return lift_again + min(map(reach.hold, self.items), default=math.inf)


@dataclass(frozen=True, slots=True)
class PutNextGoal(Goal):
    """Put an item of ``items`` beside an item of ``others`` or beside a cell of ``cells``.

    If ``strict`` is set, picking up any item fails the mission.
    """

    items: tuple[int, ...]
    others: tuple[int, ...]
    cells: tuple[int, ...]
    strict: bool

    def verify(self, step: Transition) -> End:
        if self.strict and step.action == PICK_UP and step.after.held != NOWHERE:
            return End.FAILURE
        if step.action != DROP or not step.begun:
            return End.NONE
        dropped = step.before.held
        if dropped not in self.items or step.after.held == dropped:
            return End.NONE
        place = step.after.places[dropped]
        is_beside = any(step.maze.distance(place, target) == 1 for target in self._iterate_targets(step.after))
        return End.SUCCESS if is_beside else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        targets = maze.describe_things(self.others, self.cells, state)
        return f"put {maze.describe_things(self.items, (), state)} beside {targets}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        if state.held in self.items:
            beside_targets = _iterate_neighbours(maze, self._iterate_targets(state))
            yield from _approach_to_drop(maze, state, beside_targets)
        elif state.held in self.others:
            # The agent holds the target. Drop the target beside an item, so that both are close.
            beside_items = _iterate_neighbours(maze, _iterate_places(state, self.items))
            yield from _approach_to_drop(maze, state, beside_items)
        else:
            yield from _approach_to_lift(state, self.items)

    def cost(self, reach: Reach) -> float:
        """Return the steps that the goal still needs.

        The lower bound is the larger of the steps to lift an item and the steps to face a free cell beside a target.
        The estimate adds the steps to lift an item, and the steps to carry the item to a target.
        """
        maze = reach.maze
        state = reach.state
        targets = tuple(self._iterate_targets(state))
        spots = {near for near in _iterate_neighbours(maze, targets) if maze.ground[near] == Ground.FREE}
        to_spot = min(map(reach.face, spots), default=math.inf)
        if reach.bound or math.isinf(to_spot):
            # A target that is an item can be moved, so that the item can be put beside its new place.
            to_spot = min((to_spot, *map(reach.hold, self.others)))
        if state.held in self.items:
            return to_spot + 1
        lift = min(map(reach.hold, self.items), default=math.inf)
        if reach.bound or math.isinf(to_spot):
            return max(lift, to_spot) + 1
        carry = self._estimate_carrying(maze, state, targets)
        return lift + 1 + max(carry, to_spot)

    def _estimate_carrying(self, maze: Maze, state: MazeState, targets: Iterable[int]) -> int:
        """Return the least distance between an item in the grid and a target, in cells; 0 if there is no pair."""
        pairs = product(_iterate_places(state, self.items), targets)
        return min((maze.distance(place, target) for place, target in pairs), default=0)

    def _iterate_targets(self, state: MazeState) -> Iterator[int]:
        """Yield the cells that the item must lie beside."""
        yield from self.cells
        yield from _iterate_places(state, self.others)


@dataclass(frozen=True, slots=True)
class SquareGoal(Goal):
    """Stand on a goal square; the ground ends the episode, so that ``verify`` has nothing to judge."""

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
    """Hold an item of ``items``; if ``fetch`` is set, holding anything else fails the mission.

    Without ``fetch``, only the action of picking up is judged.
    """

    items: tuple[int, ...]
    fetch: bool

    def verify(self, step: Transition) -> End:
        is_judged = self.fetch or step.action == PICK_UP
        if step.after.held == NOWHERE or not is_judged:
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
    """Carry out ``done`` beside a cell; ``done`` elsewhere and ``toggle`` fail the mission."""

    cell: int

    def verify(self, step: Transition) -> End:
        if step.action not in {TOGGLE, DONE}:
            return End.NONE
        is_beside = step.maze.distance(step.after.cell, self.cell) == 1
        return End.SUCCESS if step.action == DONE and is_beside else End.FAILURE

    def words(self, maze: Maze, state: MazeState) -> str:  # noqa: ARG002
        return f"carry out done beside the cell at {maze.format_cell(self.cell)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:  # noqa: ARG002
        yield Approach(self.cell, (DONE,))

    def cost(self, reach: Reach) -> float:
        return reach.face(self.cell)


@dataclass(frozen=True, slots=True)
class PutNearGoal(Goal):
    """Put an item of ``items`` on or next to ``cell``, diagonals included.

    Picking up any other item, and dropping an item elsewhere, fail the mission.
    """

    items: tuple[int, ...]
    cell: int

    def verify(self, step: Transition) -> End:
        holds_other = step.after.held != NOWHERE and step.after.held not in self.items
        if step.action == PICK_UP and holds_other:
            return End.FAILURE
        dropped = step.before.held
        if step.action != DROP or dropped == NOWHERE:
            return End.NONE
        has_dropped = step.after.held == NOWHERE
        if has_dropped and step.after.places[dropped] in self._find_neighbours(step.maze):
            return End.SUCCESS
        return End.FAILURE

    def words(self, maze: Maze, state: MazeState) -> str:
        items = maze.describe_things(self.items, (), state)
        return f"put {items} near the cell at {maze.format_cell(self.cell)}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        if state.held in self.items:
            yield from _approach_to_drop(maze, state, self._find_neighbours(maze))
        else:
            yield from _approach_to_lift(state, self.items)

    def cost(self, reach: Reach) -> float:
        spots = self._find_neighbours(reach.maze)
        put = min(map(reach.face, spots), default=math.inf) + 1
        if reach.state.held in self.items:
            return put
        return max(put, min(map(reach.hold, self.items), default=math.inf))

    def _find_neighbours(self, maze: Maze) -> tuple[int, ...]:
        """Return the cells of the 3 x 3 square around ``cell``, in the order of their numbers.

        The result is right only for a cell that is not at the edge of a row; cells at an edge are walls.
        """
        near = []
        for row_offset in (-1, 0, 1):
            middle = self.cell + row_offset * maze.width
            near += [middle - 1, middle, middle + 1]
        return tuple(cell for cell in near if 0 <= cell < len(maze.ground))


@dataclass(frozen=True, slots=True)
class InOrderGoal(Goal):
    """Open the door ``second`` while the door ``first`` is open; opening ``second`` before fails the mission."""

    first: int
    second: int

    def verify(self, step: Transition) -> End:
        first_before = step.before.doors[self.first]
        if step.after.doors[self.second] == DoorState.OPEN:
            return End.SUCCESS if first_before == DoorState.OPEN else End.FAILURE
        first_after = step.after.doors[self.first]
        second_before = step.before.doors[self.second]
        # The second door was open and is closed now, while the first door is open.
        is_wrong_order = first_after == DoorState.OPEN and second_before == DoorState.OPEN
        return End.FAILURE if is_wrong_order else End.NONE

    def words(self, maze: Maze, state: MazeState) -> str:
        first = maze.describe_things((), (maze.doors[self.first].cell,), state)
        second = maze.describe_things((), (maze.doors[self.second].cell,), state)
        return f"open {first}, then {second}"

    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        door = self.second if state.doors[self.first] == DoorState.OPEN else self.first
        yield Approach(maze.doors[door].cell, (TOGGLE,))

    def cost(self, reach: Reach) -> float:
        is_first_open = reach.state.doors[self.first] == DoorState.OPEN
        first = 0.0 if is_first_open else reach.open(self.first)
        return max(first, reach.open(self.second))


def _approach_to_lift(state: MazeState, items: tuple[int, ...]) -> Iterator[Approach]:
    """Yield, if the hand is empty, the approaches to pick up each of the items that lies in the grid."""
    if state.held == NOWHERE:
        for place in _iterate_places(state, items):
            yield Approach(place, (PICK_UP,))


def _approach_to_drop(maze: Maze, state: MazeState, cells: Iterable[int]) -> Iterator[Approach]:
    """Yield the approaches to drop the held item on each of the cells that is free."""
    for cell in cells:
        if maze.ground[cell] == Ground.FREE and cell not in state.places:
            yield Approach(cell, (DROP,))


def _iterate_places(state: MazeState, items: Iterable[int]) -> Iterator[int]:
    """Yield the cell of each of the items that lies in the grid, not in a hand or a box."""
    for item in items:
        if state.places[item] != NOWHERE:
            yield state.places[item]


def _iterate_neighbours(maze: Maze, cells: Iterable[int]) -> Iterator[int]:
    """Yield the neighbours of each cell; a cell may be yielded more than once."""
    for cell in cells:
        yield from maze.neighbours(cell)


def _squares(maze: Maze) -> Iterator[int]:
    """Yield the cells with a goal square."""
    return (cell for cell, ground in enumerate(maze.ground) if ground == Ground.GOAL)
