"""The states that the rules can read.

These are the storage of a world, a :class:`WorldState`, and what an agent knows of its world.
"""

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
"""Codes of pressure plates that are on."""
IRON: Final = tuple(block.code for block in BLOCKS if block.name == "iron_door")
"""Codes of iron doors; hands cannot open these doors."""
SIDES: Final[tuple[Cell, ...]] = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
"""Offsets to the six neighbours of a cell."""


@dataclass(frozen=True, slots=True)
class Door:
    """A door that cannot be opened by hand.

    Attributes:
        name: name of the door in its wire; for a door without a wire, a name made from its lowest cell.
        cells: cells of the door, which open and close together.
        needs, mode, holds: the devices that open the door, and how, as in :class:`explorer.scene.Wire`.
        beside: for an iron door, the cells where a lever, button or plate opens the door if the agent places it there;
            otherwise empty.
    """

    name: str
    cells: tuple[Cell, ...]
    needs: tuple[Cell, ...]
    mode: Literal["all", "any"]
    holds: int | None
    beside: frozenset[Cell]


def doors_of(scene: Scene) -> tuple[Door, ...]:
    """Return the doors of a scene that cannot be opened by hand: all wired doors, and all iron doors without a wire."""
    iron = _find_cells(scene.blocks, IRON)
    doors = []
    for wire in scene.wires:
        beside = _find_beside(wire.cells, iron)
        doors.append(Door(wire.door, wire.cells, wire.needs, wire.mode, wire.holds, beside))

    # Iron doors without a wire: each unbroken column of cells is a door.
    unwired = iron.difference(*(door.cells for door in doors))
    for x, y, z in sorted(unwired):
        is_lowest = (x, y - 1, z) not in unwired
        if not is_lowest:
            continue
        top = y
        while (x, top, z) in unwired:
            top += 1
        cells = tuple((x, level, z) for level in range(y, top))
        beside = _find_beside(cells, iron)
        doors.append(Door(f"iron_door {x} {y} {z}", cells, (), "any", None, beside))
    return tuple(doors)


def _find_beside(cells: tuple[Cell, ...], iron: frozenset[Cell]) -> frozenset[Cell]:
    """Return the cells that adjoin the iron door blocks of a door.

    Args:
        cells: cells of the door.
        iron: cells of all iron doors of the scene.
    """
    beside: set[Cell] = set()
    for cell in iron.intersection(cells):
        beside.update(move_by(cell, side) for side in SIDES)
    return frozenset(beside)


def _find_cells(blocks: NDArray[np.uint16], codes: tuple[int, ...]) -> frozenset[Cell]:
    """Return the cells (x, y, z) of an array ``[y, z, x]`` that hold one of the codes."""
    places = np.argwhere(np.isin(blocks, codes)).tolist()
    return frozenset((x, y, z) for y, z, x in places)


def find_pressed_plates(blocks: NDArray[np.uint16]) -> frozenset[Cell]:
    """Return the cells (x, y, z) of an array ``[y, z, x]`` that hold a pressure plate that is on."""
    return _find_cells(blocks, PRESSED)


class ReachState(Terrain, Protocol):
    """The part of a state that decides which cell or mob the hands reach.

    Attributes:
        pose: pose of the body.
        mobs: the mobs that are still in the world.
    """

    pose: Pose
    mobs: Collection[Mob]


class RuleState(ReachState, Protocol):
    """Any state that the rules can read; the rules never change it.

    Attributes:
        items: cell -> stacks that lie in the cell.
        chests: cell of a chest -> stacks in the chest.
        inventory: item -> count, always above 0.
        held: the item in hand, or None.
        placed: cells of blocks that the agent placed.
        timers: name of a door -> number of steps until the door closes.
        doors: doors of the scene that cannot be opened by hand, from :func:`doors_of`.
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
    """A :class:`WorldState` in the form of a :class:`RuleState`.

    Args:
        doors: doors of the scene that cannot be opened by hand, from :func:`doors_of`.
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
        """Return the code of the block in a cell."""
        return _code_at(self._blocks, cell)


class KnownState(ReachState):
    """The knowledge of an agent in the form of a :class:`ReachState`.

    Cells that the agent has never seen count as air, because the agent knows no block that would be in the way.

    Args:
        known: code of the block in each cell as last seen, ``[y, z, x]``; :data:`UNSEEN` for cells never seen.
        mobs: mobs that the agent knows.
    """

    def __init__(self, known: NDArray[np.uint16], pose: Pose, mobs: Collection[Mob] = ()) -> None:
        self.pose = pose
        self.mobs = mobs
        self._known = known

    def block(self, cell: Cell) -> int:
        """Return the code of the block that was last seen in a cell; for a cell never seen, return the code of air."""
        code = _code_at(self._known, cell)
        return AIR if code == UNSEEN else code


def _code_at(blocks: NDArray[np.uint16], cell: Cell) -> int:
    """Return the code of the block in a cell (x, y, z) of an array ``[y, z, x]``.

    For a cell outside the array, return :data:`OUTSIDE`.
    """
    x, y, z = cell
    height, depth, width = blocks.shape
    inside = 0 <= x < width and 0 <= y < height and 0 <= z < depth
    return int(blocks[y, z, x]) if inside else OUTSIDE
