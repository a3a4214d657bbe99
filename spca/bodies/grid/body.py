"""The grid's body: its state, its prompts, and how its map is drawn."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from spca.bodies.grid.naming import GridNames
from spca.bodies.grid.primitives import PRIMITIVES
from spca.body import Body, PromptParts, StateAttribute, StateKind, WordGroups
from spca.sense import map_text
from spca.sense.perception import COLOURS
from spca.sense.renaming import RENAMED

_STATE: Final = (
    StateAttribute("current_dir", StateKind.VALUE, '"East", "South", "West" or "North".'),
    StateAttribute(
        "current_observation",
        StateKind.WORDS,
        'the current 7x7 view as words, north up; the agent\'s cell reads "agent".',
    ),
    StateAttribute("full_grid", StateKind.WORDS, "everything seen so far as words, north up."),
    StateAttribute("inventory", StateKind.VALUE, 'name of what is carried ("key blue"), or None.'),
    StateAttribute("start_position", StateKind.VALUE, "(row, column) in full_grid of the cell where the level began."),
    StateAttribute("start_dir", StateKind.VALUE, "the direction faced there."),
)

_SWAPPED_KINDS: Final = {"ball": "box", "box": "ball", "balls": "boxes", "boxes": "balls"}
"""Kinds that the rules of a world treat alike until a box is opened, each with the kind that replaces it.

Keys and doors are not swapped, because they have other rules.
"""


_SWAPPED_SYMBOLS: Final = str.maketrans(
    {
        map_text.symbol("ball red"): map_text.symbol("box red"),
        map_text.symbol("box red"): map_text.symbol("ball red"),
    }
)


def _redraw_swapped(state: dict[str, Any]) -> None:
    """Exchange the symbols of balls and boxes on the map of a state, and write its legend anew."""
    if "map" in state:
        rows = [row.translate(_SWAPPED_SYMBOLS) for row in state["map"]]
        state["map"] = rows
        state["legend"] = map_text.legend(rows)


class GridDrawing:
    """Maps with one symbol per cell; see :mod:`spca.sense.map_text`."""

    def draw_rows(self, shown: Mapping[str, Any]) -> list[str]:
        return list(shown["map"])

    def describe_end(self, shown: Mapping[str, Any]) -> list[str]:
        return ["map at the end:", *map_text.end_state(shown)]


GRID: Final = Body(
    name="grid",
    primitives=PRIMITIVES,
    state=_STATE,
    prompts=PromptParts.from_files(resources.files(__package__).joinpath("prompts")),
    progress="pose, map, inventory",
    vocabulary=WordGroups(
        renamed=RENAMED,
        alike=COLOURS,
        alike_title="colours",
        swapped=_SWAPPED_KINDS,
        swapped_title="boxes instead of balls, or of balls instead",
        redraw=_redraw_swapped,
        mention="mission and map speak",
    ),
    names=GridNames(),
    drawing=GridDrawing(),
    agent_file="agent.py",
)
"""The body of MiniGrid, BabyAI, gridworld tasks and the robot."""
