"""Textures of blocks, items and mobs, which ``atlas.png`` holds; ``atlas.json`` gives the number of each tile.

Tiles are numbered row by row. All were drawn for this project, under its licence; no asset of any game is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from explorer.rules.blocks import BLOCKS

SIDE: Final = 16
"""Side of a tile in pixels."""
Pixels = NDArray[np.uint8]
Shape = Literal["none", "cube", "upright", "flat", "panel", "unseen"]
"""How a block fills its cell: not at all, as a cube, as a picture that faces the eye, as a sheet on the floor, as an
open door at a side, or unknown."""


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

    def select(self, codes: Iterable[int], kinds: Iterable[str] = ()) -> Atlas:
        """Return an atlas of some blocks, by code, and of some items and mobs; it holds no other tiles."""
        numbers: dict[int, int] = {}

        def renumber(tile: int) -> int:
            return numbers.setdefault(tile, len(numbers))

        looks = {}
        for code in sorted(set(codes)):
            look = self.looks[code]
            top = renumber(look.top)
            side = renumber(look.side)
            bottom = renumber(look.bottom)
            looks[code] = replace(look, top=top, side=side, bottom=bottom)
        sprites = {kind: renumber(self.sprites[kind]) for kind in sorted(set(kinds))}
        return Atlas(self.tiles[list(numbers)], looks, sprites)

    def sheet(self) -> Pixels:
        """Return all tiles in one picture, one below the other, RGBA ``[height, 16, 4]``."""
        return self.tiles.reshape(-1, SIDE, 4)


@cache
def load_atlas() -> Atlas:
    """Return the textures of all blocks, items and mobs; the files are read once."""
    from PIL import Image

    index = json.loads(Path(__file__).with_name("atlas.json").read_text("utf-8"))
    with Image.open(Path(__file__).with_name("atlas.png")) as picture:
        pixels = np.asarray(picture)
    height, width, channels = pixels.shape
    squares = pixels.reshape(height // SIDE, SIDE, width // SIDE, SIDE, channels)
    tiles = squares.swapaxes(1, 2).reshape(-1, SIDE, SIDE, channels)
    tiles.flags.writeable = False
    looks = {}
    for block in BLOCKS:
        shape, top, side, bottom = index["blocks"][f"{block.name} {block.state}".strip()]
        looks[block.code] = Look(block.name, block.state, shape, top, side, bottom)
    return Atlas(tiles, looks, index["sprites"])


@cache
def has_shape(*shapes: Shape) -> NDArray[np.bool_]:
    """Return a table by code of block: whether it has one of some shapes."""
    looks = load_atlas().looks
    return np.array([looks[block.code].shape in shapes for block in BLOCKS])


@cache
def number_faces() -> NDArray[np.int32]:
    """Return a table by code of block: the tiles of its sides, bottom and top, ``[3, codes]``."""
    looks = [load_atlas().looks[block.code] for block in BLOCKS]
    return np.array([(each.side, each.bottom, each.top) for each in looks], dtype=np.int32).T
