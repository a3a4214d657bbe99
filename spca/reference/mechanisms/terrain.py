"""The map of a gridworld task as the prompt shows it: ground, things with their names, and what is unseen (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from spca.contracts import DIRECTIONS
from spca.errors import BadAnswerError
from spca.reference.mechanisms.errands import number_name

Cell: TypeAlias = tuple[int, int]
"""(row, column) of the drawn map."""

STEPS: Final[tuple[Cell, ...]] = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""What lies ahead in each heading: east, south, west, north."""

_AGENT: Final = frozenset("><^v")
_CLOSED: Final = frozenset("#?~%*X")


def ahead_of(cell: Cell, heading: int) -> Cell:
    """Return the cell next to ``cell`` in a heading."""
    down, right = STEPS[heading]
    return cell[0] + down, cell[1] + right


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing on the map; ``name`` tells it from others alike ("door_blue_2"), ``state`` is "" where it has none."""

    name: str
    kind: str
    colour: str
    state: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Terrain:
    """What is known.

    Attributes:
        open_ground: cells that can be entered, closed doors and gates and the cells of blocks included.
        unseen: cells of the drawn map that were never seen; so is everything outside of it.
        size: rows and columns of the drawn map.
        things: by name.
        leads: where teleporters lead, as far as known.
        position, heading, held: the agent's pose, and the colour of the key in hand.
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
        """Return the thing of a name, perhaps the one under the agent; None if it is not known."""
        return self.things.get(name) or self.things.get(f"{name}_here")

    def find_kind(self, kind: str, *states: str) -> tuple[Thing, ...]:
        """Return the things of a kind, in one of ``states`` if any are given, row by row."""
        things = (thing for thing in self.things.values() if thing.kind == kind)
        return tuple(thing for thing in things if not states or thing.state in states)

    def borders_on_unseen(self, cell: Cell) -> bool:
        """Return whether more might be seen from a cell than is known."""
        rows, columns = self.size
        for heading in range(4):
            row, column = ahead_of(cell, heading)
            on_map = 0 <= row < rows and 0 <= column < columns
            if not on_map or (row, column) in self.unseen:
                return True
        return False


def read_terrain(snapshot: Mapping[str, Any]) -> Terrain:
    """Read the JSON of a snapshot block.

    Raises:
        BadAnswerError: a field is missing or not of its form.
    """
    try:
        return _terrain(snapshot)
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError) as error:
        raise BadAnswerError(f"the snapshot of the prompt cannot be read: {type(error).__name__}: {error}") from error


def _terrain(snapshot: Mapping[str, Any]) -> Terrain:
    rows: list[str] = list(snapshot["map"])
    cells: dict[Cell, str] = {}
    for number, row in enumerate(rows):
        cells.update(((number, column), symbol) for column, symbol in enumerate(row))

    open_ground = frozenset(cell for cell, symbol in cells.items() if symbol not in _CLOSED)
    unseen = frozenset(cell for cell, symbol in cells.items() if symbol == "?")
    position = next(cell for cell, symbol in cells.items() if symbol in _AGENT)
    things = {thing.name: thing for thing in _things(snapshot, position)}
    held = snapshot["inventory"]
    return Terrain(
        open_ground=open_ground,
        unseen=unseen,
        size=(len(rows), len(rows[0])),
        things=things,
        leads=dict(_leads(things.values())),
        position=position,
        heading=DIRECTIONS.index(snapshot["direction"]),
        held=str(held).split()[1] if held else None,
    )


def _things(snapshot: Mapping[str, Any], position: Cell) -> Iterable[Thing]:
    """Yield the things row by row.

    The agent hides the thing that it stands on; that one is called ``key_blue_here``.
    """
    known: list[tuple[int, int, str]] = []
    for words, cells in snapshot["known_objects"].items():
        known.extend((int(row), int(column), words) for row, column in cells)
    known.sort()

    counts: dict[str, int] = {}
    for row, column, words in known:
        name, kind, colour, state = _parts(words)
        counts[name] = counts.get(name, 0) + 1
        yield Thing(number_name(name, counts[name]), kind, colour, state, (row, column))
    for text in snapshot["visible_objects"]:
        if text.endswith(": here"):
            name, kind, colour, state = _parts(text.removesuffix(": here"))
            yield Thing(f"{name}_here", kind, colour, state, position)


def _parts(words: str) -> tuple[str, str, str, str]:
    """Return name, kind, colour and state of a thing; "" where it has none."""
    kind, colour, state = (*words.split(), "", "")[:3]
    return f"{kind}_{colour}" if colour else kind, kind, colour, state


def _leads(things: Iterable[Thing]) -> Iterable[tuple[Cell, Cell]]:
    """Yield the entrance and the other end of each teleporter of which both ends are known."""
    pairs: dict[str, list[Thing]] = {}
    for thing in things:
        if thing.kind in ("teleporter", "exit"):
            pairs.setdefault(thing.colour, []).append(thing)
    for ends in pairs.values():
        if len(ends) == 2:
            for end, other in (ends, ends[::-1]):
                if end.kind == "teleporter":
                    yield end.cell, other.cell
