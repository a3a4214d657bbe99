"""Where a robot has touched what its lidar does not see: where its motion led, on ground that is new to it (pure).

Points are float64 of shape (n, 2), metres in the frame in which the poses are given.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Body
from robot_bridge.contracts import Pose
from robot_bridge.safety.geometry import clearance, placed, seen_from

Array = NDArray[np.float64]

_BEYOND_M = 0.01
_INSIDE_M = 0.01
"""A point so far inside of a footprint was driven over: odometry is not exact."""
_OUTWARD = 0.1
"""Share of the way by which a side must have gone outward."""
_ALONG, _ACROSS = 13, 5


def touched(pose: Pose, forward: bool, curvature: float, trail: Sequence[Pose], body: Body) -> Array:
    """Points just beyond the footprint that may have been touched.

    They are those of the end with which the robot drove; where it has been there before, those of the sides that its
    turn carried outward.

    Args:
        pose: of the robot that touched something.
        forward: whether it drove ahead.
        curvature: of the arc on which it drove.
        trail: where it has been.
        body: its footprint.
    """
    end = placed(_end(forward, body), pose)
    sides = placed(_sides(forward, curvature, body), pose)
    new = (_on_new_ground(points, trail, body) for points in (end, sides))
    return next((points for points in new if len(points)), end)


def _end(forward: bool, body: Body) -> Array:
    x = body.front + _BEYOND_M if forward else -body.rear - _BEYOND_M
    return np.column_stack((np.full(_ACROSS, x), np.linspace(-body.half_width, body.half_width, _ACROSS)))


def _sides(forward: bool, curvature: float, body: Body) -> Array:
    x, side = (each.ravel() for each in np.meshgrid(np.linspace(-body.rear, body.front, _ALONG), (-1.0, 1.0)))
    is_outward = side * x * curvature * (1 if forward else -1) >= _OUTWARD
    return np.column_stack((x, side * (body.half_width + _BEYOND_M)))[is_outward]


def _on_new_ground(points: Array, trail: Sequence[Pose], body: Body) -> Array:
    """Those over which the robot has not driven."""
    is_new = np.ones(len(points), np.bool_)
    for pose in trail:
        is_new &= clearance(seen_from(points, pose), body) > -_INSIDE_M
    return points[is_new]
