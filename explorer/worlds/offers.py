"""The recipe book of a view: what could be made from things seen or held, and what can be made now."""

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
    """Return the recipes that materials and inventory could serve, in the order of the recipes.

    Args:
        materials: items seen on the ground, and drops of blocks and mobs seen.
        table_in_reach: called only if a table would make a difference.
    """
    held = {name: count for name, count in inventory.items() if count > 0}
    stocks = tuple(sorted(held.items()))
    book = _find_useful(materials.union(held))
    possible = _find_possible(book, stocks)
    table = any(RECIPES[number].table for number in possible) and table_in_reach()
    return _list_offers(book, possible, table)


@lru_cache(maxsize=256)
def _find_useful(materials: frozenset[str]) -> tuple[int, ...]:
    """Return the numbers of the recipes whose ingredients are materials, or can be made from them."""
    available = set(materials)
    useful: set[int] = set()
    new = _find_makeable(useful, available)
    while new:
        useful.update(new)
        available.update(RECIPES[number].makes for number in new)
        new = _find_makeable(useful, available)
    return tuple(sorted(useful))


def _find_makeable(useful: set[int], available: set[str]) -> list[int]:
    """Return the numbers of the other recipes for which something of each group of ingredients is available."""
    others = (number for number in range(len(RECIPES)) if number not in useful)
    return [number for number in others if _can_make(number, available)]


def _can_make(number: int, available: set[str]) -> bool:
    return all(not kinds.isdisjoint(available) for kinds, _ in RECIPES[number].needs)


@lru_cache(maxsize=256)
def _find_possible(book: tuple[int, ...], held: tuple[tuple[str, int], ...]) -> frozenset[int]:
    """Return those recipes of a book for which enough is held."""
    inventory = dict(held)
    return frozenset(number for number in book if take_ingredients(RECIPES[number], inventory) is not None)


@lru_cache(maxsize=256)
def _list_offers(book: tuple[int, ...], possible: frozenset[int], table: bool) -> tuple[Offer, ...]:
    craftable = {number for number in possible if table or not RECIPES[number].table}
    return tuple(_make_offer(number, number in craftable) for number in book)


@cache
def _make_offer(number: int, craftable: bool) -> Offer:
    recipe = RECIPES[number]
    needs = tuple((tuple(sorted(kinds, key=item)), count) for kinds, count in recipe.needs)
    return Offer(recipe.name, Stack(recipe.makes, recipe.count), needs, recipe.table, craftable)
