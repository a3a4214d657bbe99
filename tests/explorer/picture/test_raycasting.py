"""Rays of pictures against rays walked one at a time."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from explorer.picture.raycasting import INVISIBLE, OPAQUE, SEE_THROUGH, UNKNOWN, Camera, march
from explorer.rules.raycast import walk
from explorer.scene import Cell


@given(seed=st.integers(0, 2**32 - 1), outside=st.booleans())
@settings(max_examples=25, deadline=None)
def test_rays_come_to_the_cells_that_a_single_ray_comes_to(seed: int, outside: bool) -> None:
    draw = np.random.default_rng(seed)
    kinds = draw.choice(
        np.array([INVISIBLE, SEE_THROUGH, OPAQUE, UNKNOWN], dtype=np.uint8), size=(6, 10, 8), p=(0.8, 0.1, 0.08, 0.02)
    )
    kinds = np.pad(kinds, 1, constant_values=UNKNOWN)
    x, y, z = draw.uniform((0, 0, 0), (8, 6, 10))
    eye = (float(x), float(y), float(z) - 20) if outside else (float(x), float(y), float(z))
    camera = Camera.from_angles(
        eye, draw.uniform(-0.2, 0.2) if outside else draw.uniform(0, 6), draw.uniform(-0.3, 0.3), 0.6
    )
    rays = camera.rays(8, 6)
    found: dict[int, list[int]] = {number: [] for number in range(48)}
    for hits in march(kinds, eye, rays):
        for number, cell in zip(hits.rays.tolist(), hits.cells.tolist(), strict=True):
            found[number].append(cell)
    compared = 0
    for number, vector in enumerate(rays.T.astype(float)):
        direction = vector / np.linalg.norm(vector)
        crossings = walk(eye, tuple(direction.tolist()), 60.0)
        # Through an edge either side is right.
        if min(b.distance - a.distance for a, b in pairwise(crossings)) > 1e-4:
            assert found[number] == alone(kinds, [crossing.offset for crossing in crossings[1:]])
            compared += 1
    assert compared > 24


def alone(kinds: NDArray[np.uint8], cells: list[Cell]) -> list[int]:
    """What a single ray comes to, of the cells that it crosses."""
    found = []
    height, depth, width = kinds.shape
    entered = False
    for x, y, z in cells:
        inside = 0 <= x < width - 2 and 0 <= y < height - 2 and 0 <= z < depth - 2
        entered |= inside
        kind = kinds[y + 1, z + 1, x + 1] if inside else UNKNOWN if entered else INVISIBLE
        if kind in (OPAQUE, SEE_THROUGH):
            found.append(((y + 1) * depth + z + 1) * width + x + 1)
        if kind in (OPAQUE, UNKNOWN):
            break
    return found


def test_a_camera_outside_sees_the_outer_faces() -> None:
    kinds = np.pad(np.full((3, 4, 5), OPAQUE, dtype=np.uint8), 1, constant_values=UNKNOWN)
    camera = Camera.from_angles((2.5, 1.5, -10.0), 0.0, 0.0, 0.6)
    hits = march(kinds, camera.eye, camera.rays(40, 40))
    assert len(hits) == 1
    assert set(hits[0].axes.tolist()) == {2}
    assert np.allclose(hits[0].distances, 10)
    cells = np.array(np.unravel_index(hits[0].cells, kinds.shape))
    assert (cells[1] == 1).all()
    assert {tuple(cell) for cell in cells[[0, 2]].T.tolist()} == {(y, x) for y in (1, 2, 3) for x in (1, 2, 3, 4, 5)}


@pytest.mark.parametrize("yaw", [0.0, 1.0, 3.0])
def test_projecting_undoes_the_rays(yaw: float) -> None:
    camera = Camera.from_angles((3.0, 4.0, 5.0), yaw, 0.3, 1.0)
    rays = camera.rays(20, 10)
    for pixel in (0, 57, 199):
        x, y, z = (camera.eye[axis] + 3 * float(rays[axis, pixel]) for axis in range(3))
        column, row, ahead = camera.project((x, y, z), 20, 10)
        assert (column, row, ahead) == pytest.approx((pixel % 20 + 0.5, pixel // 20 + 0.5, 3), abs=1e-3)
