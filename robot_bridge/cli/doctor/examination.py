"""What the doctor looks at: sensors, the way of a stop through the chain and, in simulation, motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Final

from robot_bridge.cli import robots
from robot_bridge.cli.doctor import probe
from robot_bridge.cli.doctor.check import Check
from robot_bridge.cli.options import AnyRobotOptions
from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Command, Observation, Source, Twist
from robot_bridge.control import realtime
from robot_bridge.errors import DeviceError
from robot_bridge.ros.topics import Topics
from robot_bridge.safety import scans
from robot_bridge.safety.chain import SafetyChain

LOOKED_FOR: Final = 3.0
"""Seconds in which sensors are counted."""
_MIN_SHARE: Final = 0.7
"""Share of its rate below which a sensor is too slow."""
_CREEP: Final = Twist(0.05, 0.0)


def checks(options: AnyRobotOptions, config: RobotConfig, topics: Topics) -> Iterator[Check]:
    """Yield the checks of the robot of the options, one after the other, whatever comes of the ones before.

    Raises:
        SetupError: there is no such world or domain.
        DeviceError: the connection to the robot is lost.
    """
    with robots.open_robot(options, config, topics, must_answer=False) as body:
        if options.is_simulated:
            yield from _check_twin(body, config, options)
        else:
            yield from _check_real(body, config, options, topics)


def _check_twin(body: robots.ReadyRobot, config: RobotConfig, options: AnyRobotOptions) -> Iterator[Check]:
    if not options.no_camera:
        yield Check("renderer", not body.camera_fault, body.camera_fault or "pictures can be drawn")
    has_camera = not (options.no_camera or body.camera_fault)
    yield from _check_sensors(body, config, has_camera, lambda _: "")
    yield _chain_stops(body, config)
    yield _stops_by_itself(body, config)
    yield _stop_is_obeyed(body)


def _check_real(
    body: robots.ReadyRobot, config: RobotConfig, options: AnyRobotOptions, topics: Topics
) -> Iterator[Check]:
    from robot_bridge.ros.robot import Ros2Robot

    robot = body.robot
    assert isinstance(robot, Ros2Robot)  # noqa: S101  # what robots.py makes of these options
    sources = {
        "lidar": (topics.scan,),
        "odometry": (topics.odometry,),
        "camera": (topics.image, topics.depth),
        "battery": (topics.battery,),
    }

    def account(name: str) -> str:
        return "; ".join(robot.account(topic) for topic in sources[name])

    yield Check("priority", True, realtime.describe_priority(body.priority_fault))
    yield from _check_sensors(body, config, not options.no_camera, account)
    yield from probe.checks(options.choose_domain(), topics, config.limits.command_timeout + 0.2)
    yield _chain_stops(body, config)
    yield Check("motion", True, "not tried: a real robot would move; see docs/robot.md for the wheels-up test")


def _check_sensors(
    body: robots.ReadyRobot, config: RobotConfig, has_camera: bool, account: Callable[[str], str]
) -> Iterator[Check]:
    """Yield the checks of the sensors; ``account``: what is known of a sensor that says nothing, by its name."""
    stamps: dict[str, list[float]] = {"lidar": [], "odometry": [], "camera": []}
    oldest = dict.fromkeys(stamps, 0.0)
    observation = Observation()

    end = body.clock.now() + LOOKED_FOR
    while body.clock.now() < end:
        observation = body.robot.observe()
        now = body.clock.now()
        newest = {"lidar": observation.scan, "odometry": observation.odometry, "camera": observation.frame}
        for name, value in newest.items():
            if value is None:
                continue
            if stamps[name][-1:] != [value.stamp]:
                stamps[name].append(value.stamp)
            oldest[name] = max(oldest[name], now - value.stamp)
        body.clock.wait_until(now + 1 / 50)

    zones = config.zones
    wanted = {"lidar": (config.lidar.rate, zones.scan_timeout)}
    wanted["odometry"] = (2 / zones.odometry_timeout, zones.odometry_timeout)
    if has_camera:
        wanted["camera"] = (config.camera.rate, inf)
    for name, (rate, limit) in wanted.items():
        yield _sensor(name, stamps[name], oldest[name], rate, limit, account)

    fault = scans.fault(observation.scan, body.clock.now(), config)
    yield Check("scan", not fault, fault or "can be used")
    volts = observation.battery
    if volts is None:
        yield Check("battery", False, _describe_silence(account("battery")))
    else:
        yield Check("battery", True, f"{volts:.1f} V")


def _sensor(
    name: str, stamps: list[float], oldest: float, rate: float, limit: float, account: Callable[[str], str]
) -> Check:
    """Return the check of a sensor.

    Rates in Hz; ``oldest``: seconds that its newest value was old at most, and ``limit`` may be.
    """
    if not stamps:
        return Check(name, False, _describe_silence(account(name)))
    measured = len(stamps) / LOOKED_FOR
    if len(stamps) > 1:
        measured = (len(stamps) - 1) / (stamps[-1] - stamps[0])
    least = _MIN_SHARE * rate
    bound = f" (at most {1000 * limit:.0f})" if limit < inf else ""
    age = f"never older than {1000 * oldest:.0f} ms{bound}"
    found = f"{measured:.1f} Hz (at least {least:.1f}), {age}"
    return Check(name, measured >= least and oldest <= limit, found)


def _describe_silence(account: str) -> str:
    silence = f"nothing came in {LOOKED_FOR:g} s"
    return f"{silence}: {account}" if account else silence


def _chain_stops(body: robots.ReadyRobot, config: RobotConfig) -> Check:
    """Check the e-stop's way through the chain, without moving anything: what it lets through is sent."""
    chain = SafetyChain(config)
    now = body.clock.now()
    wish = Command(_CREEP, Source.HUMAN, now + 1.0)
    chain.stop("doctor")
    latched = chain.step([wish], body.robot.observe(), now)
    try:
        body.robot.apply(latched.twist)
        body.robot.stop()
    except DeviceError as error:
        return Check("e-stop", False, str(error))
    if latched.twist != REST or latched.source != Source.STOP.name.lower():
        return Check("e-stop", False, f"let {latched.twist} through")
    return Check("e-stop", True, "latched: nothing passes the chain")


def _stops_by_itself(body: robots.ReadyRobot, config: RobotConfig) -> Check:
    limit = config.limits.command_timeout + 0.2
    took = _measure_stop(body, lambda: None)
    found = f"stood {took:.2f} s after the last command (at most {limit:.2f})"
    return Check("command time-out", took <= limit, found)


def _stop_is_obeyed(body: robots.ReadyRobot) -> Check:
    took = _measure_stop(body, body.robot.stop)
    return Check("stop", took <= 0.2, f"stood {took:.2f} s after stop (at most 0.20)")


def _measure_stop(body: robots.ReadyRobot, end: Callable[[], None]) -> float:
    """Creep for half a second, end it, and return how long the robot still moved by its own odometry."""
    now = body.clock.now
    until = now() + 0.5
    while now() < until:
        body.robot.apply(_CREEP)
        body.clock.wait_until(now() + 0.05)
    end()
    began = now()
    while _is_moving(body) and now() < began + 3.0:
        body.clock.wait_until(now() + 0.01)
    return now() - began


def _is_moving(body: robots.ReadyRobot) -> bool:
    odometry = body.robot.observe().odometry
    return odometry is None or abs(odometry.twist.linear) > 0.01
