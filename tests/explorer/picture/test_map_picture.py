"""The map: tops of columns, walls, heights, marks, the agent's arrow."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from explorer.picture.map_picture import render
from explorer.picture.shading import FOG
from explorer.rules.blocks import AIR, code
from explorer.scene import Pose
from tests.support.explorer.pictured import SPAWN, hall, seen

PX = 12
AWAY = Pose((2, 1, 17))


def cell(image: NDArray[np.uint8], x: int, z: int) -> NDArray[np.float64]:
    """Mean colour of the inner part of a cell."""
    mean: NDArray[np.float64] = (
        image[z * PX + 3 : (z + 1) * PX - 3, x * PX + 3 : (x + 1) * PX - 3].reshape(-1, 3).mean(axis=0)
    )
    return mean


def drawn(blocks: NDArray[np.uint16], pose: Pose = AWAY, **kwargs: object) -> NDArray[np.uint8]:
    return render(blocks, pose, (), PX, **kwargs)  # type: ignore[arg-type]


def test_the_map_has_a_square_for_each_column() -> None:
    image = drawn(hall())
    assert image.shape == (20 * PX, 13 * PX, 3)
    assert image.dtype == np.uint8


def test_ceilings_are_taken_off_and_walls_are_dark() -> None:
    image = drawn(hall())
    floor, wall = cell(image, 6, 8), cell(image, 0, 8)
    assert floor[0] > 1.3 * floor[2]
    assert wall.max() < 60
    assert np.abs(wall - np.array(FOG) * 255).max() > 3


def test_columns_of_which_nothing_is_known_are_dark() -> None:
    blocks = hall()
    blocks[:, 8:] = 0
    assert np.allclose(cell(drawn(blocks, SPAWN), 6, 12), np.array(FOG) * 255, atol=1)


def test_what_is_higher_is_brighter_and_casts_a_shadow() -> None:
    blocks = hall()
    blocks[1:3, 8, 6] = blocks[0, 10, 6] = code("white_concrete")
    blocks[1, 12, 6] = code("white_concrete")
    image = drawn(blocks)
    assert cell(image, 6, 8)[0] > cell(image, 6, 12)[0] > cell(image, 6, 10)[0]
    floor = image[9 * PX : 10 * PX, 6 * PX : 7 * PX].astype(int).mean(axis=(1, 2))
    assert floor[0] < 0.8 * floor[PX // 2]


def test_a_roof_that_is_not_over_the_agent_stays_on() -> None:
    blocks = hall()
    blocks[3, 6:10, 4:9] = code("red_concrete")
    assert cell(drawn(blocks), 6, 8)[0] > 2 * cell(drawn(blocks), 6, 8)[1]
    under = drawn(blocks, Pose((5, 1, 9)))
    assert cell(under, 7, 7)[0] < 2 * cell(under, 7, 7)[1]


def test_small_blocks_lie_on_their_floor() -> None:
    plain, laid = drawn(hall()), drawn(hall(blue_carpet=(6, 1, 8), lever=(4, 1, 8)))
    assert cell(laid, 6, 8).argmax() == 2
    assert np.abs(cell(laid, 4, 8) - cell(plain, 4, 8)).max() > 5
    assert (cell(laid, 5, 8) == cell(plain, 5, 8)).all()


def test_things_are_framed_and_named() -> None:
    known, things = seen(hall(chest=(5, 1, 5), dirt=(8, 1, 5)), items={(6, 1, 4): "emerald"})
    image = render(known, AWAY, things, PX)
    frames = {thing.kind: image[thing.cell[2] * PX, thing.cell[0] * PX].tolist() for thing in things}
    assert frames["emerald"] == [255, 214, 64]
    assert frames["chest"] == [120, 200, 255]
    assert frames["dirt"] not in (frames["emerald"], frames["chest"])
    assert cell(image, 6, 4)[1] > 1.2 * cell(image, 6, 4)[0]
    labelled = render(known, AWAY, things, PX, labels=True)
    assert (labelled != image).any()
    assert (labelled[: 3 * PX] == image[: 3 * PX]).all()


@pytest.mark.parametrize("facing", range(4))
def test_the_arrow_points_ahead(facing: int) -> None:
    image = drawn(hall(), Pose((6, 1, 8), facing)).astype(int)
    white = np.argwhere((image == 255).all(axis=2)) - ((8.5 * PX, 6.5 * PX) - np.array(0.5))
    assert 20 < len(white) < 2 * PX * PX
    # The head is the narrow end: most of its pixels are behind its tip, which is the farthest.
    along = {0: white[:, 0], 1: -white[:, 1], 2: -white[:, 0], 3: white[:, 1]}[facing]
    aside = white[:, 1] if facing % 2 == 0 else white[:, 0]
    front, back = along >= along.max() - 1, along <= np.median(along)
    assert np.ptp(aside[front]) < np.ptp(aside[back])


@pytest.mark.parametrize("px", [1, 3, 7, 8, 16, 24])
def test_any_size_of_cell_will_do(px: int) -> None:
    for pose in (SPAWN, Pose((0, 1, 0)), Pose((12, 1, 19), 2)):
        assert render(hall(), pose, (), px).shape == (20 * px, 13 * px, 3)


def test_is_drawn_from_what_is_known() -> None:
    blocks = hall(gold_block=(6, 1, 15))
    blocks[1:6, 10, 1:-1] = code("stone_bricks")
    known, things = seen(blocks)
    image = render(known, SPAWN, things, PX)
    assert not known[:, 12:].any()
    assert np.allclose(image[12 * PX :], np.array(FOG) * 255, atol=1)
    assert known[1, 5, 6] == AIR
