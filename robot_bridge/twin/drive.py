"""Motors and steering of the simulated robot: from a commanded velocity to what the actuators are told (pure).

The rear wheels are driven, each at its own speed as a differential would; the front wheels steer by the angles of
Ackermann. The motor controller ramps, the servo has a rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import atan, isfinite, tan

from robot_bridge.config import Body, Limits
from robot_bridge.contracts import REST, Twist
from robot_bridge.safety.geometry import clamp_steering
from robot_bridge.twin.mjcf import TRACK

RAMP = 2.0
"""m/s^2 by which the motor controller follows its command, up and down."""


def feasible(twist: Twist, body: Body, limits: Limits) -> Twist:
    """Return the nearest that the body can do: no turning without driving, no curve tighter than it can steer.

    Numbers that are not finite are rest.
    """
    if not (isfinite(twist.linear) and isfinite(twist.angular)):
        return REST
    possible = clamp_steering(twist, body)
    linear = min(max(possible.linear, -limits.reverse_speed), limits.speed)
    if linear == 0:
        return REST
    return Twist(linear, possible.angular * (linear / possible.linear))


@dataclass(frozen=True, slots=True)
class Drive:
    """``speed`` is the motors' set point in m/s, ``steering`` the servo's, as the angle of a bicycle's front wheel."""

    speed: float = 0.0
    steering: float = 0.0

    def toward(self, twist: Twist, body: Body, limits: Limits, dt: float) -> Drive:
        """Return the state one step nearer to a feasible velocity. At rest the steering stays as it is."""
        speed = _approach(self.speed, twist.linear, RAMP * dt)
        if twist.linear == 0:
            return replace(self, speed=speed)
        steering = atan(body.wheelbase * twist.angular / twist.linear)
        return Drive(speed, _approach(self.steering, steering, limits.steering_rate * dt))

    def actuators(self, body: Body) -> tuple[float, float, float, float]:
        """Return rad/s of the rear wheels, left and right, and radians of the front wheels."""
        half = body.half_width * TRACK
        curvature = tan(self.steering) / body.wheelbase
        # Distance of each side from the middle of the curve, as a share of its radius.
        left = 1 - curvature * half
        right = 1 + curvature * half
        turn = self.speed / body.wheel_radius
        steer = body.wheelbase * curvature
        return turn * left, turn * right, atan(steer / left), atan(steer / right)


def _approach(value: float, goal: float, step: float) -> float:
    return min(max(goal, value - step), value + step)
