"""Check whether the way in a direction is free, from one scan (pure).

``check_path_clear`` uses it, and it may refuse a ``move_toward``. Every valid beam counts that lies where the
footprint would pass: a 2 cm pole is enough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import copysign, inf, radians
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Body, RobotConfig
from robot_bridge.contracts import BEARINGS, SPEEDS, Direction, Pose, Scan, Speed, Twist
from robot_bridge.safety.geometry import (
    along,
    clamp_steering,
    clearance,
    curvature_of,
    free_distance,
    transform_to_frame,
)
from robot_bridge.safety.scans import returns

_SPEED_SHARE: Final[Mapping[Direction, float]] = {d: -1.0 if d is Direction.BACKWARD else 1.0 for d in Direction}
_TURN_RATE: Final[Mapping[Direction, float]] = {
    Direction.FORWARD: 0.0,
    Direction.FORWARD_LEFT: 0.25,
    Direction.LEFT: 0.45,
    Direction.FORWARD_RIGHT: -0.25,
    Direction.RIGHT: -0.45,
    Direction.BACKWARD: 0.0,
}
"""Turn rate of each direction before the steering limit, rad/s."""
_NEIGHBOURHOOD: Final = 0.5
"""Returns within this distance of the one that is hit belong to the same thing, metres."""


@dataclass(frozen=True, slots=True)
class PathCheck:
    """How far the robot could go, metres along its way, and what it would meet there.

    ``obstacle_type`` is ``none``, ``thin`` (up to 12 cm wide), ``object`` or ``wall`` (from 0.6 m).
    """

    clear: bool
    obstacle_distance_m: float
    obstacle_type: str


def twist_toward(direction: Direction, speed: Speed, body: Body) -> Twist:
    """Return the velocity for ``move_toward``: an arc that the steering can follow, at the requested speed."""
    linear = SPEEDS[speed] * _SPEED_SHARE[direction]
    return clamp_steering(Twist(linear, _TURN_RATE[direction]), body)


def check_path(scan: Scan, direction: Direction, distance_m: float, config: RobotConfig) -> PathCheck:
    """Sweep the padded footprint along ``direction``: turn into it at full lock, then straight on.

    Way and distance are those of the rear axle. ``scan`` must be usable.
    """
    points = returns(scan, config.lidar)
    free, end = _swept(points, direction, distance_m, config)
    if free >= distance_m:
        return PathCheck(True, free, "none")
    return PathCheck(False, free, _kind(points, end, direction is not Direction.BACKWARD, config.body))


def swept_clearance(scan: Scan, direction: Direction, twist: Twist, config: RobotConfig) -> float:
    """Return the distance from the lidar to the first obstacle on the arc of ``twist``, at most 2 m plus overhang."""
    is_forward = direction is not Direction.BACKWARD
    body = config.body
    overhang = config.overhang(forward=is_forward)
    points = returns(scan, config.lidar)
    return overhang + free_distance(points, curvature_of(twist, body), is_forward, body, config.zones.padding, 2.0)


def _swept(
    points: NDArray[np.float64], direction: Direction, distance: float, config: RobotConfig
) -> tuple[float, Pose]:
    """Return how far the way is free, at most ``distance``, and the pose of the rear axle there."""
    body = config.body
    padding = config.zones.padding
    is_forward = direction is not Direction.BACKWARD
    heading = radians(BEARINGS[direction]) if is_forward else 0.0
    turning = min(distance, abs(heading) * body.turning_radius)
    corner = Pose()
    curvature = copysign(body.curvature_limit, heading)
    free = 0.0
    if turning:
        free = min(turning, free_distance(points, curvature, True, body, padding, turning))
        corner = along(curvature, free)
        if free < turning:
            return free, corner
    rest = distance - turning
    ahead = transform_to_frame(points, corner)
    straight = min(rest, free_distance(ahead, 0.0, is_forward, body, padding, rest)) if rest else 0.0
    return free + straight, corner.compose(Pose(straight if is_forward else -straight, 0.0, 0.0))


def _kind(points: NDArray[np.float64], at: Pose, is_forward: bool, body: Body) -> str:
    """Return the kind of obstacle the footprint touches at ``at``, judged by the extent of the nearby returns."""
    local = transform_to_frame(points, at)
    is_on_the_way = local[:, 0] > body.centre if is_forward else local[:, 0] < body.centre
    margin = np.where(is_on_the_way, clearance(local, body), inf)
    hit = local[int(np.argmin(margin))]
    around = local[np.hypot(*(local - hit).T) < _NEIGHBOURHOOD]
    extent = float(np.hypot(*np.ptp(around, axis=0)))
    return "thin" if extent <= 0.12 else "object" if extent < 0.6 else "wall"
