"""Motors and steering of the simulated robot: compute the set points of the actuators from a velocity (pure).

The rear wheels are driven, each at the speed that a differential would give the wheel. The front wheels steer by the
angles of Ackermann. The motor controller limits the acceleration, the servo limits the steering rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import atan, isfinite, tan

from robot_bridge.config import Body, Limits
from robot_bridge.contracts import REST, Twist
from robot_bridge.safety.geometry import clamp_steering
from robot_bridge.twin.mjcf import TRACK

RAMP = 2.0
"""Greatest acceleration and deceleration of the motor controller, m/s^2."""


def feasible(twist: Twist, body: Body, limits: Limits) -> Twist:
    """Return the nearest velocity within the robot's speed limits whose curve the robot can steer.

    Turning in place becomes rest, and a velocity with numbers that are not finite becomes rest.
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
    """The set points of motors and servo.

    ``speed`` is in m/s. ``steering`` is the angle of the front wheel of a bicycle with the same curvature, radians.
    """

    speed: float = 0.0
    steering: float = 0.0

    def toward(self, twist: Twist, body: Body, limits: Limits, dt: float) -> Drive:
        """Return the set points after they have changed towards a velocity for ``dt`` seconds.

        The velocity must be feasible. If the velocity is rest, the steering does not change.
        """
        speed = _approach(self.speed, twist.linear, RAMP * dt)
        if twist.linear == 0:
            return replace(self, speed=speed)
        steering = atan(body.wheelbase * twist.angular / twist.linear)
        return Drive(speed, _approach(self.steering, steering, limits.steering_rate * dt))

    def actuators(self, body: Body) -> tuple[float, float, float, float]:
        """Return the set points of the actuators.

        The order is (rear left rad/s, rear right rad/s, front left rad, front right rad).
        """
        half_track = body.half_width * TRACK
        curvature = tan(self.steering) / body.wheelbase
        # Distance of each side from the centre of the curve, as a share of the curve's radius.
        left = 1 - curvature * half_track
        right = 1 + curvature * half_track
        wheel_speed = self.speed / body.wheel_radius
        steering_tangent = body.wheelbase * curvature
        return (
            wheel_speed * left,
            wheel_speed * right,
            atan(steering_tangent / left),
            atan(steering_tangent / right),
        )


def _approach(value: float, goal: float, step: float) -> float:
    return min(max(goal, value - step), value + step)
