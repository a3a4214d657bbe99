"""Check whether the path in a direction is free, using one scan (pure).

The tool ``check_path_clear`` uses this check, and the check may refuse a ``move_toward``. Every valid return where the
footprint would pass counts, so a 2 cm pole is enough to block the path.
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
"""For each direction, the factor for the requested speed; negative in reverse."""
_TURN_RATE: Final[Mapping[Direction, float]] = {
    Direction.FORWARD: 0.0,
    Direction.FORWARD_LEFT: 0.25,
    Direction.LEFT: 0.45,
    Direction.FORWARD_RIGHT: -0.25,
    Direction.RIGHT: -0.45,
    Direction.BACKWARD: 0.0,
}
"""For each direction, the turn rate before the steering limit is applied, rad/s."""
_NEIGHBOURHOOD_M: Final = 0.5
"""Returns within this distance, metres, of the return that is hit belong to the same thing."""


@dataclass(frozen=True, slots=True)
class PathCheck:
    """The result of a check: how far the robot could go along its path, and what the robot would meet.

    ``clear`` is True if the whole path is free. ``obstacle_distance_m`` is the free distance along the path, metres.
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
    """Return whether ``distance_m`` metres in a direction are free, found by a sweep of the padded footprint.

    The robot turns into the direction at full lock, then drives straight on. Distances are along the path of the rear
    axle. ``scan`` must be usable.
    """
    points = returns(scan, config.lidar)
    free, end = _sweep(points, direction, distance_m, config)
    if free >= distance_m:
        return PathCheck(True, free, "none")
    is_forward = direction is not Direction.BACKWARD
    return PathCheck(False, free, _classify_obstacle(points, end, is_forward, config.body))


def swept_clearance(scan: Scan, direction: Direction, twist: Twist, config: RobotConfig) -> float:
    """Return the distance, metres, from the lidar to the first obstacle along the arc of ``twist``.

    The result is at most 2 m plus the overhang, which is the distance from the lidar to the bumper.
    """
    is_forward = direction is not Direction.BACKWARD
    body = config.body
    overhang = config.overhang(forward=is_forward)
    points = returns(scan, config.lidar)
    return overhang + free_distance(points, curvature_of(twist, body), is_forward, body, config.zones.padding, 2.0)


def _sweep(
    points: NDArray[np.float64], direction: Direction, distance: float, config: RobotConfig
) -> tuple[float, Pose]:
    """Return (free, pose): how far the path is free, metres, and the pose of the rear axle where the free path ends.

    The free path is at most ``distance`` long. ``points`` and the pose are in the base frame at the start.
    """
    body = config.body
    padding = config.zones.padding
    is_forward = direction is not Direction.BACKWARD
    heading = radians(BEARINGS[direction]) if is_forward else 0.0
    turn_length = min(distance, abs(heading) * body.turning_radius)
    turn_end = Pose()
    curvature = copysign(body.curvature_limit, heading)
    free_turn = 0.0
    if turn_length:
        free_turn = min(turn_length, free_distance(points, curvature, True, body, padding, turn_length))
        turn_end = along(curvature, free_turn)
        if free_turn < turn_length:
            return free_turn, turn_end
    straight_length = distance - turn_length
    free_straight = 0.0
    if straight_length:
        ahead = transform_to_frame(points, turn_end)
        free_straight = min(straight_length, free_distance(ahead, 0.0, is_forward, body, padding, straight_length))
    end = turn_end.compose(Pose(free_straight if is_forward else -free_straight, 0.0, 0.0))
    return free_turn + free_straight, end


def _classify_obstacle(points: NDArray[np.float64], at: Pose, is_forward: bool, body: Body) -> str:
    """Return the type of the obstacle that the footprint touches at pose ``at``: "thin", "object" or "wall".

    The obstacle is the nearest return at the leading half of the footprint. The type follows from the diagonal of the
    box around the returns nearby.
    """
    local = transform_to_frame(points, at)
    is_leading = local[:, 0] > body.centre if is_forward else local[:, 0] < body.centre
    distance = np.where(is_leading, clearance(local, body), inf)
    hit = local[int(np.argmin(distance))]
    nearby = local[np.hypot(*(local - hit).T) < _NEIGHBOURHOOD_M]
    extent = float(np.hypot(*np.ptp(nearby, axis=0)))
    if extent <= 0.12:
        return "thin"
    return "object" if extent < 0.6 else "wall"
