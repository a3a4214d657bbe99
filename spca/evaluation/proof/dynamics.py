"""The rules of minigrid as functions of immutable states; the states can be compared, hashed and searched.

A cell's number is row * width + column. Headings are numbered as in minigrid: 0 east, 1 south, 2 west, 3 north. A
differential test compares every step with the simulator (``minigrid.minigrid_env.MiniGridEnv.step``,
``minigrid.core.world_object``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Final, NamedTuple

from spca.bodies.grid.primitives import GridPrimitive

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = (int(primitive) for primitive in GridPrimitive)

NOWHERE: Final = -1
"""Place of an item that is held, inside a box, or gone; also the held item's number if the hand is empty."""


class Ground(IntEnum):
    """The permanent content of a cell; items lie on free cells."""

    FREE = 0
    FLOOR = 1
    GOAL = 2
    LAVA = 3
    WALL = 4
    DOOR = 5


class DoorState(IntEnum):
    """State of a door, numbered as in minigrid."""

    OPEN = 0
    CLOSED = 1
    LOCKED = 2


class End(IntEnum):
    """How a primitive ended the episode; ``NONE`` if the episode continues."""

    NONE = 0
    SUCCESS = 1
    FAILURE = 2


@dataclass(frozen=True, slots=True)
class Item:
    """An object that can be carried; ``inside`` is the number of the item that it contains, or :data:`NOWHERE`."""

    kind: str
    color: str
    inside: int = NOWHERE

    def __str__(self) -> str:
        return f"{self.color} {self.kind}"


@dataclass(frozen=True, slots=True)
class Door:
    """A door and the color of its keys."""

    cell: int
    color: str


@dataclass(frozen=True, slots=True)
class Maze:
    """The properties of an environment that never change in an episode.

    Attributes:
        width: number of cells in a row.
        ground: permanent content of each cell, row by row.
        items: all items; an item's number is its index.
        doors: all doors; a door's number is its index.
        door_at: number of the door in a cell, by cell.
        limit: step limit of the episode.
    """

    width: int
    ground: tuple[Ground, ...]
    items: tuple[Item, ...]
    doors: tuple[Door, ...]
    door_at: dict[int, int]
    limit: int

    @property
    def offsets(self) -> tuple[int, int, int, int]:
        """For each heading, the number to add to a cell's number to get the next cell in that direction."""
        return 1, self.width, -1, -self.width

    def neighbours(self, cell: int) -> tuple[int, ...]:
        """Return the cells of the grid that share an edge with a cell."""
        return _neighbours(self.width, len(self.ground))[cell]

    def distance(self, first: int, second: int) -> int:
        """Return the Manhattan distance between two cells, in cells."""
        rows = first // self.width - second // self.width
        columns = first % self.width - second % self.width
        return abs(rows) + abs(columns)

    def format_cell(self, cell: int) -> str:
        """Return a cell as text: "(row, column)"."""
        return f"({cell // self.width}, {cell % self.width})"

    def place_of(self, item: int, state: MazeState) -> str:
        """Return the place of an item in words, such as "at (2, 3)", "in hand" or "gone"."""
        place = state.places[item]
        if place != NOWHERE:
            return f"at {self.format_cell(place)}"
        if state.held == item:
            return "in hand"
        for number, box in enumerate(self.items):
            if box.inside == item:
                return f"in the {box} {self.place_of(number, state)}"
        return "gone"

    def describe_things(self, items: Iterable[int], cells: Iterable[int], state: MazeState) -> str:
        """Return items (by number) and cells in words, joined by "or"; "nothing" if there are no items and no cells."""
        things = []
        for item in items:
            place = self.place_of(item, state)
            things.append(f"the {self.items[item]} {place}")
        for cell in cells:
            kind = "cell"
            if cell in self.door_at:
                door = self.doors[self.door_at[cell]]
                kind = f"{door.color} door"
            things.append(f"the {kind} at {self.format_cell(cell)}")
        return " or ".join(things) or "nothing"


class MazeState(NamedTuple):
    """The properties of an environment that change in an episode.

    Attributes:
        cell, heading: pose of the agent.
        held: number of the held item, or :data:`NOWHERE`.
        places: cell of each item, by number of the item, or :data:`NOWHERE`.
        doors: :class:`DoorState` of each door, by number of the door.
        listed: ``places`` as they were after the last drop, or at the beginning. Minigrid's verifier uses them to judge
            goals to go to an item. () if the mission has no such goal.
        progress: progress of the mission.
    """

    cell: int
    heading: int
    held: int
    places: tuple[int, ...]
    doors: tuple[int, ...]
    listed: tuple[int, ...]
    progress: tuple[int, ...]


@cache
def _neighbours(width: int, cells: int) -> tuple[tuple[int, ...], ...]:
    """Return, for each cell of a grid with ``cells`` cells, the cells that share an edge with it, in the order of the
    headings.
    """
    neighbours = []
    for cell in range(cells):
        column = cell % width
        beside = []
        if column < width - 1:
            beside.append(cell + 1)
        if cell + width < cells:
            beside.append(cell + width)
        if column > 0:
            beside.append(cell - 1)
        if cell >= width:
            beside.append(cell - width)
        neighbours.append(tuple(beside))
    return tuple(neighbours)


def front(maze: Maze, state: MazeState) -> int:
    """Return the cell ahead of the agent."""
    return state.cell + maze.offsets[state.heading]


def apply_primitive(maze: Maze, state: MazeState, action: int) -> tuple[MazeState, End]:
    """Return the state after a primitive, with ``progress`` unchanged, and how the entered cell ended the episode.

    The end is ``SUCCESS`` on a goal square, ``FAILURE`` in lava, and ``NONE`` everywhere else.
    """
    cell, heading, held, places, doors, listed, progress = state
    if action == LEFT:
        heading = (heading + 3) % 4
        return MazeState(cell, heading, held, places, doors, listed, progress), End.NONE
    if action == RIGHT:
        heading = (heading + 1) % 4
        return MazeState(cell, heading, held, places, doors, listed, progress), End.NONE
    ahead = cell + maze.offsets[heading]
    if action == FORWARD:
        return _step_forward(maze, state, ahead)
    if action == PICK_UP:
        if held == NOWHERE and ahead in places:
            held = places.index(ahead)
            places = _replace_value(places, held, NOWHERE)
    elif action == DROP:
        if held != NOWHERE and maze.ground[ahead] == Ground.FREE and ahead not in places:
            places = _replace_value(places, held, ahead)
            held = NOWHERE
        if listed:  # the verifier lists the items anew at every drop, even if nothing was dropped
            listed = places
    elif action == TOGGLE:
        places, doors = _toggle_cell(maze, state, ahead)
    return MazeState(cell, heading, held, places, doors, listed, progress), End.NONE


def _step_forward(maze: Maze, state: MazeState, ahead: int) -> tuple[MazeState, End]:
    """Return the state after a step to the cell ``ahead``, and how the step ended the episode.

    If the cell is blocked, the state is unchanged.
    """
    ground = maze.ground[ahead]
    if ground == Ground.WALL or ahead in state.places:
        return state, End.NONE
    if ground == Ground.DOOR and state.doors[maze.door_at[ahead]] != DoorState.OPEN:
        return state, End.NONE

    after = MazeState(ahead, *state[1:])
    if ground == Ground.GOAL:
        return after, End.SUCCESS
    if ground == Ground.LAVA:
        return after, End.FAILURE
    return after, End.NONE


def _toggle_cell(maze: Maze, state: MazeState, ahead: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the places of items and the states of doors after the cell ahead was toggled.

    A toggled box vanishes, and the contained item lies in its place.
    """
    number = maze.door_at.get(ahead)
    if number is not None:
        before = state.doors[number]
        if before == DoorState.LOCKED and not fits(maze, state.held, number):
            return state.places, state.doors
        after = DoorState.CLOSED if before == DoorState.OPEN else DoorState.OPEN
        return state.places, _replace_value(state.doors, number, after)

    if ahead in state.places:
        box = state.places.index(ahead)
        if maze.items[box].kind == "box":
            places = _replace_value(state.places, box, NOWHERE)
            inside = maze.items[box].inside
            if inside != NOWHERE:
                places = _replace_value(places, inside, ahead)
            return places, state.doors
    return state.places, state.doors


def fits(maze: Maze, item: int, door: int) -> bool:
    """Return whether an item is a key that fits a door; both are given by number."""
    if item == NOWHERE:
        return False
    thing = maze.items[item]
    return thing.kind == "key" and thing.color == maze.doors[door].color


def _replace_value(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    """Return a copy of ``values`` with ``value`` at an index."""
    return (*values[:index], value, *values[index + 1 :])
