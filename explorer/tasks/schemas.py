"""Schemas of atomic tasks; a schema yields a task for each of its objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from explorer.tasks.labels import Label, labels

RuleType = Literal["inventory", "box", "near", "at_least", "at_most"]

WOODS: Final = ("oak", "spruce", "birch", "jungle", "acacia", "dark_oak")


@dataclass(frozen=True, slots=True)
class Schema:
    """A kind of achievement, which becomes a task with the choice of an object.

    Attributes:
        text: text of a goal; ``{}`` stands for the object in words, ``{one}`` for the object with its article.
        rule: type of the rule that judges the achievement (:mod:`explorer.milestones`).
        labels: capabilities that the achievement exercises.
        objects: names of items, blocks, mobs, colours or places.
        sources: ways in which the object comes into the world.
    """

    name: str
    text: str
    rule: RuleType
    labels: frozenset[Label]
    objects: tuple[str, ...]
    sources: tuple[str, ...]


def _make_schema(name: str, rule: RuleType, short: str, objects: str, sources: str, text: str) -> Schema:
    """Return a schema.

    Args:
        short: abbreviations of labels, separated by spaces.
        objects, sources: names, separated by spaces.
    """
    object_names = tuple(objects.split())
    source_names = tuple(sources.split())
    return Schema(name, text, rule, labels(short), object_names, source_names)


def _fill_pattern(pattern: str, kinds: tuple[str, ...] | str) -> str:
    """Fill the pattern in with each kind, and return the results as words separated by spaces.

    Args:
        kinds: the kinds, or a text of kinds separated by spaces.
    """
    if isinstance(kinds, str):
        kinds = tuple(kinds.split())
    return " ".join(pattern.format(kind) for kind in kinds)


_GO: Final = (
    _make_schema(
        "enter_room",
        "box",
        "sp cs m",
        "red blue green yellow white purple brick quartz sandstone prismarine",
        "room",
        "Get into the room with the {} floor.",
    ),
    _make_schema("reach_high", "box", "sp cs m j", "roof tower gallery", "room", "Get up to the {}."),
    _make_schema("reach_place", "box", "sp cs m", "island cellar maze_exit far_bank", "room", "Get to the {}."),
    _make_schema(
        "climb_ledge",
        "box",
        "sp cs m j",
        "stone_bricks bricks sandstone quartz_block",
        "room",
        "Get onto the ledge of {}.",
    ),
    _make_schema("jump_over_trench", "box", "sp cs m j", "lava pit", "room", "Get to the other side of the {} trench."),
)
_FIND: Final = (
    _make_schema(
        "find_block",
        "near",
        "sp en re m",
        "gold_block diamond_block emerald_block bookshelf bell jukebox anvil lectern cauldron jack_o_lantern",
        "room",
        "Stand in front of the {} and look at it.",
    ),
    _make_schema(
        "find_banner",
        "near",
        "sp en re m",
        _fill_pattern("{}_banner", "red blue green yellow white black"),
        "room",
        "Stand in front of the {} and look at it.",
    ),
    _make_schema(
        "find_animal",
        "near",
        "sp en re m",
        "cow pig sheep chicken rabbit",
        "mob",
        "Stand in front of the {} and look at it.",
    ),
    _make_schema(
        "find_odd",
        "near",
        "sp en re m",
        "cracked_stone_bricks mossy_stone_bricks chiseled_stone_bricks chiseled_quartz_block",
        "room",
        "Look closely at the only block of {} in its wall.",
    ),
    _make_schema(
        "find_pair",
        "near",
        "sp en re m",
        "red_concrete gold_block lapis_block",
        "room",
        "Look closely at the two blocks of {} that stand beside each other.",
    ),
    _make_schema(
        "find_tallest",
        "near",
        "sp en re m",
        "sandstone bricks",
        "room",
        "Stand in front of the tallest pillar of {} and look at it.",
    ),
    _make_schema(
        "find_flower",
        "near",
        "sp en re m",
        "poppy dandelion blue_orchid oxeye_daisy",
        "ground",
        "Stand in front of the {} and look at it.",
    ),
)
_TAKE: Final = (
    _make_schema(
        "take_item",
        "inventory",
        "sp in cs c",
        "compass emerald clock bucket book map saddle name_tag diamond gold_ingot",
        "lying",
        "Get the {}.",
    ),
    _make_schema(
        "take_from_chest",
        "inventory",
        "sp in cs c",
        "gold_nugget iron_ingot apple egg quartz paper cookie prismarine_shard glass_bottle leather_boots",
        "chest",
        "Get the {} out of its chest.",
    ),
    _make_schema(
        "take_from_third_chest",
        "inventory",
        "sp in re c",
        "heart_of_the_sea golden_apple music_disc_cat",
        "chest",
        "Get the {}; it is in one of several chests.",
    ),
    _make_schema(
        "take_tool",
        "inventory",
        "sp in cs c",
        "shears iron_sword iron_pickaxe diamond_pickaxe",
        "lying chest",
        "Get the {}.",
    ),
    _make_schema(
        "take_handle",
        "inventory",
        "sp in cs c",
        "lever stone_button oak_button birch_button",
        "lying chest",
        "Get the {}.",
    ),
)
_GATHER: Final = (
    _make_schema(
        "chop_log",
        "inventory",
        "en in cs c",
        _fill_pattern("{}_log", WOODS),
        "ground",
        "Put {one} into your inventory.",
    ),
    _make_schema(
        "dig_ground",
        "inventory",
        "en in cs c",
        "dirt sand red_sand gravel coarse_dirt clay_ball",
        "ground",
        "Put a block of {} into your inventory.",
    ),
    _make_schema(
        "take_wool",
        "inventory",
        "en in cs c",
        _fill_pattern("{}_wool", "red blue green yellow black brown"),
        "ground",
        "Put a block of {} into your inventory.",
    ),
    _make_schema(
        "pick_flower",
        "inventory",
        "en in cs c",
        "cornflower allium azure_bluet lily_of_the_valley",
        "ground",
        "Put {one} into your inventory.",
    ),
    _make_schema(
        "harvest",
        "inventory",
        "en in cs c",
        "pumpkin melon_slice hay_block brown_mushroom red_mushroom cactus",
        "ground",
        "Put {one} into your inventory.",
    ),
    _make_schema("cut_cobweb", "inventory", "en in cs c", "string", "ground", "Put {one} into your inventory."),
    _make_schema(
        "clear_leaves",
        "at_most",
        "en st ca c",
        _fill_pattern("{}_leaves", "oak spruce birch"),
        "ground",
        "Clear the way of {}.",
    ),
)
_MINE: Final = (
    _make_schema(
        "mine_stone",
        "inventory",
        "en st ca c",
        "cobblestone granite diorite andesite",
        "ground",
        "Put a block of {} into your inventory.",
    ),
    _make_schema(
        "mine_ore",
        "inventory",
        "en st ca c",
        "coal iron_ore gold_ore lapis_lazuli redstone",
        "ground",
        "Put {one} into your inventory.",
    ),
    _make_schema(
        "clear_plug",
        "at_most",
        "en st ca c",
        "stone granite diorite andesite cobblestone",
        "ground",
        "Clear the {} out of the way.",
    ),
)
_OPEN: Final = (
    _make_schema("pull_lever", "box", "st ca m", "lever", "device", "Get through the iron door."),
    _make_schema(
        "press_button",
        "box",
        "st ca te m",
        "stone_button oak_button birch_button",
        "device",
        "Get through the iron door.",
    ),
    _make_schema(
        "stand_on_plate",
        "box",
        "st ca te m",
        "stone_pressure_plate oak_pressure_plate heavy_weighted_pressure_plate",
        "device",
        "Get through the iron door.",
    ),
    _make_schema("use_two_levers", "box", "st ca m", "lever", "device", "Get through the iron door."),
    _make_schema("use_lever_and_button", "box", "st ca te m", "stone_button", "device", "Get through the iron door."),
    _make_schema(
        "pass_timed_door",
        "box",
        "st ca te m",
        "spruce_button jungle_button acacia_button dark_oak_button",
        "device",
        "Get through the iron door before it closes.",
    ),
    _make_schema("place_lever", "box", "st ca p m", "lever", "lying chest", "Get through the iron door."),
    _make_schema(
        "place_button",
        "box",
        "st ca p m",
        "stone_button oak_button birch_button",
        "lying chest",
        "Get through the iron door.",
    ),
    _make_schema(
        "open_wooden_door",
        "box",
        "st cs m",
        _fill_pattern("{}_door", "oak spruce birch jungle"),
        "device",
        "Get through the {}.",
    ),
)
_PLACE: Final = (
    _make_schema(
        "bridge_moat",
        "at_least",
        "sp ca p",
        "oak_planks spruce_planks birch_planks dirt sand cobblestone",
        "chest ground",
        "Lay {} across the moat.",
    ),
    _make_schema(
        "bridge_chasm",
        "at_least",
        "sp ca p",
        "jungle_planks acacia_planks gravel andesite",
        "chest ground",
        "Lay {} across the chasm.",
    ),
    _make_schema(
        "put_on_pedestal",
        "at_least",
        "sp ca p",
        "gold_block diamond_block pumpkin melon red_wool blue_wool",
        "chest ground",
        "Put {one} onto the pedestal.",
    ),
    _make_schema(
        "fill_hole",
        "at_least",
        "sp ca p",
        "dirt sand cobblestone oak_planks",
        "chest ground",
        "Fill the hole in the floor with {}.",
    ),
    _make_schema(
        "build_step",
        "at_least",
        "sp ca p j",
        "dirt cobblestone oak_planks",
        "chest ground",
        "Build a step of {} before the ledge.",
    ),
    _make_schema(
        "close_gap",
        "at_least",
        "sp ca p",
        _fill_pattern("{}_fence", "oak spruce birch"),
        "chest",
        "Close the gap in the fence with {one}.",
    ),
)
_CRAFT: Final = (
    _make_schema("craft_planks", "inventory", "in ca cr", _fill_pattern("{}_planks", WOODS), "recipe", "Craft {one}."),
    _make_schema(
        "craft_wooden_tool",
        "inventory",
        "in ca cr",
        _fill_pattern("wooden_{}", "pickaxe axe shovel sword hoe"),
        "recipe",
        "Craft {one}.",
    ),
    _make_schema(
        "craft_stone_tool",
        "inventory",
        "in ca cr",
        _fill_pattern("stone_{}", "pickaxe axe shovel sword hoe"),
        "recipe",
        "Craft {one}.",
    ),
    _make_schema(
        "craft_furniture",
        "inventory",
        "in ca cr",
        "crafting_table chest barrel ladder bookshelf composter loom scaffolding",
        "recipe",
        "Craft {one}.",
    ),
    _make_schema(
        "craft_part",
        "inventory",
        "in ca cr",
        "stick bowl oak_door oak_fence oak_boat oak_sign oak_button oak_pressure_plate",
        "recipe",
        "Craft {one}.",
    ),
    _make_schema(
        "craft_bed", "inventory", "in ca cr", _fill_pattern("{}_bed", "white red blue yellow"), "recipe", "Craft {one}."
    ),
    _make_schema(
        "craft_gear",
        "inventory",
        "in ca cr",
        "painting item_frame bow fishing_rod torch campfire",
        "recipe",
        "Craft {one}.",
    ),
    _make_schema("craft_food", "inventory", "in ca cr", "bread mushroom_stew sugar", "recipe", "Craft {one}."),
)
_HUNT: Final = (
    _make_schema(
        "hunt", "at_most", "en ca a", "cow pig sheep chicken rabbit spider", "mob", "Hunt the {}; none may be left."
    ),
    _make_schema(
        "get_drop",
        "inventory",
        "en in ca a",
        "leather porkchop white_wool feather rabbit_hide bone",
        "mob",
        "Put {one} into your inventory.",
    ),
)

SCHEMAS: Final = (*_GO, *_FIND, *_TAKE, *_GATHER, *_MINE, *_OPEN, *_PLACE, *_CRAFT, *_HUNT)
