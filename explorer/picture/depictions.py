"""The drawing and colours of each item, mob and block that is not a cube."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

from explorer.picture import palette
from explorer.picture.drawings import DRAWINGS


@dataclass(frozen=True, slots=True)
class Depiction:
    """A drawing of :data:`~explorer.picture.drawings.DRAWINGS` and its two colours."""

    drawing: str
    colour: int
    second: int = 0


_BLOCKS: Final = """
*torch torch
lever lever
*_button button - FFE36B
*_tulip tulip
*_sapling sapling
*_mushroom mushroom - F2E2D2
*_fungus mushroom - F2C04A
*_roots grass
sugar_cane reeds
bamboo reeds
kelp* reeds
wheat wheat
*grass grass
*fern grass
dead_bush coral 7A5732
carrots grass
potatoes grass
beetroots grass
nether_wart mushroom 8A1418 B02A2A
nether_sprouts grass
sweet_berry_bush sapling
cocoa egg 9A5B2A
*pumpkin_stem vine
*melon_stem vine
*vine* vine
*coral* coral
*_banner banner - F2F2F0
*_sign sign
bell bell B08A2A
*lantern lantern
end_rod torch
potted_* pot A0523A
flower_pot pot A0523A
*_skull head C9C9C4
zombie_*head head 4E8C2E
creeper_*head head 5CB04A
*_head head B58A68
*fire fire
ladder ladder
*rail rail
*_pressure_plate plate
lily_pad pad
brewing_stand lantern
turtle_egg egg DDE3C4
sea_pickle mushroom 6A7A3A B8D88A
conduit head 9A8A6A
redstone_wire dust B01A10
repeater plate B8B4AE
comparator plate B8B4AE
dandelion flower F5D13A E0A92A
poppy tulip D0302A
rose_bush flower B02030 D84050
*orchid tulip 3DA9DB
allium flower B078E0 C79AF0
azure_bluet flower F5D13A EDEFF2
oxeye_daisy flower F5D13A F2F2F0
cornflower flower 3A58C8 6A88F0
lily_of_the_valley tulip F2F2F0
wither_rose tulip 26221E
sunflower flower 7A4A1E F5C431
lilac flower C58AD0 DDB0E6
peony flower E9A0C0 F4C8DA
tripwire_hook lever
"""
"""Name pattern, drawing, colour ("-" or absent: the material's), second colour."""
_ITEMS: Final = """
*_pickaxe pickaxe
*_axe axe
*_shovel shovel
*_hoe hoe
*_sword sword
shears shears
*bow bow
*arrow arrow
lava_bucket bucket - F08A24
milk_bucket bucket - F2F2F0
bucket bucket - 3A3A3E
*bucket bucket - 3560CF
clock round F4D048
compass round A8A8AC
*map sheet E3D6A8 6C98C8
paper sheet F2F2EC
enchanted_book book 7A33AD F4D048
*book book 8A4A26 E3D6A8
stick stick
*_rod stick
string thread E6E9E8
lead thread A07A4A
feather feather
leather hide A0603A
*hide hide B89A6C
bone bone
*_ingot ingot
*brick ingot
*_nugget nugget
diamond gem 5FE3DB
emerald gem 2FCB5C
lapis_lazuli gem 2A52A8
quartz gem EAE4DC
amethyst* gem 9A6AD8
ender_pearl gem 1F6B60
redstone dust C01D10
gunpowder dust 6E6E70
*_dust dust F0C860
sugar dust F2F2F0
*_dye dust
bone_meal dust E6E4DC
coal lump 2A2A2E
charcoal lump 3E3830
flint lump 46464C
clay_ball lump A1A8B5
snowball lump F2F7F9
slime_ball lump 74BF5C
magma_cream lump E79420
*_scrap lump 6A4A41
golden_apple food F4D048
apple food C8322B
*potato food C9A45A
*carrot food EC7A1C
beetroot food 9A2A3A
*berries food B02030
melon_slice food C8403A
*bread food B8863A
cookie food B8763A
porkchop meat E39A94
cooked_* meat 9A5B34
beef meat B83A34
mutton meat C24A44
chicken meat E8BFA0
rabbit meat DDA088
rotten_flesh meat 8A5A38
*egg egg E8DCC0
ink_sac lump 1C1D22
painting painting 8CB6D8
item_frame frame B08050
*_boat boat
*_helmet helmet
*_chestplate chestplate
*_leggings leggings
*_boots boots
*potion bottle B04AC0
*bottle bottle BCD8E8
*_seeds seeds 6E9A3A
wheat wheat
"""
_MOBS: Final = {
    "chicken": Depiction("chicken", 0xF2F2F0),
    "cow": Depiction("cow", 0x54391D),
    "pig": Depiction("pig", 0xE9A0A0),
    "player": Depiction("player", 0x2E9BB5, 0x39418F),
    "rabbit": Depiction("rabbit", 0x7A5732),
    "sheep": Depiction("sheep", 0xF2F2F0),
    "skeleton": Depiction("skeleton", 0xF2F2F0),
    "spider": Depiction("spider", 0x16161A),
    "squid": Depiction("squid", 0x2F4A6A),
    "zombie": Depiction("zombie", 0x4E8C2E, 0x2F7F96),
}
_CUBES: Final = ("jack_o_lantern", "sea_lantern")
"""Names that a pattern would match by accident."""
_METAL_PLATES: Final = {"light_weighted_pressure_plate": 0xF4D048, "heavy_weighted_pressure_plate": 0xD8D8D8}


def _parsed(table: str) -> tuple[tuple[str, Depiction], ...]:
    rows = []
    for line in table.split("\n"):
        if line:
            pattern, drawing, *colours = line.split()
            first, second = (*(int(each, 16) if each != "-" else 0 for each in colours), 0, 0)[:2]
            rows.append((pattern, Depiction(drawing, first, second)))
    return tuple(rows)


_OF_BLOCKS: Final = _parsed(_BLOCKS)
_OF_ITEMS: Final = _parsed(_ITEMS)


@cache
def of_block(name: str, state: str) -> Depiction | None:
    """Return how to draw a block; None for cubes."""
    found = None if name in _CUBES else _found(_OF_BLOCKS, name)
    if found is None:
        return None
    drawing = f"{found.drawing}_on" if state == "on" and f"{found.drawing}_on" in DRAWINGS else found.drawing
    return Depiction(drawing, found.colour or _tone(name), found.second)


@cache
def of_item(kind: str) -> Depiction | None:
    """Return how to draw an item or a mob; None for items that look like their block."""
    found = _MOBS.get(kind) or _found(_OF_ITEMS, kind)
    return found and Depiction(found.drawing, found.colour or _tone_of_item(kind), found.second)


def _found(table: tuple[tuple[str, Depiction], ...], name: str) -> Depiction | None:
    return next((made for pattern, made in table if fnmatchcase(name, pattern)), None)


def _tone(name: str) -> int:
    dyed = palette.dye(name)
    if dyed is not None:
        return dyed
    return _METAL_PLATES.get(name) or palette.material(name).colour


def _tone_of_item(kind: str) -> int:
    dyed, wood = palette.dye(kind), palette.wood(kind)
    if dyed is not None:
        return dyed
    if wood is not None:
        return wood[0]
    made_of = next((key for key in palette.METALS if kind == key or kind.startswith(f"{key}_")), None)
    return palette.METALS[made_of] if made_of else palette.own_colour(kind)
