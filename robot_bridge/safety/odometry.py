"""What odometry is worth: faults of one reading, and of two that cannot follow each other (pure)."""

from __future__ import annotations

from math import hypot, isfinite

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Odometry, wrapped
from robot_bridge.safety.scans import AHEAD_OF_TIME

_FARTHEST = 1e6
"""Metres from the origin, and radians: in double precision there is a nanometre left of them."""
_TOO_FAST = 2.0
"""Times the robot's own limits: somebody pushes it, or the wheels are not what moves it, or it lies."""
_JUMP_M, _JUMP_RAD = 0.1, 0.2
"""What two readings may differ by beyond the motion that was possible between them."""


def odometry_fault(odometry: Odometry | None, now: float, config: RobotConfig) -> str:
    """Why nothing may move on this odometry, "" where it can be used."""
    if odometry is None:
        return "no odometry has come yet"
    age = now - odometry.stamp
    if not age <= config.zones.odometry_timeout:
        return f"the last odometry is {age:.2f} s old"
    if age < -AHEAD_OF_TIME:
        return f"odometry's stamp lies {-age:.2f} s ahead: the clocks differ"
    return _fault_of_numbers(odometry, config)


def _fault_of_numbers(odometry: Odometry, config: RobotConfig) -> str:
    pose, twist = odometry.pose, odometry.twist
    if not all(isfinite(number) for number in (pose.x, pose.y, pose.heading, twist.linear, twist.angular)):
        return "odometry is not made of finite numbers"
    if max(abs(pose.x), abs(pose.y), abs(pose.heading)) > _FARTHEST:
        return f"odometry's pose is beyond reason: ({pose.x:.3g}, {pose.y:.3g}, {pose.heading:.3g})"
    linear, angular = _fastest(config)
    if abs(twist.linear) > linear or abs(twist.angular) > angular:
        return f"odometry says {twist.linear:.3g} m/s and {twist.angular:.3g} rad/s: this robot cannot drive so"
    return ""


def jump(last: Odometry | None, odometry: Odometry, config: RobotConfig) -> str:
    """Why a reading that is no fault by itself cannot follow the last one, "" where it can."""
    if last is None:
        return ""
    linear, angular = _fastest(config)
    passed = abs(odometry.stamp - last.stamp)
    moved = hypot(odometry.pose.x - last.pose.x, odometry.pose.y - last.pose.y)
    turned = abs(wrapped(odometry.pose.heading - last.pose.heading))
    if moved <= _JUMP_M + linear * passed and turned <= _JUMP_RAD + angular * passed:
        return ""
    return f"odometry jumped by {moved:.2f} m and {turned:.2f} rad in {passed:.2f} s"


def _fastest(config: RobotConfig) -> tuple[float, float]:
    """The greatest speeds that are believed, m/s and rad/s."""
    linear = _TOO_FAST * max(config.limits.speed, config.limits.reverse_speed)
    return linear, linear * config.body.curvature_limit
