"""The recipe book of a view: what could be made from things seen or held, and what can be made now."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from explorer.rules.items import item
from explorer.rules.recipes import RECIPES, used
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
    held = tuple(sorted((name, count) for name, count in inventory.items() if count > 0))
    book = _book(materials | {name for name, _ in held})
    possible = _possible(book, held)
    table = any(RECIPES[number].table for number in possible) and table_in_reach()
    return _listed(book, possible, table)


@lru_cache(maxsize=256)
def _book(materials: frozenset[str]) -> tuple[int, ...]:
    """Return the numbers of the recipes whose ingredients are materials, or can be made from them."""
    available = set(materials)
    book = dict.fromkeys(range(len(RECIPES)), False)
    while new := [number for number, listed in book.items() if not listed and _makeable(number, available)]:
        book.update(dict.fromkeys(new, True))
        available.update(RECIPES[number].makes for number in new)
    return tuple(number for number, listed in book.items() if listed)


def _makeable(number: int, available: set[str]) -> bool:
    return all(not kinds.isdisjoint(available) for kinds, _ in RECIPES[number].needs)


@lru_cache(maxsize=256)
def _possible(book: tuple[int, ...], held: tuple[tuple[str, int], ...]) -> frozenset[int]:
    inventory = dict(held)
    return frozenset(number for number in book if used(RECIPES[number], inventory) is not None)


@lru_cache(maxsize=256)
def _listed(book: tuple[int, ...], possible: frozenset[int], table: bool) -> tuple[Offer, ...]:
    return tuple(_offer(n, n in possible and (table or not RECIPES[n].table)) for n in book)


@cache
def _offer(number: int, craftable: bool) -> Offer:
    recipe = RECIPES[number]
    needs = tuple((tuple(sorted(kinds, key=item)), count) for kinds, count in recipe.needs)
    return Offer(recipe.name, Stack(recipe.makes, recipe.count), needs, recipe.table, craftable)
