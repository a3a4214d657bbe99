"""What is wrong with the sensors (pure: the random numbers are handed in)."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, hypot, sin, sqrt

import numpy as np
from numpy.typing import NDArray

from robot_bridge.contracts import Pose, Twist, wrap_angle


@dataclass(frozen=True, slots=True)
class Noise:
    """Standard deviations, unless said otherwise.

    Lidar: ``lidar`` metres a beam, ``dropouts`` the share of beams without a return.
    Odometry: ``scale`` relative error of distance and ``turn_scale`` of turns, ``drift`` rad of heading a metre, all
    three drawn once a robot and at most doubled; ``slip`` metres a square root of a metre and ``turn_slip`` rad a
    square root of a radian, drawn at every step; ``speed`` relative error of the measured velocity.
    Camera: ``colour`` in 8-bit steps, ``depth`` relative at one metre, growing with distance; ``holes`` the share of
    pixels without depth.
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
    """Return distances with noise; dropouts are inf, as is what was out of range before."""
    errors = rng.normal(0.0, 1.0, ranges.shape) * noise.lidar
    noisy = ranges + errors
    noisy[rng.random(ranges.shape) < noise.dropouts] = np.inf
    return noisy.astype(np.float32)


class Grain:
    """Noise of a camera: drawn once, and laid over each picture with another shift."""

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
        """Return a picture and its depth with noise; depth is 0 where nothing was measured."""
        shift = tuple(self._rng.integers(0, self._holes.shape).tolist())
        if self._is_coloured:
            noisy = rgb + np.roll(self._colour, shift, (0, 1))
            rgb = noisy.clip(0, 255).astype(np.uint8)

        # Relative to the depth, and growing with it beyond the first metre.
        error = np.roll(self._depth, shift, (0, 1)) * np.maximum(depth, np.float32(1))
        measured = depth * (1 + error)
        is_hole = np.roll(self._holes, shift, (0, 1))
        measured[is_hole | (depth > self._depth_max)] = 0
        return rgb, measured


class DriftingOdometry:
    """Adds up what wheels and gyroscope tell, with errors that stay and errors that come and go.

    ``pose`` is the sum, in the odom frame.
    """

    def __init__(self, start: Pose, noise: Noise, rng: np.random.Generator) -> None:
        self._noise = noise
        self._rng = rng
        self.pose = start
        # Errors that stay: drawn once a robot.
        scale, turn_scale, drift = rng.normal(0.0, 1.0, 3).clip(-2, 2).tolist()
        self._scale = 1 + scale * noise.scale
        self._turn_scale = 1 + turn_scale * noise.turn_scale
        self._drift = drift * noise.drift

    def advance(self, distance: float, turned: float) -> None:
        """Take in a short piece of the way: metres along it and the true change of heading."""
        along, around = self._rng.normal(0.0, 1.0, 2).tolist()
        slip = along * self._noise.slip * sqrt(abs(distance))
        turn_slip = around * self._noise.turn_slip * sqrt(abs(turned))
        d = distance * self._scale + slip
        a = turned * self._turn_scale + distance * self._drift + turn_slip
        middle = self.pose.heading + a / 2
        x = self.pose.x + d * cos(middle)
        y = self.pose.y + d * sin(middle)
        self.pose = Pose(x, y, wrap_angle(self.pose.heading + a))

    def measure(self, true: Twist) -> Twist:
        """Return a velocity as it is measured; rest is measured as rest."""
        # Drawn at rest too, so that every measurement takes as many numbers.
        errors = self._rng.normal(0.0, 1.0, 2) * self._noise.speed
        linear_error, angular_error = (1 + errors).tolist()
        if hypot(true.linear, true.angular) < 1e-4:
            return Twist()
        linear = true.linear * self._scale * linear_error
        angular = true.angular * self._turn_scale * angular_error
        return Twist(linear, angular)
