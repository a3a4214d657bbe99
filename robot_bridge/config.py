"""Configuration of a robot: size, limits and sensors, all in SI units (metres, seconds, radians).

The defaults describe the ROSMASTER A1. Its wheelbase is published as 0.135 m and as 0.2 m, its steering limit as 30 and
as 40 degrees. The defaults are the pair with the widest turning circle, because a path that is feasible for this pair
is feasible for every other pair. ``docs/robot.md`` says how to measure wheelbase and steering limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi, radians, tan


@dataclass(frozen=True, slots=True)
class Body:
    """Ackermann chassis. The base frame lies in the middle of the rear axle, x forward, y left (REP 103).

    ``front`` and ``rear`` are the distances from the rear axle to the foremost and to the rearmost point.
    ``half_width`` is half the width of the widest part.
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
        """Smallest turning radius, in metres, of the rear axle's middle; the steering is then at its limit."""
        return self.wheelbase / tan(self.steering_limit)

    @property
    def curvature_limit(self) -> float:
        """Greatest curvature, 1/m."""
        return 1.0 / self.turning_radius

    @property
    def centre(self) -> float:
        """Distance from the rear axle forward to the middle of the footprint, in metres."""
        return (self.front - self.rear) / 2


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of motion, in m/s, m/s², rad/s and seconds.

    ``command_timeout`` is how long the robot itself obeys a velocity command that is not repeated.
    ``decision_expiry`` is the age from which a model's decision is refused.
    """

    speed: float = 0.25
    reverse_speed: float = 0.12
    acceleration: float = 0.5
    deceleration: float = 1.0
    steering_rate: float = 2.5
    command_timeout: float = 0.3
    decision_expiry: float = 12.0


@dataclass(frozen=True, slots=True)
class Zones:
    """Safety zones, given as distances from the lidar along the path of the footprint, as in the original figures.

    The robot never moves towards an obstacle nearer than ``emergency_stop``. Between the distances ``avoidance`` and
    ``emergency_stop`` the speed limit falls linearly. ``padding`` widens the footprint on every side. A scan older than
    ``scan_timeout`` seconds and odometry older than ``odometry_timeout`` seconds are invalid.
    """

    emergency_stop: float = 0.3
    avoidance: float = 0.5
    padding: float = 0.03
    scan_timeout: float = 0.2
    odometry_timeout: float = 0.5


@dataclass(frozen=True, slots=True)
class Witness:
    """Thresholds for comparing commanded motion with measured motion; see ``docs/robot_safety.md``.

    Odometry contradicts the command if odometry shows less than the fraction ``wheels`` (0 to 1) of the commanded
    distance. The lidar contradicts odometry if the lidar shows less than the fraction ``scan`` (0 to 1) of the distance
    in odometry. Motion is compared only after ``least`` metres. Odometry is compared with the command only after a
    further ``latency`` seconds, because odometry shows a command after this delay. To find out whether odometry or the
    lidar is wrong, the robot backs up at most ``backing`` metres at ``backing_speed`` m/s.
    """

    wheels: float = 0.2
    scan: float = 0.5
    least: float = 0.012
    latency: float = 0.1
    backing: float = 0.1
    backing_speed: float = 0.08


@dataclass(frozen=True, slots=True)
class Lidar:
    """Planar scanner, mounted ``x`` metres ahead of the rear axle and ``z`` metres above the floor.

    ``rate`` is in Hz; ``noise`` is the standard deviation of a single range, in metres.
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
    """RGB-D camera that looks straight ahead; depth picture and colour picture have the same pixels.

    The camera is mounted ``x`` metres ahead of the rear axle and ``z`` metres above the floor; ``rate`` is in Hz.
    """

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
    """Configuration of a robot; ``control_rate`` is in Hz."""

    body: Body = field(default_factory=Body)
    limits: Limits = field(default_factory=Limits)
    zones: Zones = field(default_factory=Zones)
    witness: Witness = field(default_factory=Witness)
    lidar: Lidar = field(default_factory=Lidar)
    camera: Camera = field(default_factory=Camera)
    control_rate: float = 20.0

    def overhang(self, *, forward: bool) -> float:
        """Return how many metres the body reaches beyond the lidar: to the front if ``forward``, else to the rear."""
        return self.body.front - self.lidar.x if forward else self.body.rear + self.lidar.x
