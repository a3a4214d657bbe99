"""Find where a robot touched an obstacle its lidar does not see: ahead of its motion, on new ground (pure).

Points are float64 of shape (n, 2), metres in the frame of the poses.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Body
from robot_bridge.contracts import Pose
from robot_bridge.safety.geometry import clearance, transform_from_frame, transform_to_frame

Array = NDArray[np.float64]

_BEYOND_M = 0.01
_INSIDE_M = 0.01
"""A point at least this far inside an earlier footprint was driven over: odometry is not exact."""
_OUTWARD = 0.1
"""Share of the way that a side must have moved outward."""
_ALONG = 13
_ACROSS = 5


def find_touched(pose: Pose, forward: bool, curvature: float, trail: Sequence[Pose], body: Body) -> Array:
    """Return points just beyond the footprint that the robot may have touched.

    They lie at the leading end. If the robot has already covered that ground, they lie along the sides that its turn
    carried outward.

    Args:
        pose: the robot's pose when it touched something.
        forward: whether it drove ahead.
        curvature: curvature of the arc it drove.
        trail: poses where it has been.
        body: its footprint.
    """
    end = transform_from_frame(_end(forward, body), pose)
    sides = transform_from_frame(_sides(forward, curvature, body), pose)
    new = (_keep_new_ground(points, trail, body) for points in (end, sides))
    return next((points for points in new if len(points)), end)


def _end(forward: bool, body: Body) -> Array:
    x = body.front + _BEYOND_M if forward else -body.rear - _BEYOND_M
    y = np.linspace(-body.half_width, body.half_width, _ACROSS)
    return np.column_stack((np.full(_ACROSS, x), y))


def _sides(forward: bool, curvature: float, body: Body) -> Array:
    along_body = np.linspace(-body.rear, body.front, _ALONG)
    x, side = (axis.ravel() for axis in np.meshgrid(along_body, (-1.0, 1.0)))
    is_outward = side * x * curvature * (1 if forward else -1) >= _OUTWARD
    y = side * (body.half_width + _BEYOND_M)
    return np.column_stack((x, y))[is_outward]


def _keep_new_ground(points: Array, trail: Sequence[Pose], body: Body) -> Array:
    """Return the points that the robot has not driven over."""
    is_new = np.ones(len(points), np.bool_)
    for pose in trail:
        is_new &= clearance(transform_to_frame(points, pose), body) > -_INSIDE_M
    return points[is_new]
