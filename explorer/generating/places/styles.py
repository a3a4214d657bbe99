"""What rooms look like: every block here is built, so nothing of it can be dug."""

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
"""Look of a room, as in ``enter_room_red`` -> its floor; other rooms have none of these."""
_PLAIN: Final = ("oak_planks", "spruce_planks", "dark_oak_planks", "smooth_stone", "polished_andesite", "gray_concrete")
_WALLS: Final = (
    *("stone_bricks", "white_terracotta", "terracotta", "polished_diorite", "birch_planks", "light_gray_concrete"),
    *("nether_bricks", "end_stone_bricks", "cyan_terracotta", "polished_granite", "red_nether_bricks"),
)
_CEILINGS: Final = ("smooth_stone", "spruce_planks", "light_blue_concrete", "light_gray_terracotta", "dark_oak_planks")
_LAMPS: Final = ("sea_lantern", "glowstone", "redstone_lamp")


@dataclass(frozen=True, slots=True)
class Look:
    """Blocks of a room."""

    floor: str
    wall: str
    ceiling: str
    lamp: str


def looks(rng: random.Random, named: list[str]) -> list[Look]:
    """Return a look for each area: of its name where it has one, else of the scene's few styles."""
    walls = rng.sample(_WALLS, 3)
    floors = rng.sample(_PLAIN, 3)
    ceilings = rng.sample(_CEILINGS, 2)
    lamp = rng.choice(_LAMPS)
    return [
        Look(FLOORS[name] if name else rng.choice(floors), rng.choice(walls), rng.choice(ceilings), lamp)
        for name in named
    ]
