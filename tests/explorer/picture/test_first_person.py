"""The first-person picture: what is where, in which colour, and nothing that is not known."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from explorer.picture.first_person import find_target, render
from explorer.picture.shading import FOG
from explorer.rules.blocks import AIR, BLOCKS, code
from explorer.scene import Pose
from tests.support.explorer.pictured import SPAWN, hall, seen

SIZE = (160, 120)


def part(image: NDArray[np.uint8], rows: slice, columns: slice) -> NDArray[np.float64]:
    """Mean colour of a part."""
    mean: NDArray[np.float64] = image[rows, columns].reshape(-1, 3).mean(axis=0)
    return mean


def middle(image: NDArray[np.uint8], beside: int = 6) -> NDArray[np.float64]:
    """Mean colour of a square just right of the crosshair."""
    height, width, _ = image.shape
    return part(image, slice(height // 2 - 3, height // 2 + 3), slice(width // 2 + beside, width // 2 + beside + 6))


def ahead(name: str, state: str = "", **kwargs: int) -> NDArray[np.float64]:
    """Colour of a wall of a block, three cells ahead."""
    blocks = hall()
    blocks[1:6, 4, 1:-1] = code(name, state)
    return middle(render(blocks, SPAWN, (), *SIZE, **kwargs))


@pytest.mark.parametrize(("name", "strongest"), [("red_wool", 0), ("lime_concrete", 1), ("blue_concrete", 2)])
def test_a_wall_has_its_colour(name: str, strongest: int) -> None:
    colour = ahead(name)
    assert int(colour.argmax()) == strongest
    assert colour[strongest] > 1.5 * np.delete(colour, strongest).max()


def test_the_picture_has_its_size_and_is_the_same_again() -> None:
    known, things = seen(hall(chest=(6, 1, 5)))
    image = render(known, SPAWN, things, 200, 90)
    assert image.shape == (90, 200, 3)
    assert image.dtype == np.uint8
    assert (image == render(known, SPAWN, things, 200, 90)).all()


def test_what_is_unknown_is_dark_and_told_apart_from_what_is_known() -> None:
    dark = render(np.zeros_like(hall()), SPAWN, (), *SIZE)
    assert np.abs(middle(dark) - np.array(FOG) * 255).max() < 12
    assert ahead("black_concrete").tolist() != middle(dark).tolist()


@pytest.mark.long
@given(
    facing=st.integers(0, 3),
    pitch=st.integers(-3, 3),
    x=st.integers(1, 11),
    z=st.integers(1, 18),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=15, deadline=None)
def test_a_picture_of_what_was_just_seen_shows_what_a_picture_of_the_truth_would(
    facing: int, pitch: int, x: int, z: int, seed: int
) -> None:
    """Pixels differ only where something is not known, and these are dark: nothing is made up."""
    blocks = hall()
    pillars = np.random.default_rng(seed).random(blocks.shape) < 0.05
    blocks[1:5][pillars[1:5]] = code("bricks")
    blocks[1:3, z, x] = AIR
    pose = Pose((x, 1, z), facing, pitch)
    known, _ = seen(blocks, pose)
    told, true = (render(cells, pose, (), *SIZE).astype(int) for cells in (known, blocks))
    # Corners are darker beside blocks that may be unknown, so light may differ a little.
    differs = np.abs(told - true).max(axis=2) > 70
    fog = np.abs(told - np.array(FOG) * 255).max(axis=2) < 30
    assert not (differs & ~fog).any()
    assert differs.mean() < 0.02


def test_pitch_looks_down_and_facing_turns() -> None:
    blocks = hall()
    blocks[1:6, 0, :] = code("red_concrete")
    floor, back = (middle(render(blocks, pose, (), *SIZE)) for pose in (Pose(SPAWN.cell, 0, 2), Pose((6, 1, 5), 2)))
    assert floor[0] > floor[1] > floor[2]
    assert back[0] > 2 * back[1]
    west = hall()
    west[1:6, :, 0] = code("red_concrete")
    image = render(west, Pose((6, 1, 8), 0), (), *SIZE)
    # Looking south, west is to the right.
    right, left = (part(image, slice(40, 70), columns) for columns in (slice(150, 160), slice(0, 10)))
    assert right[0] > 1.9 * right[2]
    assert left[0] < 1.3 * left[2]


def test_one_sees_through_glass_and_it_tints() -> None:
    blocks = hall()
    blocks[1:6, 8] = code("lime_concrete")
    clear = middle(render(blocks, SPAWN, (), *SIZE))
    blocks[1:6, 4, 1:-1] = code("red_stained_glass")
    tinted = middle(render(blocks, SPAWN, (), *SIZE))
    assert tinted[1] < clear[1]
    assert tinted[0] > clear[0]
    blocks[1:6, 4, 1:-1] = code("glass")
    pane = np.median(render(blocks, SPAWN, (), *SIZE)[40:80, 60:100], axis=(0, 1))
    assert np.abs(pane - clear).max() < 25


def test_things_on_the_ground_are_drawn_where_they_lie() -> None:
    blocks = hall()
    known, things = seen(blocks, items={(6, 1, 4): "emerald"})
    with_item, without = (render(known, SPAWN, shown, *SIZE).astype(int) for shown in (things, ()))
    rows, columns = np.nonzero(np.abs(with_item - without).max(axis=2) > 40)
    assert 74 < columns.mean() < 86
    assert rows.min() > 60
    green = with_item[rows, columns].mean(axis=0)
    assert green[1] > 1.5 * max(green[0], green[2])
    blocks[1:3, 3, 1:-1] = code("stone_bricks")
    hidden = render(blocks, SPAWN, things, *SIZE)
    assert (hidden == render(blocks, SPAWN, (), *SIZE)).all()


@pytest.mark.parametrize("name", ["lever", "torch", "red_banner", "poppy", "stone_button", "blue_carpet"])
def test_small_blocks_are_seen_before_what_is_behind(name: str) -> None:
    blocks = hall()
    plain = render(blocks, SPAWN, (), *SIZE).astype(int)
    blocks[1, 3, 6] = code(name)
    differs = np.abs(render(blocks, SPAWN, (), *SIZE).astype(int) - plain).max(axis=2) > 25
    assert 12 < differs.sum() < 0.2 * differs.size


def test_an_open_door_lets_see_and_a_closed_one_does_not() -> None:
    blocks = hall()
    blocks[1:6, 4, 1:-1] = code("stone_bricks")
    blocks[1:6, 8] = code("lime_concrete")
    blocks[1:3, 4, 6] = code("iron_door")
    closed = middle(render(blocks, SPAWN, (), *SIZE), beside=0)
    blocks[1:3, 4, 6] = code("iron_door", "open")
    through = part(render(blocks, SPAWN, (), *SIZE), slice(64, 72), slice(82, 86))
    assert through[1] > 1.5 * through[0]
    assert abs(closed[1] - closed[0]) < 20


def test_the_target_has_bright_edges_and_is_what_the_crosshair_touches() -> None:
    blocks = hall(chest=(6, 1, 3))
    aimed = SPAWN.aim_at((0, 0, 2))
    assert find_target(blocks, aimed) == (6, 1, 3)
    assert find_target(blocks, SPAWN) is None
    assert find_target(blocks, Pose((6, 1, 1), 2)) == (6, 2, 0)
    yellow = np.array([255, 219, 77])
    counts = [
        (np.abs(render(blocks, pose, (), *SIZE).astype(int) - yellow).max(axis=2) < 45).sum() for pose in (aimed, SPAWN)
    ]
    assert counts[0] > 100
    assert counts[1] < 10


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.code > AIR][::9], ids=lambda block: block.name)
def test_every_block_can_be_drawn(block: object) -> None:
    blocks = hall()
    blocks[1:3, 3:5, 5:8] = block.code  # type: ignore[attr-defined]
    image = render(blocks, SPAWN, (), 64, 48)
    assert image.std() > 5
