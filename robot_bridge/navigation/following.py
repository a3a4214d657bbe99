"""Follow a maneuver: compute velocities that keep the rear axle on its arcs, forward and in reverse.

The curvature of the arc is fed forward; errors to the side and in heading are fed back (critically damped over
``_BLEND_M`` metres of way). In kompass-core, pure pursuit and the Stanley controller only drive forward and towards
points, and DWA does not take poses as goals: none can drive a multi-point turn to a heading.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import atan, sin, sqrt, tan

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Pose, Twist, wrap_angle
from robot_bridge.navigation.maneuvers import Step, stop_gap
from robot_bridge.safety.geometry import along, free_distance

Array = NDArray[np.float64]

_SPACING_M = 0.01
_WINDOW = 15
_BLEND_M = 0.22
_PREVIEW = 8
_CREEP = 0.03
_STEER_CREEP = 0.004
_STEER_READY = 0.12
_ROOM_M = 0.35
_BRAKING = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _Track:
    """Samples of a way every ``_SPACING_M``: ``poses`` (n, 3), ``curvatures`` (n,), ``signs`` (n,) of the direction,
    and ``ends`` (n,), the index at which the direction changes next or the way ends."""

    poses: Array
    curvatures: Array
    signs: NDArray[np.int64]
    ends: NDArray[np.int64]


def _track(steps: Sequence[Step]) -> _Track:
    poses = []
    curvatures = []
    signs = []
    for number, step in enumerate(steps):
        sign = 1 if step.distance > 0 else -1
        is_first = number == 0 or steps[number - 1].distance * step.distance < 0
        count = max(1, round(step.length / _SPACING_M))
        first = 0 if is_first else 1
        for i in range(first, count + 1):
            pose = step.start.compose(along(step.curvature, step.distance * i / count))
            poses.append((pose.x, pose.y, pose.heading))
            curvatures.append(step.curvature)
            signs.append(sign)
    ends = _section_ends(signs)
    pose_rows = np.array(poses).reshape(-1, 3)
    return _Track(pose_rows, np.array(curvatures), np.array(signs, np.int64), ends)


def _section_ends(signs: Sequence[int]) -> NDArray[np.int64]:
    """Return for each sample the index at which the direction changes next or the way ends."""
    if not signs:
        return np.zeros(0, np.int64)

    changes = np.flatnonzero(np.diff(signs))
    lasts = np.append(changes, len(signs) - 1)
    ends: NDArray[np.int64] = lasts[np.searchsorted(lasts, np.arange(len(signs)))]
    return ends


_NOTHING = _track(())


class Follower:
    """Drives along one sequence of steps; ``is_done`` at its end."""

    def __init__(self, config: RobotConfig) -> None:
        self.is_done = True
        self._config = config
        self._track = _NOTHING
        self._at = 0
        self._steering = 0.0

    @property
    def remaining(self) -> float:
        """Return the metres left to drive."""
        if self.is_done:
            return 0.0
        return (len(self._track.signs) - 1 - self._at) * _SPACING_M

    @property
    def direction(self) -> int:
        """Return +1 for forward, -1 for reverse, 0 with nothing to drive."""
        return 0 if self.is_done else int(self._track.signs[self._at])

    @property
    def curvature(self) -> float:
        """Return the curvature for the estimated steering angle, 1/m."""
        return tan(self._steering) / self._config.body.wheelbase

    def start(self, steps: Sequence[Step]) -> None:
        """Begin new steps; the first must start near the robot."""
        self._track = _track(steps)
        self._at = 0
        self.is_done = not steps

    def rest(self) -> None:
        """Forget the steps."""
        self._track = _NOTHING
        self._at = 0
        self.is_done = True

    def ahead(self, distance: float, spacing: float = 0.05) -> Array:
        """Return poses along the next ``distance`` metres of the way, (n, 3)."""
        if self.is_done:
            return np.zeros((0, 3))
        every = round(spacing / _SPACING_M)
        end = self._at + round(distance / _SPACING_M) + 1
        return self._track.poses[self._at : end : every]

    def twist(self, pose: Pose, returns: Array, period: float) -> Twist:
        """Return the velocity to drive now.

        Args:
            pose: pose of the rear axle, in the frame of the steps.
            returns: returns of the newest scan in the base frame, (n, 2).
            period: seconds since the last call, for which the wheels have turned.
        """
        self._advance(pose)
        if self.is_done:
            return REST
        curvature = self._curvature(pose)
        speed = self._speed(curvature, returns) if self._steer(curvature, period) else _STEER_CREEP
        signed = speed * self.direction
        return Twist(signed, signed * curvature)

    def _advance(self, pose: Pose) -> None:
        """Move on to the sample nearest to the robot, but not past a change of direction before that is reached."""
        track = self._track
        while not self.is_done:
            end = int(track.ends[self._at])
            window_end = min(end, self._at + _WINDOW) + 1
            near = track.poses[self._at : window_end, :2] - (pose.x, pose.y)
            distances = np.hypot(near[:, 0], near[:, 1])
            self._at += int(distances.argmin())

            if self._at < end:
                end_pose = Pose(*track.poses[end].tolist())
                last = pose.relative_to(end_pose).x * track.signs[end]
                if end - self._at > 2 or last < -_SPACING_M:
                    return
            if end == len(track.signs) - 1:
                self.is_done = True
            else:
                self._at = end + 1

    def _curvature(self, pose: Pose) -> float:
        track = self._track
        at = self._at
        reference = Pose(*track.poses[at].tolist())
        aside = pose.relative_to(reference).y
        turned = sin(wrap_angle(pose.heading - reference.heading))
        soon = min(at + _PREVIEW, int(track.ends[at]))
        feed_forward = float(track.curvatures[at : soon + 1].mean())
        wanted = feed_forward - aside / _BLEND_M**2
        wanted -= 2 / _BLEND_M * turned * self.direction
        limit = self._config.body.curvature_limit
        return min(limit, max(-limit, wanted))

    def _steer(self, curvature: float, period: float) -> bool:
        """Update the estimated steering angle; return whether it is near the wanted one."""
        wanted = atan(curvature * self._config.body.wheelbase)
        most = self._config.limits.steering_rate * period
        self._steering += min(most, max(-most, wanted - self._steering))
        return abs(wanted - self._steering) < _STEER_READY

    def _speed(self, curvature: float, returns: Array) -> float:
        limits = self._config.limits
        forward = self.direction > 0
        left = float(self._track.ends[self._at] - self._at) * _SPACING_M
        most = limits.speed if forward else limits.reverse_speed
        stoppable = sqrt(2 * _BRAKING * limits.deceleration * left)
        speed = min(most, max(_CREEP, stoppable))
        gap = stop_gap(self._config, forward=forward)
        padding = self._config.zones.padding
        free = free_distance(returns, curvature, forward, self._config.body, padding, gap + _ROOM_M)
        if free <= gap:
            return 0.0

        room_speed = limits.speed * (free - gap) / _ROOM_M
        return min(speed, max(_CREEP, room_speed))
