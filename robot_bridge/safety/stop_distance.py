"""How far the robot travels until it stands, and how fast it may therefore drive (pure)."""

from __future__ import annotations

from math import sqrt

from robot_bridge.config import RobotConfig

OBSTACLE_SPEED = 0.5
"""m/s: assumed speed of an obstacle that may be moving."""
RESERVE_M = 0.02
"""Distance to be left once the robot has braked."""


def reaction(config: RobotConfig) -> float:
    """Return the most seconds before the chain acts on a return: a turn of the lidar and a control period."""
    return 1 / config.lidar.rate + 1 / config.control_rate


def stop_distance(speed: float, config: RobotConfig) -> float:
    """Return the metres a robot at ``speed`` (m/s) covers from seeing something to standing: reaction, then braking."""
    braking = speed**2 / (2 * config.limits.deceleration)
    return abs(speed) * reaction(config) + braking


def max_speed_at(distance: float, forward: bool, config: RobotConfig) -> float:
    """Return the greatest speed at this distance from the lidar to the nearest obstacle along the path, m/s.

    0 in the emergency zone, the robot's limit outside the avoidance zone, linear between. Never more than the robot can
    brake from, after the reaction time, within the room left ahead of its body.
    """
    zones = config.zones
    limits = config.limits
    share = (distance - zones.emergency_stop) / max(zones.avoidance - zones.emergency_stop, 1e-9)
    room = max(0.0, distance - config.overhang(forward=forward) - RESERVE_M)
    late = reaction(config)
    braking = limits.deceleration
    stoppable = braking * (sqrt(late * late + 2 * room / braking) - late)
    fastest = limits.speed if forward else limits.reverse_speed
    zone_speed = max(0.0, min(1.0, share)) * fastest
    return min(zone_speed, stoppable)


def margin(speed: float, config: RobotConfig, age: float = 0.0) -> float:
    """Return how far an obstacle seen ``age`` seconds ago can move until a robot at ``speed`` stands, metres."""
    late = max(reaction(config), age + 1 / config.control_rate)
    return OBSTACLE_SPEED * (late + abs(speed) / config.limits.deceleration)


def reach(config: RobotConfig) -> float:
    """Return how far along the path the chain looks, metres: the avoidance zone, or the stop distance if longer."""
    fastest = max(config.limits.speed, config.limits.reverse_speed)
    return max(config.zones.avoidance, stop_distance(fastest, config) + RESERVE_M) + config.zones.padding
