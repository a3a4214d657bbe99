"""The looks of rooms; all of their blocks are built, so none can be dug."""

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
"""Named look of a room, as in ``enter_room_red`` -> its floor; other rooms use none of these floors."""
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
"""Floor, wall and ceiling; glass in a ceiling has masonry above it."""
_LAMPS: Final = ("sea_lantern", "glowstone")
_LIT: Final = 0.35
"""Share of rooms with lamps in a dark scene."""


@dataclass(frozen=True, slots=True)
class Look:
    """The blocks that a room is built of."""

    floor: str
    wall: str
    ceiling: str
    lamp: str


def draw_looks(rng: random.Random, named: list[str], *, dark: bool = False) -> list[Look]:
    """Return a look for each area: one of the scene's few styles, with the named floor if the area has one.

    Args:
        dark: whether most rooms have no lamps.
    """
    styles = rng.sample(_STYLES, rng.choice((2, 3, 4)))
    lamp = rng.choice(_LAMPS)
    found = []
    for name in named:
        floor, wall, ceiling = rng.choice(styles)
        lit = not dark or rng.random() < _LIT
        found.append(Look(FLOORS[name] if name else floor, wall, ceiling, lamp if lit else ceiling))
    return found
