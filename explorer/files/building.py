"""Build an arena by carrying out the deeds of commands."""

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

LARGEST: Final[Cell] = (128, 64, 128)
"""Largest arena, in cells along x, y and z."""
MOST_FILLED: Final = 64_000_000
"""Most cells that all commands together may set; this takes less than a second."""
MOST_THINGS: Final = 1_000

_INSIDE: Final = (slice(1, -1), slice(1, -1), slice(1, -1))
"""Index of the cells of a box that are not on its surface."""

Box = tuple[Cell, Cell]
"""Lowest and highest cell, both included, relative to the spawn."""


def bounds_of(deeds: Iterable[Deed]) -> Box:
    """Return the smallest arena for deeds, with room for the player to stand and one layer of ground."""
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
    """Return the size of an arena in cells along each axis.

    Raises:
        OutsideArenaError: a side is less than 1 or more than that of :data:`LARGEST`.
    """
    x, y, z = _measure_sides(*arena)
    fits = [1 <= cells <= most for cells, most in zip((x, y, z), LARGEST, strict=True)]
    if not all(fits):
        largest = " x ".join(map(str, LARGEST))
        raise OutsideArenaError(f"an arena of {x} x {y} x {z} cells: at most {largest} can be built")
    return x, y, z


def _measure_sides(low: Cell, high: Cell) -> Iterator[int]:
    """Yield the cells of a box along each axis."""
    for least, most in zip(low, high, strict=True):
        yield most - least + 1


def build_scene(deeds: Sequence[Deed], arena: Box, ground: int = AIR) -> tuple[Scene, Cell]:
    """Carry out deeds in an arena of air.

    Returns:
        The scene, without a name and wires, and the offset from the origin of the deeds to the player's final cell.

    Args:
        ground: code of the block that fills all levels below the spawn before the first deed.

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
    """Raise SceneError if deeds set too many blocks or things."""
    fills = [deed for deed in deeds if isinstance(deed, Fill)]
    filled = sum(math.prod(_measure_sides(deed.low, deed.high)) for deed in fills)
    if filled > MOST_FILLED:
        raise SceneError(f"the commands set {filled:,} blocks: at most {MOST_FILLED:,} can be set")

    things = sum(isinstance(deed, Summon | Lay) for deed in deeds)
    things += sum(bool(deed.stacks) for deed in fills)
    if things > MOST_THINGS:
        raise SceneError(f"the commands set up {things:,} mobs, items and filled chests: the limit is {MOST_THINGS:,}")


class _Builder:
    def __init__(self, blocks: NDArray[np.uint16], arena: Box) -> None:
        self._blocks = blocks
        self._arena = arena
        self._stand = Stand((0, 0, 0), None, None)
        self._items: dict[Cell, tuple[Stack, ...]] = {}
        self._chests: dict[Cell, tuple[Stack, ...]] = {}
        self._filled = np.zeros(blocks.shape, np.bool_)
        self._mobs: list[Summon] = []
        self._inventory: Counter[str] = Counter()

    def carry_out(self, deed: Deed) -> None:
        match deed:
            case Fill():
                self._fill(deed)
            case Give(stack):
                self._inventory[stack.item] += stack.count
            case Lay(at, stack):
                cell = self._arena_cell(at)
                self._items[cell] = (*self._items.get(cell, ()), stack)
            case Summon(at):
                self._arena_cell(at)
                self._mobs.append(deed)
            case Stand(at):
                self._arena_cell(at)
                self._stand = deed
            case Clear():
                self._inventory.clear()
            case Kill(kind):
                self._mobs = [mob for mob in self._mobs if kind not in ("", mob.kind)]
                if kind in ("", "item"):
                    self._items.clear()

    def finish(self) -> tuple[Scene, Cell]:
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
        """Return the arena's cell for one relative to the spawn."""
        low, high = self._arena
        for least, value, most in zip(low, at, high, strict=True):
            if not least <= value <= most:
                raise OutsideArenaError(
                    f"{format_offset(at)} is outside the arena ({format_offset(low)} to {format_offset(high)})"
                )
        return offset_to(low, at)

    def _fill(self, deed: Fill) -> None:
        x, y, z = self._arena_cell(deed.low)
        u, v, w = self._arena_cell(deed.high)
        box = (slice(y, v + 1), slice(z, w + 1), slice(x, u + 1))
        blocks = self._blocks[box]
        if deed.mode == "keep":
            blocks[blocks == AIR] = deed.code
        elif deed.mode in ("hollow", "outline"):
            inner = blocks[_INSIDE].copy()
            blocks[...] = deed.code
            blocks[_INSIDE] = AIR if deed.mode == "hollow" else inner
        elif deed.only is not None:
            replaced = np.isin(blocks, list(deed.only))
            blocks[replaced] = deed.code
        else:
            blocks[...] = deed.code
        self._fill_chests(deed, box)

    def _fill_chests(self, deed: Fill, box: tuple[slice, slice, slice]) -> None:
        """Empty the chests in a box that was painted over, and fill the chest if the command gives its contents."""
        paints_all = deed.mode in ("replace", "destroy") and deed.only is None
        if paints_all and self._filled[box].any():
            self._filled[box] = False
            emptied = [cell for cell in self._chests if not self._filled[_index(cell)]]
            for cell in emptied:
                del self._chests[cell]

        if deed.stacks is not None:
            if self._filled[box].size > 1:
                raise SceneError("set chests with contents one at a time, by /setblock")
            y, z, x = (side.start for side in box)
            self._chests[x, y, z] = deed.stacks
            self._filled[box] = True


def _index(cell: Cell) -> tuple[int, int, int]:
    """Return the index of a cell in an array ``[y, z, x]``."""
    x, y, z = cell
    return y, z, x


def format_offset(cell: Cell) -> str:
    """Return a cell relative to the spawn as commands write it."""
    return " ".join(f"~{value}" for value in cell)


def _name_mobs(summoned: Iterable[Summon], cell: Callable[[Cell], Cell]) -> tuple[Mob, ...]:
    """Return the mobs; those without a name are numbered by kind."""
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
    """Return the name of the ``number``-th mob of a kind if the command gives none."""
    return f"{kind}_{number}"


GROUND: Final = code("grass_block")
"""Ground of a published scene where no command sets one."""
