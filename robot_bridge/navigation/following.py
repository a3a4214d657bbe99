"""Follow a maneuver: compute velocities that keep the rear axle on the maneuver's arcs, forward and in reverse.

The commanded curvature is the curvature of the arc, corrected by feedback of the errors to the side and in heading. The
feedback is critically damped over a path of ``_BLEND_M`` metres.

The controllers of the library kompass-core cannot drive a multi-point turn to a heading. Pure pursuit and the Stanley
controller only drive forward and towards points. DWA does not accept poses as goals.
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
_WINDOW_SAMPLES = 15
_BLEND_M = 0.22
_PREVIEW_SAMPLES = 8
_MIN_SPEED = 0.03
_STEERING_SPEED = 0.004
_STEERING_TOLERANCE = 0.12
_ROOM_M = 0.35
_BRAKING_SHARE = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class _Track:
    """Samples of a path, one every ``_SPACING_M`` metres.

    ``poses`` (n, 3) are (x, y, heading). ``curvatures`` (n,) are in 1/m. ``signs`` (n,) are +1 forward and -1 reverse.
    ``ends`` (n,) is, for each sample, the index of the last sample before the direction changes or the path ends.
    """

    poses: Array
    curvatures: Array
    signs: NDArray[np.int64]
    ends: NDArray[np.int64]


def _sample_track(steps: Sequence[Step]) -> _Track:
    """Return samples every ``_SPACING_M`` metres along the steps."""
    poses = []
    curvatures = []
    signs = []
    for number, step in enumerate(steps):
        sign = 1 if step.distance > 0 else -1
        # A step in the same direction starts at the end of the step before, so the track already has its first sample.
        changes_direction = number > 0 and steps[number - 1].distance * step.distance < 0
        count = max(1, round(step.length / _SPACING_M))
        first = 0 if number == 0 or changes_direction else 1
        for i in range(first, count + 1):
            pose = step.start.compose(along(step.curvature, step.distance * i / count))
            poses.append((pose.x, pose.y, pose.heading))
            curvatures.append(step.curvature)
            signs.append(sign)
    ends = _section_ends(signs)
    pose_rows = np.array(poses).reshape(-1, 3)
    return _Track(pose_rows, np.array(curvatures), np.array(signs, np.int64), ends)


def _section_ends(signs: Sequence[int]) -> NDArray[np.int64]:
    """Return, for each sample, the index of the last sample before the direction changes or the path ends."""
    if not signs:
        return np.zeros(0, np.int64)

    changes = np.flatnonzero(np.diff(signs))
    lasts = np.append(changes, len(signs) - 1)
    ends: NDArray[np.int64] = lasts[np.searchsorted(lasts, np.arange(len(signs)))]
    return ends


_EMPTY_TRACK = _sample_track(())


class Follower:
    """Drives along a sequence of steps.

    ``is_done`` is True at the end of the steps, and while there are no steps to drive.
    """

    def __init__(self, config: RobotConfig) -> None:
        self.is_done = True
        self._config = config
        self._track = _EMPTY_TRACK
        self._index = 0  # of the sample nearest to the robot
        self._steering = 0.0  # estimated steering angle, radians

    @property
    def remaining(self) -> float:
        """Return the metres left to drive."""
        if self.is_done:
            return 0.0
        return (len(self._track.signs) - 1 - self._index) * _SPACING_M

    @property
    def direction(self) -> int:
        """Return the direction of motion: +1 forward, -1 reverse, 0 if there are no steps to drive."""
        return 0 if self.is_done else int(self._track.signs[self._index])

    @property
    def curvature(self) -> float:
        """Return the curvature that the robot drives at the estimated steering angle, 1/m."""
        return tan(self._steering) / self._config.body.wheelbase

    def start(self, steps: Sequence[Step]) -> None:
        """Begin to drive new steps, which must start near the robot."""
        self._track = _sample_track(steps)
        self._index = 0
        self.is_done = not steps

    def rest(self) -> None:
        """Forget the steps."""
        self._track = _EMPTY_TRACK
        self._index = 0
        self.is_done = True

    def ahead(self, distance: float, spacing: float = 0.05) -> Array:
        """Return poses along the next ``distance`` metres of the path, one every ``spacing`` metres, (n, 3)."""
        if self.is_done:
            return np.zeros((0, 3))
        every = round(spacing / _SPACING_M)
        end = self._index + round(distance / _SPACING_M) + 1
        return self._track.poses[self._index : end : every]

    def twist(self, pose: Pose, returns: Array, period: float) -> Twist:
        """Return the velocity to drive now.

        Args:
            pose: pose of the rear axle, in the frame of the steps.
            returns: returns of the newest scan in the base frame, (n, 2).
            period: seconds since the last call, during which the steering could turn.
        """
        self._advance(pose)
        if self.is_done:
            return REST
        curvature = self._curvature(pose)
        is_steering_ready = self._steer(curvature, period)
        speed = self._speed(curvature, returns) if is_steering_ready else _STEERING_SPEED
        signed_speed = speed * self.direction
        return Twist(signed_speed, signed_speed * curvature)

    def _advance(self, pose: Pose) -> None:
        """Move the index to the sample nearest to the robot; at the end of the path, set ``is_done``.

        Pass a change of direction only after the robot has reached the place of the change.
        """
        track = self._track
        while not self.is_done:
            end = int(track.ends[self._index])
            window_end = min(end, self._index + _WINDOW_SAMPLES) + 1
            near = track.poses[self._index : window_end, :2] - (pose.x, pose.y)
            distances = np.hypot(near[:, 0], near[:, 1])
            self._index += int(distances.argmin())

            if self._index < end:
                end_pose = Pose(*track.poses[end].tolist())
                past_end_m = pose.relative_to(end_pose).x * track.signs[end]
                if end - self._index > 2 or past_end_m < -_SPACING_M:
                    return
            if end == len(track.signs) - 1:
                self.is_done = True
            else:
                self._index = end + 1

    def _curvature(self, pose: Pose) -> float:
        """Return the curvature to drive, 1/m: the track's mean curvature ahead, corrected by the errors of the pose."""
        track = self._track
        index = self._index
        reference = Pose(*track.poses[index].tolist())
        side_error = pose.relative_to(reference).y
        heading_error = sin(wrap_angle(pose.heading - reference.heading))
        preview_end = min(index + _PREVIEW_SAMPLES, int(track.ends[index]))
        feed_forward = float(track.curvatures[index : preview_end + 1].mean())
        wanted = feed_forward - side_error / _BLEND_M**2
        wanted -= 2 / _BLEND_M * heading_error * self.direction
        limit = self._config.body.curvature_limit
        return min(limit, max(-limit, wanted))

    def _steer(self, curvature: float, period: float) -> bool:
        """Update the estimated steering angle; return whether it is near the angle for ``curvature``."""
        wanted = atan(curvature * self._config.body.wheelbase)
        max_turn = self._config.limits.steering_rate * period
        self._steering += min(max_turn, max(-max_turn, wanted - self._steering))
        return abs(wanted - self._steering) < _STEERING_TOLERANCE

    def _speed(self, curvature: float, returns: Array) -> float:
        """Return the unsigned speed, m/s; 0 if the robot is blocked.

        The speed is reduced near obstacles, and before a change of direction or the end of the path.
        """
        limits = self._config.limits
        forward = self.direction > 0
        left_m = float(self._track.ends[self._index] - self._index) * _SPACING_M
        max_speed = limits.speed if forward else limits.reverse_speed
        stoppable = sqrt(2 * _BRAKING_SHARE * limits.deceleration * left_m)
        speed = min(max_speed, max(_MIN_SPEED, stoppable))
        gap = stop_gap(self._config, forward=forward)
        padding = self._config.zones.padding
        free = free_distance(returns, curvature, forward, self._config.body, padding, gap + _ROOM_M)
        if free <= gap:
            return 0.0

        room_speed = limits.speed * (free - gap) / _ROOM_M
        return min(speed, max(_MIN_SPEED, room_speed))
