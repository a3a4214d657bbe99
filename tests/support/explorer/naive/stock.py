"""How many of an item there can ever be, all that is ever found taken together: never too few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from math import floor

from explorer.rules.blocks import SOLID
from explorer.rules.items import ITEMS, block_of
from explorer.rules.recipes import RECIPES, Recipe, take_ingredients

PLACED: Mapping[str, int] = {name: code for name in ITEMS if (code := block_of(name)) is not None}
"""What can be placed -> the code of the block that it gives."""
STEPS = frozenset(name for name, code in PLACED.items() if SOLID[code])
"""What can be placed to be stood upon."""


class Stock:
    """What was ever found, and what could be made of it.

    Attributes:
        found: of each item, never spent.
        table: a crafting table could be in reach.
    """

    def __init__(self, found: Mapping[str, int]) -> None:
        self.found = Counter(found)
        self.table = False
        self.recipes: list[Recipe] = []

    def most(self, wanted: Iterable[str]) -> int:
        """Return how many of some items there could be at once, all of them together, if all else is used up.

        An ingredient is worth a share of what can be made of it, at best. If the shares of a recipe's ingredients make
        up what it gives, no crafting adds to the worth of all that was found, whatever the mixture: that is a bound,
        however the shares are chosen. Here all ingredients share alike, or one of each recipe has it all.
        """
        wanted = tuple(wanted)
        return min(self._worth(wanted, bearer) for bearer in (None, 0, -1)) if wanted else 0

    def _worth(self, wanted: Iterable[str], bearer: int | None) -> int:
        """Return what was found is worth, rounded down.

        Args:
            bearer: which ingredient has it all, None for all alike.
        """
        worth = dict.fromkeys(wanted, 1.0)
        rising = True
        while rising:
            rising = False
            for recipe in self.recipes:
                needs = recipe.needs if bearer is None else (recipe.needs[bearer],)
                share = recipe.count * worth.get(recipe.makes, 0.0) / sum(number for _, number in needs)
                for kind in {kind for kinds, _ in needs for kind in kinds}:
                    if share > worth.get(kind, 0.0) + 1e-9:
                        worth[kind], rising = share, True
        return floor(sum(count * worth.get(name, 0.0) for name, count in self.found.items()) + 1e-6)

    def craft(self, allowed: Callable[[Recipe], bool]) -> bool:
        """Add the recipes that could be carried out, of those allowed; whether there are new ones.

        A recipe can be if there could be enough of each of its ingredients, one by one.
        """
        before = len(self.recipes)
        left = [recipe for recipe in RECIPES if recipe not in self.recipes and allowed(recipe)]
        rising = True
        while rising:
            had = set(self.found) | {recipe.makes for recipe in self.recipes}
            new = [recipe for recipe in left if self._can(recipe, had)]
            self.recipes += new
            left = [recipe for recipe in left if recipe not in new]
            rising = bool(new)
        return len(self.recipes) > before

    def _can(self, recipe: Recipe, had: set[str]) -> bool:
        if recipe.table and not (self.table or "crafting_table" in had):
            return False
        return all(kinds & had and self.most(kinds) >= number for kinds, number in recipe.needs)


def craftable(inventory: Mapping[str, int], table: bool) -> tuple[Recipe, ...]:
    """Return the recipes whose ingredients an inventory holds, in the order of :data:`RECIPES`.

    Args:
        table: whether a crafting table is in reach.
    """
    return tuple(
        each for each in RECIPES if (table or not each.table) and take_ingredients(each, inventory) is not None
    )
