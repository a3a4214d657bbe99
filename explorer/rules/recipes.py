"""The recipes: what crafting takes and gives. There is no smelting, brewing or stonecutting.

Recipes of vanilla that have the same result, and differ only in the kind of an ingredient, are a single recipe here.
The kinds form a group, and any mixture of kinds serves: any planks make a chest, any oak log makes oak planks. Crafting
uses up all ingredients, even the buckets of a cake.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from explorer.errors import find_known
from explorer.rules.blocks import FACTS
from explorer.rules.items import ITEMS, item

Needs = tuple[tuple[frozenset[str], int], ...]
"""Groups of interchangeable items, each with the number of items that a recipe takes from the group."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to craft an item.

    Attributes:
        name: name of the item; further recipes for the same item have names like ``stick_from_bamboo``.
        makes: the item that the recipe makes.
        count: number of items that the recipe makes at a time.
        needs: disjoint groups of items, and how many items of each group the recipe takes.
        table: whether a crafting table must be in reach, because the recipe does not fit into 2 x 2 cells.
    """

    name: str
    makes: str
    count: int
    needs: Needs
    table: bool


def _list_recipes() -> tuple[Recipe, ...]:
    """Return the recipes in the order of their items; the simplest recipe of an item is first and has its bare name."""
    recipes: dict[str, Recipe] = {}
    for makes, count, width, height, groups in sorted(FACTS["recipes"], key=_rank):
        name = makes
        if makes in recipes:
            ingredients = [kinds[0] for kinds, _ in groups]
            name = f"{makes}_from_{'_and_'.join(ingredients)}"

        needs = tuple((frozenset(kinds), number) for kinds, number in groups)
        fits = _fits_without_table(width, height, needs)
        recipes[name] = Recipe(name, makes, count, needs, table=not fits)
    return tuple(recipes.values())


def _fits_without_table(width: int, height: int, needs: Needs) -> bool:
    """Return whether the ingredients of a recipe fit into 2 x 2 cells.

    Args:
        width, height: size of the recipe's pattern; 0 if the ingredients may lie in any cells.
    """
    if width:
        return max(width, height) <= 2
    return sum(number for _, number in needs) <= 4


def _rank(row: list[Any]) -> tuple[object, ...]:
    """Return the sort key of a recipe's row: its item, then few groups first, then many kinds of ingredients first."""
    makes, count, _, _, groups = row
    number_of_kinds = sum(len(kinds) for kinds, _ in groups)
    first_kinds = [item(kinds[0]) for kinds, _ in groups]
    return item(makes), len(groups), -number_of_kinds, count, first_kinds


RECIPES: Final = _list_recipes()
"""The number of a recipe, as in codes to craft by the recipe, is its index here in every scene of rules "1"."""
_NUMBERS: Final = {recipe.name: number for number, recipe in enumerate(RECIPES)}


def recipe(name: str) -> int:
    """Return the number of a recipe, given by its name with or without ``minecraft:``.

    Raises:
        UnknownNameError: no recipe has this name.
    """
    return find_known("recipe", name, _NUMBERS)


def recipes_for(name: str) -> tuple[Recipe, ...]:
    """Return the recipes that make an item; if the item can only be found, return an empty tuple.

    Raises:
        UnknownNameError: no item has this name.
    """
    bare = ITEMS[item(name)]
    return tuple(each for each in RECIPES if each.makes == bare)


def take_ingredients(recipe: Recipe, inventory: Mapping[str, int]) -> dict[str, int] | None:
    """Return how many of each item a recipe takes from an inventory, or None if the inventory holds too few.

    Within a group, items are taken in the order of :data:`ITEMS`.
    """
    taken: dict[str, int] = {}
    for kinds, number in recipe.needs:
        lacking = number
        for name in sorted(kinds & inventory.keys(), key=item):
            taken[name] = min(lacking, inventory[name])
            lacking -= taken[name]
        if lacking:
            return None
    return {name: number for name, number in taken.items() if number}
