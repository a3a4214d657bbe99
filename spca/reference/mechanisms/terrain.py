"""The map of a gridworld task as the prompt shows the map: ground, named things, and unseen cells (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from spca.errors import BadAnswerError
from spca.reference.mechanisms.errands import number_name
from spca.sense.perception import DIRECTIONS

Cell: TypeAlias = tuple[int, int]
"""A cell (row, column) in the map of the prompt; rows and columns are counted from 0."""

STEPS: Final[tuple[Cell, ...]] = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""The step (rows down, columns right) in each heading, in the order east, south, west, north."""

_AGENT_SYMBOLS: Final = frozenset("><^v")
_CLOSED_SYMBOLS: Final = frozenset("#?~%*X")
"""The symbols of unseen cells, and of cells that the agent cannot or must not enter."""


def ahead_of(cell: Cell, heading: int) -> Cell:
    """Return the cell one step ahead of ``cell`` in the direction ``heading``, an index of STEPS."""
    down, right = STEPS[heading]
    return cell[0] + down, cell[1] + right


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing on the map.

    ``name`` is unique: the second blue door is "door_blue_2". ``state`` is "" if the thing has no state.
    """

    name: str
    kind: str
    colour: str
    state: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Terrain:
    """The known map of a gridworld task, and the agent's pose.

    Attributes:
        open_ground: the cells that can be entered, including the cells of closed doors, closed gates and blocks.
        unseen: the cells of the drawn map that were never seen; cells outside of the map were never seen either.
        size: the numbers of rows and columns of the drawn map.
        things: every known thing, keyed by name.
        leads: the cell of a teleporter's other end, keyed by the teleporter's cell. Teleporters whose other end is
            unknown are left out.
        position: the agent's cell.
        heading: the agent's heading, an index of STEPS.
        held: the colour of the key in the agent's hand, or None.
    """

    open_ground: frozenset[Cell]
    unseen: frozenset[Cell]
    size: tuple[int, int]
    things: Mapping[str, Thing]
    leads: Mapping[Cell, Cell]
    position: Cell
    heading: int
    held: str | None

    def find_thing(self, name: str) -> Thing | None:
        """Return the thing called ``name``, on the map or under the agent, or None if no such thing is known."""
        return self.things.get(name) or self.things.get(f"{name}_here")

    def find_kind(self, kind: str, *states: str) -> tuple[Thing, ...]:
        """Return the things of a kind, row by row; if ``states`` are given, only things in one of these states."""
        things = (thing for thing in self.things.values() if thing.kind == kind)
        return tuple(thing for thing in things if not states or thing.state in states)

    def borders_on_unseen(self, cell: Cell) -> bool:
        """Return whether one of the four cells around ``cell`` is unseen or outside of the map."""
        rows, columns = self.size
        for heading in range(4):
            row, column = ahead_of(cell, heading)
            on_map = 0 <= row < rows and 0 <= column < columns
            if not on_map or (row, column) in self.unseen:
                return True
        return False


def read_terrain(snapshot: Mapping[str, Any]) -> Terrain:
    """Return the terrain that the JSON object of a snapshot block describes.

    Raises:
        BadAnswerError: a field of the snapshot is missing or malformed.
    """
    try:
        return _parse_terrain(snapshot)
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError) as error:
        raise BadAnswerError(f"the snapshot of the prompt cannot be read: {type(error).__name__}: {error}") from error


def _parse_terrain(snapshot: Mapping[str, Any]) -> Terrain:
    """Return the terrain of a snapshot; raise a builtin exception if the snapshot is malformed."""
    rows: list[str] = list(snapshot["map"])
    symbols: dict[Cell, str] = {}
    for row, line in enumerate(rows):
        symbols.update(((row, column), symbol) for column, symbol in enumerate(line))

    open_ground = frozenset(cell for cell, symbol in symbols.items() if symbol not in _CLOSED_SYMBOLS)
    unseen = frozenset(cell for cell, symbol in symbols.items() if symbol == "?")
    position = next(cell for cell, symbol in symbols.items() if symbol in _AGENT_SYMBOLS)
    things = {thing.name: thing for thing in _list_things(snapshot, position)}
    held = snapshot["inventory"]
    return Terrain(
        open_ground=open_ground,
        unseen=unseen,
        size=(len(rows), len(rows[0])),
        things=things,
        leads=dict(_list_leads(things.values())),
        position=position,
        heading=DIRECTIONS.index(snapshot["direction"]),
        held=str(held).split()[1] if held else None,  # "key blue" -> "blue"
    )


def _list_things(snapshot: Mapping[str, Any], position: Cell) -> Iterable[Thing]:
    """Yield the things of the snapshot row by row, and last the thing under the agent at ``position``, if any.

    The agent's symbol hides the thing under the agent, so only the snapshot's "visible_objects" list this thing. Its
    name ends in "_here".
    """
    places: list[tuple[int, int, str]] = []
    for words, cells in snapshot["known_objects"].items():
        places.extend((int(row), int(column), words) for row, column in cells)
    places.sort()

    counts: dict[str, int] = {}
    for row, column, words in places:
        name, kind, colour, state = _split_words(words)
        counts[name] = counts.get(name, 0) + 1
        yield Thing(number_name(name, counts[name]), kind, colour, state, (row, column))
    for text in snapshot["visible_objects"]:
        if text.endswith(": here"):
            name, kind, colour, state = _split_words(text.removesuffix(": here"))
            yield Thing(f"{name}_here", kind, colour, state, position)


def _split_words(words: str) -> tuple[str, str, str, str]:
    """Return the name, kind, colour and state of a thing such as "door blue locked"; a missing word is ""."""
    kind, colour, state = (*words.split(), "", "")[:3]
    name = f"{kind}_{colour}" if colour else kind
    return name, kind, colour, state


def _list_leads(things: Iterable[Thing]) -> Iterable[tuple[Cell, Cell]]:
    """Yield a pair for each teleporter whose other end is known: the teleporter's cell, and the cell of the other end.

    The two ends have the same colour. The other end is a second teleporter, or an exit from which the agent cannot
    return.
    """
    ends_by_colour: dict[str, list[Thing]] = {}
    for thing in things:
        if thing.kind in ("teleporter", "exit"):
            ends_by_colour.setdefault(thing.colour, []).append(thing)

    for ends in ends_by_colour.values():
        if len(ends) == 2:
            first, second = ends
            if first.kind == "teleporter":
                yield first.cell, second.cell
            if second.kind == "teleporter":
                yield second.cell, first.cell
