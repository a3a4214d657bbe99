"""The states that the rules read: the storage of a world, a :class:`WorldState`, or only what an agent knows."""

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
"""Codes of iron doors, which cannot be opened by hand."""
SIDES: Final[tuple[Cell, ...]] = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
"""Offsets to the six neighbours of a cell."""


@dataclass(frozen=True, slots=True)
class Door:
    """A door that cannot be opened by hand.

    Attributes:
        name: name of the door's wire; if the door has no wire, a name made from its lowest cell.
        cells: cells of the door, which open and close together.
        needs, mode, holds: what opens the door, as in :class:`explorer.scene.Wire`.
        beside: for an iron door, the cells in which a placed lever, button or plate opens the door; otherwise empty.
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
    """Return the neighbours of the cells of a door that hold iron doors."""
    beside: set[Cell] = set()
    for cell in iron.intersection(cells):
        beside.update(move_by(cell, side) for side in SIDES)
    return frozenset(beside)


def _find_cells(blocks: NDArray[np.uint16], codes: tuple[int, ...]) -> frozenset[Cell]:
    """Return the cells, as x, y, z, that hold one of some codes; ``blocks`` is ``[y, z, x]``."""
    places = np.argwhere(np.isin(blocks, codes)).tolist()
    return frozenset((x, y, z) for y, z, x in places)


def find_pressed_plates(blocks: NDArray[np.uint16]) -> frozenset[Cell]:
    """Return the cells of pressure plates that are on; ``blocks`` is ``[y, z, x]``."""
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
    """A state that the rules read and never change.

    Attributes:
        items: cell -> stacks that lie in the cell.
        chests: cell of a chest -> stacks in the chest.
        inventory: item -> count, always above 0.
        held: the item in hand, or None.
        placed: cells of blocks that the agent placed.
        timers: name of a door -> steps until the door closes.
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
    """A :class:`WorldState` as a :class:`RuleState`.

    Args:
        doors: doors of the scene, from :func:`doors_of`.
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
    """The knowledge of an agent as a :class:`ReachState`.

    Cells that the agent has never seen count as air, because nothing known bars the way in these cells.

    Args:
        known: codes ``[y, z, x]`` as last seen, :data:`UNSEEN` for cells never seen.
        mobs: mobs that the agent knows.
    """

    def __init__(self, known: NDArray[np.uint16], pose: Pose, mobs: Collection[Mob] = ()) -> None:
        self.pose = pose
        self.mobs = mobs
        self._known = known

    def block(self, cell: Cell) -> int:
        """Return the code of a cell as last seen; for a cell never seen, return the code of air."""
        code = _code_at(self._known, cell)
        return AIR if code == UNSEEN else code


def _code_at(blocks: NDArray[np.uint16], cell: Cell) -> int:
    """Return the code of a cell (x, y, z) from an array ``[y, z, x]``; outside the array, :data:`OUTSIDE`."""
    x, y, z = cell
    height, depth, width = blocks.shape
    inside = 0 <= x < width and 0 <= y < height and 0 <= z < depth
    return int(blocks[y, z, x]) if inside else OUTSIDE
