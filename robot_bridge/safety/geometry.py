"""Geometry of an Ackermann footprint: feasible velocities, and how far an arc is free (pure).

Points are float64 of shape (n, 2), metres in the base frame (origin in the middle of the rear axle, x ahead, y left). A
path is an arc of the rear axle's middle, driven forward or in reverse. The curvature of a path is in 1/m, positive to
the left.
"""

from __future__ import annotations

from math import copysign, cos, pi, sin

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Body
from robot_bridge.contracts import REST, Pose, Twist

_MIN_CURVATURE = 1e-6
"""Below this curvature (1/m) or angle (radians), double precision cannot distinguish the arc from a line."""
_CORNER_TOLERANCE_M = 1e-9
"""Metres by which a crossing at a corner of the footprint may lie beyond the corner."""


def clamp_steering(twist: Twist, body: Body) -> Twist:
    """Return the nearest velocity of the same speed that the steering can follow; turning in place becomes rest.

    The function is idempotent. The twist must be finite.
    """
    if twist.linear == 0.0:
        return REST
    fastest_turn = abs(twist.linear) * body.curvature_limit
    turn = min(abs(twist.angular), fastest_turn)
    return Twist(twist.linear, copysign(turn, twist.angular))


def curvature_of(twist: Twist, body: Body) -> float:
    """Return the curvature of the arc that ``twist`` follows after clamping, 1/m; 0 at rest."""
    feasible = clamp_steering(twist, body)
    if feasible.linear == 0.0:
        return 0.0
    limit = body.curvature_limit
    return max(-limit, min(limit, feasible.angular / feasible.linear))


def along(curvature: float, distance: float) -> Pose:
    """Return the pose at the end of an arc, relative to the start of the arc; a negative distance means reverse."""
    angle = curvature * distance
    if abs(angle) < _MIN_CURVATURE:
        return Pose(distance, distance * angle / 2, angle)
    return Pose(sin(angle) / curvature, (1 - cos(angle)) / curvature, angle)


def transform_to_frame(points: NDArray[np.float64], pose: Pose) -> NDArray[np.float64]:
    """Return the points relative to ``pose``; points and pose are given in the same frame."""
    c = cos(pose.heading)
    s = sin(pose.heading)
    dx = points[:, 0] - pose.x
    dy = points[:, 1] - pose.y
    x = c * dx + s * dy
    y = c * dy - s * dx
    return np.column_stack((x, y))


def transform_from_frame(points: NDArray[np.float64], pose: Pose) -> NDArray[np.float64]:
    """Transform points given relative to ``pose`` into the frame in which ``pose`` is given.

    The function is the inverse of :func:`transform_to_frame`.
    """
    c = cos(pose.heading)
    s = sin(pose.heading)
    x = points[:, 0]
    y = points[:, 1]
    placed_x = pose.x + c * x - s * y
    placed_y = pose.y + s * x + c * y
    return np.column_stack((placed_x, placed_y))


def clearance(points: NDArray[np.float64], body: Body) -> NDArray[np.float64]:
    """Return, for each point, the width of padding with which the footprint would touch the point, metres (n,).

    The padding is negative for points inside the footprint.
    """
    x = points[:, 0]
    beyond_ends = np.maximum(x - body.front, -body.rear - x)
    beyond_sides = np.abs(points[:, 1]) - body.half_width
    padding: NDArray[np.float64] = np.maximum(beyond_ends, beyond_sides)
    return padding


def free_distance(
    points: NDArray[np.float64],
    curvature: float,
    forward: bool,
    body: Body,
    padding: float | NDArray[np.float64],
    horizon: float,
) -> float:
    """Return how far the rear axle's middle can go along an arc before a point is inside the padded footprint, metres.

    The result is exact for the whole footprint and every point, including corners that swing out and wheels that cut
    in.

    Args:
        points: the obstacles.
        curvature: curvature of the arc, 1/m.
        forward: False for reverse.
        body: the footprint.
        padding: metres on every side, one value for all points or one value for each point (n,).
        horizon: the result if no point is in the way within this distance, metres.
    """
    # Mirror the points, so that every arc is a drive forward that turns left or goes straight.
    ahead, behind = (body.front, body.rear) if forward else (body.rear, body.front)
    x = points[:, 0] if forward else -points[:, 0]
    y = points[:, 1] if curvature >= 0 else -points[:, 1]
    pad = np.broadcast_to(np.asarray(padding, dtype=np.float64), x.shape)
    if abs(curvature) < _MIN_CURVATURE:
        is_in_lane = np.abs(y) <= body.half_width + pad
        is_met = is_in_lane & (x >= -behind - pad)
        reached = np.maximum(x[is_met] - ahead - pad[is_met], 0.0)
    else:
        # Only points in the ring that the footprint sweeps, and near enough for the horizon, can be met.
        radius = 1 / abs(curvature)
        from_centre = np.hypot(x, y - radius)
        longest = max(ahead, behind) + pad
        outermost = np.hypot(longest, radius + body.half_width + pad)
        innermost = radius - body.half_width - pad
        can_be_met = (from_centre >= innermost) & (from_centre <= outermost)
        can_be_met &= clearance(points, body) <= pad + horizon * outermost / radius

        x = x[can_be_met]
        y = y[can_be_met] - radius
        pad = pad[can_be_met]
        front = ahead + pad
        rear = -behind - pad
        reached = _measure_reach(x, y, front, rear, body.half_width + pad, radius)

    return float(reached.min(initial=horizon))


def _measure_reach(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    front: NDArray[np.float64],
    rear: NDArray[np.float64],
    half: NDArray[np.float64],
    radius: float,
) -> NDArray[np.float64]:
    """Return, for each point, the length of a left turn until the point enters the footprint.

    The length is inf if the point never enters, and 0 if it is already inside. ``x``, ``y`` are relative to the centre
    of the turn. Seen from the robot, every point moves clockwise on a circle around the centre. An edge of the
    footprint meets the point where the circle crosses the edge. ``front`` and ``rear`` are the x of the front and the
    rear edge; ``half`` is half of the width. All arrays are (n,), metres.
    """
    left = half - radius
    right = -half - radius
    squared = x * x + y * y
    edges = np.stack((front, rear, left, right))
    with np.errstate(invalid="ignore"):  # NaN where the circle does not cross the edge's line; NaN touches nothing
        crossings = np.sqrt(squared - edges * edges)

    # Each edge's line crosses the circle at two places, at the positive and the negative value of the other coordinate.
    ends = edges[:2]
    end_crossings = crossings[:2]
    sides = edges[2:]
    side_crossings = crossings[2:]
    crossing_x = np.concatenate((ends, ends, side_crossings, -side_crossings))
    crossing_y = np.concatenate((-end_crossings, end_crossings, sides, sides))
    touches = (crossing_x <= front + _CORNER_TOLERANCE_M) & (crossing_x >= rear - _CORNER_TOLERANCE_M)
    touches &= (crossing_y <= left + _CORNER_TOLERANCE_M) & (crossing_y >= right - _CORNER_TOLERANCE_M)

    start_angle = np.arctan2(y, x)
    turned = (start_angle - np.arctan2(crossing_y, crossing_x)) % (2 * pi)
    least_turn = np.where(touches, turned, np.inf).min(axis=0)
    reached: NDArray[np.float64] = least_turn * radius

    is_inside = (x <= front) & (x >= rear) & (y <= left) & (y >= right)
    reached[is_inside] = 0.0
    return reached
