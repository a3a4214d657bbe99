"""Following: velocities that keep the rear axle on the arcs of a maneuver, forward and in reverse.

The curvature of the arc is fed forward, what is off to the side and in heading is fed back (critically damped over
``_BLEND_M`` metres of way). The pure pursuit and the Stanley controller of kompass-core drive forward only and towards
points, and its DWA has no poses as goals: none of them drives a multi-point turn to a heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan, sin, sqrt, tan

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Pose, Twist, wrapped
from robot_bridge.geometry import free_distance
from robot_bridge.maneuvers import Step, stop_gap

_BLEND_M = 0.22
_CREEP = 0.03
_STEER_CREEP = 0.004
_STEER_READY = 0.12
_DONE_M = 0.008
_PREVIEW_S = 0.15
_ROOM_M = 0.35
_DECELERATION_SHARE = 0.5


class Follower:
    """Drives along one sequence of steps; :attr:`is_done` at its end."""

    def __init__(self, config: RobotConfig) -> None:
        self._config = config
        self._steps: tuple[Step, ...] = ()
        self._starts: tuple[float, ...] = ()
        self._ends: tuple[float, ...] = ()
        self._progress = 0.0
        self._steering = 0.0

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to drive."""
        return self._progress >= self.length - _DONE_M

    @property
    def length(self) -> float:
        """Of everything, metres."""
        return self._starts[-1] + self._steps[-1].length if self._steps else 0.0

    @property
    def remaining(self) -> float:
        """Left to drive, metres."""
        return max(0.0, self.length - self._progress)

    @property
    def direction(self) -> int:
        """+1 forward, -1 in reverse, 0 with nothing to drive."""
        return 0 if self.is_done else (1 if self._steps[self._index()].distance > 0 else -1)

    @property
    def curvature(self) -> float:
        """Of the wheels as they are believed to stand now."""
        return tan(self._steering) / self._config.body.wheelbase

    def start(self, steps: Sequence[Step]) -> None:
        """Begin with new steps, of which the first starts about where the robot is."""
        self._steps = tuple(steps)
        starts, ends, at = [], [], 0.0
        for step in steps:
            starts.append(at)
            at += step.length
        until = at
        for number in range(len(self._steps) - 1, -1, -1):
            if number + 1 < len(self._steps) and self._steps[number].distance * self._steps[number + 1].distance < 0:
                until = starts[number + 1]
            ends.append(until)
        self._starts, self._ends = tuple(starts), tuple(reversed(ends))
        self._progress = 0.0

    def rest(self) -> Twist:
        """Forget the steps."""
        self._steps = self._starts = self._ends = ()
        self._progress = 0.0
        return REST

    def ahead(self, distance: float, spacing: float = 0.05) -> NDArray[np.float64]:
        """Poses of the next metres of the way, (n, 3)."""
        if self.is_done:
            return np.zeros((0, 3))
        at = np.arange(self._progress, min(self.length, self._progress + distance) + 1e-9, spacing)
        poses = [self._pose(float(d)) for d in at]
        return np.array([(p.x, p.y, p.heading) for p in poses]).reshape(-1, 3)

    def twist(self, pose: Pose, returns: NDArray[np.float64], period: float) -> Twist:
        """What to drive now.

        Args:
            pose: of the rear axle, in the frame of the steps.
            returns: of the newest scan in the base frame, (n, 2).
            period: seconds since the last call, by which the wheels have turned.
        """
        self._advance(pose)
        if self.is_done:
            return REST
        index = self._index()
        forward = self._steps[index].distance > 0
        curvature = self._curvature(pose, index, forward)
        ready = self._steer(curvature, period)
        speed = self._speed(curvature, index, forward, returns) if ready else _STEER_CREEP
        signed = speed if forward else -speed
        return Twist(signed, signed * curvature)

    def _advance(self, pose: Pose) -> None:
        """Move the progress to the place of the present piece nearest to the robot, never back."""
        while not self.is_done:
            index = self._index()
            end = self._ends[index]
            span = np.arange(self._progress, min(end, self._progress + 0.12) + 1e-9, 0.004)
            places = [self._pose(float(d)) for d in span[:: max(1, len(span) // 12)]]
            if places:
                near = [p.distance_to(pose.x, pose.y) for p in places]
                best = int(np.argmin(near))
                self._progress += float(best * 0.004 * max(1, len(span) // 12))
            reference = self._pose(self._progress)
            behind = pose.relative_to(reference).x * (1 if self._steps[index].distance > 0 else -1)
            if end - self._progress > _DONE_M and end - self._progress - behind > _DONE_M:
                return
            self._progress = end + 1e-6
            if end >= self.length - 1e-6:
                return

    def _index(self) -> int:
        return max(0, int(np.searchsorted(self._starts, self._progress + 1e-9, side="right")) - 1)

    def _pose(self, distance: float) -> Pose:
        index = max(0, int(np.searchsorted(self._starts, distance + 1e-9, side="right")) - 1)
        return self._steps[index].at(min(distance - self._starts[index], self._steps[index].length))

    def _curvature(self, pose: Pose, index: int, forward: bool) -> float:
        reference = self._pose(self._progress)
        aside = pose.relative_to(reference).y
        turned = sin(wrapped(pose.heading - reference.heading))
        preview = min(self._progress + 0.1 * self._config.limits.speed / 0.25 * _PREVIEW_S / 0.15, self._ends[index])
        ahead = max(index, int(np.searchsorted(self._starts, preview - 0.02, side="right")) - 1)
        wanted = (self._steps[index].curvature + self._steps[ahead].curvature) / 2
        back = 2 / _BLEND_M * turned
        wanted += -aside / _BLEND_M**2 + (-back if forward else back)
        limit = self._config.body.curvature_limit
        return min(limit, max(-limit, wanted))

    def _steer(self, curvature: float, period: float) -> bool:
        """Let the believed steering follow; whether it is about where it should be."""
        wanted = atan(curvature * self._config.body.wheelbase)
        most = self._config.limits.steering_rate * period
        self._steering += min(most, max(-most, wanted - self._steering))
        return abs(wanted - self._steering) < _STEER_READY

    def _speed(self, curvature: float, index: int, forward: bool, returns: NDArray[np.float64]) -> float:
        limits, zones = self._config.limits, self._config.zones
        left = max(0.0, self._ends[index] - self._progress)
        speed = min(
            limits.speed if forward else limits.reverse_speed,
            max(_CREEP, sqrt(2 * _DECELERATION_SHARE * limits.deceleration * left)),
        )
        gap = stop_gap(self._config, forward=forward)
        free = free_distance(returns, curvature, forward, self._config.body, zones.padding, gap + _ROOM_M)
        if free <= gap:
            return 0.0
        return min(speed, max(_CREEP, limits.speed * (free - gap) / _ROOM_M))
