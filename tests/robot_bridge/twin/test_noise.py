"""What is wrong with the sensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robot_bridge.contracts import Pose, Twist, wrap_angle
from robot_bridge.twin.noise import NO_NOISE, DriftingOdometry, Grain, Noise, noisy_ranges
from tests.support.tiers import few


def test_without_noise_nothing_is_changed() -> None:
    rng = np.random.default_rng(0)
    ranges = np.array([1.0, 2.0, np.inf])
    assert noisy_ranges(ranges, NO_NOISE, rng).tolist() == ranges.tolist()
    rgb, depth = np.full((4, 6, 3), 7, np.uint8), np.full((4, 6), 2.0, np.float32)
    seen = Grain(4, 6, NO_NOISE, 8.0, rng).add_to(rgb, depth)
    assert np.array_equal(seen[0], rgb)
    assert np.array_equal(seen[1], depth)
    odometry = DriftingOdometry(Pose(), NO_NOISE, rng)
    for _ in range(100):
        odometry.advance(0.01, 0.01)
    assert odometry.pose.x == pytest.approx(np.sin(1.0), abs=1e-4)
    assert odometry.pose.y == pytest.approx(1 - np.cos(1.0), abs=1e-4)


def test_depth_is_lost_beyond_reach_and_in_holes_and_errs_more_far_away() -> None:
    noise = Noise(holes=0.1, depth=0.01)
    near, far = np.full((100, 100), 1.0, np.float32), np.full((100, 100), 4.0, np.float32)
    rgb = np.full((100, 100, 3), 250, np.uint8)
    grain = Grain(100, 100, noise, 5.0, np.random.default_rng(1))
    spread = []
    for depth in (near, far):
        seen, measured = grain.add_to(rgb, depth)
        assert (measured == 0).mean() == pytest.approx(0.1, abs=0.02)
        assert seen.std() == pytest.approx(noise.colour, rel=0.2)
        spread.append(float((measured[measured > 0] / depth[0, 0]).std()))
    assert spread == pytest.approx([0.01, 0.04], rel=0.1)
    assert not grain.add_to(rgb, np.full((100, 100), 5.1, np.float32))[1].any()


def test_no_two_pictures_have_the_same_grain() -> None:
    grain = Grain(50, 50, Noise(), 8.0, np.random.default_rng(2))
    rgb, depth = np.full((50, 50, 3), 128, np.uint8), np.ones((50, 50), np.float32)
    assert not np.array_equal(grain.add_to(rgb, depth)[0], grain.add_to(rgb, depth)[0])


def test_errors_of_odometry_are_of_the_order_that_was_asked_for() -> None:
    noise, ends = Noise(), []
    for seed in range(60):
        odometry = DriftingOdometry(Pose(), noise, np.random.default_rng(seed))
        for _ in range(500):
            odometry.advance(0.01, 0.0)
        ends.append(odometry.pose)
    assert np.std([end.heading for end in ends]) == pytest.approx(5 * noise.drift, rel=0.3)
    assert np.std([end.x for end in ends]) == pytest.approx(5 * noise.scale, rel=0.4)


@pytest.mark.parametrize(
    ("error", "size", "along", "across", "heading"),
    few(
        2,
        [
            ("scale", 0.015, 4 * 0.015, 0.0, 0.0),
            ("slip", 0.004, 2 * 0.004, 0.0, 0.0),
            ("turn_scale", 0.015, 0.0, 0.0, 2 * 0.015),
            ("turn_slip", 0.004, 0.0, 0.0, 2**0.5 * 0.004),
            ("drift", 0.01, 0.0, 0.5 * 4**2 * 0.01, 4 * 0.01),
        ],
    ),
)
def test_every_error_of_odometry_adds_up_as_it_is_said_to(
    error: str, size: float, along: float, across: float, heading: float
) -> None:
    """Four metres straight on, then two radians about where it stands."""
    noise, ends = replace(NO_NOISE, **{error: size}), []
    for seed in range(200):
        odometry = DriftingOdometry(Pose(), noise, np.random.default_rng(seed))
        for _ in range(200):
            odometry.advance(0.02, 0.0)
        there = odometry.pose
        for _ in range(200):
            odometry.advance(0.0, 0.01)
        ends.append((there.x, there.y, wrap_angle(odometry.pose.heading - 2.0)))
    found = np.std(np.array(ends), axis=0)
    assert found == pytest.approx([along, across, heading], rel=0.2, abs=2e-3)


def test_rest_is_measured_as_rest() -> None:
    odometry = DriftingOdometry(Pose(), Noise(), np.random.default_rng(0))
    odometry.advance(0.0, 0.0)
    assert odometry.pose == Pose()
    assert odometry.measure(Twist(1e-6, 1e-6)) == Twist()
    assert odometry.measure(Twist(0.2)).linear == pytest.approx(0.2, rel=0.15)
