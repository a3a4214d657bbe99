"""Write a scene as few, short Minecraft commands: boxes that later ones may paint over."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.files.building import default_name, tilde
from explorer.rules.blocks import AIR, BLOCKS
from explorer.scene import PITCH_STEP, Cell, Scene, Stack, offset_to

SETUP: Final = (
    "/gamemode survival @s",
    "/time set day",
    "/weather clear",
    "/kill @e[type=!player]",
    "/kill @e[type=item]",
    "/effect clear @s",
    "/clear @s",
)
"""First commands of every published scene."""


def commands_of(scene: Scene) -> list[str]:
    """Return the commands that set up a scene; :func:`explorer.files.building.build` turns them into the same scene."""
    return [*SETUP, *_blocks(scene), *_chests(scene), *_things(scene), *_player(scene)]


def _blocks(scene: Scene) -> Iterator[str]:
    for low, high, code in boxes_of(scene.blocks):
        name = block_name(code)
        if low == high:
            yield f"/setblock {_at(scene, low)} {name}"
        else:
            yield f"/fill {_at(scene, low)} {_at(scene, high)} {name}"


def _chests(scene: Scene) -> Iterator[str]:
    for cell, stacks in sorted(scene.chests.items()):
        name = BLOCKS[scene.blocks[cell[1], cell[2], cell[0]]].name
        slots = ",".join(f"{{Slot:{slot}b,{_stack(stack)}}}" for slot, stack in enumerate(stacks))
        yield f"/setblock {_at(scene, cell)} {name}{{Items:[{slots}]}}"


def _things(scene: Scene) -> Iterator[str]:
    for cell, stacks in sorted(scene.items.items()):
        for stack in stacks:
            yield f"/summon item {_at(scene, cell)} {{Item:{{{_stack(stack)}}}}}"
    numbers: Counter[str] = Counter()
    for mob in scene.mobs:
        numbers[mob.kind] += 1
        name = "" if mob.name == default_name(mob.kind, numbers[mob.kind]) else f",CustomName:'\"{mob.name}\"'"
        yield f"/summon {mob.kind} {_at(scene, mob.cell)} {{NoAI:1b{name}}}"


def _player(scene: Scene) -> Iterator[str]:
    for name, count in sorted(scene.inventory.items()):
        yield f"/give @s {name} {count}"
    yield f"/tp @s ~0 ~0 ~0 {scene.spawn.facing * 90} {scene.spawn.pitch * PITCH_STEP}"


def _stack(stack: Stack) -> str:
    return f'id:"{stack.item}",Count:{stack.count}b'


def _at(scene: Scene, cell: Cell) -> str:
    return tilde(offset_to(scene.spawn.cell, cell))


def block_name(code: int) -> str:
    """Return the name and state of a block as commands write them."""
    block = BLOCKS[code]
    state = {"": "", "open": "[open=true]", "on": "[powered=true]"}[block.state]
    return block.name + state


def boxes_of(blocks: NDArray[np.uint16]) -> Iterator[tuple[Cell, Cell, int]]:
    """Yield boxes (lowest cell, highest cell, code) that give the blocks when painted in order onto air.

    The commonest code comes first; its boxes may cover cells of rarer codes, which come later. The choice is greedy,
    not minimal.
    """
    codes, counts = np.unique(blocks, return_counts=True)
    order = codes[np.argsort(-counts, kind="stable")]
    rank = np.empty(len(BLOCKS), np.intp)
    rank[order] = np.arange(order.size)
    ranks = rank[blocks]
    for place, code in enumerate(order.tolist()):
        if place == 0 and code == AIR:
            continue
        yield from _painted(ranks == place, ranks >= place, code)


def _painted(wanted: NDArray[np.bool_], allowed: NDArray[np.bool_], code: int) -> Iterator[tuple[Cell, Cell, int]]:
    """Yield boxes within ``allowed`` that cover all of ``wanted``."""
    at = 0
    flat = wanted.reshape(-1)
    while True:
        at += int(flat[at:].argmax())
        if not flat[at]:
            return
        start = tuple(int(axis) for axis in np.unravel_index(at, wanted.shape))
        box = max((_grown(allowed, start, axes) for axes in _AXES), key=lambda box: int(wanted[box].sum()))
        wanted[box] = False
        (y, z, x) = ((side.start, side.stop - 1) for side in box)
        yield (x[0], y[0], z[0]), (x[1], y[1], z[1]), code


_AXES: Final = tuple(itertools.permutations(range(3)))


def _grown(allowed: NDArray[np.bool_], start: tuple[int, ...], axes: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the box that starts at a cell, grown along one axis after the other as far as ``allowed`` permits."""
    box = [slice(at, at + 1) for at in start]
    for axis in axes:
        box[axis] = slice(start[axis], None)
        others = tuple(other for other in range(3) if other != axis)
        free = allowed[tuple(box)].all(axis=others)
        length = free.size if free.all() else int(free.argmin())
        box[axis] = slice(start[axis], start[axis] + length)
    return tuple(box)
