"""The mutable state of the voxel world.

The rules read this state and return changes, which are then applied to it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from explorer.rules.moves import OUTSIDE
from explorer.rules.state import PRESSED, RuleState, doors_of, find_pressed_plates
from explorer.scene import Cell, Change, Pose, Reason, Scene, Stack, WorldState
from explorer.worlds.body import Solids


class Storage(RuleState):
    """The present state of a scene that is being played.

    The blocks are an array, with a memory view for fast reads of single cells. ``solids`` is a copy of the blocks in
    the form that the body needs.
    """

    def __init__(self, scene: Scene) -> None:
        self._blocks = np.array(scene.blocks, np.uint16, order="C")
        self._cells = self._blocks.data.cast("B").cast("H")
        # Read-only copy for frozen states, or None if blocks have changed since the last copy.
        self._copy: NDArray[np.uint16] | None = None

        self.solids = Solids(scene.blocks)
        self.doors = doors_of(scene)
        self.pressed = set(find_pressed_plates(scene.blocks))

        self.pose: Pose = scene.spawn
        self.items: dict[Cell, tuple[Stack, ...]] = dict(scene.items)
        self.chests: dict[Cell, tuple[Stack, ...]] = dict(scene.chests)
        self.inventory = {name: count for name, count in scene.inventory.items() if count}
        self.held: str | None = None
        self.placed: set[Cell] = set()
        self.timers: dict[str, int] = {}
        self.over: Reason = ""

        self._mobs = {mob.name: mob for mob in scene.mobs}
        self.mobs = self._mobs.values()
        self._width, self._height, self._depth = scene.size

    def block(self, cell: Cell) -> int:
        """Return the code of the block in a cell."""
        x, y, z = cell
        if 0 <= x < self._width and 0 <= y < self._height and 0 <= z < self._depth:
            return self._cells[(y * self._depth + z) * self._width + x]
        return OUTSIDE

    def do(self, changes: Iterable[Change]) -> None:
        """Apply changes in order."""
        for change in changes:
            self._apply(change)

    def _apply(self, change: Change) -> None:
        """Apply a change according to its kind."""
        match change.kind:
            case "block":
                self._put(_require_cell(change), change.code)
            case "items":
                self._put_items(_require_cell(change), change.stacks)
            case "chest":
                del self.chests[_require_cell(change)]
            case "mob":
                del self._mobs[change.name]
            case "inventory":
                self._add_to_inventory(change.name, change.count)
            case "hold":
                self.held = change.name or None
            case "placed":
                self.placed.add(_require_cell(change))
            case "timer":
                self._set_timer(change.name, change.count)
            case "over":
                self.over = change.name  # type: ignore[assignment]

    def freeze(self, step: int) -> WorldState:
        """Return the present state as an immutable value."""
        if self._copy is None:
            self._copy = self._blocks.copy()
            self._copy.flags.writeable = False
        return WorldState(
            pose=self.pose,
            blocks=self._copy,
            items=dict(self.items),
            chests=dict(self.chests),
            mobs=tuple(self._mobs.values()),
            inventory=dict(self.inventory),
            held=self.held,
            placed=frozenset(self.placed),
            timers=dict(self.timers),
            step=step,
            over=self.over,
        )

    def _put_items(self, cell: Cell, stacks: tuple[Stack, ...]) -> None:
        """Add stacks to those that lie in a cell; if ``stacks`` is empty, remove all stacks from the cell."""
        if not stacks:
            del self.items[cell]
            return
        lying = self.items.get(cell, ())
        self.items[cell] = (*lying, *stacks)

    def _set_timer(self, name: str, count: int) -> None:
        """Set the timer of the door called ``name`` to ``count`` steps; if ``count`` is negative, remove the timer."""
        if count < 0:
            del self.timers[name]
        else:
            self.timers[name] = count

    def _put(self, cell: Cell, code: int) -> None:
        """Put the block with the code ``code`` into a cell, and update everything that is derived from the blocks."""
        x, y, z = cell
        self._cells[(y * self._depth + z) * self._width + x] = code
        self.solids.put(cell, code)
        if code in PRESSED:
            self.pressed.add(cell)
        else:
            self.pressed.discard(cell)
        self._copy = None

    def _add_to_inventory(self, name: str, more: int) -> None:
        """Add ``more`` items called ``name`` to the inventory; if ``more`` is negative, remove items."""
        count = self.inventory.get(name, 0) + more
        if count:
            self.inventory[name] = count
        else:
            del self.inventory[name]


def _require_cell(change: Change) -> Cell:
    """Return the cell of a change whose kind always has a cell."""
    if change.cell is None:
        raise ValueError(f"a change of {change.kind} without a cell")
    return change.cell
