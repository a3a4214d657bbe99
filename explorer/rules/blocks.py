"""The blocks: facts of vanilla Minecraft 1.16.5, and the decisions that turn these facts into version "1" of the rules.

* For a body, a cell is either a full cube or empty. Slabs, stairs, fences, gates, walls, beds, pots and trapdoors are
  full cubes. Carpets, rails, signs, torches, plants, ladders and other flat or thin blocks are empty; so are water and
  vines.
* A closed door is a cube that blocks sight; an open door is empty. Only ``*_door`` blocks are doors.
* Only natural blocks break; :data:`NATURAL` lists them all. A block with ``harvestTools`` breaks only with one of these
  tools; all other natural blocks break with bare hands. Built blocks never break; terracotta, sandstone and planks
  count as built.
* Digging a block always gives the same single item, or no item. :data:`DROPS` lists the differences from vanilla.
* An agent can see through :data:`CLEAR` cubes, but not reach through them. Leaves block sight.
* Grasses, vines and other :data:`SCENERY` act like air: bodies and hands pass through, and placed blocks replace them.

A block's code is its index in :data:`BLOCKS`; it is the same in every scene with version "1" of the rules.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.errors import UnknownNameError

Kind = Literal[
    "unseen", "air", "water", "lava", "natural", "built", "decor", "door", "device", "plate", "chest", "table"
]
"""Kind of a block; kinds that their names do not explain are listed here.

``unseen``: stands for a cell that the agent has not seen. ``natural``: breakable. ``built``: cubes that never break.
``decor``: does not stop a body, never breaks. ``device``: levers and buttons. ``plate``: pressure plates. ``table``:
crafting tables.
"""
State = Literal["", "open", "on"]

FACTS: Final[dict[str, list[Any]]] = json.loads(Path(__file__).with_name("items_and_recipes.json").read_text("utf-8"))
"""Name of a table -> its rows; the tables list vanilla's blocks, items, recipes and tool speeds.

``scripts/rules`` writes the file from which they are read.
"""

NATURAL: Final = {
    "earth": "dirt coarse_dirt grass_block podzol mycelium farmland grass_path sand red_sand gravel clay soul_sand"
    " soul_soil snow snow_block ice packed_ice blue_ice",
    "stone": "stone granite diorite andesite cobblestone mossy_cobblestone obsidian basalt blackstone netherrack"
    " crimson_nylium warped_nylium end_stone",
    "ores": "*_ore ancient_debris",
    "trees": "*_log *_wood *crimson_stem *warped_stem *_hyphae *_leaves *_wart_block *_mushroom_block mushroom_stem"
    " shroomlight",
    "fields": "pumpkin melon hay_block cactus sugar_cane bamboo wheat carrots potatoes beetroots nether_wart cocoa"
    " sweet_berry_bush",
    "flowers": "dandelion poppy blue_orchid allium azure_bluet *_tulip oxeye_daisy cornflower lily_of_the_valley"
    " wither_rose sunflower lilac rose_bush peony lily_pad",
    "seedlings": "*_sapling *_mushroom *_fungus crimson_roots warped_roots",
    "animals": "*_wool cobweb",
}
"""Group -> name patterns of the blocks that break.

Potted plants match some patterns, but do not break.
"""

DROPS: Final = {
    "gravel": "gravel",
    "cobweb": "string",
    "snow": "snowball",
    "wheat": "wheat",
    "beetroots": "beetroot",
    "potatoes": "potato",
    **dict.fromkeys(("*_leaves", "*_mushroom_block"), None),
}
"""Name pattern -> the item that digging the block gives, or None for no item.

In vanilla, the drop of these blocks depends on chance, age or tool.
"""

SCENERY: Final = (
    "grass tall_grass fern large_fern dead_bush vine *_vines *_vines_plant nether_sprouts seagrass tall_seagrass kelp"
    " kelp_plant bubble_column fire soul_fire structure_void moving_piston nether_portal end_portal end_gateway"
)
"""Name patterns of blocks that act like air."""
FLAT: Final = "*_carpet repeater comparator lily_pad ladder snow"
"""Name patterns of blocks that have a thin box in vanilla, but that do not stop a body here."""
CLEAR: Final = (
    "glass *_glass *glass_pane barrier iron_bars chain cobweb ice frosted_ice slime_block honey_block spawner beacon"
    " conduit *_fence *_fence_gate scaffolding bamboo lantern soul_lantern end_rod bell brewing_stand flower_pot"
    " potted_* *_skull *_head chorus_plant cake turtle_egg sea_pickle"
)
"""Name patterns of full cubes that an agent can see through."""
KINDS: Final[dict[str, Kind]] = {
    "unseen": "unseen",
    "air": "air",
    "water": "water",
    "lava": "lava",
    "*_door": "door",
    "lever": "device",
    "*_button": "device",
    "*_pressure_plate": "plate",
    "chest": "chest",
    "trapped_chest": "chest",
    "barrel": "chest",
    "*shulker_box": "chest",
    "crafting_table": "table",
}
"""Name pattern -> kind of the blocks that match; the first matching pattern decides.

Blocks that match no pattern are natural, built or decor.
"""
ALIASES: Final = {"cave_air": "air", "void_air": "air"}
"""Name of a block in vanilla -> name of the block that replaces it here."""


@dataclass(frozen=True, slots=True)
class Block:
    """The content of a cell: a block in one of its states.

    Attributes:
        code: index of the block in :data:`BLOCKS`.
        name: name without the namespace ``minecraft:``.
        state: ``open`` for an open door; ``on`` for a lever, button or plate that is on; otherwise "".
        solid: whether the block stops a body, and stops a ray that finds what hands touch.
        opaque: whether the block stops sight.
        usable: whether the block stops a ray that finds what hands touch, even if a body can pass.
        replaceable: whether a placed block may replace this block.
        breakable: whether the block can be dug.
        tools: items that break the block; empty if bare hands break it.
        drop: the item that digging the block gives, or None.
        hardness: vanilla's hardness, which determines the ticks of a dig; -1 for blocks that cannot be dug in vanilla.
    """

    code: int
    name: str
    state: State
    kind: Kind
    solid: bool
    opaque: bool
    usable: bool
    replaceable: bool
    breakable: bool
    tools: frozenset[str]
    drop: str | None
    hardness: float


@cache
def _compile_patterns(patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(map(translate, patterns.split())))


def _matches(name: str, patterns: str) -> bool:
    """Return whether a name matches at least one of the patterns.

    Args:
        patterns: patterns with wildcards, separated by spaces.
    """
    return _compile_patterns(patterns).match(name) is not None


def _find_kind(name: str, solid: bool) -> Kind:
    """Return the kind of the block called ``name``.

    Args:
        solid: whether the block collides with a body; decides between "built" and "decor" if no pattern matches.
    """
    for pattern, kind in KINDS.items():
        if _matches(name, pattern):
            return kind
    natural = any(_matches(name, patterns) for patterns in NATURAL.values())
    if natural and not name.startswith("potted_"):
        return "natural"
    return "built" if solid else "decor"


def _find_drop(name: str, drops: list[str]) -> str | None:
    """Return the item that digging a block gives, or None if there is no such item.

    A pattern of :data:`DROPS` that matches the name decides; otherwise, the first entry of ``drops`` does.

    Args:
        drops: the drops of the block in vanilla.
    """
    for pattern, drop in DROPS.items():
        if _matches(name, pattern):
            return drop
    return drops[0] if drops else None


def _list_states(kind: Kind) -> tuple[State, ...]:
    """Return the states that blocks of a kind can have; the initial state comes first."""
    if kind == "door":
        return ("", "open")
    return ("", "on") if kind in ("device", "plate") else ("",)


def _list_blocks() -> Iterator[Block]:
    """Yield every block in every state, in the order of codes.

    The block ``unseen`` comes first, then vanilla's blocks in vanilla's order; the states of a block follow each other.
    """
    code = 0
    unseen = ["unseen", -1, 0, "", [], []]
    for name, hardness, collides, _, tools, drops in [unseen, *FACTS["blocks"]]:
        if name in ALIASES:
            continue
        has_box = bool(collides) or name == "cobweb"
        solid = has_box and not _matches(name, FLAT)
        kind = _find_kind(name, solid)
        breakable = kind == "natural"
        acts_like_air = kind in ("unseen", "air", "water", "lava") or _matches(name, SCENERY)
        is_plain_cube = solid and kind in ("natural", "built")
        for state in _list_states(kind):
            is_open = state == "open"
            bars_way = solid and not is_open
            yield Block(
                code=code,
                name=name,
                state=state,
                kind=kind,
                solid=bars_way,
                opaque=bars_way and not _matches(name, CLEAR),
                usable=not (is_open or acts_like_air or is_plain_cube),
                replaceable=acts_like_air and kind != "unseen",
                breakable=breakable,
                tools=frozenset(tools) if breakable else frozenset(),
                drop=_find_drop(name, drops) if breakable else None,
                hardness=hardness,
            )
            code += 1


BLOCKS: Final = tuple(_list_blocks())
UNSEEN: Final = 0
AIR: Final = 1
_CODES: Final[dict[tuple[str, str], int]] = {(block.name, block.state): block.code for block in BLOCKS}
LAVA: Final = _CODES["lava", ""]
SOLID: Final = bytes(block.solid for block in BLOCKS)
OPAQUE: Final = bytes(block.opaque for block in BLOCKS)
USABLE: Final = bytes(block.usable for block in BLOCKS)
REPLACEABLE: Final = bytes(block.replaceable for block in BLOCKS)
"""Four tables of 0 and 1 by block code: for each code, one byte.

They are bytes because indexing bytes is the fastest way to test a single cell.
"""


def mask(table: bytes) -> NDArray[np.bool_]:
    """Return a table of 0 and 1 by block code, such as :data:`SOLID`, as a Boolean array.

    An array of block codes can index the result.
    """
    return np.frombuffer(table, np.bool_)


@cache
def has_kind(*kinds: Kind) -> NDArray[np.bool_]:
    """Return a Boolean array by block code: whether the kind of the block is one of ``kinds``."""
    return np.array([block.kind in kinds for block in BLOCKS])


def code(name: str, state: str = "") -> int:
    """Return the code of the block with a name and a state; the name may begin with ``minecraft:``.

    Raises:
        UnknownNameError: no block has this name, or the block has no such state.
    """
    bare = name.removeprefix("minecraft:")
    bare = ALIASES.get(bare, bare)
    known_code = _CODES.get((bare, state))
    if known_code is not None:
        return known_code
    states = [block.state for block in BLOCKS if block.name == bare]
    if states:
        raise UnknownNameError("state", state, filter(None, states), field=bare)
    raise UnknownNameError("block", name, dict.fromkeys(block.name for block in BLOCKS))


def variant(block: int, state: str) -> int:
    """Return the code of the same block in the state ``state``.

    Args:
        block: code of the block in any state.

    Raises:
        UnknownNameError: the block has no such state.
    """
    return code(BLOCKS[block].name, state)
