"""What SLAM makes of odometry and scans that lie, and of goals that are out of reach."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, NavGoalTarget, Observation, Odometry, Pose, Scan
from robot_bridge.navigation.navigation import Navigation
from tests.support.robot_bridge.rays import CONFIG, scan_of


def told(x: float, stamp: float) -> Observation:
    return Observation(odometry=Odometry(stamp, Pose(x, 0.0, 0.0), REST))


@pytest.mark.parametrize("x", [nan, inf, -1e300])
def test_a_reading_that_is_none_changes_nothing(x: float) -> None:
    navigation = Navigation(RobotConfig(), Pose())
    navigation.update(told(0.0, 0.02))
    before = navigation.update(told(0.01, 0.04))
    assert navigation.update(told(x, 0.06)) == before


def test_after_a_jump_the_way_goes_on_from_where_the_robot_was() -> None:
    navigation = Navigation(RobotConfig(), Pose(1.0, 2.0, 0.0))
    for number in range(5):
        navigation.update(told(0.005 * number, 0.02 * number))
    assert navigation.estimate.pose.x == pytest.approx(1.02)
    navigation.update(told(3000.0, 0.1))
    assert navigation.estimate.pose.x == pytest.approx(1.02)
    navigation.update(told(3000.005, 0.12))
    assert navigation.estimate.pose.x == pytest.approx(1.025)
    assert navigation.map.codes.size < 10_000_000


def shown(*scans: Scan) -> Navigation:
    navigation = Navigation(CONFIG, Pose())
    for seen in scans:
        navigation.update(Observation(seen, None, Odometry(seen.stamp, Pose(), REST)))
    return navigation


@pytest.mark.parametrize("farthest", [1e4, inf])
def test_a_lidar_that_claims_to_see_farther_than_it_can_makes_no_larger_map(farthest: float) -> None:
    honest = scan_of([], stamp=0.1, room=8.0)
    honest.ranges[170:191] = inf
    claimed = replace(honest, ranges=honest.ranges.copy(), range_max=farthest)
    claimed.ranges[175:186] = 9_000.0

    chart = shown(claimed).map

    assert np.array_equal(chart.codes, shown(honest).map.codes)
    assert chart.beyond(CONFIG.lidar.range_max, 0.0) < 0.2, "what it can see is free"
    assert chart.beyond(CONFIG.lidar.range_max + 1.0, 0.0) > 0.8


def test_a_goal_far_outside_of_what_was_seen_is_out_of_reach_and_does_not_grow_the_map() -> None:
    navigation = shown(scan_of([], stamp=0.1, room=3.0))
    before = navigation.map.shape

    for place in [(1000.0, 1000.0), (-1000.0, 0.0), (0.0, 14.0)]:
        assert not navigation.go_to(NavGoalTarget(*place))
        assert navigation.way_to(*place) is None

    assert navigation.map.shape == before


def test_ground_that_nobody_has_seen_yet_is_crossed_to_a_goal_near_it() -> None:
    seen = scan_of([], stamp=0.1, room=3.0)
    seen.ranges[150:211] = nan

    way = shown(seen).way_to(9.0, 0.0)

    assert way is not None
    assert 8.6 < way < 10.0
