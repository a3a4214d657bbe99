"""The recipe book: all that could be made, and truly what can be made now."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorer.rules.items import ITEMS
from explorer.rules.recipes import RECIPES
from explorer.view import Offer
from explorer.worlds.offers import offers
from tests.support.explorer.naive.stock import craftable


def book(inventory: dict[str, int], *materials: str, table: bool = False) -> dict[str, Offer]:
    return {offer.recipe: offer for offer in offers(inventory, frozenset(materials), lambda: table)}


def test_lists_what_follows_from_what_was_seen() -> None:
    seen = book({}, "oak_log")
    assert {"oak_planks", "stick", "crafting_table", "wooden_pickaxe", "chest"} <= seen.keys()
    assert not {"stone_pickaxe", "painting", "torch"} & seen.keys()
    assert not any(offer.craftable for offer in seen.values())
    assert "stone_pickaxe" in book({}, "oak_log", "cobblestone")
    assert book({}) == {}


def test_says_what_is_needed_and_what_can_be_made_now() -> None:
    held = {"oak_planks": 3, "stick": 2}
    without, beside = book(held), book(held, table=True)
    pickaxe = without["wooden_pickaxe"]
    assert (pickaxe.makes.item, pickaxe.makes.count, pickaxe.table) == ("wooden_pickaxe", 1, True)
    assert {(("stick",), 2)} < set(pickaxe.needs)
    assert (pickaxe.craftable, beside["wooden_pickaxe"].craftable) == (False, True)
    assert without["stick"].craftable
    assert not without["crafting_table"].craftable


def test_asks_for_a_table_only_where_it_matters() -> None:
    def never() -> bool:
        raise AssertionError

    assert offers({"oak_planks": 2}, frozenset(), never)


@pytest.mark.long
@given(
    inventory=st.dictionaries(st.sampled_from(ITEMS), st.integers(0, 9), max_size=8),
    materials=st.frozensets(st.sampled_from(ITEMS), max_size=4),
    table=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_agrees_with_the_rules(inventory: dict[str, int], materials: frozenset[str], table: bool) -> None:
    listed = offers(inventory, materials, lambda: table)
    now = {recipe.name for recipe in craftable({k: n for k, n in inventory.items() if n}, table)}
    assert {offer.recipe for offer in listed if offer.craftable} == now
    order = [recipe.name for recipe in RECIPES]
    assert [offer.recipe for offer in listed] == sorted((offer.recipe for offer in listed), key=order.index)
