"""The recipe book of a view: what could be made from items seen or held, and what can be made now."""

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
    """Return the recipes for which materials and inventory could provide ingredients, in the order of the recipes.

    Args:
        materials: items seen on the ground, and drops of blocks and mobs seen.
        table_in_reach: whether a table is in reach; called only if the answer matters.
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
    """Return the numbers of the recipes whose ingredients are materials or can be made from materials."""
    available = set(materials)
    useful: set[int] = set()
    new = _find_makeable(useful, available)
    while new:
        useful.update(new)
        available.update(RECIPES[number].makes for number in new)
        new = _find_makeable(useful, available)
    return tuple(sorted(useful))


def _find_makeable(useful: set[int], available: set[str]) -> list[int]:
    """Return the numbers of recipes that are not in ``useful`` and for which each group has an available item."""
    others = (number for number in range(len(RECIPES)) if number not in useful)
    return [number for number in others if _can_make(number, available)]


def _can_make(number: int, available: set[str]) -> bool:
    return all(not kinds.isdisjoint(available) for kinds, _ in RECIPES[number].needs)


@lru_cache(maxsize=256)
def _find_possible(book: tuple[int, ...], held: tuple[tuple[str, int], ...]) -> frozenset[int]:
    """Return the numbers of the recipes in a book for which the held items, as (name, count), are enough."""
    inventory = dict(held)
    return frozenset(number for number in book if take_ingredients(RECIPES[number], inventory) is not None)


@lru_cache(maxsize=256)
def _list_offers(book: tuple[int, ...], possible: frozenset[int], table: bool) -> tuple[Offer, ...]:
    """Return the offers for the recipes in a book.

    Args:
        possible: numbers of the recipes for which enough items are held.
        table: whether a table is in reach.
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
