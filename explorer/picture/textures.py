"""Textures of blocks, items and mobs.

``atlas.png`` contains the tiles, which are numbered row by row. ``atlas.json`` contains the tile numbers of each block,
item and mob. All tiles were drawn for this project, under the project's licence. No asset of any game is used.
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
"""The way in which a block is drawn in its cell.

``none`` is not drawn, ``cube`` fills the cell, ``upright`` is a sprite that turns to the eye, ``flat`` is a sheet on
the floor, ``panel`` is an open door at a side, and ``unseen`` is an unknown cell.
"""


@dataclass(frozen=True, slots=True)
class Look:
    """The appearance of a block in pictures.

    Attributes:
        name, state: name and state of the block.
        top, side, bottom: numbers of the tiles of the faces; if the shape is not a cube, only ``side`` is used.
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
        tiles: red, green, blue and alpha, uint8 ``[n, 16, 16, 4]``.
        looks: code of a block -> look of the block.
        sprites: kind of an item or mob -> number of the tile.
    """

    tiles: Pixels
    looks: dict[int, Look]
    sprites: dict[str, int]

    def select(self, codes: Iterable[int], kinds: Iterable[str] = ()) -> Atlas:
        """Return an atlas that contains only the tiles of the given blocks, items and mobs.

        Args:
            codes: codes of blocks.
            kinds: kinds of items and mobs.
        """
        # Old number of a tile -> new number. The keys are in the order of the new numbers.
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
        """Return a picture of all tiles in one column, ``[16 * n, 16, 4]``; channels are red, green, blue and alpha."""
        return self.tiles.reshape(-1, SIDE, 4)


@cache
def load_atlas() -> Atlas:
    """Return the textures of all blocks, items and mobs; only the first call reads the files."""
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
    """Return an array by block code: whether the block has one of the given shapes."""
    looks = load_atlas().looks
    return np.array([looks[block.code].shape in shapes for block in BLOCKS])


@cache
def number_faces() -> NDArray[np.int32]:
    """Return the tile numbers of the blocks, ``[3, codes]``; the rows are sides, bottom and top."""
    looks = [load_atlas().looks[block.code] for block in BLOCKS]
    return np.array([(each.side, each.bottom, each.top) for each in looks], dtype=np.int32).T
