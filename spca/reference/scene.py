"""What a prompt says of the world, read from the snapshot block of a prompt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from spca.errors import BadAnswerError
from spca.reference.mission import Description


@dataclass(frozen=True, slots=True)
class Thing:
    """A door, key, ball, box or goal on the map at (row, column); ``state`` is "" but for doors."""

    kind: str
    colour: str
    state: str
    row: int
    column: int

    def beside(self, other: Thing) -> bool:
        """Return whether the two cells share an edge."""
        rows = abs(self.row - other.row)
        columns = abs(self.column - other.column)
        return rows + columns == 1


@dataclass(frozen=True, slots=True)
class Scene:
    """The mission, what is carried as (kind, colour), the things known, and whether lava has been seen."""

    mission: str
    held: tuple[str, str] | None
    things: tuple[Thing, ...]
    lava: bool

    def fitting(self, what: Description) -> tuple[Thing, ...]:
        """Return known things that may be meant; where they lay at the start cannot be told."""
        return tuple(thing for thing in self.things if what.matches(thing.kind, thing.colour))

    def holds(self, what: Description) -> bool:
        return self.held is not None and what.matches(*self.held)

    def find_locked_doors(self) -> tuple[Thing, ...]:
        return tuple(thing for thing in self.things if thing.state == "locked")

    def is_blocked(self, door: Thing) -> bool:
        """Return whether something portable stands directly before a door; its own key is no obstacle."""
        own_key = ("key", door.colour)
        portable = (thing for thing in self.things if thing.kind not in {"door", "goal"})
        return any((thing.kind, thing.colour) != own_key for thing in portable if thing.beside(door))


def read_scene(snapshot: Mapping[str, Any]) -> Scene:
    """Read the JSON of a snapshot block.

    Raises:
        BadAnswerError: a field is missing or not of its form.
    """
    try:
        return Scene(
            mission=str(snapshot["mission"]),
            held=_pair(snapshot["inventory"]),
            things=tuple(_things(snapshot["known_objects"])),
            lava=any("~" in row for row in snapshot["map"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BadAnswerError(f"the snapshot of the prompt cannot be read: {type(error).__name__}: {error}") from error


def _things(places: Mapping[str, Iterable[tuple[int, int]]]) -> Iterable[Thing]:
    """Yield the things row by row."""
    known = sorted((int(row), int(column), name) for name, cells in places.items() for row, column in cells)
    for row, column, name in known:
        kind, colour, state = (*_words(name), "")[:3]
        yield Thing(kind, colour, state, row, column)


def _pair(inventory: object) -> tuple[str, str] | None:
    if inventory is None:
        return None
    kind, colour, *_ = _words(str(inventory))
    return kind, colour


def _words(name: str) -> tuple[str, ...]:
    words = tuple(name.split())
    if len(words) < 2:
        raise ValueError(f"{name!r} is not a kind and a colour")
    return words
