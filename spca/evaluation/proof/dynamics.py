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
        """The cells beside a cell, without those outside of the grid."""
        return _neighbours(self.width, len(self.ground))[cell]

    def distance(self, first: int, second: int) -> int:
        """Cells between two cells along rows and columns."""
        rows = first // self.width - second // self.width
        columns = first % self.width - second % self.width
        return abs(rows) + abs(columns)

    def at(self, cell: int) -> str:
        """A cell as "(row, column)"."""
        return f"({cell // self.width}, {cell % self.width})"

    def place_of(self, item: int, state: MazeState) -> str:
        """Where an item is, in words."""
        if state.places[item] != NOWHERE:
            return f"at {self.at(state.places[item])}"
        if state.held == item:
            return "in hand"
        box = next((number for number, other in enumerate(self.items) if other.inside == item), None)
        return "gone" if box is None else f"in the {self.items[box]} {self.place_of(box, state)}"

    def named(self, items: Iterable[int], cells: Iterable[int], state: MazeState) -> str:
        """Items and cells in words, "nothing" for none."""
        things = [f"the {self.items[item]} {self.place_of(item, state)}" for item in items]
        for cell in cells:
            kind = f"{self.doors[self.door_at[cell]].color} door" if cell in self.door_at else "cell"
            things.append(f"the {kind} at {self.at(cell)}")
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
    """The cells beside each cell of a grid."""
    return tuple(
        tuple(
            cell + offset
            for offset, inside in (
                (1, cell % width < width - 1),
                (width, cell + width < cells),
                (-1, cell % width > 0),
                (-width, cell >= width),
            )
            if inside
        )
        for cell in range(cells)
    )


def front(maze: Maze, state: MazeState) -> int:
    """Return the cell ahead of the agent."""
    return state.cell + maze.offsets[state.heading]


def moved(maze: Maze, state: MazeState, action: int) -> tuple[MazeState, End]:
    """Return the state after a primitive, its ``progress`` unchanged, and whether the ground ended the episode."""
    cell, heading, held, places, doors, listed, progress = state
    if action == LEFT:
        return MazeState(cell, (heading + 3) % 4, held, places, doors, listed, progress), End.NONE
    if action == RIGHT:
        return MazeState(cell, (heading + 1) % 4, held, places, doors, listed, progress), End.NONE
    ahead = cell + maze.offsets[heading]
    if action == FORWARD:
        return _forward(maze, state, ahead)
    if action == PICK_UP:
        if held == NOWHERE and ahead in places:
            held = places.index(ahead)
            places = _replaced(places, held, NOWHERE)
    elif action == DROP:
        if held != NOWHERE and maze.ground[ahead] == Ground.FREE and ahead not in places:
            places = _replaced(places, held, ahead)
            held = NOWHERE
        if listed:
            listed = places
    elif action == TOGGLE:
        places, doors = _toggled(maze, state, ahead)
    return MazeState(cell, heading, held, places, doors, listed, progress), End.NONE


def _forward(maze: Maze, state: MazeState, ahead: int) -> tuple[MazeState, End]:
    ground = maze.ground[ahead]
    blocked = ground == Ground.WALL or (ground == Ground.DOOR and state.doors[maze.door_at[ahead]] != DoorState.OPEN)
    if blocked or ahead in state.places:
        return state, End.NONE
    end = End.SUCCESS if ground == Ground.GOAL else End.FAILURE if ground == Ground.LAVA else End.NONE
    return MazeState(ahead, *state[1:]), end


def _toggled(maze: Maze, state: MazeState, ahead: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Places of items and states of doors after the cell ahead was toggled."""
    number = maze.door_at.get(ahead)
    if number is not None:
        was = state.doors[number]
        if was == DoorState.LOCKED and not fits(maze, state.held, number):
            return state.places, state.doors
        return state.places, _replaced(state.doors, number, DoorState.CLOSED if was == DoorState.OPEN else 0)
    if ahead in state.places:
        box = state.places.index(ahead)
        if maze.items[box].kind == "box":
            places = _replaced(state.places, box, NOWHERE)
            inside = maze.items[box].inside
            return places if inside == NOWHERE else _replaced(places, inside, ahead), state.doors
    return state.places, state.doors


def fits(maze: Maze, item: int, door: int) -> bool:
    """Whether an item, by number, is a key of a door."""
    return item != NOWHERE and maze.items[item].kind == "key" and maze.items[item].color == maze.doors[door].color


def _replaced(values: tuple[int, ...], index: int, value: int) -> tuple[int, ...]:
    return (*values[:index], value, *values[index + 1 :])
