"""Reject configurations that are impossible or that break the safety chain's guarantees (pure)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import isfinite, pi
from typing import Any

from robot_bridge.config import RobotConfig
from robot_bridge.errors import SetupError
from robot_bridge.safety.doubt import MIN_BACKED_M
from robot_bridge.safety.scans import blind_radius
from robot_bridge.safety.stop_distance import RESERVE_M, reach, reaction

THIN_M = 0.02
"""Least width of an obstacle that the lidar must never miss, metres."""
MAX_BACKED_M = 0.1
"""Greatest distance, metres, that the robot may back up to find out why motion is in doubt."""
# All other numbers of a configuration must be positive.
_SIGNED = frozenset({"lidar.x", "lidar.angle_min", "camera.x"})


def require_valid(config: RobotConfig) -> RobotConfig:
    """Return the configuration unchanged, or raise SetupError if the configuration is not valid.

    Raises:
        SetupError: the configuration is impossible or unsafe; the message names the value.
    """
    for problem in _problems(config):
        raise SetupError(f"the robot's configuration cannot be: {problem}")
    return config


def _problems(config: RobotConfig) -> Iterator[str]:
    """Yield a text for every value that is impossible or unsafe."""
    for name, value in _numbers(config, ""):
        is_wrong_sign = value <= 0 and name not in _SIGNED
        if not isfinite(value) or is_wrong_sign:
            yield f"{name} is {value}"
    yield from _check_body(config)
    yield from _check_zones(config)
    yield from _check_witness(config)
    yield from _check_lidar(config)


def _numbers(config: Any, prefix: str) -> Iterator[tuple[str, float]]:
    """Yield (dotted name, value) of every number in a dataclass, including numbers of nested dataclasses."""
    for field in fields(config):
        value = getattr(config, field.name)
        name = f"{prefix}{field.name}"
        if is_dataclass(value):
            yield from _numbers(value, f"{name}.")
        else:
            yield name, value


def _check_body(config: RobotConfig) -> Iterator[str]:
    body = config.body
    period = 1 / config.control_rate
    if body.steering_limit >= pi / 2:
        yield f"body.steering_limit is {body.steering_limit:.3g} rad, a right angle or more: it is in radians"
    if not -body.rear <= config.lidar.x <= body.front:
        yield "lidar.x lies outside of the body"
    if config.limits.command_timeout < 2 * period:
        yield f"limits.command_timeout is below two periods of control_rate, {2 * period:.3g} s"


def _check_zones(config: RobotConfig) -> Iterator[str]:
    zones = config.zones
    body = config.body
    x = config.lidar.x
    min_stop = max(body.front - x, body.rear + x) + RESERVE_M
    if zones.emergency_stop < min_stop:
        yield f"zones.emergency_stop, measured from the lidar, lies within the body: {min_stop:.2f} m is the least"
    if zones.avoidance < zones.emergency_stop:
        yield "zones.avoidance is less than zones.emergency_stop"
    if zones.scan_timeout < reaction(config):
        yield f"zones.scan_timeout is below a turn of the lidar and a period, {reaction(config):.2f} s"


def _check_witness(config: RobotConfig) -> Iterator[str]:
    witness = config.witness
    for name in ("wheels", "scan"):
        if getattr(witness, name) >= 1:
            yield f"witness.{name} is a share of the way: it must be below 1"
    if witness.backing > MAX_BACKED_M:
        yield f"witness.backing is more than {MAX_BACKED_M} m"
    if witness.backing < MIN_BACKED_M:
        yield f"witness.backing is less than {MIN_BACKED_M} m: too little to tell a frozen lidar from a pane of glass"


def _check_lidar(config: RobotConfig) -> Iterator[str]:
    body = config.body
    lidar = config.lidar
    if lidar.range_min > blind_radius(config):
        yield f"lidar.range_min is more than {blind_radius(config):.2f} m: what touches the robot would be missed"
    if lidar.range_max < reach(config) + max(body.front, body.rear):
        yield "lidar.range_max is nearer than the robot can stop"
    if lidar.angle_increment * config.zones.emergency_stop > THIN_M:
        yield f"lidar.beams are so few that {THIN_M} m pass between two of them at zones.emergency_stop"
