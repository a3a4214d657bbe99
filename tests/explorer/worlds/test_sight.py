"""What a body sees: tables against exact rays, and small facts that anyone can check by hand."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from explorer.scene import EYE_HEIGHT, Cell, Pose
from explorer.worlds.sight import HEIGHT, LIGHT, LIT, RANGE, WIDTH, Layout, light, rays, see

SHAPE = (9, 20, 20)
STANDS: Cell = (9, 1, 9)


def room(shape: tuple[int, int, int] = SHAPE) -> NDArray[np.bool_]:
    """An empty room with a floor."""
    opaque = np.zeros(shape, dtype=np.bool_)
    opaque[0] = True
    return opaque


def seen(opaque: NDArray[np.bool_], pose: Pose, lit: NDArray[np.bool_] | None = None) -> set[Cell]:
    layout = Layout(opaque.shape)
    flat = np.ones(layout.size, dtype=np.bool_)
    layout.inner(flat)[:] = opaque
    lights = None
    if lit is not None:
        lights = np.zeros(layout.size, dtype=np.bool_)
        layout.inner(lights)[:] = lit
    cells = {layout.cell(place) for place in see(flat, layout, pose, lights).tolist()}
    return {cell for cell in cells if inside(cell, opaque)}


def inside(cell: Cell, opaque: NDArray[np.bool_]) -> bool:
    x, y, z = cell
    height, depth, width = opaque.shape
    return bool(0 <= x < width and 0 <= y < height and 0 <= z < depth)


@cache
def crossed(facing: int, pitch: int) -> list[list[Cell]]:
    """The cells that each ray touches in the open: those of the middles between its crossings of planes."""
    lines = []
    eye = np.array([0.5, EYE_HEIGHT, 0.5])
    planes = np.arange(-RANGE - 2, RANGE + 3)
    x, y, z = rays(pitch).T
    for _ in range(facing):
        x, z = -z, x
    for ray in np.stack([x, y, z], axis=1):
        with np.errstate(divide="ignore"):
            lengths = np.concatenate([(planes - eye[axis]) / ray[axis] for axis in range(3)])
        ahead = np.sort(lengths[(lengths > 0) & (lengths <= RANGE)])
        bounds = np.concatenate([[0], ahead, [ahead[-1] + 1e-6]])
        middles = eye + (bounds[1:] + bounds[:-1])[:, None] / 2 * ray
        lines.append([(x, y, z) for x, y, z in np.floor(middles).astype(int).tolist()])
    return lines


def marched(opaque: NDArray[np.bool_], pose: Pose) -> set[Cell]:
    """What the rays touch, one at a time."""
    x, y, z = pose.cell
    touched = {pose.cell, (x, y - 1, z)}
    for line in crossed(pose.facing, pose.pitch):
        for dx, dy, dz in line:
            cell = (x + dx, y + dy, z + dz)
            if not inside(cell, opaque):
                break
            touched.add(cell)
            if opaque[cell[1], cell[2], cell[0]]:
                break
    return {cell for cell in touched if inside(cell, opaque)}


@given(
    facing=st.integers(0, 3),
    pitch=st.sampled_from([-3, -1, 0, 2]),
    at=st.tuples(st.integers(0, 19), st.integers(1, 7), st.integers(0, 19)),
    walls=st.floats(0, 0.5),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=6, deadline=None)
def test_agrees_with_rays_cast_one_at_a_time(facing: int, pitch: int, at: Cell, walls: float, seed: int) -> None:
    opaque = np.random.default_rng(seed).random(SHAPE) < walls
    opaque[at[1] : at[1] + 2, at[2], at[0]] = False
    pose = Pose(at, facing, pitch)
    assert seen(opaque, pose) == marched(opaque, pose)


@pytest.mark.parametrize("facing", range(4))
@pytest.mark.parametrize("pitch", [-3, -1, 0, 1, 3])
def test_sees_all_in_the_open_that_is_in_the_field_of_view(facing: int, pitch: int) -> None:
    opaque = np.zeros((40, 40, 40), dtype=np.bool_)
    pose = Pose((20, 20, 20), facing, pitch)
    cells = np.argwhere(np.ones_like(opaque))[:, [2, 0, 1]]
    to = cells + 0.5 - pose.eye
    forward = np.array(pose.direction)
    side = np.array(Pose((0, 0, 0), (facing + 1) % 4).direction)
    ahead, up = to @ forward, to @ np.cross(side, forward)
    edge = 0.5
    wide = np.abs(to @ side) + edge < ahead * math.tan(math.radians(WIDTH / 2))
    tall = np.abs(up) + edge < ahead * math.tan(math.radians(HEIGHT / 2))
    within = (np.linalg.norm(to, axis=1) < RANGE - 1) & wide & tall
    found = seen(opaque, pose)
    missing = {cell for cell in map(tuple, cells[within].tolist()) if cell not in found}
    assert within.sum() > 1000
    assert not missing


def test_sees_nothing_beyond_its_range_or_behind() -> None:
    found = seen(np.zeros((40, 40, 40), dtype=np.bool_), Pose((20, 20, 20), facing=0))
    assert max(math.dist((x + 0.5, y + 0.5, z + 0.5), (20.5, 21.62, 20.5)) for x, y, z in found) < RANGE + 1
    assert min(z for _, _, z in found) == 20


def test_a_wall_hides_and_a_window_in_it_does_not() -> None:
    opaque = room()
    opaque[1:, 13, :] = True
    beyond = {cell for cell in seen(opaque, Pose(STANDS)) if cell[2] > 13}
    assert not beyond
    assert (9, 2, 13) in seen(opaque, Pose(STANDS))
    opaque[2, 13, 9] = False
    through = {cell for cell in seen(opaque, Pose(STANDS)) if cell[2] > 13}
    assert (9, 2, 16) in through
    assert not {cell for cell in through if abs(cell[0] - 9) > (cell[2] - 9) // 2}


def test_the_top_of_a_ledge_is_not_seen_from_below_but_the_air_above_is() -> None:
    opaque = room()
    opaque[1:4, 13:, :] = True
    found = seen(opaque, Pose(STANDS))
    assert {(9, 1, 13), (9, 2, 13), (9, 3, 13)} <= found
    assert (9, 3, 14) not in found
    assert (9, 6, 14) in found
    opaque[2:4, 13:, :] = False
    assert (9, 1, 14) in seen(opaque, Pose(STANDS))


def test_sees_round_no_corner() -> None:
    opaque = room()
    opaque[1:, :12, 10:] = True
    found = seen(opaque, Pose(STANDS))
    # Along the wall the line of sight from the middle of the lane ends at the corner.
    assert (10, 2, 12) in found
    assert (13, 2, 12) not in found


def test_knows_by_touch_what_it_stands_in_and_on() -> None:
    for pitch in (-3, 0):
        assert {STANDS, (9, 2, 9), (9, 0, 9)} <= seen(room(), Pose(STANDS, pitch=pitch))


@given(facing=st.integers(0, 3), pitch=st.integers(-3, 3), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20, deadline=None)
def test_removing_a_block_never_hides(facing: int, pitch: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    opaque = room() | (rng.random(SHAPE) < 0.1)
    opaque[1:3, 9, 9] = False
    fewer = opaque & (rng.random(SHAPE) < 0.7)
    pose = Pose(STANDS, facing, pitch)
    assert seen(opaque, pose) <= seen(fewer, pose)


def test_sees_the_mirror_image_in_a_mirror() -> None:
    opaque = room() | (np.random.default_rng(3).random(SHAPE) < 0.1)
    opaque = opaque[:, :, :19]
    opaque[1:3, 9, 9] = False
    for facing in (0, 2):
        found = seen(opaque, Pose(STANDS, facing))
        assert {(18 - x, y, z) for x, y, z in found} == seen(opaque[:, :, ::-1], Pose(STANDS, facing))


def test_facings_are_quarter_turns_of_each_other() -> None:
    opaque = (np.random.default_rng(4).random((9, 19, 19)) < 0.1) | room((9, 19, 19))
    opaque[1:3, 9, 9] = False
    south = seen(opaque, Pose(STANDS, 0, 1))
    # Rotated by a right turn: south, z, becomes west, -x.
    turned = np.ascontiguousarray(np.swapaxes(opaque, 1, 2)[:, :, ::-1])
    assert {(18 - z, y, x) for x, y, z in south} == seen(turned, Pose(STANDS, 1, 1))


def test_in_the_dark_only_what_is_near_or_lit_is_seen() -> None:
    opaque = room()
    torches = np.zeros_like(opaque)
    unlit = seen(opaque, Pose(STANDS), light(torches))
    eye = Pose(STANDS).eye
    felt = {STANDS, (9, 0, 9)}
    assert all(math.dist((x + 0.5, y + 0.5, z + 0.5), eye) <= LIT for x, y, z in unlit - felt)
    torches[1, 18, 9] = True
    found = seen(opaque, Pose(STANDS), light(torches)) - unlit
    assert (9, 1, 18) in found
    assert all(math.dist(cell, (9, 1, 18)) <= LIGHT for cell in found)
    assert found == {cell for cell in seen(opaque, Pose(STANDS)) - unlit if math.dist(cell, (9, 1, 18)) <= LIGHT}


@pytest.mark.long
def test_the_arena_is_opaque_outside_and_its_edges_do_not_wrap() -> None:
    opaque = np.zeros(SHAPE, dtype=np.bool_)
    for corner in ((0, 1, 0), (19, 1, 19), (0, 7, 19), (19, 7, 0)):
        for facing in range(4):
            pose = Pose(corner, facing)
            assert seen(opaque, pose) == marched(opaque, pose)
