"""Look up tasks, sources and recipes of items that serve as keys of gates.

A schema is a group of similar tasks.
"""

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
"""Kinds of soft ground, which lie in a floor and which the agent digs by hand."""
DROPPED: Final[dict[str, str]] = {
    "leather": "cow",
    "porkchop": "pig",
    "white_wool": "sheep",
    "feather": "chicken",
    "rabbit_hide": "rabbit",
    "bone": "skeleton",
    "string": "spider",
}
"""Item -> kind of the mob that drops the item."""


def find_block(name: str) -> Block:
    """Return the block called ``name``."""
    return BLOCKS[code(name)]


@cache
def tasks_of(schema: str) -> tuple[Task, ...]:
    """Return the tasks of a schema that scenes may use, in the order of the pool of tasks."""
    return tuple(task for task in list_kept_tasks() if task.schema == schema)


@cache
def tasks_for(item: str) -> tuple[Task, ...]:
    """Return the tasks that ask the agent to have an item in its inventory."""
    asking = (task for task in list_kept_tasks() if task.rule == "inventory")
    return tuple(task for task in asking if task.object == item)


@cache
def source_block(item: str) -> str:
    """Return the name of a natural block that drops an item, or "" if no natural block does.

    If a block with the item's name drops the item, return that block.
    """
    names = [each.name for each in BLOCKS if each.breakable and each.drop == item]
    if item in names:
        return item
    usual_sources = {"cobblestone": "stone", "coal": "coal_ore", "string": "cobweb", "redstone": "redstone_ore"}
    if item in usual_sources:
        return usual_sources[item]
    return names[0] if names else ""


def add_craftable(have: set[str], table: bool, never: str = "") -> None:
    """Add to ``have`` all items that can be crafted from the items in ``have``, directly or in several steps.

    Each item in ``have`` counts as present in any number.

    Args:
        table: whether a crafting table is in reach from the beginning.
        never: an item that must not be crafted, or "".
    """
    fresh = list(have)
    table = table or "crafting_table" in have
    while fresh:
        recipes = recipes_using(fresh)
        fresh = []
        for recipe in recipes:
            if recipe.makes in have or recipe.makes == never:
                continue
            if recipe.table and not table:
                continue
            if all(not kinds.isdisjoint(have) for kinds, _ in recipe.needs):
                have.add(recipe.makes)
                fresh.append(recipe.makes)

        # The first table makes recipes possible that the previous rounds skipped.
        if not table and "crafting_table" in have:
            table = True
            fresh = list(have)


def take_apart(item: str, count: int, whole: frozenset[str]) -> tuple[dict[str, int], tuple[tuple[str, int], ...]]:
    """Return what crafting an item takes: a dictionary raw material -> count, and the recipes in order.

    Each recipe is a pair (name, times).

    Args:
        count: number of items to craft.
        whole: items that count as raw materials although recipes for them exist.

    Raises:
        RejectedDraw: crafting the item takes too many levels of recipes.
    """
    raw: Counter[str] = Counter()
    times: Counter[str] = Counter()
    order: list[str] = []
    # This fills raw, times and order.
    _add_parts(item, count, whole, raw, times, order, depth=0)
    return dict(raw), tuple((name, times[name]) for name in order)


def _add_parts(
    item: str,
    count: int,
    whole: frozenset[str],
    raw: Counter[str],
    times: Counter[str],
    order: list[str],
    depth: int,
) -> None:
    """Add to ``raw``, ``times`` and ``order`` what crafting ``count`` of an item takes.

    Args:
        whole: items that count as raw materials although recipes for them exist.
        raw: raw material -> count.
        times: name of a recipe -> how often the recipe is used.
        order: names of the recipes; each recipe comes after the recipes for its ingredients.
        depth: number of recipes between this item and the final item; 0 for the final item.

    Raises:
        RejectedDraw: the depth exceeds 5.
    """
    recipes = recipes_for(item)
    is_raw = depth > 0 and _is_found(item, whole)
    if not recipes or is_raw:
        raw[item] += count
        return
    if depth > 5:
        raise RejectedDraw(f"{item} is too deep to craft")

    recipe = recipes[0]
    repeats = math.ceil(count / recipe.count)
    for kinds, number in recipe.needs:
        preferred = [name for name in sorted(whole) if name in kinds]
        kind = preferred[0] if preferred else _choose_most_common(kinds)
        _add_parts(kind, number * repeats, whole, raw, times, order, depth + 1)

    times[recipe.name] += repeats
    # The recipe may be in the list already, but before recipes for its ingredients that were added now.
    if recipe.name in order:
        order.remove(recipe.name)
    order.append(recipe.name)


def _is_found(item: str, whole: frozenset[str]) -> bool:
    """Return whether the agent finds an ingredient in the scene instead of crafting it."""
    if item in whole:
        return True
    return bool(source_block(item)) and not item.endswith("_planks")


def _choose_most_common(kinds: frozenset[str]) -> str:
    """Return the most common item of a set of interchangeable ingredients."""
    for name in ("oak_planks", "oak_log", "white_wool", "cobblestone", "coal"):
        if name in kinds:
            return name
    return min(kinds, key=ITEMS.index)
