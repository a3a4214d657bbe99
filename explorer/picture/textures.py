"""Textures of blocks, items and mobs, all drawn by us, and the atlas that pictures and the browser's player share."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.picture import depictions, palette
from explorer.picture.drawings import DRAWINGS, INKS
from explorer.picture.furnishings import PATTERNS
from explorer.picture.patterns import SIDE, Tile
from explorer.rules.blocks import BLOCKS, Block

Pixels = NDArray[np.uint8]
Shape = Literal["none", "cube", "upright", "flat", "panel", "unseen"]
"""How a block fills its cell: not at all, as a cube, as a picture that faces the eye, as a sheet on the floor, as an
open door at a side, or unknown."""
Face = Literal["top", "side", "bottom"]


@dataclass(frozen=True, slots=True)
class Look:
    """The look of a block.

    Attributes:
        top, side, bottom: numbers of tiles; unless it is a cube, only ``side`` counts.
    """

    name: str
    state: str
    shape: Shape
    top: int
    side: int
    bottom: int


@dataclass(frozen=True, slots=True, eq=False)
class Atlas:
    """The tiles of some blocks, items and mobs.

    Attributes:
        tiles: RGBA, uint8 ``[n, 16, 16, 4]``.
        looks: code of a block -> its look.
        sprites: kind of an item or mob -> number of its tile.
    """

    tiles: Pixels
    looks: dict[int, Look]
    sprites: dict[str, int]

    def sheet(self) -> Pixels:
        """Return all tiles in one picture, in rows of 16, RGBA ``[height, 256, 4]``."""
        rows = -(-len(self.tiles) // SIDE)
        full = np.zeros((rows * SIDE, SIDE, SIDE, 4), dtype=np.uint8)
        full[: len(self.tiles)] = self.tiles
        return full.reshape(rows, SIDE, SIDE, SIDE, 4).swapaxes(1, 2).reshape(rows * SIDE, SIDE * SIDE, 4)


def atlas(codes: Iterable[int], kinds: Iterable[str] = ()) -> Atlas:
    """Return the textures of blocks by code and of items and mobs by kind."""
    return _atlas(tuple(sorted({int(code) for code in codes})), tuple(sorted(set(kinds))))


@cache
def texture(name: str, state: str = "", face: Face = "side") -> Pixels:
    """Return a tile of a block, RGBA ``[16, 16, 4]``."""
    if face == "bottom" and name in _BOTTOMS:
        return texture(_BOTTOMS[name])
    depiction = depictions.of_block(name, state)
    return _drawn(depiction) if depiction else _patterned(name, _material(name, face))


@cache
def sprite(kind: str) -> Pixels:
    """Return a tile of an item or a mob, RGBA ``[16, 16, 4]``; an item that is a block looks like a small block."""
    depiction = depictions.of_item(kind)
    if depiction:
        return _drawn(depiction)
    code = _CODES.get(kind)
    if code is None or not texture(kind)[..., 3].any():
        return _drawn(depictions.Depiction("unknown", palette.own_colour(kind)))
    return _small_cube(kind) if shape(BLOCKS[code]) in ("cube", "panel") else texture(kind)


@cache
def shape(block: Block) -> Shape:
    """Return how a block fills its cell."""
    if block.name == "unseen":
        return "unseen"
    if block.name in _NOTHING:
        return "none"
    if any(fnmatchcase(block.name, pattern) for pattern in _FLAT):
        return "flat"
    if block.state == "open":
        return "panel"
    return "upright" if depictions.of_block(block.name, block.state) else "cube"


def mean(pixels: Pixels) -> NDArray[np.float64]:
    """Return the mean colour of the pixels that are not clear, ``[3]``."""
    weights = pixels[..., 3].astype(np.float64)
    total: NDArray[np.float64] = (pixels[..., :3] * weights[..., None]).sum(axis=(0, 1)) / max(weights.sum(), 1)
    return total


_NOTHING: Final = ("air", "structure_void", "moving_piston", "tripwire", "bubble_column", "end_gateway")
_FLAT: Final = (
    "*_pressure_plate", "*_carpet", "*rail", "lily_pad", "redstone_wire", "snow", "repeater", "comparator",
)  # fmt: skip
_CODES: Final = {block.name: block.code for block in reversed(BLOCKS)}
_BOTTOMS: Final = {
    **dict.fromkeys(("grass_block", "podzol", "mycelium", "grass_path", "farmland"), "dirt"),
    **dict.fromkeys(("crimson_nylium", "warped_nylium"), "netherrack"),
}
"""Blocks that look like another one except for the top and the rim below it."""
_LIDS_OF_PATTERNS: Final = {"chest": "framed", "oven": "polished", "books": "planks", "bench": "tiles"}
_LIDS: Final = {
    "pumpkin": ("grain", 0xC07018),
    "carved_pumpkin": ("grain", 0xC07018),
    "jack_o_lantern": ("grain", 0xC07018),
    "melon": ("grain", 0x7DA636),
    "cactus": ("polished", 0x6A9A42),
    "hay_block": ("target", 0xC2A22A),
    "barrel": ("polished", 0x8A6A40),
    "tnt": ("target", 0xE3D8CC),
    "sandstone": ("smooth", 0xDFD3A6),
    "red_sandstone": ("smooth", 0xC07030),
    "quartz_pillar": ("chiseled", 0xEAE4DC),
    "basalt": ("target", 0x5A5B63),
    "bone_block": ("target", 0xE3DEC8),
    "cake": ("speckle", 0xF2E9E2),
}
"""Tops and bottoms that differ from the sides."""


@lru_cache(maxsize=16)
def _atlas(codes: tuple[int, ...], kinds: tuple[str, ...]) -> Atlas:
    tiles: list[Pixels] = []
    numbers: dict[int, int] = {}

    def number(pixels: Pixels) -> int:
        # Textures are cached, so equal ones are the same object.
        if id(pixels) not in numbers:
            numbers[id(pixels)] = len(tiles)
            tiles.append(pixels)
        return numbers[id(pixels)]

    looks = {}
    for code in codes:
        block = BLOCKS[code]
        top, side, bottom = (number(texture(block.name, block.state, face)) for face in ("top", "side", "bottom"))
        looks[code] = Look(block.name, block.state, shape(block), top, side, bottom)
    sprites = {kind: number(sprite(kind)) for kind in kinds}
    stacked = np.stack(tiles) if tiles else np.zeros((0, SIDE, SIDE, 4), dtype=np.uint8)
    return Atlas(stacked, looks, sprites)


def _material(name: str, face: Face) -> palette.Material:
    made = palette.material(name)
    if name in _BOTTOMS and face == "side":
        return replace(palette.material(_BOTTOMS[name]), rim=made.colour)
    if face == "side":
        return made
    if name in _LIDS:
        pattern, colour = _LIDS[name]
        return palette.Material(pattern, colour, palette.mixed(colour, 0x000000, 0.2))
    if name.endswith(("_log", "_stem")):
        return palette.Material("rings", made.second, made.colour)
    lid = _LIDS_OF_PATTERNS.get(made.pattern)
    return palette.Material(lid, palette.mixed(made.colour, 0x000000, 0.25), made.colour) if lid else made


@cache
def _patterned(name: str, made: palette.Material) -> Pixels:
    colours = [np.array(palette.rgb(colour), dtype=np.float64) for colour in (made.colour, made.second)]
    draw = np.random.default_rng(zlib.crc32(f"{name} {made.pattern}".encode()))
    tile = PATTERNS[made.pattern](draw, *colours)
    if made.rim:
        # What grows on a block hangs over its sides.
        depth = 2 + draw.integers(0, 3, SIDE)
        tile[np.arange(SIDE)[:, None] < depth, :3] = np.array(palette.rgb(made.rim))
        tile[..., :3] *= draw.uniform(0.9, 1.08, (SIDE, SIDE, 1))
    return _rounded(tile)


def _rounded(tile: Tile) -> Pixels:
    made = tile.copy()
    made[..., 3] *= 255
    pixels = np.clip(np.rint(made), 0, 255).astype(np.uint8)
    pixels.flags.writeable = False
    return pixels


@cache
def _drawn(depiction: depictions.Depiction) -> Pixels:
    colour, second = depiction.colour, depiction.second
    shades = {
        "a": colour,
        "b": palette.mixed(colour, 0x000000, 0.35),
        "c": palette.mixed(colour, 0xFFFFFF, 0.3),
        "d": second,
        "e": palette.mixed(second, 0x000000, 0.35),
        **INKS,
    }
    tile = np.zeros((SIDE, SIDE, 4))
    lines = DRAWINGS[depiction.drawing]
    for row, line in enumerate(lines, SIDE - len(lines)):
        for column, letter in enumerate(line):
            if letter != ".":
                tile[row, column] = *palette.rgb(shades[letter]), 1
    return _rounded(tile)


def _small_cube(name: str) -> Pixels:
    """Draw a block as an item: its top and one side, smaller."""
    tile = np.zeros((SIDE, SIDE, 4))
    ten, eight = np.linspace(0, SIDE - 1, 10).astype(int), np.linspace(0, SIDE - 1, 8).astype(int)
    tile[5:8, 3:13] = texture(name, face="top")[[2, 7, 12]][:, ten]
    tile[8:, 3:13] = texture(name)[eight][:, ten]
    tile[8:, 3:13, :3] *= 0.85
    tile[..., 3] = np.where(tile[..., 3] > 0, 1, 0)
    return _rounded(tile)
