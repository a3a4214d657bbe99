"""Films of episodes for pages: frames, and the tiles that they show."""

from __future__ import annotations

import base64
import io

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from gridworld.drawing.films import draw_looks, list_codes, take_frame
from gridworld.drawing.stamps import Stamp, geometry, stamp
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.observation import CODES, Look
from gridworld.rules.tilings import TILINGS
from spca.common.web.films import Tiles
from tests.support.gridworld.drawn import drawn

WALL = CODES[Look("wall")]
GOAL = CODES[Look("goal")]


def cut(tiles: Tiles, code: int) -> NDArray[np.uint8]:
    """The tile of a code, RGBA."""
    sheet = Image.open(io.BytesIO(base64.b64decode(tiles.picture))).convert("RGBA")
    width, height = tiles.size
    row, column = divmod(code, tiles.columns)
    return np.asarray(sheet.crop((column * width, row * height, (column + 1) * width, (row + 1) * height)))


def test_a_frame_has_the_truth_beside_what_is_known() -> None:
    rows = "########\n#A#k..G#\n#......#\n########"
    limited = Episode(Layout(drawn(rows, rules={"observability": "fog_of_war", "view_size": 3})))
    frame = take_frame(limited, limited.observe())
    assert (frame.truth[1, 6], frame.known[1, 6], frame.agent) == (GOAL, 0, (1, 1, 0))
    assert (bool(frame.view[1, 2]), bool(frame.view[1, 6])) == (True, False)
    assert {0, WALL, GOAL} <= list_codes([frame])
    whole = Episode(Layout(drawn(rows)))
    assert not take_frame(whole, whole.observe()).view.any(), "nothing limits it"


def test_a_key_in_hand_is_a_tile_too() -> None:
    episode = Episode(Layout(drawn("#####\n#AkG#\n#####")))
    episode.step(3)
    frame = take_frame(episode, episode.observe())
    assert frame.inventory == "red key"
    assert list_codes([frame]) >= {CODES[Look("key", "red")]}


@pytest.mark.parametrize("tiling", list(TILINGS))
def test_tiles_look_as_in_pictures_and_leave_out_what_is_not_shown(tiling: str) -> None:
    shape = geometry(tiling, 32)
    tiles = draw_looks(tiling, {WALL, GOAL})
    assert (tiles.size, len(tiles.words)) == ((shape.width, shape.height), len(CODES))
    assert tiles.words[GOAL] == "goal"
    inside = shape.cover == 8
    tile = cut(tiles, GOAL)
    difference = np.abs(tile[inside][:, :3].astype(int) - stamp(tiling, 32, Stamp(GOAL))[inside])
    assert difference.max() < 32, "a palette changes colours a little"
    assert (tile[inside][:, 3] > 250).all()
    assert not tile[shape.cover == 0][:, 3].any()
    assert not cut(tiles, CODES[Look("floor")])[..., 3].any()
