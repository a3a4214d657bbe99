"""A lidar that repeats its last picture with new stamps: no two turns measure the same while the robot moves (pure)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_bridge.contracts import Odometry, Pose, Scan, wrapped

_MOVED_M, _MOVED_RAD = 0.05, 0.1


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A scan, and where odometry was when it came."""

    scan: Scan
    pose: Pose


def pictured(last: Picture | None, scan: Scan, odometry: Odometry) -> Picture:
    """The last picture where the scan is the same, beam by beam, else the scan as a new one."""
    is_same = last is not None and np.array_equal(last.scan.ranges, scan.ranges, equal_nan=True)
    return last if last is not None and is_same else Picture(scan, odometry.pose)


def frozen(picture: Picture, scan: Scan, odometry: Odometry) -> str:
    """Why a scan with this picture is none, "" where it is one."""
    moved = odometry.pose.distance_to(picture.pose.x, picture.pose.y)
    turned = abs(wrapped(odometry.pose.heading - picture.pose.heading))
    if scan.stamp == picture.scan.stamp or (moved <= _MOVED_M and turned <= _MOVED_RAD):
        return ""
    return f"the lidar repeats itself: the same scan again after {moved:.2f} m and {turned:.2f} rad"
