"""Stopping distances, and the speeds at which the robot can still stop before an obstacle (pure)."""

from __future__ import annotations

from math import sqrt

from robot_bridge.config import RobotConfig

OBSTACLE_SPEED = 0.5
"""Assumed speed of an obstacle that may be moving, m/s."""
RESERVE_M = 0.02
"""Distance that must be left after the robot has braked, metres."""


def reaction(config: RobotConfig) -> float:
    """Return the longest time until the chain acts on a return, seconds: a turn of the lidar plus a control period."""
    return 1 / config.lidar.rate + 1 / config.control_rate


def stop_distance(speed: float, config: RobotConfig) -> float:
    """Return how far a robot at ``speed`` m/s travels while reacting to an obstacle and braking, metres."""
    braking = speed**2 / (2 * config.limits.deceleration)
    return abs(speed) * reaction(config) + braking


def max_speed_at(distance: float, forward: bool, config: RobotConfig) -> float:
    """Return the greatest speed allowed, m/s, if the nearest obstacle along the path is ``distance`` from the lidar.

    The speed is 0 in the emergency zone, the robot's limit outside the avoidance zone, and linear between. At this
    speed, reacting and braking never need more room than is left before the obstacle.
    """
    zones = config.zones
    limits = config.limits
    share = (distance - zones.emergency_stop) / max(zones.avoidance - zones.emergency_stop, 1e-9)
    room = max(0.0, distance - config.overhang(forward=forward) - RESERVE_M)
    reaction_s = reaction(config)
    deceleration = limits.deceleration
    # The positive root v of: reaction_s * v + v**2 / (2 * deceleration) = room.
    stoppable = deceleration * (sqrt(reaction_s * reaction_s + 2 * room / deceleration) - reaction_s)
    fastest = limits.speed if forward else limits.reverse_speed
    zone_speed = max(0.0, min(1.0, share)) * fastest
    return min(zone_speed, stoppable)


def margin(speed: float, config: RobotConfig, age: float = 0.0) -> float:
    """Return how far an obstacle seen ``age`` seconds ago can move until a robot at ``speed`` stands, metres."""
    reaction_s = max(reaction(config), age + 1 / config.control_rate)
    braking_s = abs(speed) / config.limits.deceleration
    return OBSTACLE_SPEED * (reaction_s + braking_s)


def reach(config: RobotConfig) -> float:
    """Return how far along the path the chain looks for obstacles, metres.

    The reach is the padding plus the avoidance zone. If the stop distance at the greatest speed is longer than the
    avoidance zone, it takes the place of the zone.
    """
    fastest = max(config.limits.speed, config.limits.reverse_speed)
    return max(config.zones.avoidance, stop_distance(fastest, config) + RESERVE_M) + config.zones.padding
