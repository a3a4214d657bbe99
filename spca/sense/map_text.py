"""A snapshot as compact text for prompts: a cropped map with one symbol per cell, and the objects on the map (pure)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spca.contracts import Snapshot, VisibleObject
from spca.sense.mission_words import mission_words
from spca.sense.renaming import find_meaning

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


def end_state(grid: Grid, direction: str | None = None, inventory: str | None = None) -> list[str]:
    """Return the lines of a report on the end of an attempt: pose and inventory, known objects, legend, map.

    Without ``direction`` the line of pose and inventory is left out. Rows and columns of objects refer to the drawn
    map, and count from 0.
    """
    seen = crop_map(grid)
    rows = draw(seen, direction)
    hand = [f"the agent faces {direction}; in its hand: {inventory or 'nothing'}"] if direction else []

    places: list[str] = []
    for name, cells in list_known_objects(seen).items():
        positions = " ".join(f"[{r}, {c}]" for r, c in cells)
        places.append(f"{name} {positions}")
    known = [f"known objects at [row, column]: {', '.join(places)}"] if places else []
    return [*hand, *known, f"({legend(rows, seen)})", *rows]


def list_known_objects(grid: Grid) -> dict[str, list[list[int]]]:
    """Return the objects on a map (doors, keys, goals ...): name -> [row, column] of each object of this name."""
    found: dict[str, list[list[int]]] = {}
    for r, row in enumerate(grid):
        for c, word in enumerate(row):
            if find_meaning(word) not in _SCENERY:
                found.setdefault(word, []).append([r, c])
    return found


def planner_state(snapshot: Snapshot) -> dict[str, Any]:
    """Return what a planner is shown of a snapshot.

    Rows and columns of objects refer to the drawn map, and count from 0.
    """
    grid = crop_map(snapshot.visible_grid)
    rows = draw(grid, snapshot.direction)
    return {
        "mission": snapshot.mission,
        "direction": snapshot.direction,
        "inventory": snapshot.inventory,
        "visible_objects": [
            _describe_in_view(thing) for thing in snapshot.visible_objects if find_meaning(thing.name) not in _SCENERY
        ],
        "known_objects": list_known_objects(grid),
        "legend": legend(rows, grid),
        "map": rows,
    }


def agent_state(snapshot: Snapshot, skill: str = "", names: Iterable[str] = ()) -> dict[str, Any]:
    """Return what a coder is shown of a snapshot: the planner's state, with the level's skill in place of its mission.

    Methods must not depend on a mission. The coder still has to know which words of the mission mean the objects of the
    plan, because a method is called with their ``names``.

    Args:
        skill: the skill that the level teaches.
        names: names of the objects in the plan.
    """
    words = mission_words(snapshot.mission, names)
    state = {"skill": skill, **({"mission_words": words} if words else {}), **planner_state(snapshot)}
    del state["mission"]
    return state


def format_data(value: object) -> str:
    """Return a value as JSON with ``<`` and ``>`` escaped, so that the JSON cannot close a tag of the prompt."""
    text = json.dumps(value, ensure_ascii=False, indent=None)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")


def format_state(state: Mapping[str, Any]) -> str:
    """Return a state as JSON like :func:`format_data`, with one line per row of the ``map``.

    ``<`` is not escaped in the rows of the map, because there it stands for the agent.
    """
    quoted_rows = [f'"{row}"' if _ROW.fullmatch(row) else format_data(row) for row in state.get("map", ())]
    if not quoted_rows:
        return format_data(state)

    rows = ",\n".join(quoted_rows)
    rest = format_data({key: value for key, value in state.items() if key != "map"})
    separator = ", " if len(rest) > 2 else ""
    return f'{rest[:-1]}{separator}"map": [\n{rows}\n]}}'


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
