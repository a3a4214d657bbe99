"""The recipes: what crafting takes and gives. There is no smelting, brewing or stonecutting.

Recipes are entries of ``items_and_recipes.json``. Some recipes of vanilla give the same result and differ only in the
kind of an ingredient; here, they are a single recipe. The kinds of such an ingredient form a group, and any mixture of
them will do. For example, any planks make a chest. Crafting uses up all ingredients, even the buckets of a cake.
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
        name: name of the item; further recipes for the same item have names such as ``stick_from_bamboo``.
        makes: the item that the recipe makes.
        count: number of items that one use of the recipe makes.
        needs: groups of interchangeable items, and how many items the recipe takes from each group; no item is in two
            groups.
        table: whether a crafting table must be in reach, because the ingredients do not fit into 2 x 2 cells.
    """

    name: str
    makes: str
    count: int
    needs: Needs
    table: bool


def _list_recipes() -> tuple[Recipe, ...]:
    """Return all recipes, ordered by the numbers of the items that they make.

    The simplest recipe for an item comes first and has the name of the item.
    """
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
    """Return whether the ingredients of a recipe fit into 2 x 2 cells, so that no crafting table is needed.

    Args:
        width, height: size of the recipe's pattern in cells; both are 0 if the ingredients may lie in any cells.
    """
    if width:
        return max(width, height) <= 2
    return sum(number for _, number in needs) <= 4


def _rank(row: list[Any]) -> tuple[object, ...]:
    """Return the sort key of a row of vanilla's recipes.

    Recipes are sorted by the item that they make. Next come the recipes with fewer groups of ingredients, then those
    with more kinds of ingredients.
    """
    makes, count, _, _, groups = row
    number_of_kinds = sum(len(kinds) for kinds, _ in groups)
    first_kinds = [item(kinds[0]) for kinds, _ in groups]
    return item(makes), len(groups), -number_of_kinds, count, first_kinds


RECIPES: Final = _list_recipes()
"""All recipes.

The index of a recipe is its number, which the codes for crafting contain. It is the same in every scene with version
"1" of the rules.
"""
_NUMBERS: Final = {recipe.name: number for number, recipe in enumerate(RECIPES)}


def recipe(name: str) -> int:
    """Return the number of the recipe called ``name``; the name may begin with ``minecraft:``.

    Raises:
        UnknownNameError: no recipe has this name.
    """
    return find_known("recipe", name, _NUMBERS)


def recipes_for(name: str) -> tuple[Recipe, ...]:
    """Return the recipes that make the item called ``name``; the tuple is empty if no recipe makes it.

    Raises:
        UnknownNameError: no item has this name.
    """
    bare = ITEMS[item(name)]
    return tuple(each for each in RECIPES if each.makes == bare)


def take_ingredients(recipe: Recipe, inventory: Mapping[str, int]) -> dict[str, int] | None:
    """Return item -> how many a recipe takes from an inventory, or None if the inventory does not contain enough.

    Within a group of interchangeable items, the order of :data:`ITEMS` decides which items are taken first.
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
