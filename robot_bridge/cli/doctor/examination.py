"""The doctor's checks of a robot: sensors, a stop through the safety chain and, in simulation, motion."""

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
"""Duration of the observation of the sensors, in seconds."""
_MIN_SHARE: Final = 0.7
"""Fraction of its nominal rate that a sensor must reach."""
_CREEP: Final = Twist(0.05, 0.0)
"""Slow motion for tests."""


def checks(options: AnyRobotOptions, config: RobotConfig, topics: Topics) -> Iterator[Check]:
    """Yield all checks of the robot that the options name; a failed check does not end the examination.

    Raises:
        SetupError: the world or the domain does not exist.
        DeviceError: the connection to the robot is lost.
    """
    with robots.open_robot(options, config, topics, must_answer=False) as body:
        if options.is_simulated:
            yield from _check_twin(body, config, options)
        else:
            yield from _check_real(body, config, options, topics)


def _check_twin(body: robots.ReadyRobot, config: RobotConfig, options: AnyRobotOptions) -> Iterator[Check]:
    """Yield the checks of a simulated robot, which may move."""
    if not options.no_camera:
        yield Check("renderer", not body.camera_fault, body.camera_fault or "pictures can be drawn")
    has_camera = not (options.no_camera or body.camera_fault)
    yield from _check_sensors(body, config, has_camera, lambda _: "")
    yield _check_chain_stop(body, config)
    yield _check_command_timeout(body, config)
    yield _check_stop(body)


def _check_real(
    body: robots.ReadyRobot, config: RobotConfig, options: AnyRobotOptions, topics: Topics
) -> Iterator[Check]:
    """Yield the checks of a real robot, which does not move."""
    from robot_bridge.ros.robot import Ros2Robot

    robot = body.robot
    assert isinstance(robot, Ros2Robot)  # noqa: S101  # robots.py opens this class for a real robot
    topics_of_sensors = {
        "lidar": (topics.scan,),
        "odometry": (topics.odometry,),
        "camera": (topics.image, topics.depth),
        "battery": (topics.battery,),
    }

    def account(name: str) -> str:
        return "; ".join(robot.account(topic) for topic in topics_of_sensors[name])

    yield Check("priority", True, realtime.describe_priority(body.priority_fault))
    yield from _check_sensors(body, config, not options.no_camera, account)
    yield from probe.checks(options.choose_domain(), topics, config.limits.command_timeout + 0.2)
    yield _check_chain_stop(body, config)
    yield Check("motion", True, "not tried: a real robot would move; see docs/robot.md for the wheels-up test")


def _check_sensors(
    body: robots.ReadyRobot, config: RobotConfig, has_camera: bool, account: Callable[[str], str]
) -> Iterator[Check]:
    """Observe the sensors for some seconds, then yield a check of each sensor.

    ``account`` returns what is known of a silent sensor, given its name.
    """
    stamps: dict[str, list[float]] = {"lidar": [], "odometry": [], "camera": []}
    greatest_age = dict.fromkeys(stamps, 0.0)
    observation = Observation()

    end = body.clock.now() + LOOKED_FOR
    while body.clock.now() < end:
        observation = body.robot.observe()
        now = body.clock.now()
        newest = {"lidar": observation.scan, "odometry": observation.odometry, "camera": observation.frame}
        for name, value in newest.items():
            if value is None:
                continue
            is_new = stamps[name][-1:] != [value.stamp]
            if is_new:
                stamps[name].append(value.stamp)
            greatest_age[name] = max(greatest_age[name], now - value.stamp)
        body.clock.wait_until(now + 1 / 50)

    # By sensor: nominal rate in Hz and greatest allowed age in seconds.
    zones = config.zones
    wanted = {"lidar": (config.lidar.rate, zones.scan_timeout)}
    wanted["odometry"] = (2 / zones.odometry_timeout, zones.odometry_timeout)
    if has_camera:
        wanted["camera"] = (config.camera.rate, inf)
    for name, (rate, age_limit) in wanted.items():
        yield _check_sensor(name, stamps[name], greatest_age[name], rate, age_limit, account)

    fault = scans.fault(observation.scan, body.clock.now(), config)
    yield Check("scan", not fault, fault or "can be used")
    volts = observation.battery
    if volts is None:
        yield Check("battery", False, _describe_silence(account("battery")))
    else:
        yield Check("battery", True, f"{volts:.1f} V")


def _check_sensor(
    name: str, stamps: list[float], greatest_age: float, rate: float, age_limit: float, account: Callable[[str], str]
) -> Check:
    """Return the check of a sensor.

    Args:
        name: name of the sensor.
        stamps: times of the sensor's values, in order.
        greatest_age: greatest age that the newest value reached during the observation, in seconds.
        rate: nominal rate, in Hz.
        age_limit: greatest allowed age, in seconds.
        account: returns what is known of a silent sensor, given its name.
    """
    if not stamps:
        return Check(name, False, _describe_silence(account(name)))
    measured_rate = len(stamps) / LOOKED_FOR
    if len(stamps) > 1:
        measured_rate = (len(stamps) - 1) / (stamps[-1] - stamps[0])
    min_rate = _MIN_SHARE * rate
    bound = f" (at most {1000 * age_limit:.0f})" if age_limit < inf else ""
    age = f"never older than {1000 * greatest_age:.0f} ms{bound}"
    finding = f"{measured_rate:.1f} Hz (at least {min_rate:.1f}), {age}"
    return Check(name, measured_rate >= min_rate and greatest_age <= age_limit, finding)


def _describe_silence(account: str) -> str:
    silence = f"nothing came in {LOOKED_FOR:g} s"
    return f"{silence}: {account}" if account else silence


def _check_chain_stop(body: robots.ReadyRobot, config: RobotConfig) -> Check:
    """Check that a stopped safety chain holds back a motion command, and that the robot accepts the chain's output.

    The robot does not move, because only the chain's output is sent.
    """
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


def _check_command_timeout(body: robots.ReadyRobot, config: RobotConfig) -> Check:
    """Check that the robot stops by itself when commands cease."""
    limit = config.limits.command_timeout + 0.2
    stop_time = _measure_stop(body, lambda: None)
    finding = f"stood {stop_time:.2f} s after the last command (at most {limit:.2f})"
    return Check("command time-out", stop_time <= limit, finding)


def _check_stop(body: robots.ReadyRobot) -> Check:
    """Check that the robot obeys a stop."""
    stop_time = _measure_stop(body, body.robot.stop)
    return Check("stop", stop_time <= 0.2, f"stood {stop_time:.2f} s after stop (at most 0.20)")


def _measure_stop(body: robots.ReadyRobot, end: Callable[[], None]) -> float:
    """Drive slowly for half a second, call ``end``, and return for how many seconds odometry still shows motion.

    The result is at most about 3 s.
    """
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
