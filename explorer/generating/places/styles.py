"""The looks of rooms: the blocks that a room is built of.

All these blocks are built blocks, which the agent cannot dig.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

FLOORS: Final = {
    "red": "red_concrete",
    "blue": "blue_concrete",
    "green": "green_concrete",
    "yellow": "yellow_concrete",
    "white": "white_concrete",
    "purple": "purple_concrete",
    "brick": "bricks",
    "quartz": "quartz_block",
    "sandstone": "sandstone",
    "prismarine": "prismarine",
}
"""Name of a look, such as ``red`` in the task ``enter_room_red`` -> block of the floor.

The floors of all other rooms consist of other blocks.
"""
_STYLES: Final = (
    ("oak_planks", "stone_bricks", "spruce_planks"),
    ("spruce_planks", "birch_planks", "dark_oak_planks"),
    ("lime_terracotta", "green_terracotta", "light_blue_concrete"),
    ("polished_blackstone", "polished_blackstone_bricks", "polished_basalt"),
    ("terracotta", "smooth_sandstone", "orange_terracotta"),
    ("light_blue_terracotta", "polished_diorite", "light_blue_stained_glass"),
    ("nether_bricks", "red_nether_bricks", "nether_bricks"),
    ("gray_concrete", "cyan_terracotta", "light_gray_concrete"),
    ("polished_andesite", "white_terracotta", "smooth_stone"),
    ("dark_oak_planks", "brown_terracotta", "jungle_planks"),
    ("smooth_stone", "end_stone_bricks", "gray_terracotta"),
    ("pink_terracotta", "magenta_terracotta", "light_gray_terracotta"),
)
"""Names of three blocks each: for the floor, the walls and the ceiling; above a glass ceiling is masonry."""
_LAMPS: Final = ("sea_lantern", "glowstone")
_LIT: Final = 0.35
"""Fraction of the rooms that have lamps in a dark scene."""


@dataclass(frozen=True, slots=True)
class Look:
    """Names of the blocks that a room is built of."""

    floor: str
    wall: str
    ceiling: str
    lamp: str


def draw_looks(rng: random.Random, named: list[str], *, dark: bool = False) -> list[Look]:
    """Return a random look for each area; all looks of a scene come from two to four styles.

    Args:
        named: for each area, a key of :data:`FLOORS` that determines the floor, or "" for the floor of the style.
        dark: whether most rooms have no lamps.
    """
    styles = rng.sample(_STYLES, rng.choice((2, 3, 4)))
    lamp = rng.choice(_LAMPS)
    looks = []
    for name in named:
        floor, wall, ceiling = rng.choice(styles)
        has_lamps = not dark or rng.random() < _LIT
        if name:
            floor = FLOORS[name]
        looks.append(Look(floor, wall, ceiling, lamp if has_lamps else ceiling))
    return looks
