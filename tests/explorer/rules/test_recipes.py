"""The table of recipes: vanilla's amounts, groups, numbers that never move."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import UnknownNameError
from explorer.rules.actions import craft, decode
from explorer.rules.items import ITEMS, item
from explorer.rules.recipes import RECIPES, Recipe, recipe, recipes_for, take_ingredients
from tests.support.explorer.naive.stock import craftable

TABLE_OF_RULES_1 = "42b1433916672a3a7adfb3a40a5af4fdd5ffd8710cf85731ce414cd248832657"
"""Files, replays and certificates keep numbers, so whatever changes this is a new version of the rules."""
PLANKS = {name for name in ITEMS if name.endswith("_planks")}
WOOL = {name for name in ITEMS if name.endswith("_wool")}
INVENTORIES = st.dictionaries(st.sampled_from([*sorted(PLANKS | WOOL), "stick", "cobblestone"]), st.integers(0, 9))


def named(name: str) -> Recipe:
    return RECIPES[recipe(name)]


def test_numbers_of_rules_1_never_move() -> None:
    rows = (
        (each.name, each.makes, each.count, [(sorted(k), n) for k, n in each.needs], each.table) for each in RECIPES
    )
    assert hashlib.sha256("\n".join(map(repr, rows)).encode()).hexdigest() == TABLE_OF_RULES_1


def test_each_recipe_has_a_name_a_number_and_a_code() -> None:
    assert len({each.makes for each in RECIPES}) == 562
    assert len({each.name for each in RECIPES}) == len(RECIPES) == 626
    assert [recipe(each.name) for each in RECIPES] == list(range(626))
    assert [decode(craft(number)).operand for number in range(626)] == list(range(626))


def test_recipes_stand_in_the_order_of_what_they_make() -> None:
    assert sorted(RECIPES, key=lambda each: item(each.makes)) == list(RECIPES)


def test_an_unknown_recipe_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown recipe 'stik'; did you mean stick"):
        recipe("stik")


def test_all_that_is_taken_and_given_is_an_item() -> None:
    for each in RECIPES:
        kinds = [name for group, _ in each.needs for name in group]
        assert {each.makes, *kinds} <= set(ITEMS)
        assert len(kinds) == len(set(kinds)), f"{each.name}: an item is in two groups"
        assert each.count >= 1
        assert all(number >= 1 for _, number in each.needs)


@pytest.mark.parametrize(
    ("name", "count", "needs", "table"),
    [
        ("oak_planks", 4, {"oak_log oak_wood stripped_oak_log stripped_oak_wood": 1}, False),
        ("stick", 4, {" ".join(PLANKS): 2}, False),
        ("stick_from_bamboo", 1, {"bamboo": 2}, False),
        ("crafting_table", 1, {" ".join(PLANKS): 4}, False),
        ("torch", 4, {"coal charcoal": 1, "stick": 1}, False),
        ("chest", 1, {" ".join(PLANKS): 8}, True),
        ("wooden_pickaxe", 1, {" ".join(PLANKS): 3, "stick": 2}, True),
        ("stone_pickaxe", 1, {"cobblestone blackstone": 3, "stick": 2}, True),
        ("iron_pickaxe", 1, {"iron_ingot": 3, "stick": 2}, True),
        ("ladder", 3, {"stick": 7}, True),
        ("red_bed", 1, {"red_wool": 3, " ".join(PLANKS): 3}, True),
        ("painting", 1, {" ".join(WOOL): 1, "stick": 8}, True),
        ("item_frame", 1, {"leather": 1, "stick": 8}, True),
        ("bow", 1, {"stick": 3, "string": 3}, True),
        ("arrow", 4, {"flint": 1, "stick": 1, "feather": 1}, True),
        ("lever", 1, {"cobblestone": 1, "stick": 1}, False),
        ("shears", 1, {"iron_ingot": 2}, False),
        ("bread", 1, {"wheat": 3}, True),
        (
            "rabbit_stew",
            1,
            {"baked_potato": 1, "cooked_rabbit": 1, "bowl": 1, "carrot": 1, "brown_mushroom red_mushroom": 1},
            True,
        ),
        ("barrel", 1, {" ".join(PLANKS): 6, " ".join(name.replace("planks", "slab") for name in PLANKS): 2}, True),
    ],
)
def test_amounts_of_vanilla(name: str, count: int, needs: dict[str, int], table: bool) -> None:
    found = named(name)
    assert found.count == count
    assert set(found.needs) == {(frozenset(group.split()), number) for group, number in needs.items()}
    assert found.table == table


def test_the_plainest_way_has_the_bare_name() -> None:
    assert [each.name for each in recipes_for("minecraft:stick")] == ["stick", "stick_from_bamboo"]
    assert recipes_for("red_bed")[0].name == "red_bed"
    assert all(any(each.name == made.makes for each in RECIPES) for made in RECIPES)


def test_what_is_only_found_has_no_recipe() -> None:
    assert [recipes_for(name) for name in ("oak_log", "glass", "iron_ore", "string")] == [(), (), (), ()]
    with pytest.raises(UnknownNameError, match="unknown item 'rope'"):
        recipes_for("rope")


def test_a_group_takes_any_mixture_in_the_order_of_items() -> None:
    inventory = {"birch_planks": 3, "oak_planks": 2, "acacia_planks": 5}
    assert take_ingredients(named("crafting_table"), inventory) == {"oak_planks": 2, "birch_planks": 2}
    assert take_ingredients(named("chest"), inventory) == {"oak_planks": 2, "birch_planks": 3, "acacia_planks": 3}
    assert take_ingredients(named("chest"), {"oak_planks": 7}) is None
    assert take_ingredients(named("stick"), {"oak_planks": 0}) is None


def test_without_a_table_only_the_small_ones() -> None:
    inventory = {"oak_planks": 8, "stick": 2}
    near, far = craftable(inventory, table=True), craftable(inventory, table=False)
    assert {"chest", "wooden_pickaxe", "oak_door"} <= {each.name for each in near}
    assert {"stick", "crafting_table", "oak_button"} <= {each.name for each in far}
    assert far == tuple(each for each in near if not each.table)


@given(INVENTORIES)
def test_what_is_used_is_there_and_is_what_is_needed(inventory: dict[str, int]) -> None:
    for each in RECIPES:
        taken = take_ingredients(each, inventory)
        enough = all(sum(inventory.get(name, 0) for name in group) >= number for group, number in each.needs)
        assert (taken is not None) == enough, each.name
        if taken is not None:
            assert all(0 < number <= inventory[name] for name, number in taken.items())
            assert [sum(taken.get(name, 0) for name in group) for group, _ in each.needs] == [n for _, n in each.needs]
