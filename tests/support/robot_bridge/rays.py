"""Scans of worlds of round posts in a square room, by geometry alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Observation, Odometry, Pose, Scan, Twist

CONFIG = RobotConfig()
Post = tuple[float, float, float]
"""x, y and radius in the map frame."""


def scan_of(
    posts: Sequence[Post],
    *,
    pose: Pose | None = None,
    stamp: float = 0.0,
    room: float = 3.0,
    noise: float = 0.0,
    rng: np.random.Generator | None = None,
    config: RobotConfig = CONFIG,
) -> Scan:
    """What a lidar sees from a pose of the base; walls stand ``room`` metres from the origin."""
    lidar, pose = config.lidar, pose or Pose()
    x, y = pose.ahead(lidar.x)
    angles = pose.heading + lidar.angle_min + lidar.angle_increment * np.arange(lidar.beams, dtype=np.float64)
    ranges = _walls(x, y, angles, room)
    for px, py, radius in posts:
        along = np.cos(angles) * (px - x) + np.sin(angles) * (py - y)
        beside = -np.sin(angles) * (px - x) + np.cos(angles) * (py - y)
        with np.errstate(invalid="ignore"):
            met = along - np.sqrt(radius**2 - beside**2)
        ranges = np.minimum(ranges, np.where(met > 0, met, inf))
    if rng is not None:
        ranges = ranges + rng.normal(0, noise, lidar.beams)
    return as_scan(ranges, stamp, config)


def _walls(x: float, y: float, angles: NDArray[np.float64], room: float) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        across = (np.copysign(room, np.cos(angles)) - x) / np.cos(angles)
        up = (np.copysign(room, np.sin(angles)) - y) / np.sin(angles)
    return np.minimum(across, up)


def as_scan(ranges: NDArray[np.floating], stamp: float = 0.0, config: RobotConfig = CONFIG) -> Scan:
    """Numbers as a scan of the configured lidar."""
    lidar = config.lidar
    numbers = ranges.astype(np.float32)
    return Scan(stamp, numbers, lidar.angle_min, lidar.angle_increment, lidar.range_min, lidar.range_max)


def seen(scan: Scan | None, *, now: float = 0.0, pose: Pose | None = None, twist: Twist | None = None) -> Observation:
    """An observation with fresh odometry."""
    return Observation(scan, None, Odometry(now, pose or Pose(), twist or Twist()))
