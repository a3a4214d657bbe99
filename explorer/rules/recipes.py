"""The recipes: what crafting takes and gives. Nothing smelts, brews or is cut.

Where vanilla has a recipe for each kind of an ingredient and they make the same, they are one recipe here and the kinds
are a group, of which any mixture does: any planks make a chest, any log of the oak makes oak planks. What goes in is
used up, a cake's buckets too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from explorer.errors import UnknownNameError
from explorer.rules.blocks import FACTS
from explorer.rules.items import ITEMS, item

Needs = tuple[tuple[frozenset[str], int], ...]


@dataclass(frozen=True, slots=True)
class Recipe:
    """A way to make something.

    Attributes:
        name: what it makes; a second way is called like ``stick_from_bamboo``.
        makes: the item, ``count`` of it at a time.
        needs: groups of items, no item in two of them, and how many of each group.
        table: it is wider or higher than 2 x 2, so a crafting table has to be in reach.
    """

    name: str
    makes: str
    count: int
    needs: Needs
    table: bool


def _recipes() -> tuple[Recipe, ...]:
    """Return them in the order of what they make; the plainest way first, which has the bare name."""
    rows = sorted(FACTS["recipes"], key=lambda row: (item(row[0]), len(row[4]), -_kinds(row), row[1], _first(row)))
    made: dict[str, Recipe] = {}
    for makes, count, width, height, groups in rows:
        name = f"{makes}_from_{'_and_'.join(kinds[0] for kinds, _ in groups)}" if makes in made else makes
        needs = tuple((frozenset(kinds), number) for kinds, number in groups)
        anyhow = not width and sum(number for _, number in needs) > 4
        made[name] = Recipe(name, makes, count, needs, table=anyhow or max(width, height) > 2)
    return tuple(made.values())


def _kinds(row: list[Any]) -> int:
    return sum(len(kinds) for kinds, _ in row[4])


def _first(row: list[Any]) -> list[int]:
    return [item(kinds[0]) for kinds, _ in row[4]]


RECIPES: Final = _recipes()
"""A recipe's number, as in codes to craft by it, is its place here, the same in every scene of rules "1"."""
_NUMBERS: Final = {recipe.name: number for number, recipe in enumerate(RECIPES)}


def recipe(name: str) -> int:
    """Return the number of a recipe, with or without ``minecraft:``.

    Raises:
        UnknownNameError: there is no such recipe.
    """
    found = _NUMBERS.get(name.removeprefix("minecraft:"))
    if found is None:
        raise UnknownNameError("recipe", name, _NUMBERS)
    return found


def recipes_for(name: str) -> tuple[Recipe, ...]:
    """Return the recipes that make an item, none for what is only found.

    Raises:
        UnknownNameError: there is no such item.
    """
    bare = ITEMS[item(name)]
    return tuple(each for each in RECIPES if each.makes == bare)


def used(recipe: Recipe, inventory: Mapping[str, int]) -> dict[str, int] | None:
    """Return how many of which items a recipe takes, the first in :data:`ITEMS` first; None if there are too few."""
    taken: dict[str, int] = {}
    for kinds, number in recipe.needs:
        lacking = number
        for name in sorted(kinds & inventory.keys(), key=item):
            taken[name] = min(lacking, inventory[name])
            lacking -= taken[name]
        if lacking:
            return None
    return {name: number for name, number in taken.items() if number}


def craftable(inventory: Mapping[str, int], table: bool) -> tuple[Recipe, ...]:
    """Return the recipes whose needs an inventory holds, in the order of :data:`RECIPES`.

    Args:
        table: a crafting table is in reach.
    """
    return tuple(each for each in RECIPES if (table or not each.table) and used(each, inventory) is not None)
