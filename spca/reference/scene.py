"""The scene around the agent, read from the snapshot block of a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spca.errors import BadAnswerError
from spca.reference.mission import Description


@dataclass(frozen=True, slots=True)
class Thing:
    """A door, key, ball, box or goal on the map.

    ``state`` is the state of a door, and "" for other things. ``row`` and ``column`` are counted from 0 at the top left
    cell of the map in the prompt.
    """

    kind: str
    colour: str
    state: str
    row: int
    column: int

    def beside(self, other: Thing) -> bool:
        """Return whether the cells of this thing and of ``other`` share an edge."""
        rows = abs(self.row - other.row)
        columns = abs(self.column - other.column)
        return rows + columns == 1


@dataclass(frozen=True, slots=True)
class Scene:
    """The mission and the world around the agent, as far as the prompt shows the world.

    Attributes:
        held: the (kind, colour) of the carried thing, or None if the hand is empty.
        things: all known things, row by row.
        lava: whether lava has been seen.
    """

    mission: str
    held: tuple[str, str] | None
    things: tuple[Thing, ...]
    lava: bool

    def fitting(self, what: Description) -> tuple[Thing, ...]:
        """Return the known things that the description may mean; the place in the description is ignored."""
        return tuple(thing for thing in self.things if what.matches(thing.kind, thing.colour))

    def holds(self, what: Description) -> bool:
        return self.held is not None and what.matches(*self.held)

    def find_locked_doors(self) -> tuple[Thing, ...]:
        return tuple(thing for thing in self.things if thing.state == "locked")

    def is_blocked(self, door: Thing) -> bool:
        """Return whether a portable thing lies in a cell next to the door; keys of the door's colour are ignored."""
        own_key = ("key", door.colour)
        for thing in self.things:
            portable = thing.kind not in {"door", "goal"}
            if portable and (thing.kind, thing.colour) != own_key and thing.beside(door):
                return True
        return False


def read_scene(snapshot: Mapping[str, Any]) -> Scene:
    """Return the scene that the JSON object of a snapshot block describes.

    Raises:
        BadAnswerError: a field of the snapshot is missing or malformed.
    """
    try:
        mission = str(snapshot["mission"])
        held = _read_held(snapshot["inventory"])
        things = tuple(_list_things(snapshot["known_objects"]))
        lava = any("~" in row for row in snapshot["map"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadAnswerError(f"the snapshot of the prompt cannot be read: {type(error).__name__}: {error}") from error
    return Scene(mission, held, things, lava)


def _list_things(cells_by_name: Mapping[str, Iterable[tuple[int, int]]]) -> Iterable[Thing]:
    """Yield the things row by row; ``cells_by_name`` holds the cells (row, column) of each name such as "red door
    locked".
    """
    places: list[tuple[int, int, str]] = []
    for name, cells in cells_by_name.items():
        places.extend((int(row), int(column), name) for row, column in cells)

    for row, column, name in sorted(places):
        kind, colour, *states = _split_name(name)
        yield Thing(kind, colour, states[0] if states else "", row, column)


def _read_held(inventory: object) -> tuple[str, str] | None:
    """Return (kind, colour) of the carried thing, or None if the hand is empty."""
    if inventory is None:
        return None
    kind, colour, *_ = _split_name(str(inventory))
    return kind, colour


def _split_name(name: str) -> tuple[str, ...]:
    """Return the words of a name: kind, colour and perhaps a state.

    Raises:
        ValueError: the name has fewer than two words.
    """
    words = tuple(name.split())
    if len(words) < 2:
        raise ValueError(f"{name!r} is not a kind and a colour")
    return words
