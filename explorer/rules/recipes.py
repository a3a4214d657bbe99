"""The recipes: what crafting takes and gives. There is no smelting, brewing or stonecutting.

If vanilla has one recipe per kind of an ingredient with the same result, they are one recipe here. The kinds form a
group, and any mixture of them will do: any planks make a chest, any oak log makes oak planks. All ingredients are used
up, even a cake's buckets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from explorer.errors import find_known
from explorer.rules.blocks import FACTS
from explorer.rules.items import ITEMS, item

Needs = tuple[tuple[frozenset[str], int], ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to make something.

    Attributes:
        name: the item that it makes; further recipes for it are named like ``stick_from_bamboo``.
        makes: the item, ``count`` of it at a time.
        needs: disjoint groups of items, and how many of each group.
        table: it does not fit into 2 x 2 cells, so a crafting table must be in reach.
    """

    name: str
    makes: str
    count: int
    needs: Needs
    table: bool


def _list_recipes() -> tuple[Recipe, ...]:
    """Return the recipes in the order of the items that they make; the simplest one is first and has the bare name."""
    made: dict[str, Recipe] = {}
    for makes, count, width, height, groups in sorted(FACTS["recipes"], key=_rank):
        name = makes
        if makes in made:
            ingredients = [kinds[0] for kinds, _ in groups]
            name = f"{makes}_from_{'_and_'.join(ingredients)}"

        needs = tuple((frozenset(kinds), number) for kinds, number in groups)
        # A recipe without a width may be laid out anyhow.
        fits = max(width, height) <= 2 if width else sum(number for _, number in needs) <= 4
        made[name] = Recipe(name, makes, count, needs, table=not fits)
    return tuple(made.values())


def _rank(row: list[Any]) -> tuple[object, ...]:
    """Return what a recipe's row is sorted by: first its item, then few groups, then many kinds of ingredients."""
    makes, count, _, _, groups = row
    number_of_kinds = sum(len(kinds) for kinds, _ in groups)
    first_kinds = [item(kinds[0]) for kinds, _ in groups]
    return item(makes), len(groups), -number_of_kinds, count, first_kinds


RECIPES: Final = _list_recipes()
"""A recipe's number, as in codes to craft by it, is its index here, the same in every scene of rules "1"."""
_NUMBERS: Final = {recipe.name: number for number, recipe in enumerate(RECIPES)}


def recipe(name: str) -> int:
    """Return the number of a recipe, with or without ``minecraft:``.

    Raises:
        UnknownNameError: there is no such recipe.
    """
    return find_known("recipe", name, _NUMBERS)


def recipes_for(name: str) -> tuple[Recipe, ...]:
    """Return the recipes that make an item, empty if it can only be found.

    Raises:
        UnknownNameError: there is no such item.
    """
    bare = ITEMS[item(name)]
    return tuple(each for each in RECIPES if each.makes == bare)


def take_ingredients(recipe: Recipe, inventory: Mapping[str, int]) -> dict[str, int] | None:
    """Return how many of each item a recipe takes, preferring early items of :data:`ITEMS`; None if too few."""
    taken: dict[str, int] = {}
    for kinds, number in recipe.needs:
        lacking = number
        for name in sorted(kinds & inventory.keys(), key=item):
            taken[name] = min(lacking, inventory[name])
            lacking -= taken[name]
        if lacking:
            return None
    return {name: number for name, number in taken.items() if number}
