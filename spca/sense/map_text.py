"""A snapshot as compact text for prompts: a cropped map with one symbol per cell, and the objects on the map (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from string import ascii_letters
from typing import Any, Final

from spca.sense.perception import VisibleObject
from spca.sense.renaming import find_meaning

_SYMBOLS: Final[dict[str, str]] = {
    "unseen": "?",
    "wall": "#",
    "empty": ".",
    "floor": ":",
    "agent": "@",
    "lava": "~",
    "goal": "G",
    "key": "k",
    "ball": "b",
    "box": "x",
    "pit": "%",
    "spike": "*",
    "target": "+",
    "block": "B",
    "teleporter": "T",
    "exit": "t",
    "thing": "!",
}
_BY_STATE: Final = {
    "door": {"open": "O", "closed": "D", "locked": "L"},
    "switch": {"off": "s", "on": "S"},
    "gate": {"open": "_", "closed": "|"},
    "block": {"fixed": "X"},
}
_FACING: Final = {"East": ">", "South": "v", "West": "<", "North": "^"}
_SCENERY: Final = frozenset({"unseen", "wall", "empty", "floor", "agent", "lava", "pit", "spike"})
_MEANINGS: Final[dict[str, str]] = {symbol: word for word, symbol in _SYMBOLS.items()} | {
    symbol: f"{kind} {state}" if kind == "switch" else f"{state} {kind}"
    for kind, symbols in _BY_STATE.items()
    for state, symbol in symbols.items()
}

Grid = Sequence[Sequence[str]]
"""Rows of cell words, north to south."""


def add_symbol(kind: str, symbol: str, meaning: str) -> None:
    """Draw the kind ``kind`` as ``symbol``, which legends call ``meaning``; see :mod:`spca.sense.added_words`.

    Raises:
        ValueError: the symbol is taken, or is none that a map can hold.
    """
    is_drawable = len(symbol) == 1 and symbol.isascii() and symbol.isprintable() and symbol not in ' "\\'
    if not is_drawable:
        raise ValueError(f"{symbol!r} is no symbol of a map: choose one printable ASCII character")
    if symbol in _MEANINGS or symbol in _FACING.values():
        meant = _MEANINGS.get(symbol, "agent")
        free = "".join(letter for letter in ascii_letters if letter not in {*_MEANINGS, *_FACING.values()})
        raise ValueError(f"the symbol {symbol} is taken by {meant!r}: choose another, such as one of {free}")
    _SYMBOLS[kind] = symbol
    _MEANINGS[symbol] = meaning


def symbol(word: str) -> str:
    """Return the symbol of a cell word."""
    kind, *rest = word.split(" ")
    kind = find_meaning(kind)
    if len(rest) > 1:
        return _BY_STATE[kind][rest[1]]
    return _SYMBOLS[kind]


def crop_map(grid: Grid) -> Grid:
    """Return the smallest rectangle of a map that contains all seen cells; () if no cell was seen."""
    rows = _find_seen_lines(grid)
    columns = _find_seen_lines(zip(*grid, strict=True))
    if not rows:
        return ()
    width = slice(columns[0], columns[-1] + 1)
    return [row[width] for row in grid[rows[0] : rows[-1] + 1]]


def _find_seen_lines(lines: Iterable[Sequence[str]]) -> list[int]:
    """Return the numbers of the rows or columns in which a cell was seen."""
    return [number for number, line in enumerate(lines) if any(word != "unseen" for word in line)]


def draw(grid: Grid, direction: str | None = None) -> list[str]:
    """Return one string per row of a map; the agent is drawn as an arrow if ``direction`` is given, else as ``@``."""
    rows = ["".join(map(symbol, row)) for row in grid]
    if not direction:
        return rows
    return [row.replace("@", _FACING[direction]) for row in rows]


def legend(rows: Iterable[str], grid: Grid = ()) -> str:
    """Return the meanings of the symbols in a drawn map, in the words of its ``grid``.

    The arrows that stand for the agent are left out.
    """
    kinds: dict[str, str] = {}  # from the true word of a kind to that of the grid
    for row in grid:
        for cell in row:
            kind = cell.partition(" ")[0]
            kinds[find_meaning(kind)] = kind

    used = set().union(*rows)
    entries: list[str] = []
    for symbol, text in _MEANINGS.items():
        if symbol in used:
            meaning = " ".join(kinds.get(word, word) for word in text.split())
            entries.append(f"{symbol} {meaning}")
    return ", ".join(entries)


def end_state(shown: Mapping[str, Any]) -> list[str]:
    """Return the lines of a report on the end of an attempt: pose and inventory, known objects, legend, map.

    Args:
        shown: what :func:`describe_shown` returns. Rows and columns of objects refer to the drawn map.
    """
    hand = f"the agent faces {shown['direction']}; in its hand: {shown['inventory'] or 'nothing'}"
    places: list[str] = []
    for name, cells in shown["known_objects"].items():
        positions = " ".join(f"[{r}, {c}]" for r, c in cells)
        places.append(f"{name} {positions}")
    known = [f"known objects at [row, column]: {', '.join(places)}"] if places else []
    return [hand, *known, f"({shown['legend']})", *shown["map"]]


def list_known_objects(grid: Grid) -> dict[str, list[list[int]]]:
    """Return the objects on a map (doors, keys, goals ...): name -> [row, column] of each object of this name."""
    found: dict[str, list[list[int]]] = {}
    for r, row in enumerate(grid):
        for c, word in enumerate(row):
            if find_meaning(word) not in _SCENERY:
                found.setdefault(word, []).append([r, c])
    return found


def describe_shown(
    grid: Grid, direction: str, inventory: str | None, visible_objects: Iterable[VisibleObject]
) -> dict[str, Any]:
    """Return what a planner is shown of a map and of the agent.

    Rows and columns of objects refer to the drawn map, and count from 0.
    """
    seen = crop_map(grid)
    rows = draw(seen, direction)
    return {
        "direction": direction,
        "inventory": inventory,
        "visible_objects": [
            _describe_in_view(thing) for thing in visible_objects if find_meaning(thing.name) not in _SCENERY
        ],
        "known_objects": list_known_objects(seen),
        "legend": legend(rows, seen),
        "map": rows,
    }


def _describe_in_view(thing: VisibleObject) -> str:
    """Return a description of an object and its place: "door red closed: 2 ahead, 1 left"."""
    distances: list[str] = []
    if thing.forward:
        distances.append(f"{thing.forward} ahead")
    if thing.right:
        side = "right" if thing.right > 0 else "left"
        distances.append(f"{abs(thing.right)} {side}")

    place = ", ".join(distances) or "here"
    words = f"{thing.name} {thing.state}" if thing.state else thing.name
    return f"{words}: {place}"
