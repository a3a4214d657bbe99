"""Rays: the cells that a crosshair crosses, against points taken along it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from explorer.rules.raycast import REACH, Crossing, ray, walk
from explorer.scene import EYE_HEIGHT, Pose

SPAN = range(-5, 6)
POSES = [Pose((0, 0, 0), facing, pitch) for facing in range(4) for pitch in range(-3, 4)]
POSES += [Pose((0, 0, 0)).aim_at(offset) for offset in itertools.product(SPAN, SPAN, SPAN)]


def along(pose: Pose, distance: float) -> np.ndarray:
    return np.array([0.5, EYE_HEIGHT, 0.5]) + distance * np.array(pose.direction)


@pytest.mark.parametrize("half", [0, 1])
def test_a_ray_crosses_the_cells_of_its_points(half: int) -> None:
    for pose in POSES[half::2]:
        crossings = ray(pose)
        cells = {crossing.offset for crossing in crossings}
        for distance in np.linspace(0, REACH, 60):
            point = along(pose, distance)
            if np.abs(point - np.round(point)).min() > 1e-6:
                assert tuple(map(floor, point)) in cells
        for crossing in crossings[1:]:
            assert np.linalg.norm(np.subtract(crossing.offset, crossing.before)) == 1
            between = (np.add(crossing.offset, crossing.before) + 1) / 2
            face = np.abs(along(pose, crossing.distance) - between)
            assert face.max() <= 0.5 + 1e-9
            assert face[np.argmax(np.subtract(crossing.offset, crossing.before) != 0)] == pytest.approx(0, abs=1e-9)


def test_a_ray_is_a_way_from_cell_to_cell() -> None:
    for pose in POSES:
        crossings = ray(pose)
        assert crossings[0] == Crossing((0, 1, 0), 0.0, (0, 1, 0))
        assert [crossing.before for crossing in crossings[1:]] == [crossing.offset for crossing in crossings[:-1]]
        distances = [crossing.distance for crossing in crossings]
        assert distances == sorted(distances)
        assert distances[-1] <= REACH


def test_an_aim_is_crossed_if_it_is_within_reach() -> None:
    for pose in POSES[28:]:
        assert pose.aim is not None
        eye = [0.5, EYE_HEIGHT, 0.5]
        nearest = np.linalg.norm(np.clip(eye, pose.aim, np.add(pose.aim, 1)) - eye)
        crossed = pose.aim in {crossing.offset for crossing in ray(pose)}
        middle = np.linalg.norm(np.add(pose.aim, 0.5) - eye)
        assert not crossed if nearest > REACH else crossed or middle > REACH


def test_an_edge_is_passed_along_x_before_z() -> None:
    offsets = [crossing.offset for crossing in ray(Pose((0, 0, 0)).aim_at((2, 1, 2)))]
    assert offsets[:4] == [(0, 1, 0), (1, 1, 0), (1, 1, 1), (2, 1, 1)]


@pytest.mark.parametrize(("x", "z"), [(1, 3), (3, 1), (1, 1), (5, 3), (3, 5), (1, 5), (5, 5)])
@pytest.mark.parametrize("y", range(-2, 4))
def test_every_edge_is_passed_so(x: int, y: int, z: int) -> None:
    """Odd offsets cross an edge half-way."""
    pairs = itertools.pairwise(ray(Pose((0, 0, 0)).aim_at((x, y, z)))[1:])
    edges = [(one, other) for one, other in pairs if one.distance == other.distance]
    assert edges
    for one, other in edges:
        assert (one.offset[0] - one.before[0], other.offset[2] - other.before[2]) == (1, 1)


def test_a_ray_along_an_axis_keeps_its_row() -> None:
    crossings = walk((Fraction(1, 2),) * 3, (Fraction(0), Fraction(0), Fraction(-2)), 3.0)
    assert [crossing.offset for crossing in crossings] == [(0, 0, 0), (0, 0, -1), (0, 0, -2), (0, 0, -3)]
    assert [crossing.distance for crossing in crossings] == [0, 0.5, 1.5, 2.5]
