"""``doctor``: which sensors answer, how often and how old, and whether everything stops that has to."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from robot_bridge import scans
from robot_bridge.cli import bodies, config_file
from robot_bridge.cli.parser import EXIT_FAILED, EXIT_FINISHED, Settings
from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Command, Observation, Source, Twist
from robot_bridge.errors import DeviceError
from robot_bridge.safety_chain import SafetyChain
from robot_bridge.wire.topics import Topics

LOOKED_FOR: Final = 3.0
"""Seconds in which sensors are counted."""
_PACKAGES: Final = ("cyclonedds", "mujoco", "opencv-python-headless", "pyastar2d", "pyyaml", "rosbags")
_SLOWEST: Final = 0.7
"""Share of its rate below which a sensor is too slow."""
_CREEP: Final = Twist(0.05, 0.0)


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report."""

    name: str
    holds: bool
    found: str


def run(settings: Settings) -> int:
    """Print the checks; the exit code says whether all of them hold."""
    config, topics = config_file.read(settings.config)
    worst = EXIT_FINISHED
    for check in _checks(settings, config, topics):
        print(f"{'ok' if check.holds else 'FAILS':<6} {check.name:<23} {check.found}", flush=True)
        worst = worst if check.holds else EXIT_FAILED
    return worst


def _checks(settings: Settings, config: RobotConfig, topics: Topics) -> Iterator[Check]:
    yield from _libraries()
    with bodies.opened(settings, config, topics) as body:
        if settings.camera and settings.robot == "mujoco":
            yield Check("renderer", not body.camera_fault, body.camera_fault or "pictures can be drawn")
        yield from _sensors(body, config, settings)
        yield _chain_stops(body, config)
        if settings.robot == "mujoco":
            yield _stops_by_itself(body, config)
            yield _stop_is_obeyed(body)
        else:
            yield Check("motion", True, "not tried: a real robot would move; see docs/robot.md for the wheels-up test")


def _libraries() -> Iterator[Check]:
    for package in _PACKAGES:
        try:
            yield Check(package, True, importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Check(package, False, "not installed: install requirements-robot.txt, or the extra [robot]")


def _sensors(body: bodies.Body, config: RobotConfig, settings: Settings) -> Iterator[Check]:
    stamps: dict[str, list[float]] = {"lidar": [], "odometry": [], "camera": []}
    ages: dict[str, float] = {}
    observation = Observation()
    end = body.clock.now() + LOOKED_FOR
    while (now := body.clock.now()) < end:
        observation = body.robot.observe()
        newest = {"lidar": observation.scan, "odometry": observation.odometry, "camera": observation.frame}
        for name, value in newest.items():
            if value is not None and stamps[name][-1:] != [value.stamp]:
                stamps[name].append(value.stamp)
                ages[name] = max(ages.get(name, 0.0), now - value.stamp)
        body.clock.wait_until(now + 1 / 50)
    wanted = {"lidar": config.lidar.rate, "odometry": 2 / config.zones.odometry_timeout}
    if settings.camera and not body.camera_fault:
        wanted["camera"] = config.camera.rate
    for name, rate in wanted.items():
        yield _sensor(name, stamps[name], ages.get(name, 0.0), rate)
    fault = scans.fault(observation.scan, body.clock.now(), config)
    yield Check("scan", not fault, fault or "can be used")
    volts = observation.battery
    yield Check("battery", volts is not None, "no voltage was published" if volts is None else f"{volts:.1f} V")


def _sensor(name: str, stamps: list[float], age: float, rate: float) -> Check:
    measured = (len(stamps) - 1) / (stamps[-1] - stamps[0]) if len(stamps) > 1 else len(stamps) / LOOKED_FOR
    told = f"{measured:.1f} Hz (at least {_SLOWEST * rate:.1f}), at most {1000 * age:.0f} ms old when it came"
    return Check(name, measured >= _SLOWEST * rate, told if stamps else f"nothing came in {LOOKED_FOR:g} s")


def _chain_stops(body: bodies.Body, config: RobotConfig) -> Check:
    """The e-stop's way through the chain, without moving anything: what it lets through is sent."""
    chain, now = SafetyChain(config), body.clock.now()
    wish = Command(_CREEP, Source.HUMAN, now + 1.0)
    chain.stop("doctor")
    latched = chain.step([wish], body.robot.observe(), now)
    try:
        body.robot.apply(latched.twist)
        body.robot.stop()
    except DeviceError as error:
        return Check("e-stop", False, str(error))
    holds = latched.twist == Twist() and latched.source == Source.STOP.name.lower()
    return Check("e-stop", holds, "latched: nothing passes the chain" if holds else f"let {latched.twist} through")


def _stops_by_itself(body: bodies.Body, config: RobotConfig) -> Check:
    limit = config.limits.command_timeout + 0.2
    took = _stopped_after(body, lambda: None)
    return Check("command time-out", took <= limit, f"stood {took:.2f} s after the last command (at most {limit:.2f})")


def _stop_is_obeyed(body: bodies.Body) -> Check:
    took = _stopped_after(body, body.robot.stop)
    return Check("stop", took <= 0.2, f"stood {took:.2f} s after stop (at most 0.20)")


def _stopped_after(body: bodies.Body, end: Callable[[], None]) -> float:
    """Creep for half a second, end it, and say how long the robot still moved by its own odometry."""
    now = body.clock.now
    until = now() + 0.5
    while now() < until:
        body.robot.apply(_CREEP)
        body.clock.wait_until(now() + 0.05)
    end()
    began = now()
    moves = partial(_moves, body)
    while moves() and now() < began + 3.0:
        body.clock.wait_until(now() + 0.01)
    return now() - began


def _moves(body: bodies.Body) -> bool:
    odometry = body.robot.observe().odometry
    return odometry is None or abs(odometry.twist.linear) > 0.01
