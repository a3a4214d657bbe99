"""Build an arena by carrying out the deeds of commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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

Box = tuple[Cell, Cell]
"""Lowest and highest cell, both included, relative to the spawn."""


def bounds_of(deeds: Iterable[Deed]) -> Box:
    """Return the smallest arena for deeds, with room for the player to stand and one layer of ground."""
    corners: list[Cell] = [(0, -1, 0), (0, 1, 0)]
    for deed in deeds:
        match deed:
            case Fill():
                corners += (deed.low, deed.high)
            case Stand(at):
                corners += ((at[0], at[1] - 1, at[2]), (at[0], at[1] + 1, at[2]))
            case Lay(at) | Summon(at):
                corners.append(at)
    low, high = ([bound(axis) for axis in zip(*corners, strict=True)] for bound in (min, max))
    return (low[0], low[1], low[2]), (high[0], high[1], high[2])


def size_of(arena: Box) -> Cell:
    """Return the size of an arena in cells along each axis.

    Raises:
        OutsideArenaError: a side is less than 1 or more than that of :data:`LARGEST`.
    """
    x, y, z = (high - low + 1 for low, high in zip(*arena, strict=True))
    if any(not 1 <= cells <= most for cells, most in zip((x, y, z), LARGEST, strict=True)):
        raise OutsideArenaError(
            f"an arena of {x} x {y} x {z} cells: at most {' x '.join(map(str, LARGEST))} can be built"
        )
    return x, y, z


def build(deeds: Sequence[Deed], arena: Box, ground: int = AIR) -> tuple[Scene, Cell]:
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
        builder.do(deed)
    return builder.built()


def _check_work(deeds: Sequence[Deed]) -> None:
    filled = sum(
        (x - ax + 1) * (y - ay + 1) * (z - az + 1)
        for (ax, ay, az), (x, y, z) in ((deed.low, deed.high) for deed in deeds if isinstance(deed, Fill))
    )
    if filled > MOST_FILLED:
        raise SceneError(f"the commands set {filled:,} blocks: at most {MOST_FILLED:,} can be set")
    things = sum(isinstance(deed, Summon | Lay) or (isinstance(deed, Fill) and bool(deed.stacks)) for deed in deeds)
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

    def do(self, deed: Deed) -> None:
        match deed:
            case Fill():
                self._fill(deed)
            case Give(stack):
                self._inventory[stack.item] += stack.count
            case Lay(at, stack):
                cell = self._cell(at)
                self._items[cell] = (*self._items.get(cell, ()), stack)
            case Summon(at):
                self._cell(at)
                self._mobs.append(deed)
            case Stand(at):
                self._cell(at)
                self._stand = deed
            case Clear():
                self._inventory.clear()
            case Kill(kind):
                self._mobs = [mob for mob in self._mobs if kind not in ("", mob.kind)]
                if kind in ("", "item"):
                    self._items.clear()

    def built(self) -> tuple[Scene, Cell]:
        facing = self._stand.facing or 0
        pitch = self._stand.pitch or 0
        spawn = Pose(self._cell(self._stand.at), facing, pitch)
        kept = {cell: stacks for cell, stacks in self._chests.items() if self._holds(cell)}
        mobs = _named(self._mobs, self._cell)
        self._blocks.flags.writeable = False
        scene = Scene("", spawn, self._blocks, self._items, kept, mobs, inventory=dict(self._inventory))
        return scene, self._stand.at

    def _holds(self, cell: Cell) -> bool:
        return bool(BLOCKS[self._blocks[cell[1], cell[2], cell[0]]].kind == "chest")

    def _cell(self, at: Cell) -> Cell:
        """Return the arena's cell for one relative to the spawn."""
        low, high = self._arena
        if any(not least <= value <= most for least, value, most in zip(low, at, high, strict=True)):
            raise OutsideArenaError(f"{tilde(at)} is outside the arena ({tilde(low)} to {tilde(high)})")
        return offset_to(low, at)

    def _fill(self, deed: Fill) -> None:
        ax, ay, az = self._cell(deed.low)
        x, y, z = self._cell(deed.high)
        box = self._blocks[ay : y + 1, az : z + 1, ax : x + 1]
        if deed.mode == "keep":
            box[box == AIR] = deed.code
        elif deed.mode in ("hollow", "outline"):
            inner = box[1:-1, 1:-1, 1:-1].copy()
            box[...] = deed.code
            box[1:-1, 1:-1, 1:-1] = AIR if deed.mode == "hollow" else inner
        elif deed.only is not None:
            box[np.isin(box, list(deed.only))] = deed.code
        else:
            box[...] = deed.code
        self._fill_chests(deed, (slice(ay, y + 1), slice(az, z + 1), slice(ax, x + 1)))

    def _fill_chests(self, deed: Fill, box: tuple[slice, slice, slice]) -> None:
        """Empty the chests in a box that was painted over, and fill the chest if the command gives its contents."""
        if deed.mode in ("replace", "destroy") and deed.only is None and self._filled[box].any():
            ys, zs, xs = (range(side.start, side.stop) for side in box)
            kept = {
                cell: s
                for cell, s in self._chests.items()
                if cell[0] not in xs or cell[1] not in ys or cell[2] not in zs
            }
            self._chests = kept
            self._filled[box] = False
        if deed.stacks is not None:
            if self._filled[box].size > 1:
                raise SceneError("set chests with contents one at a time, by /setblock")
            y, z, x = (side.start for side in box)
            self._chests[x, y, z] = deed.stacks
            self._filled[box] = True


def tilde(cell: Cell) -> str:
    """Return a cell relative to the spawn as commands write it."""
    return " ".join(f"~{value}" for value in cell)


def _named(summoned: Iterable[Summon], cell: Callable[[Cell], Cell]) -> tuple[Mob, ...]:
    """Return the mobs; those without a name are numbered by kind."""
    numbers: Counter[str] = Counter()
    mobs = []
    for each in summoned:
        numbers[each.kind] += 1
        mobs.append(Mob(each.name or default_name(each.kind, numbers[each.kind]), each.kind, cell(each.at)))
    twice = [name for name, count in Counter(mob.name for mob in mobs).items() if count > 1]
    if twice:
        raise SceneError(f"two mobs are called {twice[0]!a}: give each its own CustomName")
    return tuple(mobs)


def default_name(kind: str, number: int) -> str:
    """Return the name of the ``number``-th mob of a kind if the command gives none."""
    return f"{kind}_{number}"


GROUND: Final = code("grass_block")
"""Ground of a published scene where no command sets one."""
