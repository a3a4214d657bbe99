"""Textures: each block, item and mob has one, they are told apart, and an atlas finds them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from explorer.picture.textures import Pixels, has_shape, load_atlas
from explorer.rules.blocks import BLOCKS, code
from explorer.rules.items import ITEMS
from explorer.rules.mobs import MOBS
from spca.common.images import png


def texture(name: str, state: str = "", face: str = "side") -> Pixels:
    """Return a tile of a block."""
    atlas = load_atlas()
    tile: Pixels = atlas.tiles[getattr(atlas.looks[code(name, state)], face)]
    return tile


def sprite(kind: str) -> Pixels:
    """Return the tile of an item or a mob."""
    atlas = load_atlas()
    tile: Pixels = atlas.tiles[atlas.sprites[kind]]
    return tile


def mean(pixels: Pixels) -> NDArray[np.float64]:
    """Return the mean colour of the pixels that are not clear, ``[3]``."""
    weights = pixels[..., 3].astype(np.float64)
    total: NDArray[np.float64] = (pixels[..., :3] * weights[..., None]).sum(axis=(0, 1)) / max(weights.sum(), 1)
    return total


def test_every_block_item_and_mob_has_a_texture() -> None:
    made = load_atlas().select(range(len(BLOCKS)), (*ITEMS, *MOBS))
    assert made.tiles.shape[1:] == (16, 16, 4)
    assert made.looks.keys() == set(range(len(BLOCKS)))
    assert made.sprites.keys() == {*ITEMS, *MOBS}
    for look in made.looks.values():
        assert (made.tiles[look.side][..., 3].max() > 0) == (look.name != "barrier")
    for tile in made.sprites.values():
        assert made.tiles[tile][..., 3].max() == 255


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("stone_bricks", "cube"),
        ("iron_door", "cube"),
        ("glass", "cube"),
        ("lava", "cube"),
        ("lever", "upright"),
        ("torch", "upright"),
        ("red_banner", "upright"),
        ("bell", "upright"),
        ("stone_pressure_plate", "flat"),
        ("blue_carpet", "flat"),
        ("air", "none"),
        ("unseen", "unseen"),
    ],
)
def test_a_block_has_its_shape(name: str, expected: str) -> None:
    assert load_atlas().looks[code(name)].shape == expected


def test_an_open_door_is_a_panel_and_a_lever_shows_its_state() -> None:
    assert load_atlas().looks[code("iron_door", "open")].shape == "panel"
    assert (texture("lever") != texture("lever", "on")).any()
    assert (texture("stone_button") != texture("stone_button", "on")).any()


def test_only_what_one_looks_through_is_clear() -> None:
    for block in BLOCKS:
        if block.opaque and has_shape("cube")[block.code] and "trapdoor" not in block.name:
            assert texture(block.name)[..., 3].min() == 255, block.name
    assert mean(texture("glass")).min() > 150
    assert np.median(texture("glass")[..., 3]) < 64


def test_colours_are_those_of_the_names() -> None:
    for material in ("wool", "concrete", "carpet", "terracotta"):
        red, green, blue = mean(texture(f"red_{material}"))
        assert red > 1.5 * max(green, blue)
        red, green, blue = mean(texture(f"blue_{material}"))
        assert blue > red
    red, green, blue = mean(texture("grass_block", face="top"))
    assert green > 1.2 * max(red, blue)
    assert (texture("grass_block", face="bottom") == texture("dirt")).all()
    assert mean(texture("lava"))[0] > 200


def test_kinds_that_matter_are_told_apart() -> None:
    names = [
        *(f"{colour}_concrete" for colour in ("white", "orange", "lime", "cyan", "purple", "blue", "red", "black")),
        *(f"{wood}_planks" for wood in ("oak", "spruce", "birch", "jungle", "acacia", "dark_oak")),
        *(f"{ore}_ore" for ore in ("coal", "iron", "gold", "diamond", "emerald", "redstone", "lapis")),
        *("stone", "stone_bricks", "cracked_stone_bricks", "dirt", "sand", "gold_block", "iron_door", "chest"),
    ]
    pixels = np.array([texture(name)[..., :3].astype(float) for name in names])
    for i, each in enumerate(pixels):
        away = np.abs(pixels - each).mean(axis=(1, 2, 3))
        away[i] = np.inf
        assert away.min() > 4, (names[i], names[int(away.argmin())])


def test_textures_are_the_same_in_every_process_and_cannot_be_changed() -> None:
    tile = texture("cobblestone")
    assert (tile[0, :4, 0].tolist(), tile.flags.writeable) == ([137, 130, 83, 83], False)


def test_an_atlas_has_each_tile_once_and_makes_a_sheet() -> None:
    codes = [code(name) for name in ("stone", "stone_stairs", "grass_block", "iron_door")]
    made = load_atlas().select([*codes, code("iron_door", "open")], ("emerald", "sheep", "dirt"))
    assert len(made.tiles) == len({tile.tobytes() for tile in made.tiles})
    top, side = made.looks[codes[2]].top, made.looks[codes[2]].side
    assert (made.tiles[side] == texture("grass_block")).all()
    sheet = np.asarray(Image.open(io.BytesIO(png(made.sheet()))))
    assert sheet.shape[1:] == (16, 4)
    assert (sheet[16 * top : 16 * top + 16] == texture("grass_block", face="top")).all()
    assert (made.tiles[made.sprites["emerald"]] == sprite("emerald")).all()
