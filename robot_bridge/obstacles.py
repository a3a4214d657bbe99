"""Short memory of what the lidar saw: it outlives dropouts, and tells what stands still from what may move (pure).

A pole of 2 cm is hit by one or two beams of a turn and missed altogether when those drop out: returns are kept for
``MEMORY_S`` and moved by odometry. A return is *still* when a scan that is at least ``STILL_S`` older saw something
within ``STILL_M`` of its place; everything else may be on the move, at up to ``OBSTACLE_SPEED``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Odometry, Pose, Scan
from robot_bridge.geometry import along, clearance, placed, seen_from
from robot_bridge.scans import returns

MEMORY_S = 0.45
STILL_S = 0.18
STILL_M = 0.08
OBSTACLE_SPEED = 0.5
RESERVE_M = 0.02
"""To be left when the robot has braked."""
_TOUCH_M = 0.001


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """The near returns of one scan: ``points`` (n, 2) in the odom frame, ``is_still`` (n,)."""

    stamp: float
    points: NDArray[np.float64]
    is_still: NDArray[np.bool_]


Memory = tuple[Look, ...]
"""Looks of the last ``MEMORY_S``, the oldest first."""


def pose_at(odometry: Odometry, time: float) -> Pose:
    """The pose in the odom frame at a time near the stamp, on the arc of the measured velocity."""
    linear, angular = odometry.twist.linear, odometry.twist.angular
    passed = time - odometry.stamp
    if abs(linear) < 1e-6:
        return odometry.pose.after(Pose(heading=angular * passed))
    return odometry.pose.after(along(angular / linear, linear * passed))


def looked(memory: Memory, scan: Scan, odometry: Odometry, now: float, config: RobotConfig) -> Memory:
    """The memory with a usable scan, and without what is too old. A scan that is in it already changes nothing."""
    kept = tuple(look for look in memory if now - look.stamp <= MEMORY_S)
    if kept and scan.stamp <= kept[-1].stamp:
        return kept
    found = returns(scan, config.lidar)
    found = found[clearance(found, config.body) <= reach(config) + margin(config.limits.speed, config)]
    points = placed(found, pose_at(odometry, scan.stamp))
    return (*kept, Look(scan.stamp, points, _still(points, scan.stamp, kept)))


def _still(points: NDArray[np.float64], stamp: float, memory: Memory) -> NDArray[np.bool_]:
    """Which of the points were seen before, long enough ago."""
    before = [look.points for look in memory if stamp - look.stamp >= STILL_S]
    old = np.concatenate(before) if before else np.empty((0, 2))
    dx = points[:, :1].astype(np.float32) - old[:, 0].astype(np.float32)
    dy = points[:, 1:].astype(np.float32) - old[:, 1].astype(np.float32)
    near: NDArray[np.bool_] = dx * dx + dy * dy < STILL_M**2
    return np.asarray(near.any(axis=1))


def reaction(config: RobotConfig) -> float:
    """Seconds that may pass before the chain acts on a return: a turn of the lidar and a control period."""
    return 1 / config.lidar.rate + 1 / config.control_rate


def margin(speed: float, config: RobotConfig) -> float:
    """What an obstacle on the move covers until a robot at ``speed`` that sees it stands, metres."""
    return OBSTACLE_SPEED * (reaction(config) + abs(speed) / config.limits.deceleration)


def reach(config: RobotConfig) -> float:
    """How far along its path the chain looks, metres: the avoidance zone, or what it takes to stop if that is more."""
    fastest = max(config.limits.speed, config.limits.reverse_speed)
    braking = fastest * reaction(config) + fastest**2 / (2 * config.limits.deceleration)
    return max(config.zones.avoidance, braking + RESERVE_M) + config.zones.padding


def around(
    memory: Memory, odometry: Odometry, now: float, speed: float, config: RobotConfig
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Everything in memory, (n, 2) in the base frame as it is ``now``, and the padding for each, (n,) metres.

    What may move is padded by its :func:`margin` too. What is nearer to the footprint than its padding is padded up to
    it: a motion that takes the robot no nearer to it stays possible.
    """
    if not memory:
        return np.empty((0, 2)), np.empty(0)
    points = seen_from(np.concatenate([look.points for look in memory]), pose_at(odometry, now))
    is_still = np.concatenate([look.is_still for look in memory])
    wanted = config.zones.padding + np.where(is_still, 0.0, margin(speed, config))
    padding: NDArray[np.float64] = np.minimum(wanted, clearance(points, config.body) - _TOUCH_M)
    return points, padding
