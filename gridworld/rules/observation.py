"""Observations: what a model may know of every cell, as codes and as text (pure).

The look of a cell is the visible kind, colour and state of the topmost thing on the cell. Cells that the agent has
never seen look "unseen". A hidden mechanism that the agent has not touched does not show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gridworld.rules.layout import Layout, State
from gridworld.rules.tilings import TILINGS, Cell

COLOURS: Final = ("red", "green", "blue", "purple", "yellow", "grey")


class Look(NamedTuple):
    """The visible content of a cell; ``color`` and ``state`` are "" for kinds that have no colour or state.

    States by kind: door locked | open; gate closed | open; switch off | on; block fixed | "" (pushable); teleporter
    entrance | exit; hazard lava | pit | spike. Both ends of a teleporter have the same colour.
    """

    kind: str
    color: str = ""
    state: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.state, self.color, self.kind)))


_STATES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "key": ("",),
        "door": ("locked", "open"),
        "gate": ("closed", "open"),
        "switch": ("off", "on"),
        "block": ("", "fixed"),
        "teleporter": ("entrance", "exit"),
    }
)


def _looks() -> Iterator[Look]:
    yield from map(Look, ("unseen", "floor", "wall", "goal", "target"))
    yield from (Look("hazard", state=state) for state in ("lava", "pit", "spike"))
    for kind, states in _STATES.items():
        yield from (Look(kind, color, state) for color in COLOURS for state in states)


LOOKS: Final[tuple[Look, ...]] = tuple(_looks())
"""All looks; the code of a look is its index in this tuple. Code 0 is unseen."""
CODES: Final[Mapping[Look, int]] = MappingProxyType({look: code for code, look in enumerate(LOOKS)})
UNSEEN: Final = 0
_FLOOR: Final = CODES[Look("floor")]


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The knowledge of a model after a step.

    Attributes:
        codes: the code of the look of each cell, uint8, shape (height, width); a cell that is not visible has the look
            with which the agent last saw the cell.
        visible: whether the agent sees each cell now, bool, same shape as ``codes``.
        position: cell of the agent, (column, row).
        heading: heading of the agent.
        carrying: colour of the carried key; None if the agent carries nothing.
        tiling: name of the tiling.
        mission: the task in words.
    """

    codes: NDArray[np.uint8]
    visible: NDArray[np.bool_]
    position: Cell
    heading: int
    carrying: str | None
    tiling: str
    mission: str

    def look(self, cell: Cell) -> Look:
        """Return the look of a cell."""
        column, row = cell
        return LOOKS[int(self.codes[row, column])]

    def text(self) -> str:
        """Return the observation in words: pose, carried key, look of the cell ahead, map, and list of things."""
        tiling = TILINGS[self.tiling]
        ahead = self.look(tiling.ahead(self.position, self.heading))
        held = f"{self.carrying} key" if self.carrying else "nothing"
        things = list(self._things())
        lines = [
            f"You are at {_at(self.position)} facing {tiling.heading_names[self.heading]}.",
            f"In hand: {held}.",
            f"Ahead: {ahead}.",
            f"Map ({self.tiling} tiling; columns to the right, rows down; {_LEGEND}):",
            *self.map_rows(),
            "Things:" if things else "Things: none.",
            *things,
        ]
        return "\n".join(lines)

    def map_rows(self) -> list[str]:
        """Return the map: one string per row, one symbol per cell, "@" for the agent.

        On the hexagonal tiling, symbols are separated by spaces, and odd rows are indented by one space.
        """
        rows = ["".join(_SYMBOLS[LOOKS[code].kind] for code in row) for row in self.codes.tolist()]
        column, row = self.position
        symbols = rows[row]
        rows[row] = f"{symbols[:column]}@{symbols[column + 1 :]}"
        if self.tiling == "square":
            return rows
        spaced = [" ".join(symbols) for symbols in rows]
        return [f" {line}" if number % 2 else line for number, line in enumerate(spaced)]

    def _things(self) -> Iterator[str]:
        """Yield a line for each known thing, row by row."""
        # Codes up to the wall's are unseen, floor and wall.
        is_thing = self.codes > CODES[Look("wall")]
        for row, column in np.argwhere(is_thing).tolist():
            look = LOOKS[self.codes[row, column]]
            remembered = "" if self.visible[row, column] else " (seen before)"
            yield f"- {look} at {_at((column, row))}{remembered}"


_SYMBOLS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "unseen": "?",
        "floor": ".",
        "wall": "#",
        "goal": "G",
        "target": "x",
        "hazard": "~",
        "key": "k",
        "door": "D",
        "gate": "|",
        "switch": "s",
        "block": "B",
        "teleporter": "T",
    }
)
_LEGEND: Final = ", ".join(f"{symbol} {kind}" for kind, symbol in (("agent", "@"), *_SYMBOLS.items()))


def _at(cell: Cell) -> str:
    column, row = cell
    return f"column {column}, row {row}"


def background(layout: Layout) -> NDArray[np.uint8]:
    """Return the codes of the unchanging cells: walls, floor, goal square and target marks; shape (height, width)."""
    codes = np.full((layout.height, layout.width), _FLOOR, dtype=np.uint8)
    for column, row in layout.walls:
        codes[row, column] = CODES[Look("wall")]
    goal = layout.spec.goal
    if goal.goal_type == "push_block_to":
        for target in goal.target_positions:
            codes[target.y, target.x] = CODES[Look("target")]
    if layout.goal_square is not None:
        column, row = layout.goal_square
        codes[row, column] = CODES[Look("goal")]
    return codes


def things(layout: Layout, state: State) -> Iterator[tuple[Cell, int, str]]:
    """Yield (cell, code, id) of each mechanism; if two mechanisms are on one cell, the lower mechanism comes first.

    Hidden mechanisms that the agent has not touched are left out.
    """
    unknown = layout.hidden - state.touched
    for cell, code, name in _all_things(layout, state):
        if name not in unknown:
            yield cell, code, name


def _all_things(layout: Layout, state: State) -> Iterator[tuple[Cell, int, str]]:
    yield from _floor_things(layout, state)
    yield from _barriers(layout, state)
    yield from _movable_things(layout, state)


def _floor_things(layout: Layout, state: State) -> Iterator[tuple[Cell, int, str]]:
    """Yield (cell, code, id) of each mechanism on which the agent can stand: hazards, teleporters and switches."""
    for cell, hazard in layout.hazards.items():
        yield cell, CODES[Look("hazard", state=hazard.hazard_type)], hazard.id

    for number, teleporter in enumerate(layout.spec.mechanisms.teleporters):
        color = _PAIR_COLOURS[number % len(_PAIR_COLOURS)]
        for end in (f"{teleporter.id}_a", f"{teleporter.id}_b"):
            cell = layout.ends[end]
            kind = "entrance" if cell in layout.portals else "exit"
            yield cell, CODES[Look("teleporter", color, kind)], teleporter.id

    for cell, switch in layout.switches.items():
        status = "on" if switch.id in state.active_switches else "off"
        yield cell, CODES[Look("switch", switch.color, status)], switch.id


def _barriers(layout: Layout, state: State) -> Iterator[tuple[Cell, int, str]]:
    """Yield (cell, code, id) of each door and gate."""
    for cell, door in layout.doors.items():
        status = "open" if door.id in state.open_doors else "locked"
        yield cell, CODES[Look("door", door.requires_key, status)], door.id

    if not layout.gates:
        return
    open_gates = layout.open_gates(state.active_switches)
    for cell, gate in layout.gates.items():
        status = "open" if gate.id in open_gates else "closed"
        yield cell, CODES[Look("gate", gate.color, status)], gate.id


def _movable_things(layout: Layout, state: State) -> Iterator[tuple[Cell, int, str]]:
    """Yield (cell, code, id) of each key that lies on the floor, and of each block."""
    for key, key_cell in zip(layout.keys, state.key_cells, strict=True):
        if key_cell is not None:
            yield key_cell, CODES[Look("key", key.color)], key.id

    for block, block_cell in zip(layout.blocks, state.block_cells, strict=True):
        status = "" if block.pushable else "fixed"
        yield block_cell, CODES[Look("block", block.color, status)], block.id


_PAIR_COLOURS: Final = ("purple", "blue", "green", "yellow", "red", "grey")
