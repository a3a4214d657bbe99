"""The recipe book of a view: recipes whose ingredients the agent has seen or carries, and which of them it can use now.

An offer is an entry of this book.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from explorer.rules.items import item
from explorer.rules.recipes import RECIPES, take_ingredients
from explorer.scene import Stack
from explorer.view import Offer


def offers(
    inventory: Mapping[str, int], materials: frozenset[str], table_in_reach: Callable[[], bool]
) -> tuple[Offer, ...]:
    """Return an offer for each recipe whose ingredients could come from the materials and the inventory, ordered by
    number.

    Args:
        inventory: item -> count that the agent carries.
        materials: items seen on the ground, and drops of the blocks and mobs that were seen.
        table_in_reach: function that returns whether a crafting table is in reach; called only if the answer matters.
    """
    held = {name: count for name, count in inventory.items() if count > 0}
    stocks = tuple(sorted(held.items()))
    book = _find_useful(materials.union(held))
    possible = _find_possible(book, stocks)
    is_table_relevant = any(RECIPES[number].table for number in possible)
    has_table = is_table_relevant and table_in_reach()
    return _list_offers(book, possible, has_table)


@lru_cache(maxsize=256)
def _find_useful(materials: frozenset[str]) -> tuple[int, ...]:
    """Return the numbers of the recipes whose ingredients are materials, or can be made from materials by other
    recipes.
    """
    available = set(materials)
    useful: set[int] = set()
    new = _find_makeable(useful, available)
    while new:
        useful.update(new)
        available.update(RECIPES[number].makes for number in new)
        new = _find_makeable(useful, available)
    return tuple(sorted(useful))


def _find_makeable(useful: set[int], available: set[str]) -> list[int]:
    """Return the numbers of the recipes that can be made from available items, without the recipes in ``useful``.

    The quantity of an item does not matter.
    """
    others = (number for number in range(len(RECIPES)) if number not in useful)
    return [number for number in others if _can_make(number, available)]


def _can_make(number: int, available: set[str]) -> bool:
    return all(not kinds.isdisjoint(available) for kinds, _ in RECIPES[number].needs)


@lru_cache(maxsize=256)
def _find_possible(book: tuple[int, ...], held: tuple[tuple[str, int], ...]) -> frozenset[int]:
    """Return the numbers of the recipes in ``book`` for which the agent carries enough items.

    Args:
        book: numbers of recipes.
        held: carried items, each as (name, count).
    """
    inventory = dict(held)
    return frozenset(number for number in book if take_ingredients(RECIPES[number], inventory) is not None)


@lru_cache(maxsize=256)
def _list_offers(book: tuple[int, ...], possible: frozenset[int], table: bool) -> tuple[Offer, ...]:
    """Return an offer for each recipe in ``book``, in the same order.

    Args:
        book: numbers of recipes.
        possible: numbers of the recipes for which the agent carries enough items.
        table: whether a crafting table is in reach.
    """
    craftable = {number for number in possible if table or not RECIPES[number].table}
    return tuple(_make_offer(number, number in craftable) for number in book)


@cache
def _make_offer(number: int, craftable: bool) -> Offer:
    recipe = RECIPES[number]
    needs = []
    for kinds, count in recipe.needs:
        ordered_kinds = tuple(sorted(kinds, key=item))
        needs.append((ordered_kinds, count))
    result = Stack(recipe.makes, recipe.count)
    return Offer(recipe.name, result, tuple(needs), recipe.table, craftable)
