"""How far the robot travels until it stands, and how fast it may therefore drive (pure)."""

from __future__ import annotations

from math import sqrt

from robot_bridge.config import RobotConfig

OBSTACLE_SPEED = 0.5
"""m/s: what may be on the move is believed to come at this speed."""
RESERVE_M = 0.02
"""To be left when the robot has braked."""


def reaction(config: RobotConfig) -> float:
    """Seconds that may pass before the chain acts on a return: a turn of the lidar and a control period."""
    return 1 / config.lidar.rate + 1 / config.control_rate


def stop_distance(speed: float, config: RobotConfig) -> float:
    """Metres from the moment that something is seen until a robot at ``speed`` (m/s) stands: reaction, then braking."""
    return abs(speed) * reaction(config) + speed**2 / (2 * config.limits.deceleration)


def allowed_speed(distance: float, forward: bool, config: RobotConfig) -> float:
    """Greatest speed at a distance from the lidar to the nearest obstacle along the path, m/s.

    0 in the emergency zone, the robot's limit outside of the avoidance zone, linear between; and never more than can
    be braked, with the reaction time before it, in what is left to the body.
    """
    zones, limits = config.zones, config.limits
    ahead = config.body.front - config.lidar.x if forward else config.body.rear + config.lidar.x
    share = (distance - zones.emergency_stop) / max(zones.avoidance - zones.emergency_stop, 1e-9)
    room = max(0.0, distance - ahead - RESERVE_M)
    late, braking = reaction(config), limits.deceleration
    stoppable = braking * (sqrt(late * late + 2 * room / braking) - late)
    return min(max(0.0, min(1.0, share)) * (limits.speed if forward else limits.reverse_speed), stoppable)


def margin(speed: float, config: RobotConfig, age: float = 0.0) -> float:
    """What an obstacle on the move covers until a robot at ``speed`` that saw it ``age`` ago stands, metres."""
    late = max(reaction(config), age + 1 / config.control_rate)
    return OBSTACLE_SPEED * (late + abs(speed) / config.limits.deceleration)


def reach(config: RobotConfig) -> float:
    """How far along its path the chain looks, metres: the avoidance zone, or what it takes to stop if that is more."""
    fastest = max(config.limits.speed, config.limits.reverse_speed)
    return max(config.zones.avoidance, stop_distance(fastest, config) + RESERVE_M) + config.zones.padding
