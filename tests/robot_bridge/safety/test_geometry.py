"""Arcs and footprints, against driving them in millimetres."""

from __future__ import annotations

from math import isclose, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_bridge.config import Body
from robot_bridge.contracts import REST, Pose, Twist
from robot_bridge.safety.geometry import (
    along,
    clamp_steering,
    clearance,
    curvature_of,
    free_distance,
    transform_from_frame,
    transform_to_frame,
)

BODY = Body()
places = st.floats(-1.2, 1.2)
points = st.lists(st.tuples(places, places), min_size=1, max_size=4).map(np.array)
curvatures = st.one_of(st.just(0.0), st.floats(-BODY.curvature_limit, BODY.curvature_limit), st.floats(-1e-5, 1e-5))
finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


def driven(at: NDArray[np.float64], curvature: float, forward: bool, padding: float, horizon: float) -> float:
    """The same as ``free_distance``, by small steps."""
    for step in np.arange(0.0, horizon, 0.002):
        q = transform_to_frame(at, along(curvature, step if forward else -step))
        ends = (q[:, 0] <= BODY.front + padding) & (q[:, 0] >= -BODY.rear - padding)
        if (ends & (np.abs(q[:, 1]) <= BODY.half_width + padding)).any():
            return float(step)
    return horizon


@given(points, curvatures, st.booleans(), st.floats(0, 0.3))
def test_free_distance_is_what_driving_finds(
    at: NDArray[np.float64], curvature: float, forward: bool, padding: float
) -> None:
    exact = free_distance(at, curvature, forward, BODY, padding, 1.0)
    stepped = driven(at, curvature, forward, padding, 1.0)
    grazed = driven(at, curvature, forward, padding + 1e-4, 1.0)
    # Steps go past a corner that is cut for less than two millimetres, so that the truth lies between two paddings.
    assert grazed - 0.0021 <= exact <= stepped + 1e-9


@given(points, curvatures, st.booleans(), st.floats(0, 0.2), st.floats(0, 0.2))
def test_every_point_has_a_padding_of_its_own(
    at: NDArray[np.float64], curvature: float, forward: bool, first: float, other: float
) -> None:
    paddings = np.full(len(at), other)
    paddings[0] = first
    each = [free_distance(at[i : i + 1], curvature, forward, BODY, paddings[i], 1.0) for i in range(len(at))]
    assert isclose(free_distance(at, curvature, forward, BODY, paddings, 1.0), min(each), abs_tol=1e-12)


@given(points, curvatures, st.floats(0, 0.1))
def test_left_and_right_mirror_each_other(at: NDArray[np.float64], curvature: float, padding: float) -> None:
    mirrored = at * (1.0, -1.0)
    for forward in (True, False):
        here = free_distance(at, curvature, forward, BODY, padding, 1.0)
        assert isclose(here, free_distance(mirrored, -curvature, forward, BODY, padding, 1.0), abs_tol=1e-6)


def test_a_thin_pole_between_percentiles_counts() -> None:
    assert free_distance(np.array([[0.45, 0.01]]), 0.0, True, BODY, 0.03, 2.0) == pytest.approx(0.17)


def test_a_corner_that_swings_out_is_seen() -> None:
    beside = np.array([[0.26, -0.13]])
    assert free_distance(beside, 0.0, True, BODY, 0.0, 1.0) == 1.0
    assert free_distance(beside, -BODY.curvature_limit, True, BODY, 0.0, 1.0) < 0.1


@given(finite, finite)
def test_clamping_keeps_the_speed_and_the_side_and_is_idempotent(linear: float, angular: float) -> None:
    twist = clamp_steering(Twist(linear, angular), BODY)
    assert clamp_steering(twist, BODY) == twist
    assert abs(twist.angular) <= abs(twist.linear) * BODY.curvature_limit
    if linear == 0:
        assert twist == REST
    else:
        assert twist.linear == linear
        assert twist.angular * angular >= 0
        assert abs(curvature_of(twist, BODY)) <= BODY.curvature_limit
        if abs(angular) <= abs(linear) * BODY.curvature_limit:
            assert twist.angular == angular


@given(curvatures, st.floats(-2, 2))
def test_an_arc_is_what_small_steps_add_up_to(curvature: float, distance: float) -> None:
    pose = Pose()
    for _ in range(400):
        pose = pose.compose(Pose(distance / 400, 0.0, curvature * distance / 400))
    end = along(curvature, distance)
    assert np.hypot(end.x - pose.x, end.y - pose.y) < 0.02
    assert isclose(end.heading, curvature * distance)


@given(points, places, places, st.floats(-pi, pi))
def test_placing_undoes_seeing(at: NDArray[np.float64], x: float, y: float, heading: float) -> None:
    pose = Pose(x, y, heading)
    np.testing.assert_allclose(transform_from_frame(transform_to_frame(at, pose), pose), at, atol=1e-12)


@given(points)
def test_clearance_is_the_padding_that_just_touches(at: NDArray[np.float64]) -> None:
    needed = clearance(at, BODY)
    inside = free_distance(at, 0.0, True, BODY, needed + 1e-9, 1.0)
    assert inside == 0.0
    for point, padding in zip(at, needed, strict=True):
        if padding > 1e-3:
            assert driven(point[None], 0.0, True, float(padding) - 1e-3, 0.001) > 0.0
