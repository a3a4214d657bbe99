"""Arcs: what maneuvers are made of, and what they aim at (pure)."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Body, RobotConfig
from robot_bridge.contracts import Pose, wrapped
from robot_bridge.navigation.clearance import Circles
from robot_bridge.safety.geometry import along

Array = NDArray[np.float64]

STEP_M = 0.08
_CURVATURES = (-1.0, -0.5, 0.0, 0.5, 1.0)
_CURVATURE_SHARE = 0.92  # the rest of the steering is left to the controller that follows
_SAMPLE_M = 0.04
_ZONE_MARGIN_M = 0.03


@dataclass(frozen=True, slots=True)
class Step:
    """An arc from ``start``: ``distance`` metres of the rear axle's middle, negative in reverse; ``curvature`` 1/m."""

    start: Pose
    curvature: float
    distance: float

    def at(self, travelled: float) -> Pose:
        """The pose after so many metres, not signed."""
        return self.start.after(along(self.curvature, travelled if self.distance >= 0 else -travelled))

    @property
    def length(self) -> float:
        """Metres, not signed."""
        return abs(self.distance)

    @property
    def end(self) -> Pose:
        """The pose at its end."""
        return self.at(self.length)


@dataclass(frozen=True, slots=True)
class Aim:
    """What a maneuver is to reach: the footprint's middle at a place, the heading where one is given."""

    x: float
    y: float
    tolerance: float
    heading: float | None = None
    heading_tolerance: float = 0.1

    def misses(self, pose: Pose, body: Body) -> tuple[float, float]:
        """By how many metres and radians a pose of the rear axle is outside of the tolerances."""
        x, y = pose.ahead(body.centre)
        turn = 0.0 if self.heading is None else abs(wrapped(pose.heading - self.heading))
        return max(0.0, hypot(x - self.x, y - self.y) - self.tolerance), max(0.0, turn - self.heading_tolerance)

    def is_met(self, pose: Pose, body: Body) -> bool:
        """Whether the pose lies within the tolerances."""
        return self.misses(pose, body) == (0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """All steps that a search takes, from the origin.

    ``ends`` (m, 3): poses; ``swept`` (m, samples, circles, 2): middles of the circles during the step, which is the
    first ``own_samples``, and its continuation; ``distances`` (m,), signed, and ``curvatures`` (m,).
    """

    ends: Array
    swept: Array
    own_samples: int
    distances: Array
    curvatures: Array


def moves_of(config: RobotConfig, circles: Circles) -> Moves:
    """What a robot can do next."""
    body = config.body
    shares = [(sign, share) for sign in (1.0, -1.0) for share in _CURVATURES]
    own = round(STEP_M / _SAMPLE_M)
    ends, swept = [], []
    for sign, share in shares:
        curvature = share * body.curvature_limit * _CURVATURE_SHARE
        samples = own + round((stop_gap(config, forward=sign > 0) + _ZONE_MARGIN_M) / _SAMPLE_M)
        samples = max(samples, own + 1)
        poses = [along(curvature, sign * _SAMPLE_M * (i + 1)) for i in range(samples)]
        ends.append((poses[own - 1].x, poses[own - 1].y, poses[own - 1].heading))
        swept.append([[pose.ahead(a) for a in circles.ahead] for pose in poses])
    longest = max(len(path) for path in swept)
    padded = [path + [path[-1]] * (longest - len(path)) for path in swept]
    signs, turns = np.array(shares).T
    return Moves(np.array(ends), np.array(padded), own, signs * STEP_M, turns * body.curvature_limit * _CURVATURE_SHARE)


def stop_gap(config: RobotConfig, *, forward: bool) -> float:
    """How far from the bumper the emergency zone reaches, metres."""
    body, lidar = config.body, config.lidar
    return config.zones.emergency_stop - (body.front - lidar.x if forward else body.rear + lidar.x)
