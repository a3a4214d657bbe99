"""The material of each block and item by name: a base colour and a pattern."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Final

Colour = tuple[int, int, int]

DYES: Final = {
    "light_blue": 0x3DA9DB,
    "light_gray": 0x96978F,
    "white": 0xE6E9E8,
    "orange": 0xEC7A1C,
    "magenta": 0xB94AB0,
    "yellow": 0xF5C431,
    "lime": 0x74B925,
    "pink": 0xE98CAA,
    "gray": 0x474B50,
    "cyan": 0x1B8B93,
    "purple": 0x7A33AD,
    "blue": 0x3A42A6,
    "brown": 0x764A2B,
    "green": 0x56731F,
    "red": 0xAB2A25,
    "black": 0x1C1D22,
}
"""Longer names first, since ``blue`` ends ``light_blue``."""
WOODS: Final = {
    "dark_oak": (0x4C3219, 0x3E2F1C),
    "oak": (0xA88653, 0x6F5735),
    "spruce": (0x7A5A35, 0x453020),
    "birch": (0xC6B580, 0xDAD8D0),
    "jungle": (0xA67757, 0x5B4A26),
    "acacia": (0xB06038, 0x6C655B),
    "crimson": (0x70364D, 0x64242A),
    "warped": (0x2F746E, 0x3C4455),
}
"""Colours of planks and bark."""
METALS: Final = {
    "wooden": 0x8F6B3C,
    "stone": 0x8C8C8C,
    "iron": 0xD8D8D8,
    "golden": 0xF4D048,
    "gold": 0xF4D048,
    "diamond": 0x5FE3DB,
    "netherite": 0x4B4548,
    "emerald": 0x2FCB5C,
    "lapis": 0x2A52A8,
    "lapis_lazuli": 0x2A52A8,
    "redstone": 0xC01D10,
    "coal": 0x242428,
    "charcoal": 0x35302B,
    "copper": 0xC06B4A,
    "quartz": 0xEAE4DC,
    "leather": 0xA0603A,
    "chainmail": 0x9A9A9A,
    "brick": 0x9E6350,
    "nether_brick": 0x33191E,
}


@dataclass(frozen=True, slots=True)
class Material:
    """A pattern of :data:`explorer.picture.furnishings.PATTERNS` and its colours; ``rim`` hangs over the sides."""

    pattern: str
    colour: int
    second: int = 0
    rim: int = 0


_RULES: Final = """
grass_block grain 71A63F
dirt grain 8A6345
coarse_dirt pebbles 7C5A3E
podzol grain 6B4A22
mycelium grain 776A70
farmland furrows 64411F
grass_path grain 9A7C45
crimson_nylium grain 87252A
warped_nylium grain 2E7F76
*sand sandy DCD0A4
red_sand sandy C06A28
gravel pebbles 8A8583
clay sandy A1A8B5
soul_sand pebbles 54413A
soul_soil grain 4E3C33
*snow* sandy F2F7F9
packed_ice ice 8FB6F2
blue_ice ice 74A6F5
*ice ice 9CC0F5
cobblestone cobble 868686
mossy_cobblestone cobble 7C8A6C
stone grain 7F8080
smooth_stone polished A3A4A4
granite speckle 9A6B5A BC8A75
diorite speckle C3C3C4 8E8E90
andesite speckle 8B8D8C A3A6A4
blackstone cobble 30292F
gilded_blackstone ore 30292F F0C24A
basalt ridges 55565E
polished_basalt ridges 5F6068
obsidian speckle 17111F 35244F
crying_obsidian ore 17111F 8A2BE2
bedrock pebbles 525254
netherrack grain 6C2C2B
magma_block ore 52221A F2811D
end_stone speckle DCDFA0 C4C784
glowstone crystals D9A95C FFE7A0
sea_lantern crystals B3CFC6 E9FBF4
shroomlight crystals EE9550 FFC98A
*coal_ore ore 7F8080 26262A
iron_ore ore 7F8080 DDB391
gold_ore ore 7F8080 F8DE4E
diamond_ore ore 7F8080 57E4EA
lapis_ore ore 7F8080 2B56C0
redstone_ore ore 7F8080 E01512
emerald_ore ore 7F8080 1FD865
nether_quartz_ore ore 6C2C2B E8DFD6
nether_gold_ore ore 6C2C2B F8DE4E
ancient_debris rings 6A4A41 3C2A26
*quartz_bricks bricks EAE4DC
quartz_pillar ridges EAE4DC
*quartz* polished ECE6DE
purpur_pillar ridges AC80AC
purpur* tiles AC80AC
end_stone_bricks bricks DCDFA0
stone_bricks blocks 7D7E7E
mossy_stone_bricks mossy 7D7E7E 66803F
cracked_stone_bricks cracked 7D7E7E
chiseled_stone_bricks chiseled 7D7E7E
polished_blackstone_bricks blocks 312B33
cracked_polished_blackstone_bricks cracked 312B33
red_nether_bricks bricks 4E0F12
nether_bricks bricks 341A20
cracked_nether_bricks cracked 341A20
chiseled_nether_bricks chiseled 341A20
prismarine_bricks bricks 67A59C
dark_prismarine tiles 365E4E
prismarine cobble 659F98
bricks bricks 9E6350
red_sandstone strata BA6A2B
*red_sandstone polished BA6A2B
sandstone strata D9CD9F
*sandstone polished D9CD9F
netherite_block metal 46413F
iron_block metal DADADA
gold_block metal F5CE42
diamond_block metal 66E6DE
emerald_block metal 30CC5C
lapis_block metal 28509F
redstone_block metal B01C0E
coal_block metal 1B1B1F
bone_block ridges E3DEC8
hay_block straw B99A1E
*honey* crystals E79420 F7BF4E
slime_block glass 74BF5C
sponge pebbles C8C24B
wet_sponge pebbles A6A544
bookshelf books A88653
melon ribs 6F9A2A 4D7A1E
pumpkin ribs D8811F B9660F
carved_pumpkin face D8811F 4A2606
jack_o_lantern face D8811F FFE36B
cactus ribs 5C8A35 3F6A24
brown_mushroom_block speckle 95704F A98563
red_mushroom_block speckle C4302B E9D5C9
mushroom_stem ridges CBC4B8
nether_wart_block pebbles 75070A
warped_wart_block pebbles 177879
dried_kelp_block straw 3A4A26
*_coral_block pebbles C2508A
dead_*_coral_block pebbles 857E79
tnt bands C23B2A EDE9E2
target target E6DDD2 C4352C
note_block framed 6B4530 9C6B4A
jukebox framed 6B4530 3A241A
crafting_table bench B08755 5D3F22
fletching_table bench CDB98A 7E6A45
smithing_table bench 3D3F4C 23242C
cartography_table bench 7A5A35 D8D0B0
loom framed C2A878 7A5A35
composter framed A06E3A 4A3018
lectern framed A88653 6F5735
bee_nest framed D0A55A 8A5A22
beehive framed B99A62 6F5735
honeycomb_block tiles E59420
*furnace oven 858585 242220
smoker oven 6E665A 242220
dispenser oven 858585 242220
dropper oven 858585 242220
observer oven 6F6F6F 3A1410
hopper framed 4E4E52 2E2E32
cauldron framed 4A4A4E 2A2A2E
*anvil metal 4A4A4E
enchanting_table framed 5A1D24 37D6C8
ender_chest chest 1E2E30 3FAF9A
*trapped_chest chest A87A34 B02A20
chest chest A87A34 D8D8D8
barrel barrel 86653A 4A3C2C
shulker_box chest 8F628F 5F3D5F
*command_block framed B0805E 6A4A36
structure_block framed 57434F C6C0C4
jigsaw framed 57434F C6C0C4
redstone_lamp crystals 6A3E22 8C5B30
beacon crystals 7CD9D2 E5FFFB
spawner bars 2A3A48
respawn_anchor framed 1E1428 8A3AE0
lodestone chiseled 9A9B9F
piston* framed A88653 7F8080
sticky_piston framed 8AA860 7F8080
daylight_detector framed 8F7C60 D8C9A8
end_portal_frame framed D5D6A0 2F7A66
dragon_egg pebbles 16101C
cake bands E9DCD0 B5482F
stonecutter framed 8A8A8A C9C9C9
grindstone framed 8A8A8A 6B4530
chorus_flower pebbles A98BB0
chorus_plant pebbles 6E4E74
iron_bars bars 9C9DA0
chain bars 4A5062
iron_trapdoor hatch C9C9C9
scaffolding hatch C9A75A
cobweb web EDEFF2
barrier clear FFFFFF
glass glass D6ECF2
glass_pane glass D6ECF2
terracotta grain 9E6349
iron_door iron_door CFD0D2
water liquid 3560CF
lava lava E8611A
unseen grain 20242E
"""
_SUFFIXES: Final = ("_stairs", "_slab", "_wall", "_fence_gate", "_fence", "_trapdoor", "_pressure_plate", "_button")


def _parsed() -> tuple[tuple[str, Material], ...]:
    rules = []
    for line in _RULES.split("\n"):
        if line:
            pattern, kind, colour, *second = line.split()
            rules.append((pattern, Material(kind, int(colour, 16), int(second[0], 16) if second else 0)))
    return tuple(rules)


_PARSED: Final = _parsed()


def rgb(colour: int) -> Colour:
    """Return red, green and blue of 0xRRGGBB."""
    return colour >> 16, colour >> 8 & 255, colour & 255


def mixed(first: int, second: int, share: float) -> int:
    """Return a mix of two colours; ``share`` is the second one's."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(rgb(first), rgb(second), strict=True))
    return red << 16 | green << 8 | blue


def dye(name: str) -> int | None:
    """Return the dye that a name starts with, as in ``red_wool``, or None."""
    return next((colour for key, colour in DYES.items() if name.startswith(f"{key}_")), None)


def wood(name: str) -> tuple[int, int] | None:
    """Return the colours of planks and bark of the wood that a name starts with, or None."""
    bare = name.removeprefix("stripped_")
    return next((colours for key, colours in WOODS.items() if bare.startswith(f"{key}_")), None)


@cache
def material(name: str) -> Material:
    """Return the material of a block; a block without a rule gets a muted colour made from its name."""
    made = _dyed(name) or _wooden(name) or _ruled(name)
    if made:
        return made
    for suffix in _SUFFIXES:
        if name.endswith(suffix):
            bare = name.removesuffix(suffix)
            for whole in (bare, f"{bare}s", f"{bare}_block"):
                if found := _ruled(whole):
                    return found
    for prefix in ("infested_", "petrified_"):
        if name.startswith(prefix):
            return material(name.removeprefix(prefix))
    for prefix in ("polished_", "smooth_", "cut_", "chiseled_"):
        if name.startswith(prefix):
            below = material(name.removeprefix(prefix))
            return Material("chiseled" if prefix == "chiseled_" else "polished", below.colour, below.second)
    return Material("grain", own_colour(name))


def own_colour(name: str) -> int:
    """Return a muted colour that depends only on the name."""
    drawn = zlib.crc32(name.encode())
    red, green, blue = (70 + (drawn >> shift & 127) for shift in (0, 8, 16))
    return red << 16 | green << 8 | blue


def _ruled(name: str) -> Material | None:
    return next((made for pattern, made in _PARSED if fnmatchcase(name, pattern)), None)


def _dyed(name: str) -> Material | None:
    colour = dye(name)
    if colour is None:
        return None
    for ending, pattern, toned in (
        ("_wool", "wool", colour),
        ("_carpet", "wool", colour),
        ("_concrete", "smooth", mixed(colour, 0x000000, 0.08)),
        ("_concrete_powder", "sandy", mixed(colour, 0xFFFFFF, 0.12)),
        ("_glazed_terracotta", "glazed", colour),
        ("_terracotta", "grain", mixed(colour, 0x9E6349, 0.5)),
        ("_bed", "bed", colour),
        ("_shulker_box", "chest", colour),
    ):
        if name.endswith(ending):
            return Material(pattern, toned, mixed(colour, 0xFFFFFF, 0.5))
    return Material("glass", colour, colour) if "stained_glass" in name else None


def _wooden(name: str) -> Material | None:
    colours = wood(name)
    if colours is None:
        return None
    planks, bark = colours
    if name.startswith("stripped_"):
        return Material("bark", mixed(planks, 0xFFFFFF, 0.08), planks)
    for ending, pattern, colour, second in (
        ("_leaves", "leaves", mixed(0x4C8A2C, bark, 0.2), bark),
        ("_wart_block", "pebbles", planks, planks),
        ("_log", "birch" if name.startswith("birch") else "bark", bark, planks),
        ("_wood", "birch" if name.startswith("birch") else "bark", bark, planks),
        ("_stem", "bark", bark, planks),
        ("_hyphae", "bark", bark, planks),
        ("_door", "door", planks, bark),
        ("_trapdoor", "hatch", planks, bark),
        ("_fence", "fence", planks, bark),
        ("_fence_gate", "fence", planks, bark),
    ):
        if name.endswith(ending):
            return Material(pattern, colour, second)
    return Material("planks", planks, bark)
