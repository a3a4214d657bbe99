"""Find the cells of an arena to which the rule of a milestone refers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from explorer.milestones import (
    AtLeast,
    AtMost,
    InsideBox,
    InventoryHas,
    NearWithFacing,
    Rule,
    bare,
    box_cells,
    box_holds,
)
from explorer.rules.blocks import BLOCKS
from explorer.rules.mobs import mob_kind
from explorer.rules.reach import mob_cells
from explorer.scene import Cell
from explorer.solver.closure import Arena

CORNER: Final = (0.5, 0.0, 0.5)
"""Offset in metres from the lowest corner of a cell to the middle of its base; rules measure from this middle."""
REST: Final = (0.5, 1.0, 0.5)
"""Offset in metres from the middle of a cell's base to the highest corner of the cell."""


def where_holds(
    arena: Arena, cells: NDArray[np.bool_], rule: InsideBox | NearWithFacing, *, resting: bool = False
) -> NDArray[np.bool_]:
    """Return a mask ``[y, z, x]`` of the cells that contain a point where a body would make a rule true.

    The facing of the body is ignored.

    Args:
        cells: mask ``[y, z, x]`` of the cells to consider.
        resting: whether to consider only the middle of the base of each cell, where steps end.
    """
    y, z, x = np.nonzero(cells)
    middles = np.stack((x, y, z), axis=1) - np.array(arena.scene.spawn.cell)
    lows = middles if resting else middles - np.array(CORNER)
    highs = middles if resting else middles + np.array(REST)

    if isinstance(rule, InsideBox):
        # The highest corner of a cell does not belong to the cell.
        inside = (highs >= rule.min) if resting else (highs > rule.min)
        holds = (inside & (lows <= rule.max)).all(axis=1)
    else:
        # Distance along each axis from the target to the nearest point of the cell.
        beyond = np.maximum(lows - rule.target, rule.target - highs)
        away = np.maximum(beyond, 0)
        # The judge of milestones compares distances; comparing squares would round differently.
        holds = np.sqrt((away**2).sum(axis=1)) <= rule.max_distance

    holding = np.zeros_like(cells)
    holding[y[holds], z[holds], x[holds]] = True
    return holding


def box_of(arena: Arena, rule: AtLeast | AtMost) -> list[Cell]:
    """Return the cells inside the box of a rule; cells outside the arena are left out."""
    least, greatest = box_cells(rule.min, rule.max, arena.scene.spawn.cell)
    bounds = zip(least, greatest, arena.scene.size, strict=True)
    x, y, z = (range(max(low, 0), min(high + 1, size)) for low, high, size in bounds)
    return list(itertools.product(x, y, z))


def counted_cells(arena: Arena, rule: AtLeast | AtMost) -> frozenset[Cell]:
    """Return the cells of the blocks or mobs in the box of a rule that the rule counts at the start."""
    if rule.kind == "mob":
        names = mobs_of(arena, rule)
        mobs = (mob for mob in arena.scene.mobs if mob.name in names)
        return frozenset(itertools.chain.from_iterable(map(mob_cells, mobs)))
    name = bare(rule.object)
    return frozenset(cell for cell in box_of(arena, rule) if arena.block(cell).name == name)


def mobs_of(arena: Arena, rule: AtLeast | AtMost) -> frozenset[str]:
    """Return the names of the mobs that a rule counts at the start."""
    low, high = box_cells(rule.min, rule.max, arena.scene.spawn.cell)
    mobs = (mob for mob in arena.scene.mobs if mob.kind == bare(rule.object))
    return frozenset(mob.name for mob in mobs if box_holds(mob.cell, low, high))


def find_lying(arena: Arena, item: str) -> Iterator[Cell]:
    """Yield the cells where stacks of an item lie on the ground."""
    for cell, stacks in arena.scene.items.items():
        if any(stack.item == item for stack in stacks):
            yield cell


def find_sources(arena: Arena, item: str) -> Iterator[Cell]:
    """Yield the cells of the chests, natural blocks and mobs from which an item can be got."""
    scene = arena.scene
    for cell, stacks in scene.chests.items():
        if any(stack.item == item for stack in stacks):
            yield cell
    for code, places in arena.natural.items():
        if BLOCKS[code].drop == item:
            yield from map(arena.space.cell, places.tolist())
    for mob in scene.mobs:
        if mob_kind(mob.kind).drop.item == item:
            yield from mob_cells(mob)


def list_cells(arena: Arena, rule: Rule) -> Iterable[Cell]:
    """Return the cells to which a rule refers.

    If the rule asks for the body to be inside a box, return the free cells of the box. If the rule counts blocks or
    mobs, return the cells of those that it counts at the start; if it counts none, return all cells of the box.
    """
    match rule:
        case InventoryHas():
            item = bare(rule.item)
            return [*find_lying(arena, item), *find_sources(arena, item)]
        case InsideBox():
            inside = where_holds(arena, arena.space.solid(arena.free), rule)
            return [(x, y, z) for y, z, x in np.argwhere(inside).tolist()]
        case NearWithFacing():
            spawn = arena.scene.spawn.cell
            x, y, z = (math.floor(offset + origin + 0.5) for offset, origin in zip(rule.target, spawn, strict=True))
            return [(x, y, z)] if arena.space.holds((x, y, z)) else []
        case AtLeast() | AtMost():
            return counted_cells(arena, rule) or box_of(arena, rule)
