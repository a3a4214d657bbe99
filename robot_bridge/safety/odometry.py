"""Check odometry: faults of one reading, and impossible jumps between two readings (pure)."""

from __future__ import annotations

from math import hypot, isfinite

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Odometry, wrap_angle
from robot_bridge.safety.scans import AHEAD_OF_TIME

_MAX_COORDINATE_M = 1e6
"""Greatest credible coordinate, metres, and angle, radians; up to here, double precision resolves a nanometre."""
_SPEED_FACTOR = 2.0
"""Greatest credible speed as a multiple of the robot's limits.

If odometry shows more, a person pushes the robot, or the odometry is wrong.
"""
_JUMP_M = 0.1
_JUMP_RAD = 0.2
"""How much two readings may differ, metres and radians, beyond the motion that was possible between them."""


def odometry_fault(odometry: Odometry | None, now: float, config: RobotConfig) -> str:
    """Return why this odometry must not be used for motion, or "" if the odometry is usable."""
    if odometry is None:
        return "no odometry has come yet"
    age = now - odometry.stamp
    if not age <= config.zones.odometry_timeout:
        return f"the last odometry is {age:.2f} s old"
    if age < -AHEAD_OF_TIME:
        return f"odometry's stamp lies {-age:.2f} s ahead: the clocks differ"
    return _fault_of_numbers(odometry, config)


def _fault_of_numbers(odometry: Odometry, config: RobotConfig) -> str:
    """Return a text if numbers of a reading are not finite or not credible, else ""."""
    pose = odometry.pose
    twist = odometry.twist
    numbers = (pose.x, pose.y, pose.heading, twist.linear, twist.angular)
    if not all(isfinite(number) for number in numbers):
        return "odometry is not made of finite numbers"
    greatest = max(abs(pose.x), abs(pose.y), abs(pose.heading))
    if greatest > _MAX_COORDINATE_M:
        return f"odometry's pose is beyond reason: ({pose.x:.3g}, {pose.y:.3g}, {pose.heading:.3g})"
    max_linear, max_angular = _max_credible_speeds(config)
    if abs(twist.linear) > max_linear or abs(twist.angular) > max_angular:
        return f"odometry says {twist.linear:.3g} m/s and {twist.angular:.3g} rad/s: this robot cannot drive so"
    return ""


def jump(last: Odometry | None, odometry: Odometry, config: RobotConfig) -> str:
    """Return why a reading cannot follow the last reading, or "" if it can.

    The reading ``odometry`` itself must have no fault.
    """
    if last is None:
        return ""
    max_linear, max_angular = _max_credible_speeds(config)
    passed = abs(odometry.stamp - last.stamp)
    pose = odometry.pose
    moved = hypot(pose.x - last.pose.x, pose.y - last.pose.y)
    turned = abs(wrap_angle(pose.heading - last.pose.heading))
    is_distance_possible = moved <= _JUMP_M + max_linear * passed
    is_turn_possible = turned <= _JUMP_RAD + max_angular * passed
    if is_distance_possible and is_turn_possible:
        return ""
    return f"odometry jumped by {moved:.2f} m and {turned:.2f} rad in {passed:.2f} s"


def _max_credible_speeds(config: RobotConfig) -> tuple[float, float]:
    """Return the greatest credible speeds as (m/s, rad/s)."""
    linear = _SPEED_FACTOR * max(config.limits.speed, config.limits.reverse_speed)
    return linear, linear * config.body.curvature_limit
