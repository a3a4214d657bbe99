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


def clamped(twist: Twist, body: Body) -> Twist:
    """Return the nearest velocity of the same speed that the steering can follow; turning in place becomes rest.

    Idempotent. The twist must be finite.
    """
    if twist.linear == 0.0:
        return REST
    most = abs(twist.linear) * body.curvature_limit
    return Twist(twist.linear, copysign(min(abs(twist.angular), most), twist.angular))


def curvature_of(twist: Twist, body: Body) -> float:
    """Return the curvature of the arc that ``twist`` follows once clamped, 1/m; 0 at rest."""
    feasible = clamped(twist, body)
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


def seen_from(points: NDArray[np.float64], pose: Pose) -> NDArray[np.float64]:
    """Return the points relative to ``pose``, which is given in their frame."""
    c = cos(pose.heading)
    s = sin(pose.heading)
    dx = points[:, 0] - pose.x
    dy = points[:, 1] - pose.y
    return np.column_stack((c * dx + s * dy, c * dy - s * dx))


def placed(points: NDArray[np.float64], pose: Pose) -> NDArray[np.float64]:
    """Return points given relative to ``pose`` in the frame of ``pose``: the inverse of :func:`seen_from`."""
    c = cos(pose.heading)
    s = sin(pose.heading)
    x = points[:, 0]
    y = points[:, 1]
    return np.column_stack((pose.x + c * x - s * y, pose.y + s * x + c * y))


def clearance(points: NDArray[np.float64], body: Body) -> NDArray[np.float64]:
    """Return the padding with which the footprint would touch each point, metres; negative inside the footprint."""
    beyond_ends = np.maximum(points[:, 0] - body.front, -body.rear - points[:, 0])
    found: NDArray[np.float64] = np.maximum(beyond_ends, np.abs(points[:, 1]) - body.half_width)
    return found


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
        met = (np.abs(y) <= body.half_width + pad) & (x >= -behind - pad)
        reached = np.maximum(x[met] - ahead - pad[met], 0.0)
    else:
        radius = 1 / abs(curvature)
        from_centre = np.hypot(x, y - radius)
        outermost = np.hypot(max(ahead, behind) + pad, radius + body.half_width + pad)
        met = (from_centre >= radius - body.half_width - pad) & (from_centre <= outermost)
        met &= clearance(points, body) <= pad + horizon * outermost / radius
        x = x[met]
        y = y[met]
        pad = pad[met]
        reached = _reached(x, y - radius, ahead + pad, -behind - pad, body.half_width + pad, radius)
    return float(reached.min(initial=horizon))


def _reached(
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
    across = np.concatenate((edges[:2], edges[:2], at[2:], -at[2:]))
    upward = np.concatenate((-at[:2], at[:2], edges[2:], edges[2:]))
    touches = (across <= front + _TOUCH) & (across >= rear - _TOUCH)
    touches &= (upward <= left + _TOUCH) & (upward >= right - _TOUCH)
    turned = (np.arctan2(y, x) - np.arctan2(upward, across)) % (2 * pi)
    reached: NDArray[np.float64] = np.where(touches, turned, np.inf).min(axis=0) * radius
    reached[(x <= front) & (x >= rear) & (y <= left) & (y >= right)] = 0.0
    return reached
