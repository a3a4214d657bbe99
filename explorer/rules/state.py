"""The states that the rules read: a world's own storage, a :class:`WorldState`, or only what an agent knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from typing import Final, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from explorer.rules.blocks import AIR, BLOCKS, UNSEEN
from explorer.rules.moves import OUTSIDE, Terrain
from explorer.scene import Cell, Mob, Pose, Scene, Stack, WorldState, move_by

PRESSED: Final = tuple(block.code for block in BLOCKS if block.kind == "plate" and block.state == "on")
"""Codes of plates that are on."""
IRON: Final = tuple(block.code for block in BLOCKS if block.name == "iron_door")
"""Codes of the door that cannot be opened by hand."""
SIDES: Final[tuple[Cell, ...]] = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


@dataclass(frozen=True, slots=True)
class Door:
    """A door that cannot be opened by hand: its cells, which open and close as one, and what opens it.

    Attributes:
        name: name of its wire, or made from its lowest cell if it has no wire.
        needs, mode, holds: see :class:`explorer.scene.Wire`.
        beside: for an iron door, the cells where a placed lever, button or plate also opens it; else empty.
    """

    name: str
    cells: tuple[Cell, ...]
    needs: tuple[Cell, ...]
    mode: Literal["all", "any"]
    holds: int | None
    beside: frozenset[Cell]


def doors_of(scene: Scene) -> tuple[Door, ...]:
    """Return the doors that cannot be opened by hand: wired doors, and iron doors without a wire."""
    iron = _find_cells(scene.blocks, IRON)
    doors = []
    for wire in scene.wires:
        beside = _find_beside(wire.cells, iron)
        doors.append(Door(wire.door, wire.cells, wire.needs, wire.mode, wire.holds, beside))

    loose = iron.difference(*(door.cells for door in doors))
    for x, y, z in sorted(loose):
        if (x, y - 1, z) in loose:
            continue
        top = y
        while (x, top, z) in loose:
            top += 1
        cells = tuple((x, level, z) for level in range(y, top))
        beside = _find_beside(cells, iron)
        doors.append(Door(f"iron_door {x} {y} {z}", cells, (), "any", None, beside))
    return tuple(doors)


def _find_beside(cells: tuple[Cell, ...], iron: frozenset[Cell]) -> frozenset[Cell]:
    """Return the neighbours of those cells that are of iron doors."""
    beside: set[Cell] = set()
    for cell in iron.intersection(cells):
        beside.update(move_by(cell, side) for side in SIDES)
    return frozenset(beside)


def _find_cells(blocks: NDArray[np.uint16], codes: tuple[int, ...]) -> frozenset[Cell]:
    """Return the cells of blocks with one of some codes."""
    places = np.argwhere(np.isin(blocks, codes)).tolist()
    return frozenset((x, y, z) for y, z, x in places)


def find_pressed_plates(blocks: NDArray[np.uint16]) -> frozenset[Cell]:
    """Return the cells of plates that are on; ``blocks`` is ``[y, z, x]``."""
    return _find_cells(blocks, PRESSED)


class ReachState(Terrain, Protocol):
    """What decides which cell or mob the hands reach.

    Attributes:
        pose: where the body stands.
        mobs: the mobs that are left.
    """

    pose: Pose
    mobs: Collection[Mob]


class RuleState(ReachState, Protocol):
    """A state as the rules read it. They never change it.

    Attributes:
        items: what lies on the ground.
        chests: what chests hold.
        inventory: item -> count, always above 0.
        held: the item in hand.
        placed: cells of blocks that the agent placed.
        timers: door -> steps until it closes.
        doors: the scene's doors, from :func:`doors_of`.
        pressed: cells of plates that are on.
    """

    items: Mapping[Cell, tuple[Stack, ...]]
    chests: Mapping[Cell, tuple[Stack, ...]]
    inventory: Mapping[str, int]
    held: str | None
    placed: Set[Cell]
    timers: Mapping[str, int]
    doors: tuple[Door, ...]
    pressed: Set[Cell]


class Still(RuleState):
    """Adapt a :class:`WorldState` to :class:`RuleState`.

    Args:
        doors: doors of its scene.
    """

    def __init__(self, state: WorldState, doors: tuple[Door, ...]) -> None:
        self.pose = state.pose
        self.items = state.items
        self.chests = state.chests
        self.mobs = state.mobs
        self.inventory = state.inventory
        self.held = state.held
        self.placed = state.placed
        self.timers = state.timers
        self.doors = doors
        self.pressed = find_pressed_plates(state.blocks)
        self._blocks = state.blocks

    def block(self, cell: Cell) -> int:
        """Return the code of a cell."""
        return _code_at(self._blocks, cell)


class KnownState(ReachState):
    """What an agent knows, as a :class:`ReachState`. Cells never seen count as air: nothing known bars the way there.

    Args:
        known: codes ``[y, z, x]``, as in a view.
        mobs: mobs that the agent knows.
    """

    def __init__(self, known: NDArray[np.uint16], pose: Pose, mobs: Collection[Mob] = ()) -> None:
        self.pose = pose
        self.mobs = mobs
        self._known = known

    def block(self, cell: Cell) -> int:
        """Return the code of a cell, as last seen."""
        code = _code_at(self._known, cell)
        return AIR if code == UNSEEN else code


def _code_at(blocks: NDArray[np.uint16], cell: Cell) -> int:
    x, y, z = cell
    height, depth, width = blocks.shape
    inside = 0 <= x < width and 0 <= y < height and 0 <= z < depth
    return int(blocks[y, z, x]) if inside else OUTSIDE
