"""Small scenes with all that the rules know, drawn by a seed: most make no sense, and proofs have to stand that."""

from __future__ import annotations

import random
from typing import Final

from explorer.milestones import AtLeast, AtMost, InventoryHas, Milestone, NearWithFacing, Rule, cell_offset
from explorer.rules.blocks import AIR
from explorer.scene import Cell, Pose
from explorer.solver.forbid import whole_cells
from tests.support.explorer.scenes import Builder, Puzzle, hall

_BLOCKS: Final = (
    *("stone_bricks", "stone_bricks", "glass", "stone", "dirt", "oak_log", "cobweb", "lava", "lava", "oak_door"),
    *("iron_door", "iron_door", "lever", "stone_button", "stone_pressure_plate", "crafting_table", "dandelion"),
)
_ITEMS: Final = ("wooden_pickaxe", "shears", "lever", "dirt", "emerald", "stick", "oak_planks", "torch")
_COUNTED: Final = ("stone", "dirt", "oak_log", "lever", "cobweb", "oak_planks", "air", "lava")


def tiny_scene(seed: int) -> Puzzle:
    """Return a scene of at most 7 x 6 x 7 cells, walls included, and some milestones."""
    rng = random.Random(seed)
    x, y, z = rng.randint(4, 7), rng.randint(4, 6), rng.randint(4, 7)
    build = hall(x, y, z, Pose((rng.randint(1, x - 2), 1, rng.randint(1, z - 2)), rng.randrange(4)))
    cells = [(a, b, c) for b in range(1, y - 1) for a in range(1, x - 1) for c in range(1, z - 1)]
    if rng.random() < 0.7:
        wall = rng.randint(1, z - 2)
        build.fill((1, 1, wall), (x - 2, y - 2, wall))
        build.put("air", *rng.sample([cell for cell in cells if cell[2] == wall], 2))
    for _ in range(rng.randint(2, 12)):
        build.put(rng.choice(_BLOCKS), rng.choice(cells))
    a, b, c = build.spawn.cell
    build.put("air", (a, b, c), (a, b + 1, c))
    build.put("stone_bricks", (a, b - 1, c))
    _furnish(rng, build, [cell for cell in cells if build.blocks[cell[1], cell[2], cell[0]] == AIR])
    milestones = tuple(Milestone("task", f"m{n}", "", (_rule(rng, build, cells),)) for n in range(rng.randint(2, 4)))
    return Puzzle(build.scene(f"tiny_{seed}"), milestones)


def _furnish(rng: random.Random, build: Builder, free: list[Cell]) -> None:
    rng.shuffle(free)
    for _ in range(min(len(free), rng.randint(1, 3))):
        build.item(free.pop(), rng.choice(_ITEMS), rng.randint(1, 2))
    if free and rng.random() < 0.5:
        cell = free.pop()
        if cell not in (build.spawn.cell, _above(build.spawn.cell)):
            build.chest(cell, **{rng.choice(_ITEMS): rng.randint(1, 3)})
    if free and rng.random() < 0.3:
        build.mob(rng.choice(("sheep", "chicken", "spider")), free.pop())
    if len(free) > 2 and rng.random() < 0.6:
        door, *needs = rng.sample(free, 3)
        if door not in (build.spawn.cell, _above(build.spawn.cell)):
            build.put("lever", needs[0]).put("stone_pressure_plate", needs[1])
            mode, holds = rng.choice(("any", "all")), rng.choice((None, None, 0, 2))
            build.door(door, *needs[: rng.randint(1, 2)], mode=mode, holds=holds)


def _rule(rng: random.Random, build: Builder, cells: list[Cell]) -> Rule:
    spawn = build.spawn.cell
    corners = [sorted(pair) for pair in zip(rng.choice(cells), rng.choice(cells), strict=True)]
    low, high = ((each[0][at], each[1][at], each[2][at]) for each in [corners] for at in (0, 1))
    box = cell_offset(low, spawn), cell_offset(high, spawn)
    match rng.randrange(6):
        case 0 | 1:
            return InventoryHas(rng.choice(_ITEMS), rng.choice((1, 1, 1, 2)))
        case 2:
            return whole_cells(low, high, spawn)
        case 3:
            return AtLeast("block", rng.choice(_COUNTED), *box, rng.choice((1, 1, 2)))
        case 4:
            if rng.random() < 0.3:
                return AtMost("mob", rng.choice(("sheep", "chicken", "spider")), *box)
            return AtMost("block", rng.choice(_COUNTED), *box, rng.choice((0, 0, 1)))
        case _:
            return NearWithFacing(cell_offset(rng.choice(cells), spawn), rng.choice((1.0, 2.0)))


def _above(cell: Cell) -> Cell:
    return cell[0], cell[1] + 1, cell[2]
