"""Geometry of an Ackermann footprint: feasible velocities, and how far an arc is free (pure).

Points are float64 of shape (n, 2), metres in the base frame (middle of the rear axle, x ahead, y left). A path is an
arc of that middle with a curvature in 1/m, positive to the left, driven forward or in reverse.
"""

from __future__ import annotations

from math import copysign, cos, pi, sin

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Body
from robot_bridge.contracts import REST, Pose, Twist

_STRAIGHT = 1e-6
"""Below this curvature, double precision cannot distinguish the circle from a line."""
_TOUCH = 1e-9
"""Metres by which a crossing at a corner may lie beyond that corner."""


def clamp_steering(twist: Twist, body: Body) -> Twist:
    """Return the nearest velocity of the same speed that the steering can follow; turning in place becomes rest.

    Idempotent. The twist must be finite.
    """
    if twist.linear == 0.0:
        return REST
    fastest_turn = abs(twist.linear) * body.curvature_limit
    turn = min(abs(twist.angular), fastest_turn)
    return Twist(twist.linear, copysign(turn, twist.angular))


def curvature_of(twist: Twist, body: Body) -> float:
    """Return the curvature of the arc that ``twist`` follows once clamped, 1/m; 0 at rest."""
    feasible = clamp_steering(twist, body)
    if feasible.linear == 0.0:
        return 0.0
    limit = body.curvature_limit
    return max(-limit, min(limit, feasible.angular / feasible.linear))


def along(curvature: float, distance: float) -> Pose:
    """Return the pose after an arc, relative to its start; a negative distance means reverse."""
    angle = curvature * distance
    if abs(angle) < _STRAIGHT:
        return Pose(distance, distance * angle / 2, angle)
    return Pose(sin(angle) / curvature, (1 - cos(angle)) / curvature, angle)


def transform_to_frame(points: NDArray[np.float64], pose: Pose) -> NDArray[np.float64]:
    """Return the points relative to ``pose``, which is given in their frame."""
    c = cos(pose.heading)
    s = sin(pose.heading)
    dx = points[:, 0] - pose.x
    dy = points[:, 1] - pose.y
    x = c * dx + s * dy
    y = c * dy - s * dx
    return np.column_stack((x, y))


def transform_from_frame(points: NDArray[np.float64], pose: Pose) -> NDArray[np.float64]:
    """Return points given relative to ``pose`` in the frame of ``pose``: the inverse of :func:`transform_to_frame`."""
    c = cos(pose.heading)
    s = sin(pose.heading)
    x = points[:, 0]
    y = points[:, 1]
    placed_x = pose.x + c * x - s * y
    placed_y = pose.y + s * x + c * y
    return np.column_stack((placed_x, placed_y))


def clearance(points: NDArray[np.float64], body: Body) -> NDArray[np.float64]:
    """Return the padding with which the footprint would touch each point, metres; negative inside the footprint."""
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

    Exact along the arc, for the whole footprint and every point, including corners that swing out and wheels that cut
    in.

    Args:
        points: the obstacles.
        curvature: curvature of the arc.
        forward: False for reverse.
        body: the footprint.
        padding: metres on every side, one value for all points or one for each.
        horizon: the result if nothing is in the way within this distance, metres.
    """
    ahead, behind = (body.front, body.rear) if forward else (body.rear, body.front)
    x = points[:, 0] if forward else -points[:, 0]
    y = points[:, 1] if curvature >= 0 else -points[:, 1]
    pad = np.broadcast_to(np.asarray(padding, dtype=np.float64), x.shape)
    if abs(curvature) < _STRAIGHT:
        is_in_lane = np.abs(y) <= body.half_width + pad
        met = is_in_lane & (x >= -behind - pad)
        reached = np.maximum(x[met] - ahead - pad[met], 0.0)
    else:
        radius = 1 / abs(curvature)
        from_centre = np.hypot(x, y - radius)
        longest = max(ahead, behind) + pad
        outermost = np.hypot(longest, radius + body.half_width + pad)
        innermost = radius - body.half_width - pad
        met = (from_centre >= innermost) & (from_centre <= outermost)
        met &= clearance(points, body) <= pad + horizon * outermost / radius

        x = x[met]
        y = y[met] - radius
        pad = pad[met]
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
    """Return arc lengths of a left turn until each point enters the footprint; inf if never, 0 if already inside.

    ``x``, ``y`` are relative to the centre of the turn. Seen from the robot, every point moves clockwise around that
    centre: an edge of the footprint meets the point where the point's circle crosses the edge.
    """
    left = half - radius
    right = -half - radius
    squared = x * x + y * y
    edges = np.stack((front, rear, left, right))
    with np.errstate(invalid="ignore"):
        at = np.sqrt(squared - edges * edges)

    # Each edge's line crosses the circle at two places: one of either sign of the other coordinate.
    ends = edges[:2]
    end_crossings = at[:2]
    sides = edges[2:]
    side_crossings = at[2:]
    across = np.concatenate((ends, ends, side_crossings, -side_crossings))
    upward = np.concatenate((-end_crossings, end_crossings, sides, sides))
    touches = (across <= front + _TOUCH) & (across >= rear - _TOUCH)
    touches &= (upward <= left + _TOUCH) & (upward >= right - _TOUCH)

    begin = np.arctan2(y, x)
    turned = (begin - np.arctan2(upward, across)) % (2 * pi)
    least_turn = np.where(touches, turned, np.inf).min(axis=0)
    reached: NDArray[np.float64] = least_turn * radius

    is_inside = (x <= front) & (x >= rear) & (y <= left) & (y >= right)
    reached[is_inside] = 0.0
    return reached
