"""Nonsensical configurations are refused in one line that names the value; other robots are not."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan, radians
from typing import Any

import pytest

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose
from robot_bridge.errors import SetupError
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.safety.config_check import require_valid
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import TwinWorld
from tests.support.robot_bridge.rays import CONFIG


def other(part: str, **values: Any) -> RobotConfig:
    return replace(CONFIG, **{part: replace(getattr(CONFIG, part), **values)})


@pytest.mark.parametrize(
    "config",
    [
        CONFIG,
        other("body", wheelbase=0.135, steering_limit=radians(40)),
        other("lidar", beams=720),
        replace(other("lidar", rate=5.0), zones=replace(CONFIG.zones, scan_timeout=0.3)),
        replace(CONFIG, control_rate=10.0, zones=replace(CONFIG.zones, scan_timeout=0.25)),
    ],
)
def test_other_robots_are_possible(config: RobotConfig) -> None:
    assert require_valid(config) is config


@pytest.mark.parametrize(
    ("part", "values", "named"),
    [
        ("body", {"wheelbase": nan}, "body.wheelbase is nan"),
        ("body", {"half_width": -0.1}, "body.half_width is -0.1"),
        ("body", {"steering_limit": 30.0}, "body.steering_limit is 30 rad"),
        ("limits", {"speed": inf}, "limits.speed is inf"),
        ("limits", {"deceleration": 0.0}, "limits.deceleration is 0.0"),
        ("limits", {"command_timeout": 0.05}, "limits.command_timeout"),
        ("zones", {"emergency_stop": 0.1}, "zones.emergency_stop"),
        ("zones", {"avoidance": 0.2}, "zones.avoidance"),
        ("zones", {"scan_timeout": 0.1}, "zones.scan_timeout"),
        ("lidar", {"rate": 5.0}, "zones.scan_timeout is below a turn of the lidar and a period, 0.25 s"),
        ("lidar", {"x": 0.4}, "lidar.x"),
        ("lidar", {"range_min": 0.2}, "lidar.range_min is more than 0.13 m"),
        ("lidar", {"range_max": 0.5}, "lidar.range_max"),
        ("lidar", {"beams": 60}, "lidar.beams"),
        ("lidar", {"noise": 0.0}, "lidar.noise is 0.0"),
        ("witness", {"scan": 1.0}, "witness.scan is a share of the way: it must be below 1"),
        ("witness", {"wheels": 2.0}, "witness.wheels is a share of the way"),
        ("witness", {"backing": 0.2}, "witness.backing is more than 0.1 m"),
        ("witness", {"backing": 0.01}, "witness.backing is less than 0.03 m"),
        ("lidar", {"beams": 0}, "lidar.beams is 0"),
    ],
)
def test_nonsense_is_named(part: str, values: dict[str, float], named: str) -> None:
    with pytest.raises(SetupError) as caught:
        SafetyChain(other(part, **values))
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_twin_of_nonsense_is_not_built() -> None:
    with pytest.raises(SetupError, match="front"):
        MujocoRobot(TwinWorld((), (), (), Pose(), "nowhere"), config=other("body", front=-1.0), with_camera=False)
