"""A snapshot as compact text for prompts: one symbol per cell and a list of the things seen (pure)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, Final

from spca.contracts import Snapshot

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
}
_DOORS: Final = {"open": "O", "closed": "D", "locked": "L"}
_SCENERY: Final = frozenset({"unseen", "wall", "empty", "floor", "agent", "lava"})

LEGEND: Final = ", ".join(
    f"{symbol} {word}" for word, symbol in (*_SYMBOLS.items(), *((f"{state} door", s) for state, s in _DOORS.items()))
)
"""What the symbols of a drawn map mean."""


def symbol(word: str) -> str:
    """The symbol of a cell word."""
    kind, _, rest = word.partition(" ")
    return _DOORS[rest.rpartition(" ")[2]] if kind == "door" else _SYMBOLS[kind]


def draw(grid: Iterable[Iterable[str]]) -> list[str]:
    """One string per row of the map."""
    return ["".join(symbol(word) for word in row) for row in grid]


def known_objects(grid: Iterable[Iterable[str]]) -> list[dict[str, Any]]:
    """Doors, keys, balls, boxes and goals on the map with their row and column."""
    return [
        {"name": word, "row": r, "column": c}
        for r, row in enumerate(grid)
        for c, word in enumerate(row)
        if word not in _SCENERY
    ]


def agent_state(snapshot: Snapshot) -> dict[str, Any]:
    """What a coder is shown of a snapshot: everything but the mission, which methods must not depend on."""
    return {
        "direction": snapshot.direction,
        "inventory": snapshot.inventory,
        "visible_objects": [asdict(thing) for thing in snapshot.visible_objects],
        "known_objects": known_objects(snapshot.visible_grid),
        "map": draw(snapshot.visible_grid),
    }


def planner_state(snapshot: Snapshot) -> dict[str, Any]:
    """What a planner is shown of a snapshot."""
    return {"mission": snapshot.mission, **agent_state(snapshot)}


def as_data(value: object) -> str:
    """JSON that cannot close the block it stands in: ``<`` and ``>`` are escaped."""
    text = json.dumps(value, ensure_ascii=False, indent=None)
    return text.replace("<", "\\u003c").replace(">", "\\u003e")
