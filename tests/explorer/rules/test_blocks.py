"""The table of blocks: vanilla's facts, our decisions, and codes that never move."""

from __future__ import annotations

import hashlib
from fnmatch import fnmatchcase

import numpy as np
import pytest

from explorer.errors import UnknownNameError
from explorer.rules.blocks import (
    AIR,
    BLOCKS,
    CLEAR,
    DROPS,
    FACTS,
    FLAT,
    KINDS,
    LAVA,
    NATURAL,
    OPAQUE,
    REPLACEABLE,
    SCENERY,
    SOLID,
    UNSEEN,
    USABLE,
    Block,
    code,
    mask,
    variant,
)

ITEMS = set(FACTS["items"])
TABLE_OF_RULES_1 = "34be0cf7b721cc77bb07938cfe2306b22b94646a534e8674bf691abf45758bb1"
"""Files, replays and certificates keep codes, so whatever changes this is a new version of the rules."""
PICKAXES = [f"{material}_pickaxe" for material in ("wooden", "golden", "stone", "iron", "diamond", "netherite")]


def block(name: str, state: str = "") -> Block:
    return BLOCKS[code(name, state)]


def test_all_of_vanilla_is_there() -> None:
    assert len(FACTS["blocks"]) == 763
    # Two kinds of air are one; unseen is new; 9 doors, 11 buttons and levers, 12 plates have a second state.
    assert len(BLOCKS) == 763 - 2 + 1 + 9 + 11 + 12
    assert (UNSEEN, AIR) == (0, 1)
    assert [BLOCKS[UNSEEN].name, BLOCKS[AIR].name, BLOCKS[LAVA].name] == ["unseen", "air", "lava"]


def test_codes_of_rules_1_never_move() -> None:
    table = "\n".join(repr((*astuple(block),)) for block in BLOCKS)
    assert hashlib.sha256(table.encode()).hexdigest() == TABLE_OF_RULES_1


def astuple(block: Block) -> tuple[object, ...]:
    facts = (block.code, block.name, block.state, block.kind, block.solid, block.opaque, block.usable)
    return (*facts, block.replaceable, block.breakable, sorted(block.tools), block.drop, float(block.hardness))


def test_codes_and_names_are_inverse() -> None:
    assert [code(block.name, block.state) for block in BLOCKS] == list(range(len(BLOCKS)))


@pytest.mark.parametrize("alias", ["air", "minecraft:air", "cave_air", "minecraft:void_air"])
def test_names_with_and_without_namespace(alias: str) -> None:
    assert code(alias) == AIR


def test_an_unknown_block_is_told_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown block 'minecraft:oak_lgo'; did you mean oak_log"):
        code("minecraft:oak_lgo")


def test_a_state_that_a_block_has_not_is_told() -> None:
    with pytest.raises(UnknownNameError, match=r"^oak_door: unknown state 'on'; did you mean open"):
        code("oak_door", "on")
    with pytest.raises(UnknownNameError, match=r"^stone: unknown state 'open'$"):
        variant(code("stone"), "open")


def test_a_variant_is_the_same_block() -> None:
    opened = variant(code("iron_door"), "open")
    assert (BLOCKS[opened].name, BLOCKS[opened].state) == ("iron_door", "open")
    assert variant(opened, "") == code("iron_door")


def test_a_door_is_a_cube_or_nothing() -> None:
    doors = [block for block in BLOCKS if block.kind == "door"]
    assert {block.name for block in doors} == {block.name for block in BLOCKS if block.name.endswith("_door")}
    for door in doors:
        closed = door.state == ""
        assert (door.solid, door.opaque, door.usable) == (closed, closed, closed)
        assert not door.replaceable


@pytest.mark.parametrize("name", ["lever", "oak_button", "stone_pressure_plate"])
@pytest.mark.parametrize("state", ["", "on"])
def test_devices_are_touched_but_bar_nothing(name: str, state: str) -> None:
    device = block(name, state)
    assert device.kind == ("plate" if "plate" in name else "device")
    assert (device.solid, device.opaque, device.usable, device.breakable) == (False, False, True, False)


@pytest.mark.parametrize("name", ["oak_slab", "stone_stairs", "oak_fence", "oak_fence_gate", "white_bed", "anvil"])
def test_partial_blocks_are_cubes(name: str) -> None:
    assert block(name).solid
    assert block(name).kind == "built"


@pytest.mark.parametrize("name", ["white_carpet", "rail", "oak_wall_sign", "torch", "red_banner", "poppy", "snow"])
def test_flat_and_thin_things_are_touched_but_bar_nothing(name: str) -> None:
    assert not block(name).solid
    assert block(name).usable


@pytest.mark.parametrize("name", ["air", "water", "lava", "grass", "tall_grass", "fern", "vine"])
def test_what_is_as_good_as_air(name: str) -> None:
    found = block(name)
    assert (found.solid, found.opaque, found.usable, found.replaceable) == (False, False, False, True)


@pytest.mark.parametrize("name", ["glass", "red_stained_glass", "white_stained_glass_pane", "barrier", "iron_bars"])
def test_windows_bar_the_body_and_not_sight(name: str) -> None:
    assert (block(name).solid, block(name).opaque, block(name).breakable) == (True, False, False)


def test_leaves_bar_sight_and_break_by_hand_for_nothing() -> None:
    leaves = block("oak_leaves")
    assert (leaves.solid, leaves.opaque, leaves.breakable) == (True, True, True)
    assert (leaves.tools, leaves.drop) == (frozenset(), None)


def test_only_natural_things_break() -> None:
    assert all(block.breakable == (block.kind == "natural") for block in BLOCKS)
    assert all(block.breakable or (not block.tools and block.drop is None) for block in BLOCKS)


@pytest.mark.parametrize(
    "name",
    [
        *("stone_bricks", "bricks", "quartz_block", "red_concrete", "terracotta", "oak_planks", "sandstone", "glass"),
        *("polished_andesite", "iron_bars", "barrier", "bedrock", "oak_door", "chest", "crafting_table", "torch"),
        *("lever", "potted_poppy", "furnace", "white_bed", "pumpkin_stem", "oak_stairs", "glass_pane"),
    ],
)
def test_what_is_built_never_breaks(name: str) -> None:
    assert not block(name).breakable


@pytest.mark.parametrize(
    ("name", "tools", "drop"),
    [
        ("stone", PICKAXES, "cobblestone"),
        ("cobblestone", PICKAXES, "cobblestone"),
        ("coal_ore", PICKAXES, "coal"),
        ("iron_ore", PICKAXES[2:], "iron_ore"),
        ("gold_ore", PICKAXES[3:], "gold_ore"),
        ("diamond_ore", PICKAXES[3:], "diamond"),
        ("obsidian", PICKAXES[4:], "obsidian"),
        ("cobweb", ["shears", *(tool.replace("pickaxe", "sword") for tool in PICKAXES)], "string"),
        ("oak_log", [], "oak_log"),
        ("grass_block", [], "dirt"),
        ("gravel", [], "gravel"),
        ("clay", [], "clay_ball"),
        ("melon", [], "melon_slice"),
        ("hay_block", [], "hay_block"),
        ("blue_wool", [], "blue_wool"),
        ("red_mushroom", [], "red_mushroom"),
        ("carrots", [], "carrot"),
    ],
)
def test_facts_of_vanilla(name: str, tools: list[str], drop: str) -> None:
    found = block(name)
    assert found.breakable
    assert found.tools == frozenset(tools)
    assert found.drop == drop


@pytest.mark.parametrize(("name", "hardness"), [("stone", 1.5), ("dirt", 0.5), ("obsidian", 50), ("bedrock", -1)])
def test_hardness(name: str, hardness: float) -> None:
    assert block(name).hardness == hardness


def test_all_that_breaks_can_be_dug_and_gives_items() -> None:
    natural = [block for block in BLOCKS if block.breakable]
    assert len(natural) == 146
    assert all(block.hardness >= 0 for block in natural)
    assert {block.drop for block in natural} - {None} <= ITEMS
    assert {tool for block in natural for tool in block.tools} <= ITEMS


def test_no_drop_is_drawn_by_chance_or_choice() -> None:
    for name, *_, drops in FACTS["blocks"]:
        if name in {block.name for block in BLOCKS if block.breakable} and len(drops) > 1:
            assert any(fnmatchcase(name, pattern) for pattern in DROPS), f"{name} gives one of {drops}"


def test_every_pattern_names_a_block() -> None:
    names = {block.name for block in BLOCKS}
    patterns = " ".join((*NATURAL.values(), *DROPS, SCENERY, FLAT, CLEAR, *KINDS)).split()
    assert [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)] == []


def test_no_cell_contradicts_itself() -> None:
    for block in BLOCKS:
        assert block.solid or not block.opaque, block
        assert not (block.replaceable and (block.solid or block.usable or block.breakable)), block
        assert block.solid or block.usable or block.replaceable or block.state == "open" or block.code == UNSEEN, block


def test_tables_are_the_fields() -> None:
    for table, field in ((SOLID, "solid"), (OPAQUE, "opaque"), (USABLE, "usable"), (REPLACEABLE, "replaceable")):
        assert [bool(flag) for flag in table] == [getattr(block, field) for block in BLOCKS]
    cells = np.array([[AIR, code("stone")]], np.uint16)
    assert mask(SOLID)[cells].tolist() == [[False, True]]
