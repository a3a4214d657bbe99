"""Configuration of a robot: size, limits and sensors. Lengths are in metres, angles in radians, all in SI units.

The defaults describe the ROSMASTER A1. Its wheelbase is published as 0.135 and as 0.2 m, its steering limit as 30 and
as 40 degrees. The defaults are the pair with the widest turning circle: a way that is feasible for it is feasible for
all. ``docs/robot.md`` says how to measure both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi, radians, tan


@dataclass(frozen=True, slots=True)
class Body:
    """Ackermann chassis. The base frame lies in the middle of the rear axle, x forward, y left (REP 103).

    ``front`` and ``rear`` are distances from the rear axle to the foremost and rearmost point, ``half_width`` half of
    the widest part.
    """

    wheelbase: float = 0.2
    steering_limit: float = radians(30)
    front: float = 0.25
    rear: float = 0.05
    half_width: float = 0.10
    height: float = 0.20
    wheel_radius: float = 0.034

    @property
    def turning_radius(self) -> float:
        """Turning radius of the rear axle's middle at full lock, metres."""
        return self.wheelbase / tan(self.steering_limit)

    @property
    def curvature_limit(self) -> float:
        """Greatest curvature, 1/m."""
        return 1.0 / self.turning_radius

    @property
    def centre(self) -> float:
        """Distance of the middle of the footprint ahead of the rear axle, metres."""
        return (self.front - self.rear) / 2


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of motion. ``command_timeout`` is how long the robot itself obeys a command that is not repeated."""

    speed: float = 0.25
    reverse_speed: float = 0.12
    acceleration: float = 0.5
    deceleration: float = 1.0
    steering_rate: float = 2.5
    command_timeout: float = 0.3
    decision_expiry: float = 12.0


@dataclass(frozen=True, slots=True)
class Zones:
    """Safety zones. Distances are from the lidar along the path of the footprint, as in the seed's figures.

    The robot never moves towards an obstacle nearer than ``emergency_stop``; from ``avoidance`` down to it, speed falls
    linearly. ``padding`` widens the footprint on every side. ``scan_timeout``: an older scan is invalid.
    """

    emergency_stop: float = 0.3
    avoidance: float = 0.5
    padding: float = 0.03
    scan_timeout: float = 0.2
    odometry_timeout: float = 0.5


@dataclass(frozen=True, slots=True)
class Witness:
    """How commanded motion is compared with measured motion; see ``docs/robot_safety.md``.

    Odometry has not followed if it shows less than the share ``wheels`` of the commanded way; the lidar has not if it
    shows less than the share ``scan`` of odometry's way, 0 to 1. Nothing is judged before ``least`` metres, and wheels
    only after another ``latency`` seconds, the delay from a command to odometry that shows it. The robot backs up at
    most ``backing`` metres, at ``backing_speed`` m/s, to find out which of them is wrong.
    """

    wheels: float = 0.2
    scan: float = 0.5
    least: float = 0.012
    latency: float = 0.1
    backing: float = 0.1
    backing_speed: float = 0.08


@dataclass(frozen=True, slots=True)
class Lidar:
    """A planar scanner; ``x`` is its place ahead of the rear axle, ``z`` above the floor.

    ``noise`` is the standard deviation of one return, metres.
    """

    x: float = 0.10
    z: float = 0.16
    beams: int = 360
    angle_min: float = -pi
    range_min: float = 0.05
    range_max: float = 12.0
    rate: float = 10.0
    noise: float = 0.01

    @property
    def angle_increment(self) -> float:
        return 2 * pi / self.beams


@dataclass(frozen=True, slots=True)
class Camera:
    """RGB-D, looking ahead; depth is aligned to colour."""

    x: float = 0.20
    z: float = 0.18
    width: int = 640
    height: int = 480
    fov_y: float = radians(55)
    depth_max: float = 8.0
    rate: float = 1.0

    @property
    def focal(self) -> float:
        """Focal length of both axes, pixels."""
        return self.height / 2 / tan(self.fov_y / 2)


@dataclass(frozen=True, slots=True)
class RobotConfig:
    """The whole configuration."""

    body: Body = field(default_factory=Body)
    limits: Limits = field(default_factory=Limits)
    zones: Zones = field(default_factory=Zones)
    witness: Witness = field(default_factory=Witness)
    lidar: Lidar = field(default_factory=Lidar)
    camera: Camera = field(default_factory=Camera)
    control_rate: float = 20.0

    def overhang(self, *, forward: bool) -> float:
        """Return how far the body reaches beyond the lidar, ahead or behind, metres."""
        return self.body.front - self.lidar.x if forward else self.body.rear + self.lidar.x
