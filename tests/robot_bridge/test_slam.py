"""What SLAM makes of odometry that lies."""

from __future__ import annotations

from math import inf, nan

import pytest

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Observation, Odometry, Pose
from robot_bridge.navigation import Navigation


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
