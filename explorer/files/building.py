"""Build the arena of a scene by carrying out deeds, which are parsed commands (:mod:`explorer.files.commands`).

The arena is the box of all cells of the scene.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.errors import OutsideArenaError, SceneError
from explorer.files.commands import Clear, Deed, Fill, Give, Kill, Lay, Stand, Summon
from explorer.rules.blocks import AIR, BLOCKS, code
from explorer.scene import Cell, Mob, Pose, Scene, Stack, offset_to

MAX_SIZE: Final[Cell] = (128, 64, 128)
"""Largest arena, in cells along x, y and z."""
MAX_FILLED: Final = 64_000_000
"""Largest number of cells that all commands together may set. Setting this number takes less than a second."""
MAX_THINGS: Final = 1_000
"""Largest total number of mobs, stacks on the ground and filled chests that all commands together may set up."""

_INTERIOR: Final = (slice(1, -1), slice(1, -1), slice(1, -1))
"""Index of the interior of a box: the cells that are not on its surface."""

Box = tuple[Cell, Cell]
"""Lowest and highest cell, both included, relative to the spawn."""


def bounds_of(deeds: Iterable[Deed]) -> Box:
    """Return the smallest arena that contains all deeds.

    For each cell in which the player stands, the arena also contains the cell below and the cell above.
    """
    corners: list[Cell] = [(0, -1, 0), (0, 1, 0)]
    for deed in deeds:
        match deed:
            case Fill():
                corners += (deed.low, deed.high)
            case Stand((x, y, z)):
                corners += ((x, y - 1, z), (x, y + 1, z))
            case Lay(at) | Summon(at):
                corners.append(at)

    xs, ys, zs = zip(*corners, strict=True)
    low = (min(xs), min(ys), min(zs))
    high = (max(xs), max(ys), max(zs))
    return low, high


def size_of(arena: Box) -> Cell:
    """Return the number of cells of an arena along x, y and z.

    Raises:
        OutsideArenaError: a side has less than 1 cell, or more cells than :data:`MAX_SIZE` allows.
    """
    x, y, z = _measure_sides(*arena)
    fits = [1 <= cells <= most for cells, most in zip((x, y, z), MAX_SIZE, strict=True)]
    if not all(fits):
        largest = " x ".join(map(str, MAX_SIZE))
        raise OutsideArenaError(f"an arena of {x} x {y} x {z} cells: at most {largest} can be built")
    return x, y, z


def _measure_sides(low: Cell, high: Cell) -> Iterator[int]:
    """Yield the number of cells of a box along x, y and z."""
    for least, most in zip(low, high, strict=True):
        yield most - least + 1


def build_scene(deeds: Sequence[Deed], arena: Box, ground: int = AIR) -> tuple[Scene, Cell]:
    """Build an arena of air, and carry out deeds in it, in order.

    Args:
        arena: the cells of the scene, relative to the origin of the deeds.
        ground: code of the block that fills all levels below the origin before the first deed.

    Returns:
        (scene, cell). The scene has neither name nor wires. The cell is the player's final cell, relative to the origin
        of the deeds.

    Raises:
        OutsideArenaError: a deed is outside the arena, or the arena is too large.
        SceneError: the deeds set too many blocks or things.
    """
    x, y, z = size_of(arena)
    _check_work(deeds)
    blocks = np.full((y, z, x), AIR, np.uint16)
    blocks[: max(0, -arena[0][1])] = ground
    builder = _Builder(blocks, arena)
    for deed in deeds:
        builder.carry_out(deed)
    return builder.finish()


def _check_work(deeds: Sequence[Deed]) -> None:
    """Raise SceneError if the deeds set more than :data:`MAX_FILLED` blocks or :data:`MAX_THINGS` things."""
    fills = [deed for deed in deeds if isinstance(deed, Fill)]
    filled = sum(math.prod(_measure_sides(deed.low, deed.high)) for deed in fills)
    if filled > MAX_FILLED:
        raise SceneError(f"the commands set {filled:,} blocks: at most {MAX_FILLED:,} can be set")

    things = sum(isinstance(deed, Summon | Lay) for deed in deeds)
    things += sum(bool(deed.stacks) for deed in fills)
    if things > MAX_THINGS:
        raise SceneError(f"the commands set up {things:,} mobs, items and filled chests: the limit is {MAX_THINGS:,}")


class _Builder:
    """The state of an arena while deeds are carried out.

    Args:
        blocks: the blocks before the first deed, ``[y, z, x]``; changed in place.
    """

    def __init__(self, blocks: NDArray[np.uint16], arena: Box) -> None:
        self._blocks = blocks
        self._arena = arena
        self._stand = Stand((0, 0, 0), None, None)  # the last deed that put the player into a cell
        self._items: dict[Cell, tuple[Stack, ...]] = {}
        self._chests: dict[Cell, tuple[Stack, ...]] = {}
        # Whether the last command that set a cell gave the contents of a chest.
        self._has_contents = np.zeros(blocks.shape, np.bool_)
        self._mobs: list[Summon] = []
        self._inventory: Counter[str] = Counter()

    def carry_out(self, deed: Deed) -> None:
        """Carry out a deed, which changes the arena, the things or the inventory."""
        match deed:
            case Fill():
                self._fill(deed)
            case Give(stack):
                self._inventory[stack.item] += stack.count
            case Lay(at, stack):
                cell = self._arena_cell(at)
                self._items[cell] = (*self._items.get(cell, ()), stack)
            case Summon(at):
                self._arena_cell(at)  # raises an error if the cell is outside the arena
                self._mobs.append(deed)
            case Stand(at):
                self._arena_cell(at)  # likewise
                self._stand = deed
            case Clear():
                self._inventory.clear()
            case Kill(kind):
                # The kind "" removes mobs and items of all kinds.
                self._mobs = [mob for mob in self._mobs if kind not in ("", mob.kind)]
                if kind in ("", "item"):
                    self._items.clear()

    def finish(self) -> tuple[Scene, Cell]:
        """Return (scene, player's cell relative to the origin of the deeds)."""
        facing = self._stand.facing or 0
        pitch = self._stand.pitch or 0
        spawn = Pose(self._arena_cell(self._stand.at), facing, pitch)
        chests = {cell: stacks for cell, stacks in self._chests.items() if self._is_chest(cell)}
        mobs = _name_mobs(self._mobs, self._arena_cell)
        self._blocks.flags.writeable = False
        scene = Scene("", spawn, self._blocks, self._items, chests, mobs, inventory=dict(self._inventory))
        return scene, self._stand.at

    def _is_chest(self, cell: Cell) -> bool:
        block = BLOCKS[self._blocks[_index(cell)]]
        return bool(block.kind == "chest")

    def _arena_cell(self, at: Cell) -> Cell:
        """Convert a cell relative to the origin of the deeds into a cell counted from the lowest corner of the arena.

        Raises:
            OutsideArenaError: the cell is outside the arena.
        """
        low, high = self._arena
        for least, value, most in zip(low, at, high, strict=True):
            if not least <= value <= most:
                raise OutsideArenaError(
                    f"{format_offset(at)} is outside the arena ({format_offset(low)} to {format_offset(high)})"
                )
        return offset_to(low, at)

    def _fill(self, deed: Fill) -> None:
        """Set the blocks in a box, and empty or fill chests."""
        low_x, low_y, low_z = self._arena_cell(deed.low)
        high_x, high_y, high_z = self._arena_cell(deed.high)
        box = (slice(low_y, high_y + 1), slice(low_z, high_z + 1), slice(low_x, high_x + 1))
        blocks = self._blocks[box]  # a view: assignments change the arena
        if deed.mode == "keep":
            blocks[blocks == AIR] = deed.code
        elif deed.mode in ("hollow", "outline"):
            interior = blocks[_INTERIOR].copy()
            blocks[...] = deed.code
            blocks[_INTERIOR] = AIR if deed.mode == "hollow" else interior
        elif deed.only is not None:
            replaced = np.isin(blocks, list(deed.only))
            blocks[replaced] = deed.code
        else:
            blocks[...] = deed.code
        self._fill_chests(deed, box)

    def _fill_chests(self, deed: Fill, box: tuple[slice, slice, slice]) -> None:
        """Delete the recorded contents of replaced chests, and record the contents of a new chest.

        Args:
            box: index of the box in an array ``[y, z, x]``.
        """
        replaces_all = deed.mode in ("replace", "destroy") and deed.only is None
        if replaces_all and self._has_contents[box].any():
            # Exactly the keys of `_chests` are marked in `_has_contents`.
            self._has_contents[box] = False
            replaced = [cell for cell in self._chests if not self._has_contents[_index(cell)]]
            for cell in replaced:
                del self._chests[cell]

        if deed.stacks is not None:
            if self._has_contents[box].size > 1:
                raise SceneError("set chests with contents one at a time, by /setblock")
            y, z, x = (side.start for side in box)
            self._chests[x, y, z] = deed.stacks
            self._has_contents[box] = True


def _index(cell: Cell) -> tuple[int, int, int]:
    """Return the index of a cell in an array ``[y, z, x]``."""
    x, y, z = cell
    return y, z, x


def format_offset(cell: Cell) -> str:
    """Return a spawn-relative cell in the notation of commands, such as ``~1 ~0 ~-2``."""
    return " ".join(f"~{value}" for value in cell)


def _name_mobs(summoned: Iterable[Summon], cell: Callable[[Cell], Cell]) -> tuple[Mob, ...]:
    """Return the mobs; if a mob has no name, its name is its kind and a number.

    Args:
        cell: function that converts a cell relative to the origin of the deeds into a cell of the arena.

    Raises:
        SceneError: two mobs have the same name.
    """
    numbers: Counter[str] = Counter()
    mobs = []
    for each in summoned:
        numbers[each.kind] += 1
        name = each.name or default_name(each.kind, numbers[each.kind])
        mobs.append(Mob(name, each.kind, cell(each.at)))

    for name, count in Counter(mob.name for mob in mobs).items():
        if count > 1:
            raise SceneError(f"two mobs are called {name!a}: give each its own CustomName")
    return tuple(mobs)


def default_name(kind: str, number: int) -> str:
    """Return the name of a mob whose command gives no name, such as ``sheep_1``.

    Args:
        number: number of the mob among the mobs of its kind, from 1.
    """
    return f"{kind}_{number}"


GROUND: Final = code("grass_block")
"""Code of the block of the ground in a published scene; it fills the ground wherever no command sets a block."""
