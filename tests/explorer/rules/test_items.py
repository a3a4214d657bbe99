"""The table of items: numbers that never move, placing, digging."""

from __future__ import annotations

import hashlib

import pytest

from explorer.errors import UnknownNameError
from explorer.rules.actions import decode, hold
from explorer.rules.blocks import BLOCKS, Block, code
from explorer.rules.items import ITEMS, block_of, dig_ticks, digs, item, tool_needed
from explorer.rules.mobs import MOBS

TABLE_OF_RULES_1 = "0530e9297a52d9571532a387dbfcb4f5072fe106368cb7162c40a5a2ed45dd55"
"""Files, replays and certificates keep numbers, so whatever changes this is a new version of the rules."""


def block(name: str) -> Block:
    return BLOCKS[code(name)]


def test_numbers_of_rules_1_never_move() -> None:
    table = "\n".join(f"{name} {block_of(name)}" for name in ITEMS)
    assert hashlib.sha256(table.encode()).hexdigest() == TABLE_OF_RULES_1


def test_each_item_has_a_number_and_a_code_to_hold_it() -> None:
    assert len(ITEMS) == 975
    assert [item(name) for name in ITEMS] == list(range(975))
    assert [decode(hold(item(name))).operand for name in ITEMS] == list(range(975))
    assert item("minecraft:lever") == item("lever")


def test_an_unknown_item_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown item 'wooden_pikaxe'; did you mean wooden_pickaxe"):
        item("wooden_pikaxe")
    with pytest.raises(UnknownNameError, match="unknown item 'dirty'; did you mean dirt"):
        block_of("dirty")


def test_what_mobs_drop_are_items() -> None:
    assert {kind.drop.item for kind in MOBS.values()} <= set(ITEMS)


@pytest.mark.parametrize("name", ["dirt", "oak_planks", "cobblestone", "oak_log", "torch", "lever", "stone_button"])
def test_placing_gives_the_block_of_the_name(name: str) -> None:
    assert block_of(name) == block_of(f"minecraft:{name}") == code(name)


@pytest.mark.parametrize(
    "name",
    ["oak_door", "iron_door", "red_bed", "water_bucket", "lava_bucket", "stick", "wheat", "string", "grass", "vine"],
)
def test_what_is_not_placed(name: str) -> None:
    assert block_of(name) is None


def test_all_that_is_placed_stays_where_it_is() -> None:
    placed = [BLOCKS[code] for code in map(block_of, ITEMS) if code is not None]
    assert len(placed) == 623
    assert all(block.state == "" and not block.replaceable and block.kind != "door" for block in placed)


@pytest.mark.parametrize(
    ("name", "able", "unable"),
    [
        ("oak_log", [None, "stick", "wooden_pickaxe"], []),
        ("stone", ["wooden_pickaxe", "golden_pickaxe"], [None, "wooden_shovel"]),
        ("iron_ore", ["stone_pickaxe", "netherite_pickaxe"], [None, "wooden_pickaxe", "golden_pickaxe"]),
        ("diamond_ore", ["iron_pickaxe"], ["stone_pickaxe"]),
        ("cobweb", ["shears", "wooden_sword"], [None, "wooden_axe"]),
        ("stone_bricks", [], [None, "netherite_pickaxe"]),
        ("air", [], [None]),
    ],
)
def test_what_digs(name: str, able: list[str | None], unable: list[str | None]) -> None:
    assert all(digs(held, block(name)) for held in able)
    assert not any(digs(held, block(name)) for held in unable)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("dirt", ""),
        ("stone", "a pickaxe"),
        ("iron_ore", "a stone pickaxe or better"),
        ("gold_ore", "an iron pickaxe or better"),
        ("obsidian", "a diamond pickaxe or better"),
        ("snow_block", "a shovel"),
        ("cobweb", "a sword or shears"),
    ],
)
def test_what_is_needed_in_words(name: str, words: str) -> None:
    assert tool_needed(block(name)) == words


@pytest.mark.parametrize(
    ("held", "name", "seconds"),
    [
        (None, "dirt", 0.75),
        ("wooden_shovel", "dirt", 0.4),
        (None, "oak_log", 3),
        ("stone_axe", "oak_log", 0.75),
        ("wooden_pickaxe", "stone", 1.15),
        ("diamond_pickaxe", "obsidian", 9.4),
        ("shears", "cobweb", 0.4),
        (None, "poppy", 0.05),
    ],
)
def test_digs_take_vanillas_time(held: str | None, name: str, seconds: float) -> None:
    """Times of the game's own table of digging, at 20 ticks a second."""
    assert dig_ticks(held, block(name)) == round(seconds * 20)
