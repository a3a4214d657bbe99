"""What opens gates: blocks that bridge, tools that dig, handles that open doors, and how to craft them."""

from __future__ import annotations

import math
from collections import Counter
from functools import cache
from typing import Final

from explorer.generating.plans.plan import RejectedDraw
from explorer.rules.blocks import BLOCKS, Block, code
from explorer.rules.items import ITEMS
from explorer.rules.recipes import recipes_for
from explorer.solver.stock import recipes_using
from explorer.tasks.pool import Task, list_kept_tasks

FIELDS: Final = ("dirt", "sand", "red_sand", "gravel", "coarse_dirt")
"""Soft ground that lies in a floor and is dug by hand."""
DROPPED: Final[dict[str, str]] = {
    "leather": "cow",
    "porkchop": "pig",
    "white_wool": "sheep",
    "feather": "chicken",
    "rabbit_hide": "rabbit",
    "bone": "skeleton",
    "string": "spider",
}
"""Item -> the mob that drops it."""


def find_block(name: str) -> Block:
    """Return a block by name."""
    return BLOCKS[code(name)]


@cache
def tasks_of(schema: str) -> tuple[Task, ...]:
    """Return the tasks of a schema that scenes may use, in the pool's order."""
    return tuple(task for task in list_kept_tasks() if task.schema == schema)


@cache
def tasks_for(item: str) -> tuple[Task, ...]:
    """Return the tasks that ask for an item in the inventory."""
    asking = (task for task in list_kept_tasks() if task.rule == "inventory")
    return tuple(task for task in asking if task.object == item)


@cache
def source_block(item: str) -> str:
    """Return the natural block that drops an item, preferably of the same name, or ""."""
    names = [each.name for each in BLOCKS if each.breakable and each.drop == item]
    if item in names:
        return item
    plain = {"cobblestone": "stone", "coal": "coal_ore", "string": "cobweb", "redstone": "redstone_ore"}
    if item in plain:
        return plain[item]
    return names[0] if names else ""


def add_craftable(have: set[str], table: bool, never: str = "") -> None:
    """Add to ``have`` everything that can be crafted from it, ignoring counts.

    Args:
        table: whether a crafting table is in reach.
        never: an item that must not be crafted.
    """
    fresh = list(have)
    table = table or "crafting_table" in have
    while fresh:
        near = recipes_using(fresh)
        fresh = []
        for recipe in near:
            if recipe.makes in have or recipe.makes == never:
                continue
            if recipe.table and not table:
                continue
            if all(not kinds.isdisjoint(have) for kinds, _ in recipe.needs):
                have.add(recipe.makes)
                fresh.append(recipe.makes)

        # A first table makes recipes possible that were passed over before.
        if not table and "crafting_table" in have:
            table = True
            fresh = list(have)


def take_apart(item: str, count: int, whole: frozenset[str]) -> tuple[dict[str, int], tuple[tuple[str, int], ...]]:
    """Return the raw materials of an item with counts, and the recipes with times, in order.

    Args:
        whole: items to find rather than craft.

    Raises:
        RejectedDraw: the item cannot be crafted.
    """
    raw: Counter[str] = Counter()
    times: Counter[str] = Counter()
    order: list[str] = []
    _add_parts(item, count, whole, raw, times, order, depth=0)
    return dict(raw), tuple((name, times[name]) for name in order)


def _add_parts(
    item: str,
    count: int,
    whole: frozenset[str],
    raw: Counter[str],
    needed: Counter[str],
    order: list[str],
    depth: int,
) -> None:
    """Add the raw materials and recipes of an item; ``order`` has each recipe after those for its ingredients."""
    ways = recipes_for(item)
    if not ways or (depth and _is_found(item, whole)):
        raw[item] += count
        return
    if depth > 5:
        raise RejectedDraw(f"{item} is too deep to craft")

    recipe = ways[0]
    times = math.ceil(count / recipe.count)
    for kinds, number in recipe.needs:
        preferred = [name for name in sorted(whole) if name in kinds]
        kind = preferred[0] if preferred else _choose_plainest(kinds)
        _add_parts(kind, number * times, whole, raw, needed, order, depth + 1)

    needed[recipe.name] += times
    if recipe.name in order:
        order.remove(recipe.name)
    order.append(recipe.name)


def _is_found(item: str, whole: frozenset[str]) -> bool:
    """Return whether an ingredient is found rather than crafted."""
    if item in whole:
        return True
    return bool(source_block(item)) and not item.endswith("_planks")


def _choose_plainest(kinds: frozenset[str]) -> str:
    """Return the plainest of some items."""
    for name in ("oak_planks", "oak_log", "white_wool", "cobblestone", "coal"):
        if name in kinds:
            return name
    return min(kinds, key=ITEMS.index)
