"""The rules of minigrid over immutable states, which can be compared, hashed and searched; missions judge them.

Cells are numbered row by row, headings as in minigrid: east, south, west, north. A differential test holds every step
against the simulator (``minigrid.minigrid_env.MiniGridEnv.step``, ``minigrid.core.world_object``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Final, NamedTuple

from spca.contracts import Primitive

LEFT, RIGHT, FORWARD, PICK_UP, DROP, TOGGLE, DONE = (int(primitive) for primitive in Primitive)

NOWHERE: Final = -1
"""Place of an item that is held, inside a box, or gone; what is held where nothing is."""


class Ground(IntEnum):
    """What a cell is for good; items lie on free cells."""

    FREE = 0
    FLOOR = 1
    GOAL = 2
    LAVA = 3
    WALL = 4
    DOOR = 5


class DoorState(IntEnum):
    """MazeState of a door, numbered as in minigrid."""

    OPEN = 0
    CLOSED = 1
    LOCKED = 2


class End(IntEnum):
    """What a primitive did to the episode."""

    NONE = 0
    SUCCESS = 1
    FAILURE = 2


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that can be carried; ``inside`` is the number of the item in a box, :data:`NOWHERE` for an empty one."""

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
    """What never changes in an episode. ``door_at`` gives the number of the door in a cell; ``limit`` is in steps."""

    width: int
    ground: tuple[Ground, ...]
    items: tuple[Item, ...]
    doors: tuple[Door, ...]
    door_at: dict[int, int]
    limit: int

    @property
    def offsets(self) -> tuple[int, int, int, int]:
        """From a cell to its neighbours, indexed by heading."""
        return 1, self.width, -1, -self.width

    def neighbours(self, cell: int) -> tuple[int, ...]:
        """Return the cells beside a cell, without those outside of the grid."""
        return _neighbours(self.width, len(self.ground))[cell]

    def distance(self, first: int, second: int) -> int:
        """Return the distance of two cells along rows and columns, in cells."""
        rows = first // self.width - second // self.width
        columns = first % self.width - second % self.width
        return abs(rows) + abs(columns)

    def format_cell(self, cell: int) -> str:
        """Return a cell as "(row, column)"."""
        return f"({cell // self.width}, {cell % self.width})"

    def place_of(self, item: int, state: MazeState) -> str:
        """Return in words where an item is."""
        place = state.places[item]
        if place != NOWHERE:
            return f"at {self.format_cell(place)}"
        if state.held == item:
            return "in hand"
        box = next((number for number, other in enumerate(self.items) if other.inside == item), None)
        return "gone" if box is None else f"in the {self.items[box]} {self.place_of(box, state)}"

    def describe_things(self, items: Iterable[int], cells: Iterable[int], state: MazeState) -> str:
        """Return items and cells in words, "nothing" for none."""
        things = [f"the {self.items[item]} {self.place_of(item, state)}" for item in items]
        for cell in cells:
            kind = "cell"
            if cell in self.door_at:
                door = self.doors[self.door_at[cell]]
                kind = f"{door.color} door"
            things.append(f"the {kind} at {self.format_cell(cell)}")
        return " or ".join(things) or "nothing"


class MazeState(NamedTuple):
    """What changes: ``places`` and ``doors`` by number of the item and the door.

    ``listed`` is where the items lay at the last drop (or at the beginning), which is what minigrid's verifier goes by;
    ``progress`` belongs to the mission.
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
    """Return the cells beside each cell of a grid, in the order of the headings."""
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
    """Return the state after a primitive, its ``progress`` unchanged, and whether the ground ended the episode."""
    cell, heading, held, places, doors, listed, progress = state
    if action == LEFT:
        return MazeState(cell, (heading + 3) % 4, held, places, doors, listed, progress), End.NONE
    if action == RIGHT:
        return MazeState(cell, (heading + 1) % 4, held, places, doors, listed, progress), End.NONE
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
        if listed:
            listed = places
    elif action == TOGGLE:
        places, doors = _toggle_cell(maze, state, ahead)
    return MazeState(cell, heading, held, places, doors, listed, progress), End.NONE


def _step_forward(maze: Maze, state: MazeState, ahead: int) -> tuple[MazeState, End]:
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
    """Return the places of items and the states of doors after the cell ahead was toggled."""
    number = maze.door_at.get(ahead)
    if number is not None:
        was = state.doors[number]
        if was == DoorState.LOCKED and not fits(maze, state.held, number):
            return state.places, state.doors
        turned = DoorState.CLOSED if was == DoorState.OPEN else 0
        return state.places, _replace_value(state.doors, number, turned)

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
    """Return whether an item, by number, is a key of a door."""
    if item == NOWHERE:
        return False
    thing = maze.items[item]
    return thing.kind == "key" and thing.color == maze.doors[door].color


def _replace_value(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*values[:index], value, *values[index + 1 :])
