"""Errors of the simulated sensors (pure: the random generators are arguments)."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from robot_bridge.contracts import Pose, Twist, wrap_angle


@dataclass(frozen=True, slots=True)
class Noise:
    """Strengths of the sensors' errors; all are standard deviations, except the fractions ``dropouts`` and ``holes``.

    Lidar: ``lidar`` is the error of a range, metres; ``dropouts`` is the fraction of beams without a return.

    Odometry, constant errors: ``scale`` is the relative error of distances, and ``turn_scale`` the relative error of
    turns. ``drift`` is the change of heading per metre, radians. These three are drawn once per robot, and are at most
    twice the standard deviation.

    Odometry, errors drawn at every step: ``slip`` is in metres per square root of a metre, ``turn_slip`` in radians per
    square root of a radian. ``speed`` is the relative error of the measured velocity.

    Camera: ``colour`` is the error of a colour value from 0 to 255. ``depth`` is the relative error of depth within the
    first metre; beyond one metre, the relative error grows. ``holes`` is the fraction of pixels without depth.
    """

    lidar: float = 0.01
    dropouts: float = 0.005
    scale: float = 0.015
    turn_scale: float = 0.015
    drift: float = 0.01
    slip: float = 0.004
    turn_slip: float = 0.004
    speed: float = 0.02
    colour: float = 2.0
    depth: float = 0.005
    holes: float = 0.01


NO_NOISE = Noise(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
"""Perfect sensors."""


def noisy_ranges(ranges: NDArray[np.float64], noise: Noise, rng: np.random.Generator) -> NDArray[np.float32]:
    """Return distances with noise; dropouts are inf, and distances out of range stay inf."""
    errors = rng.normal(0.0, 1.0, ranges.shape) * noise.lidar
    noisy = ranges + errors
    noisy[rng.random(ranges.shape) < noise.dropouts] = np.inf
    return noisy.astype(np.float32)


class Grain:
    """Noise of a camera, drawn once to save time and added to every picture with a new random shift."""

    def __init__(self, height: int, width: int, noise: Noise, depth_max: float, rng: np.random.Generator) -> None:
        self._rng = rng
        self._depth_max = np.float32(depth_max)
        self._is_coloured = noise.colour > 0
        shape = (height, width)
        colour = rng.standard_normal((*shape, 3), dtype=np.float32) * noise.colour
        self._colour = np.rint(colour).astype(np.int16)
        self._depth = rng.standard_normal(shape, dtype=np.float32) * np.float32(noise.depth)
        self._holes = rng.random(shape, dtype=np.float32) < noise.holes

    def add_to(
        self, rgb: NDArray[np.uint8], depth: NDArray[np.float32]
    ) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
        """Return (picture, depth) with noise; depth is 0 in holes and beyond the camera's range."""
        shift = tuple(self._rng.integers(0, self._holes.shape).tolist())
        if self._is_coloured:
            noisy = rgb + np.roll(self._colour, shift, (0, 1))
            rgb = noisy.clip(0, 255).astype(np.uint8)

        # The relative error is constant within the first metre and grows in proportion to the depth beyond.
        relative_error = np.roll(self._depth, shift, (0, 1)) * np.maximum(depth, np.float32(1))
        measured = depth * (1 + relative_error)
        is_hole = np.roll(self._holes, shift, (0, 1))
        measured[is_hole | (depth > self._depth_max)] = 0
        return rgb, measured


class DriftingOdometry:
    """Odometry from wheels and gyroscope, with constant and with varying errors.

    ``pose`` is the estimated pose in the odom frame, the sum of all measured steps.
    """

    def __init__(self, start: Pose, noise: Noise, rng: np.random.Generator) -> None:
        self._noise = noise
        self._rng = rng
        self.pose = start
        # The constant errors.
        scale, turn_scale, drift = rng.normal(0.0, 1.0, 3).clip(-2, 2).tolist()
        self._scale = 1 + scale * noise.scale
        self._turn_scale = 1 + turn_scale * noise.turn_scale
        self._drift = drift * noise.drift

    def advance(self, distance: float, turned: float) -> None:
        """Add a short step of the robot: the true distance, metres, and the true change of heading, radians."""
        distance_draw, turn_draw = self._rng.normal(0.0, 1.0, 2).tolist()
        slip = distance_draw * self._noise.slip * sqrt(abs(distance))
        turn_slip = turn_draw * self._noise.turn_slip * sqrt(abs(turned))
        measured_distance = distance * self._scale + slip
        measured_turn = turned * self._turn_scale + distance * self._drift + turn_slip
        mean_heading = self.pose.heading + measured_turn / 2
        x = self.pose.x + measured_distance * cos(mean_heading)
        y = self.pose.y + measured_distance * sin(mean_heading)
        self.pose = Pose(x, y, wrap_angle(self.pose.heading + measured_turn))

    def measure(self, true: Twist) -> Twist:
        """Return the measured velocity for a true velocity; rest is measured as rest."""
        # Numbers are drawn at rest too, so that every measurement draws equally many.
        errors = self._rng.normal(0.0, 1.0, 2) * self._noise.speed
        linear_factor, angular_factor = (1 + errors).tolist()
        if hypot(true.linear, true.angular) < 1e-4:
            return Twist()
        linear = true.linear * self._scale * linear_factor
        angular = true.angular * self._turn_scale * angular_factor
        return Twist(linear, angular)
