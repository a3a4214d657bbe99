"""Short memory of lidar returns, which bridges dropouts and tells still obstacles from moving obstacles (pure).

One or two beams per turn hit a 2 cm pole; if these beams drop out, the scan misses the pole. Therefore returns are kept
for :func:`memory_s` seconds and moved by odometry. A return is *still* if a scan at least ``STILL_S`` older had a
return within about 5 cm. Any other return may be moving, at up to ``stop_distance.OBSTACLE_SPEED``.
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
_TURN_DELAY_S = 0.03
"""Seconds by which a turn of the lidar may last longer than planned."""
_CELL_M = 0.02
_STILL_CELLS = 2
_SEEN_AGAIN_CELLS = 1
TOUCH_M = 0.001


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A *look*: the near returns of one scan. ``points`` (n, 2) are in the odom frame.

    ``is_still`` (n,) says which returns stand still. ``is_last`` (n,) says which points have no return of a later scan
    near them.
    """

    stamp: float
    points: NDArray[np.float64]
    is_still: NDArray[np.bool_]
    is_last: NDArray[np.bool_]


Memory = tuple[Look, ...]
"""Looks of the last :func:`memory_s` seconds, the oldest first."""


def memory_s(config: RobotConfig) -> float:
    """Return how many seconds returns are kept.

    The time is long enough to hold a scan that is ``STILL_S`` older than the newest scan.
    """
    return STILL_S + 1 / config.lidar.rate + _TURN_DELAY_S


def pose_at(odometry: Odometry, time: float) -> Pose:
    """Return the pose in the odom frame at ``time``, extrapolated from the reading with its measured velocity.

    ``time`` must be near the reading's stamp.
    """
    linear = odometry.twist.linear
    angular = odometry.twist.angular
    passed = time - odometry.stamp
    if abs(linear) < 1e-6:
        return odometry.pose.compose(Pose(heading=angular * passed))
    return odometry.pose.compose(along(angular / linear, linear * passed))


def add_look(memory: Memory, scan: Scan, odometry: Odometry, now: float, config: RobotConfig) -> Memory:
    """Return the memory with a usable scan added, and without looks that are too old.

    Looks in the future are dropped too, because the clock was set back. A scan that the memory already holds is not
    added again. Returns too far away to matter are left out. Assumed obstacles in blind directions are added as still.
    """
    oldest = scan.stamp - memory_s(config)
    newest = now + AHEAD_OF_TIME
    kept = tuple(look for look in memory if oldest <= look.stamp <= newest)
    if kept and scan.stamp <= kept[-1].stamp:
        return kept
    measured = returns(scan, config.lidar)
    blind = unseen(scan, config)
    farthest = reach(config) + margin(config.limits.speed, config)
    measured = measured[clearance(measured, config.body) <= farthest]
    in_base = np.concatenate((measured, blind))
    points = transform_from_frame(in_base, pose_at(odometry, scan.stamp))

    earlier = [look.points for look in kept if scan.stamp - look.stamp >= STILL_S]
    is_still = np.zeros(len(points), np.bool_)
    if earlier:
        is_still = _find_near(points, np.concatenate(earlier), _STILL_CELLS)
    is_still[len(measured) :] = True  # the assumed obstacles

    is_last = np.ones(len(points), np.bool_)
    return (*_update_last_seen(kept, points), Look(scan.stamp, points, is_still, is_last))


def _update_last_seen(memory: Memory, points: NDArray[np.float64]) -> Iterator[Look]:
    """Yield the looks, with ``is_last`` cleared for returns that are near the new ``points``."""
    if not memory:
        return

    remembered = np.concatenate([look.points for look in memory])
    is_seen_again = _find_near(remembered, points, _SEEN_AGAIN_CELLS)
    counts = [len(look.points) for look in memory]
    parts = np.split(is_seen_again, np.cumsum(counts)[:-1])
    for look, part in zip(memory, parts, strict=True):
        yield replace(look, is_last=look.is_last & ~part)


def _find_near(points: NDArray[np.float64], others: NDArray[np.float64], cells: int) -> NDArray[np.bool_]:
    """Return which points have a neighbour among ``others`` within ``cells`` cells of ``_CELL_M`` metres, (n,).

    ``others`` are marked on a grid over all points, and each mark grows by ``cells`` cells in all directions.
    """
    if not len(points) or not len(others):
        return np.zeros(len(points), np.bool_)
    lowest = np.minimum(points.min(axis=0), others.min(axis=0))
    lowest = lowest - (cells + 0.5) * _CELL_M
    point_cells = ((points - lowest) / _CELL_M).astype(np.intp)
    marks = ((others - lowest) / _CELL_M).astype(np.intp)
    highest = np.maximum(point_cells.max(axis=0), marks.max(axis=0))
    grid = np.zeros(highest + cells + 1, np.bool_)
    grid[marks[:, 0], marks[:, 1]] = True
    for _ in range(cells):
        grid[1:] |= grid[:-1]
        grid[:-1] |= grid[1:]
    for _ in range(cells):
        grid[:, 1:] |= grid[:, :-1]
        grid[:, :-1] |= grid[:, 1:]
    return np.asarray(grid[point_cells[:, 0], point_cells[:, 1]])


def points_around(
    memory: Memory, odometry: Odometry, now: float, speed: float, config: RobotConfig
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (points, padding): the points in memory, (n, 2) in the base frame at ``now``, and their padding, (n,).

    Padding is in metres. If a still point lies within the padded footprint, its padding is cut to less than its
    distance from the footprint. Thus motion that brings the robot no nearer stays possible. For a point that may move,
    the padding is greater by the :func:`margin`, so that the robot stands before the obstacle can touch the robot.
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
