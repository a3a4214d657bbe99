"""Write a scene as Minecraft commands, few and short; later commands may replace blocks of earlier commands."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.files.building import default_name, format_offset
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
    """Return the commands that set up a scene.

    :func:`explorer.files.building.build_scene` builds an equal scene from the deeds of the commands.
    """
    commands = [*SETUP]
    commands += _block_commands(scene)
    commands += _chest_commands(scene)
    commands += _thing_commands(scene)
    commands += _player_commands(scene)
    return commands


def _block_commands(scene: Scene) -> Iterator[str]:
    for low, high, code in boxes_of(scene.blocks):
        name = block_name(code)
        if low == high:
            yield f"/setblock {_format_cell(scene, low)} {name}"
        else:
            yield f"/fill {_format_cell(scene, low)} {_format_cell(scene, high)} {name}"


def _chest_commands(scene: Scene) -> Iterator[str]:
    for cell, stacks in sorted(scene.chests.items()):
        x, y, z = cell
        name = BLOCKS[scene.blocks[y, z, x]].name
        slots = [f"{{Slot:{slot}b,{_format_stack(stack)}}}" for slot, stack in enumerate(stacks)]
        yield f"/setblock {_format_cell(scene, cell)} {name}{{Items:[{','.join(slots)}]}}"


def _thing_commands(scene: Scene) -> Iterator[str]:
    for cell, stacks in sorted(scene.items.items()):
        for stack in stacks:
            yield f"/summon item {_format_cell(scene, cell)} {{Item:{{{_format_stack(stack)}}}}}"

    numbers: Counter[str] = Counter()
    for mob in scene.mobs:
        numbers[mob.kind] += 1
        has_default_name = mob.name == default_name(mob.kind, numbers[mob.kind])
        name = "" if has_default_name else f",CustomName:'\"{mob.name}\"'"
        yield f"/summon {mob.kind} {_format_cell(scene, mob.cell)} {{NoAI:1b{name}}}"


def _player_commands(scene: Scene) -> Iterator[str]:
    for name, count in sorted(scene.inventory.items()):
        yield f"/give @s {name} {count}"
    yaw = scene.spawn.facing * 90
    pitch = scene.spawn.pitch * PITCH_STEP
    yield f"/tp @s ~0 ~0 ~0 {yaw} {pitch}"


def _format_stack(stack: Stack) -> str:
    return f'id:"{stack.item}",Count:{stack.count}b'


def _format_cell(scene: Scene, cell: Cell) -> str:
    return format_offset(offset_to(scene.spawn.cell, cell))


def block_name(code: int) -> str:
    """Return the name and state of a block in the notation of commands, such as ``oak_door[open=true]``."""
    block = BLOCKS[code]
    state = {"": "", "open": "[open=true]", "on": "[powered=true]"}[block.state]
    return block.name + state


def boxes_of(blocks: NDArray[np.uint16]) -> Iterator[tuple[Cell, Cell, int]]:
    """Yield boxes (lowest cell, highest cell, code). Filling the boxes in order turns an arena of air into the blocks.

    Codes come in descending order of frequency. Boxes of a code may cover cells of less frequent codes, because the
    boxes of less frequent codes come later. The choice of boxes is greedy, so the number of boxes need not be minimal.
    """
    codes, counts = np.unique(blocks, return_counts=True)
    by_count = np.argsort(-counts, kind="stable")
    order = codes[by_count]
    rank_of_code = np.empty(len(BLOCKS), np.intp)
    rank_of_code[order] = np.arange(order.size)
    ranks = rank_of_code[blocks]
    for rank, code in enumerate(order.tolist()):
        if rank == 0 and code == AIR:  # the arena consists of air already
            continue
        yield from _cover(ranks == rank, ranks >= rank, code)


def _cover(wanted: NDArray[np.bool_], allowed: NDArray[np.bool_], code: int) -> Iterator[tuple[Cell, Cell, int]]:
    """Yield boxes (lowest cell, highest cell, code) within ``allowed`` that together cover all cells of ``wanted``.

    Args:
        wanted: cells to cover, ``[y, z, x]``; set to False as boxes cover the cells.
        allowed: cells that a box may cover, ``[y, z, x]``.
    """
    index = 0
    flat = wanted.reshape(-1)  # a view, which therefore changes with `wanted`
    while True:
        index += int(flat[index:].argmax())
        if not flat[index]:
            return
        start = tuple(int(axis) for axis in np.unravel_index(index, wanted.shape))
        boxes = [_grow(allowed, start, axes) for axes in _AXIS_ORDERS]
        box = max(boxes, key=lambda box: int(wanted[box].sum()))
        wanted[box] = False

        y, z, x = box
        low = (x.start, y.start, z.start)
        high = (x.stop - 1, y.stop - 1, z.stop - 1)
        yield low, high, code


_AXIS_ORDERS: Final = tuple(itertools.permutations(range(3)))


def _grow(allowed: NDArray[np.bool_], start: tuple[int, ...], axes: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the index, in an array ``[y, z, x]``, of a box within ``allowed`` that begins at ``start``.

    The box extends in the positive direction of each axis. It grows along one axis after another, in the order of
    ``axes``, as far as all its cells are allowed.
    """
    box = [slice(at, at + 1) for at in start]
    for axis in axes:
        first = start[axis]
        box[axis] = slice(first, None)
        others = tuple(other for other in range(3) if other != axis)
        layer_allowed = allowed[tuple(box)].all(axis=others)
        # argmin is the index of the first layer that is not allowed.
        length = layer_allowed.size if layer_allowed.all() else int(layer_allowed.argmin())
        box[axis] = slice(first, first + length)
    return tuple(box)
