"""The chain's short memory of returns."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.contracts import Odometry, Pose, Twist
from robot_bridge.safety.geometry import transform_from_frame
from robot_bridge.safety.obstacles import Memory, add_look, memory_s, points_around, pose_at
from robot_bridge.safety.stop_distance import margin, reach
from tests.support.robot_bridge.rays import CONFIG, Post, as_scan, scan_of

POLE: Post = (0.6, 0.05, 0.01)
EMPTY = np.full(CONFIG.lidar.beams, inf)


def after(*scans: tuple[float, list[Post]], now: float) -> Memory:
    """Memory of a robot that stands."""
    memory: Memory = ()
    for stamp, posts in scans:
        memory = add_look(memory, scan_of(posts, stamp=stamp), Odometry(stamp, Pose(), Twist()), stamp, CONFIG)
    return add_look(memory, scan_of([], stamp=now), Odometry(now, Pose(), Twist()), now, CONFIG)


@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(-3, 3), st.floats(-0.25, 0.25), st.floats(-0.7, 0.7))
def test_a_pole_that_drops_out_is_kept_where_it_is_while_the_robot_drives_on(
    x: float, y: float, heading: float, linear: float, angular: float
) -> None:
    start, twist = Pose(x, y, heading), Twist(linear, angular)
    pole = (*start.ahead(POLE[0], POLE[1]), POLE[2])
    first = Odometry(0.0, start, twist)
    memory = add_look((), scan_of([pole], pose=start, room=9), first, 0.0, CONFIG)
    for stamp in (0.1, 0.2, 0.3):
        pose = pose_at(first, stamp)
        memory = add_look(memory, as_scan(EMPTY, stamp), Odometry(stamp, pose, twist), stamp, CONFIG)
    points, _ = points_around(memory, Odometry(0.3, pose_at(first, 0.3), twist), 0.35, linear, CONFIG)
    true = Pose(*pole[:2]).relative_to(pose_at(first, 0.35))
    assert len(points) >= 1
    assert np.hypot(points[:, 0] - true.x, points[:, 1] - true.y).max() < 0.012


def test_what_is_gone_is_forgotten_after_a_while_and_not_before() -> None:
    for now, count in ((0.1, 1), (0.4, 1), (0.5, 0)):
        memory = after((0.0, [POLE]), now=now)
        points, _ = points_around(memory, Odometry(now, Pose(), Twist()), now, 0.0, CONFIG)
        assert bool(len(points)) == bool(count), now
    assert memory_s(CONFIG) < 0.5


def test_what_is_seen_again_is_not_kept_twice() -> None:
    memory = after(*((stamp / 10, [POLE]) for stamp in range(4)), now=0.4)
    points, _ = points_around(memory, Odometry(0.4, Pose(), Twist()), 0.4, 0.0, CONFIG)
    assert len(points) == sum(look.is_last.sum() for look in memory) <= 3


def test_a_clock_that_is_set_back_does_not_hide_new_scans() -> None:
    memory = after((100.0, []), now=100.1)
    memory = add_look(memory, scan_of([POLE], stamp=5.0), Odometry(5.0, Pose(), Twist()), 5.0, CONFIG)
    assert [look.stamp for look in memory] == [5.0]
    assert len(memory[0].points)


def approaching(speed: float, seed: int, steps: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """A thick leg that has come at ``speed`` for a while; what is known of it at last."""
    rng = np.random.default_rng(seed)
    memory: Memory = ()
    for step in range(steps):
        stamp = step / 10
        scan = scan_of([(0.9 - speed * stamp, 0.0, 0.1)], stamp=stamp, noise=0.01, rng=rng)
        memory = add_look(memory, scan, Odometry(stamp, Pose(), Twist()), stamp, CONFIG)
    return points_around(memory, Odometry(stamp, Pose(), Twist()), stamp, 0.25, CONFIG)


@pytest.mark.parametrize("seed", range(10))
def test_what_comes_nearer_gets_its_margin_and_what_stands_does_not(seed: int) -> None:
    points, padding = approaching(0.5, seed)
    assert padding[np.argmin(points[:, 0])] == pytest.approx(CONFIG.zones.padding + margin(0.25, CONFIG))
    points, padding = approaching(0.0, seed)
    assert (padding == CONFIG.zones.padding).mean() > 0.95


@pytest.mark.parametrize(("rate", "late"), [(5.0, 0.04), (8.0, 0.1), (10.0, 0.1), (15.0, 0.1)])
def test_what_stands_is_still_for_a_slow_lidar_and_a_slow_network_too(rate: float, late: float) -> None:
    config = replace(CONFIG, lidar=replace(CONFIG.lidar, rate=rate))
    memory: Memory = ()
    for step in range(8):
        stamp, now = step / rate, step / rate + late
        memory = add_look(memory, scan_of([POLE], stamp=stamp), Odometry(now, Pose(), Twist()), now, config)
    assert memory[-1].is_still.all()


def test_the_margin_is_what_half_a_metre_a_second_covers_until_the_robot_stands() -> None:
    assert margin(0.25, CONFIG) == pytest.approx(0.5 * (0.1 + 0.05 + 0.25))


def test_only_what_the_chain_can_reach_is_kept() -> None:
    memory = add_look((), scan_of([POLE], room=2.0), Odometry(0.0, Pose(), Twist()), 0.0, CONFIG)
    assert 1 <= len(memory[0].points) <= 3
    assert reach(CONFIG) >= CONFIG.zones.avoidance


def test_a_still_thing_within_the_padding_is_padded_up_to_it() -> None:
    beside = [(x / 100, 0.115, 0.005) for x in range(-5, 25, 2)]
    memory = after(*((stamp / 10, beside) for stamp in range(4)), now=0.4)
    points, padding = points_around(memory, Odometry(0.4, Pose(), Twist()), 0.4, 0.1, CONFIG)
    near = points[:, 1] < 0.14
    assert near.any()
    assert (padding[near] < points[near, 1] - CONFIG.body.half_width).all()


def test_poses_between_odometry_lie_on_the_arc_that_is_driven() -> None:
    odometry = Odometry(1.0, Pose(1.0, 2.0, 0.5), Twist(0.2, 0.4))
    small = odometry.pose
    for _ in range(1000):
        small = small.compose(Pose(0.0002 * 0.5, 0.0, 0.0004 * 0.5))
    pose = pose_at(odometry, 1.5)
    assert np.hypot(pose.x - small.x, pose.y - small.y) < 1e-4
    turned = pose_at(Odometry(1.0, Pose(), Twist(0.0, 0.4)), 1.5)
    assert (turned.x, turned.y) == (0.0, 0.0)
    assert turned.heading == pytest.approx(0.2)
    np.testing.assert_allclose(transform_from_frame(np.array([[0.0, 0.0]]), pose), [[pose.x, pose.y]])
