"""Short memory of lidar returns: it bridges dropouts and separates still obstacles from moving ones (pure).

A 2 cm pole is hit by one or two beams per turn, and missed if those drop out. Therefore returns are kept for
:func:`memory_s` and moved by odometry. A return is *still* if a scan at least ``STILL_S`` older saw something within
about 5 cm of it; everything else may be moving, at up to ``stop_distance.OBSTACLE_SPEED``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Odometry, Pose, Scan
from robot_bridge.safety.geometry import along, clearance, transform_from_frame, transform_to_frame
from robot_bridge.safety.scans import AHEAD_OF_TIME, returns, unseen
from robot_bridge.safety.stop_distance import margin, reach

STILL_S = 0.28
_LATE_S = 0.03
"""Seconds by which a turn of the lidar may be late."""
_CELL = 0.02
_STILL_CELLS = 2
_SAME_CELLS = 1
TOUCH_M = 0.001


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """The near returns of one scan: ``points`` (n, 2) in the odom frame.

    ``is_still`` (n,): the return stands still; ``is_last`` (n,): no later scan has seen anything there.
    """

    stamp: float
    points: NDArray[np.float64]
    is_still: NDArray[np.bool_]
    is_last: NDArray[np.bool_]


Memory = tuple[Look, ...]
"""Looks of the last :func:`memory_s`, the oldest first."""


def memory_s(config: RobotConfig) -> float:
    """Return how long returns are kept before the newest scan, seconds: long enough to hold one ``STILL_S`` older."""
    return STILL_S + 1 / config.lidar.rate + _LATE_S


def pose_at(odometry: Odometry, time: float) -> Pose:
    """Return the pose in the odom frame at a time near the stamp, along the arc of the measured velocity."""
    linear = odometry.twist.linear
    angular = odometry.twist.angular
    passed = time - odometry.stamp
    if abs(linear) < 1e-6:
        return odometry.pose.compose(Pose(heading=angular * passed))
    return odometry.pose.compose(along(angular / linear, linear * passed))


def add_look(memory: Memory, scan: Scan, odometry: Odometry, now: float, config: RobotConfig) -> Memory:
    """Add a usable scan and drop looks that are too old, or in the future after the clock was set back.

    A scan that is already in memory adds nothing.
    """
    oldest = scan.stamp - memory_s(config)
    newest = now + AHEAD_OF_TIME
    kept = tuple(look for look in memory if oldest <= look.stamp <= newest)
    if kept and scan.stamp <= kept[-1].stamp:
        return kept
    found = returns(scan, config.lidar)
    blind = unseen(scan, config)
    farthest = reach(config) + margin(config.limits.speed, config)
    found = found[clearance(found, config.body) <= farthest]
    in_base = np.concatenate((found, blind))
    points = transform_from_frame(in_base, pose_at(odometry, scan.stamp))

    before = [look.points for look in kept if scan.stamp - look.stamp >= STILL_S]
    is_still = np.zeros(len(points), np.bool_)
    if before:
        is_still = _find_near(points, np.concatenate(before), _STILL_CELLS)
    is_still[len(found) :] = True

    is_last = np.ones(len(points), np.bool_)
    return (*_update_last_seen(kept, points), Look(scan.stamp, points, is_still, is_last))


def _update_last_seen(memory: Memory, points: NDArray[np.float64]) -> Iterator[Look]:
    """Yield the looks, with ``is_last`` cleared for returns that are near the new ``points``."""
    if not memory:
        return

    remembered = np.concatenate([look.points for look in memory])
    again = _find_near(remembered, points, _SAME_CELLS)
    counts = [len(look.points) for look in memory]
    parts = np.split(again, np.cumsum(counts)[:-1])
    for look, part in zip(memory, parts, strict=True):
        yield replace(look, is_last=look.is_last & ~part)


def _find_near(points: NDArray[np.float64], others: NDArray[np.float64], cells: int) -> NDArray[np.bool_]:
    """Return which points have one of ``others`` within ``cells`` cells of ``_CELL``, on a grid over both."""
    if not len(points) or not len(others):
        return np.zeros(len(points), np.bool_)
    lowest = np.minimum(points.min(axis=0), others.min(axis=0))
    lowest = lowest - (cells + 0.5) * _CELL
    at = ((points - lowest) / _CELL).astype(np.intp)
    marks = ((others - lowest) / _CELL).astype(np.intp)
    highest = np.maximum(at.max(axis=0), marks.max(axis=0))
    grid = np.zeros(highest + cells + 1, np.bool_)
    grid[marks[:, 0], marks[:, 1]] = True
    for _ in range(cells):
        grid[1:] |= grid[:-1]
        grid[:-1] |= grid[1:]
    for _ in range(cells):
        grid[:, 1:] |= grid[:, :-1]
        grid[:, :-1] |= grid[:, 1:]
    return np.asarray(grid[at[:, 0], at[:, 1]])


def points_around(
    memory: Memory, odometry: Odometry, now: float, speed: float, config: RobotConfig
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return all points in memory, (n, 2) in the base frame at ``now``, and the padding of each, (n,) metres.

    The padding of a still point within the padded footprint is cut so that it does not touch the footprint: motion that
    brings the robot no nearer stays possible. A point that may move gets its :func:`margin` too, on every side: a robot
    that stands when it is touched is not to blame.
    """
    if not memory:
        return np.empty((0, 2)), np.empty(0)
    points = np.concatenate([look.points[look.is_last] for look in memory])
    is_still = np.concatenate([look.is_still[look.is_last] for look in memory])
    points = transform_to_frame(points, pose_at(odometry, now))

    room = clearance(points, config.body) - TOUCH_M
    still_padding = np.minimum(config.zones.padding, room)
    moving_padding = config.zones.padding + margin(speed, config, now - memory[-1].stamp)
    padding: NDArray[np.float64] = np.where(is_still, still_padding, moving_padding)
    return points, padding
