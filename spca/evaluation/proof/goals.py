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
    """A primitive with the states before and after it; ``begun`` is whether the verifier has already judged the goal
    before.
    """

    maze: Maze
    before: MazeState
    action: int
    after: MazeState
    begun: bool


class Approach(NamedTuple):
    """A proposal for the agent: face ``cell``, then carry out the primitives ``actions``."""

    cell: int
    actions: tuple[int, ...]


class Reach(Protocol):
    """Numbers of steps that the agent needs from ``state``; infinity if a goal is out of reach.

    If ``bound`` is set, the numbers are lower bounds, else estimates.
    """

    maze: Maze
    state: MazeState
    bound: bool

    def face(self, cell: int) -> float:
        """Return the number of steps until the agent stands beside a cell."""

    def stand(self, cell: int) -> float:
        """Return the number of steps until the agent stands on a cell."""

    def hold(self, item: int) -> float:
        """Return the number of steps until the agent holds the item with the number ``item``."""

    def open(self, door: int) -> float:
        """Return the number of steps until the agent has opened the door with the number ``door``."""


class Goal(ABC):
    """One of the goals of a mission."""

    @property
    def careful(self) -> bool:
        """Whether the agent must not open doors while it walks, because opening a wrong door would fail the mission."""
        return False

    @abstractmethod
    def verify(self, step: Transition) -> End:
        """Return ``SUCCESS`` if a primitive meets the goal, ``FAILURE`` if it fails the mission, and otherwise
        ``NONE``.
        """

    @abstractmethod
    def words(self, maze: Maze, state: MazeState) -> str:
        """Return the goal in words, such as "pick up the red key at (2, 3)"."""

    @abstractmethod
    def approaches(self, maze: Maze, state: MazeState) -> Iterator[Approach]:
        """Yield actions that may meet the goal or lead towards it."""

    @abstractmethod
    def cost(self, reach: Reach) -> float:
        """Return the number of steps that the goal still needs; infinity only if the goal cannot be met.

        If ``reach.bound`` is set, the result is a lower bound, else an estimate.
        """


@dataclass(frozen=True, slots=True)
class GoToGoal(Goal):
    """The goal to face an item of ``items``, or a cell of ``cells``, which contain doors or walls.

    As in minigrid, an item counts as lying where it lay after the last drop (``MazeState.listed``), even if it is gone.
    """

    items: tuple[int, ...]
    cells: tuple[int, ...]

    def verify(self, step: Transition) -> End:
        ahead = front(step.maze, step.after)
        if ahead in self.cells or any(step.after.listed[item] == ahead for item in self.items):
            return End.SUCCESS
        return End.NONE

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
        """Yield the cells that the agent can face to meet the goal."""
        yield from self.cells
        for item in self.items:
            if state.listed[item] != NOWHERE:
                yield state.listed[item]


@dataclass(frozen=True, slots=True)
class OpenGoal(Goal):
    """The goal to open a door of ``doors``.

    If ``strict`` is set, toggling a door fails the mission if it does not open a door of ``doors``.
    """

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
    """The goal to pick up an item of ``items``; if ``strict`` is set, picking up anything else fails the mission.

    The hand must be empty when the item is picked up. This is not checked for the first primitive that the verifier
    judges.
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
    """The goal to put an item of ``items`` beside a target: an item of ``others`` or a cell of ``cells``.

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
        """Return the number of steps that the goal still needs.

        The lower bound uses the larger of two numbers: steps to lift an item, and steps to face a free cell beside a
        target. The estimate is the sum of the steps to lift an item and the steps to carry it to a target.
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
        """Return the least distance between an item in the grid and a target, in cells; 0 if there is no item or no
        target.
        """
        pairs = product(_iterate_places(state, self.items), targets)
        return min((maze.distance(place, target) for place, target in pairs), default=0)

    def _iterate_targets(self, state: MazeState) -> Iterator[int]:
        """Yield the cells of all targets; the item must be put beside one of them."""
        yield from self.cells
        yield from _iterate_places(state, self.others)


@dataclass(frozen=True, slots=True)
class SquareGoal(Goal):
    """The goal to stand on a goal square; the square itself ends the episode, so that ``verify`` always returns
    ``NONE``.
    """

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
    """The goal to hold an item of ``items``; if ``fetch`` is set, holding anything else fails the mission.

    If ``fetch`` is not set, only primitives that pick up are judged.
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
    """The goal to carry out ``done`` beside a cell; ``done`` elsewhere, and ``toggle`` anywhere, fail the mission."""

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
    """The goal to put an item of ``items`` on or next to ``cell``, diagonals included.

    Picking up any other item fails the mission. Dropping an item elsewhere also fails the mission.
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

        The result would be wrong for a cell at the end of a row, but such cells are walls.
        """
        near = []
        for row_offset in (-1, 0, 1):
            middle = self.cell + row_offset * maze.width
            near += [middle - 1, middle, middle + 1]
        return tuple(cell for cell in near if 0 <= cell < len(maze.ground))


@dataclass(frozen=True, slots=True)
class InOrderGoal(Goal):
    """The goal to open the door ``second`` while the door ``first`` is open.

    Opening ``second`` while ``first`` is closed fails the mission.
    """

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
    """Yield an approach to pick up each of the items that lie in the grid; if the hand is full, yield nothing."""
    if state.held == NOWHERE:
        for place in _iterate_places(state, items):
            yield Approach(place, (PICK_UP,))


def _approach_to_drop(maze: Maze, state: MazeState, cells: Iterable[int]) -> Iterator[Approach]:
    """Yield an approach to drop the held item on each cell of ``cells`` that is free."""
    for cell in cells:
        if maze.ground[cell] == Ground.FREE and cell not in state.places:
            yield Approach(cell, (DROP,))


def _iterate_places(state: MazeState, items: Iterable[int]) -> Iterator[int]:
    """Yield the cells of the items that lie in the grid and not in the hand or in a box."""
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
