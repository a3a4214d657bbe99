"""A snapshot as compact text for prompts: a cropped map with one symbol per cell, and the things on it (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spca.contracts import Snapshot, VisibleObject
from spca.sense.mission_words import mission_words
from spca.sense.renaming import meant

_SYMBOLS: Final = {
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
_MEANINGS: Final = {symbol: word for word, symbol in _SYMBOLS.items()} | {
    symbol: f"{kind} {state}" if kind == "switch" else f"{state} {kind}"
    for kind, symbols in _BY_STATE.items()
    for state, symbol in symbols.items()
}
_ROW: Final = re.compile("[{}]*".format(re.escape("".join([*_MEANINGS, *_FACING.values()]))))

Grid = Sequence[Sequence[str]]
"""Rows of cell words, north to south."""


def symbol(word: str) -> str:
    """The symbol of a cell word."""
    kind, *rest = word.split(" ")
    kind = meant(kind)
    return _BY_STATE[kind][rest[1]] if len(rest) > 1 else _SYMBOLS[kind]


def cropped(grid: Grid) -> Grid:
    """The part of a map between the outermost cells that were seen."""
    rows = [number for number, row in enumerate(grid) if any(word != "unseen" for word in row)]
    columns = [number for number, column in enumerate(zip(*grid, strict=True)) if any(w != "unseen" for w in column)]
    if not rows:
        return ()
    return [row[columns[0] : columns[-1] + 1] for row in grid[rows[0] : rows[-1] + 1]]


def draw(grid: Grid, direction: str | None = None) -> list[str]:
    """One string per row; the agent is an arrow where its ``direction`` is given, else ``@``."""
    rows = ["".join(map(symbol, row)) for row in grid]
    return [row.replace("@", _FACING[direction]) for row in rows] if direction else rows


def legend(rows: Iterable[str], grid: Grid = ()) -> str:
    """What the symbols that occur in a drawn map mean, in the words of its ``grid``; the agent's arrows left out."""
    used = set().union(*rows)
    kinds = {meant(kind): kind for row in grid for kind in (word.partition(" ")[0] for word in row)}
    told = {symbol: [kinds.get(word, word) for word in text.split()] for symbol, text in _MEANINGS.items()}
    return ", ".join(f"{symbol} {' '.join(words)}" for symbol, words in told.items() if symbol in used)


def end_state(grid: Grid, direction: str | None = None, inventory: str | None = None) -> list[str]:
    """Lines of a report: pose and hand where the ``direction`` is told, what is where with its colour, and the map.

    Rows and columns are those of the drawn map, counted from 0.
    """
    seen = cropped(grid)
    rows = draw(seen, direction)
    hand = [f"the agent faces {direction}; in its hand: {inventory or 'nothing'}"] if direction else []
    places = [f"{name} {' '.join(f'[{r}, {c}]' for r, c in cells)}" for name, cells in known_objects(seen).items()]
    known = [f"known objects at [row, column]: {', '.join(places)}"] if places else []
    return [*hand, *known, f"({legend(rows, seen)})", *rows]


def known_objects(grid: Grid) -> dict[str, list[list[int]]]:
    """Doors, keys, balls, boxes, goals and the like on the map: for each name the [row, column] of all called so."""
    found: dict[str, list[list[int]]] = {}
    for r, row in enumerate(grid):
        for c, word in enumerate(row):
            if meant(word) not in _SCENERY:
                found.setdefault(word, []).append([r, c])
    return found


def planner_state(snapshot: Snapshot) -> dict[str, Any]:
    """What a planner is shown of a snapshot; rows and columns are those of the drawn map, counted from 0."""
    grid = cropped(snapshot.visible_grid)
    rows = draw(grid, snapshot.direction)
    return {
        "mission": snapshot.mission,
        "direction": snapshot.direction,
        "inventory": snapshot.inventory,
        "visible_objects": [_in_view(thing) for thing in snapshot.visible_objects if meant(thing.name) not in _SCENERY],
        "known_objects": known_objects(grid),
        "legend": legend(rows, grid),
        "map": rows,
    }


def agent_state(snapshot: Snapshot, skill: str = "", names: Iterable[str] = ()) -> dict[str, Any]:
    """What a coder is shown of a snapshot: the skill that a level teaches in place of its mission.

    Methods must not depend on a mission, but their writer has to know what kind of world they meet, and what the
    mission calls the objects of the plan, whose ``names`` the methods get.
    """
    words = mission_words(snapshot.mission, names)
    state = {"skill": skill, **({"mission_words": words} if words else {}), **planner_state(snapshot)}
    del state["mission"]
    return state


def as_data(value: object) -> str:
    """JSON that cannot close the block it stands in: ``<`` and ``>`` are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=None)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def as_state(state: Mapping[str, Any]) -> str:
    """Like :func:`as_data`, with the rows of the ``map`` below each other; in them ``<`` is the agent, never a tag."""
    rows = ",\n".join(f'"{row}"' if _ROW.fullmatch(row) else as_data(row) for row in state.get("map", ()))
    rest = as_data({key: value for key, value in state.items() if key != "map"})
    return f'{rest[:-1]}{", " * (len(rest) > 2)}"map": [\n{rows}\n]}}' if rows else as_data(state)


def _in_view(thing: VisibleObject) -> str:
    """ "door red closed: 2 ahead, 1 left"."""
    side = f"{abs(thing.right)} {'right' if thing.right > 0 else 'left'}" if thing.right else ""
    place = ", ".join(filter(None, [f"{thing.forward} ahead" if thing.forward else "", side])) or "here"
    return f"{thing.name} {thing.state}: {place}" if thing.state else f"{thing.name}: {place}"
