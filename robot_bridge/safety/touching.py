"""Find where a robot touched an obstacle that its lidar does not see (pure).

The robot touched the obstacle with a leading edge, on ground that the robot had not covered before. Points are float64
of shape (n, 2), metres in the frame of the poses.
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
"""The robot has driven over a point that was at least this far inside an earlier footprint, metres.

If the point was less far inside, this may be an error of odometry.
"""
_MIN_OUTWARD_SHARE = 0.1
"""Least sideways motion that counts as outward: metres for a point on a side per metre that the robot drives."""
_POINTS_PER_SIDE = 13
_POINTS_PER_END = 5


def find_touched(pose: Pose, forward: bool, curvature: float, trail: Sequence[Pose], body: Body) -> Array:
    """Return points just beyond the footprint that the robot may have touched.

    The points lie at the leading end, on ground that the robot had not covered before. If there is no such ground, the
    points lie along the parts of the sides that the turn carried outward. If the robot had covered the ground along the
    sides too, all points of the end are returned.

    Args:
        pose: the robot's pose at the touch.
        forward: whether the robot drove ahead.
        curvature: curvature of the arc that the robot drove, 1/m.
        trail: poses where the robot has been.
        body: the robot's footprint.
    """
    end = transform_from_frame(_end_points(forward, body), pose)
    sides = transform_from_frame(_side_points(forward, curvature, body), pose)
    for candidates in (end, sides):
        on_new_ground = _keep_new_ground(candidates, trail, body)
        if len(on_new_ground):
            return on_new_ground
    return end


def _end_points(forward: bool, body: Body) -> Array:
    """Return points along the leading end, just beyond the footprint, in the base frame."""
    x = body.front + _BEYOND_M if forward else -body.rear - _BEYOND_M
    y = np.linspace(-body.half_width, body.half_width, _POINTS_PER_END)
    return np.column_stack((np.full(_POINTS_PER_END, x), y))


def _side_points(forward: bool, curvature: float, body: Body) -> Array:
    """Return points just beyond the parts of the sides that the turn carries outward, in the base frame."""
    along_body = np.linspace(-body.rear, body.front, _POINTS_PER_SIDE)
    x, side = (axis.ravel() for axis in np.meshgrid(along_body, (-1.0, 1.0)))
    direction = 1 if forward else -1
    # Per metre of way, a point at x moves sideways by x * curvature; side is 1 on the left, -1 on the right.
    is_outward = side * x * curvature * direction >= _MIN_OUTWARD_SHARE
    y = side * (body.half_width + _BEYOND_M)
    return np.column_stack((x, y))[is_outward]


def _keep_new_ground(points: Array, trail: Sequence[Pose], body: Body) -> Array:
    """Return the points that lie outside the footprints at all poses of the trail."""
    is_new = np.ones(len(points), np.bool_)
    for pose in trail:
        is_new &= clearance(transform_to_frame(points, pose), body) > -_INSIDE_M
    return points[is_new]
