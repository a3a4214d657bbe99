"""Compute upper bounds on the number of items of each kind that there could ever be in an episode.

The bounds assume that recipes do not use up their ingredients.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from explorer.rules.blocks import BLOCKS
from explorer.rules.items import block_of
from explorer.rules.recipes import RECIPES, Recipe

ANY: Final = 4096
"""Number that stands for "any number".

It is the bound for items that recipes turn into each other, and the greatest value of all other bounds.
"""
_ROUNDS: Final = 24
"""Number of rounds of crafting; a count that grows in a later round counts as unlimited."""


@cache
def _index_uses() -> Mapping[str, tuple[int, ...]]:
    """Return item -> numbers of the recipes that have the item as a possible ingredient."""
    uses: dict[str, list[int]] = {}
    for number, recipe in enumerate(RECIPES):
        ingredients = frozenset().union(*(kinds for kinds, _ in recipe.needs))
        for name in ingredients:
            uses.setdefault(name, []).append(number)
    return {name: tuple(numbers) for name, numbers in uses.items()}


def bounds(gained: Mapping[str, int], table: bool, caps: Mapping[str, int]) -> dict[str, int]:
    """Return item -> upper bound on the number of such items that the agent could get in an episode.

    Args:
        gained: item -> upper bound on the number of such items that are found, dug and hunted.
        table: whether a crafting table of the scene could be in reach.
        caps: item -> greatest count that the agent may have at any time.
    """
    most = _bound_counts(gained, table, caps)
    if "crafting_table" in most and not table:
        # A crafting table could be made, so recipes that need a table are possible.
        return _bound_counts(gained, True, caps)
    return most


def _bound_counts(gained: Mapping[str, int], table: bool, caps: Mapping[str, int]) -> dict[str, int]:
    """Return the bounds of :func:`bounds`, by repeating all recipes until the counts no longer grow.

    If they still grow after the last round, every bound is :data:`ANY`.

    Args:
        table: whether recipes that need a crafting table are possible.
    """
    base: Counter[str] = Counter()
    for name, count in gained.items():
        if count > 0 and caps.get(name, 1) > 0:
            base[name] = min(count, ANY)

    total = base
    for crafting_round in range(3 * _ROUNDS):
        counts = base.copy()
        for recipe in recipes_using(total):
            lacks_table = recipe.table and not table
            if lacks_table or recipe.count > caps.get(recipe.makes, ANY):
                continue
            times = _bound_times(recipe, total, caps)
            if times:
                counts[recipe.makes] += recipe.count * times

        grown = {name for name, count in counts.items() if count > total[name]}
        if not grown:
            return dict(total)
        total = Counter({name: min(count, ANY) for name, count in counts.items()})
        if crafting_round > _ROUNDS:
            # A count that still grows comes from recipes that turn items into each other.
            for name in grown:
                total[name] = ANY
    return dict.fromkeys(total, ANY)


def recipes_using(items: Iterable[str]) -> list[Recipe]:
    """Return the recipes that have at least one of the given items as an ingredient, ordered by their numbers."""
    uses = _index_uses()
    numbers: set[int] = set()
    for name in items:
        numbers.update(uses.get(name, ()))
    return [RECIPES[number] for number in sorted(numbers)]


def _bound_times(recipe: Recipe, total: Mapping[str, int], caps: Mapping[str, int]) -> int:
    """Return an upper bound on how often a recipe could be used in an episode.

    Args:
        total: item -> upper bound on its number in an episode.
        caps: item -> greatest count that the agent may have at any time.
    """
    times = ANY
    for kinds, number in recipe.needs:
        # Ingredients must be held at the same time, which caps limit; over an episode, more may be used.
        at_once = 0
        over_time = 0
        for name in kinds:
            count = total.get(name, 0)
            at_once += min(count, caps.get(name, ANY))
            over_time += count
        if at_once < number:
            return 0
        times = min(times, over_time // number)
        if not times:
            break
    return times


def most_blocks(total: Mapping[str, int]) -> int:
    """Return an upper bound on the number of solid blocks that the agent could place.

    Args:
        total: item -> upper bound on its number.
    """
    return sum(count for name, count in total.items() if bridges(name))


def carries_without(total: Mapping[str, int], block: str) -> bool:
    """Return whether the agent could have an item that places a solid block other than ``block``.

    Args:
        total: item -> upper bound on its number.
    """
    names = (name for name, count in total.items() if count and bridges(name))
    return any(most_of_block({name: 1}, block) == 0 for name in names)


def has_block(total: Mapping[str, int]) -> bool:
    """Return whether the agent could have an item that places a block.

    Args:
        total: item -> upper bound on its number.
    """
    names = (name for name, count in total.items() if count)
    return any(block_of(name) is not None for name in names)


def has_handle(total: Mapping[str, int]) -> bool:
    """Return whether the agent could have an item that places a device or plate; beside an iron door, it opens the
    door.

    Args:
        total: item -> upper bound on its number.
    """
    return any(count for name, count in total.items() if is_handle(name))


def most_of_block(total: Mapping[str, int], block: str) -> int:
    """Return an upper bound on the number of blocks called ``block`` that the agent could place.

    Args:
        total: item -> upper bound on its number.
    """
    most = 0
    for name, count in total.items():
        code = block_of(name)
        if code and BLOCKS[code].name == block:
            most += count
    return most


@cache
def bridges(name: str) -> bool:
    """Return whether the item called ``name`` places a block on which a body can stand."""
    code = block_of(name)
    return code is not None and BLOCKS[code].solid


@cache
def is_handle(name: str) -> bool:
    """Return whether the item called ``name`` places a device or plate; beside an iron door, it opens the door."""
    code = block_of(name)
    return code is not None and BLOCKS[code].kind in ("device", "plate")
