"""What every Robot promises, simulated or not, near or at the other end of a wire; needs pytest.

Call ``pytest.register_assert_rewrite("robot_bridge.testing")`` before the import, so that failures show their values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import wraps
from math import inf, nan
from time import perf_counter

import numpy as np
import pytest

from robot_bridge.contracts import REST, Observation, Odometry, Twist
from robot_bridge.control.realtime import MonotonicClock
from robot_bridge.errors import DeviceError
from robot_bridge.protocols import Clock, Robot

PERIOD = 0.05


def retry_when_late(test: Callable[..., None]) -> Callable[..., None]:
    """Return a test that may be tried ``tries`` times: in real time, a late machine can only fail it."""

    @wraps(test)
    def test_in_time(self: RobotSuite, robot: Robot, clock: Clock) -> None:
        for _ in range(self.tries - 1):
            try:
                return test(self, robot, clock)
            except AssertionError:
                robot.stop()
                wait_seconds(clock, 1.0)
        return test(self, robot, clock)

    return test_in_time


class RobotSuite:
    """Promises of a robot: it drives within its limits, stops at once and by itself, and never waits for a sensor.

    Override the fixtures ``make``, which returns a function that connects to the robot, and ``clock``. The robot stands
    at rest with two metres free ahead and half a metre behind. A fixture ``robot`` that lives longer than a test is
    fine; ``closable`` is a robot that may be closed.

    Attributes:
        has_camera: whether observations have frames.
        latency: seconds until a command has arrived and its effect is known.
        tries: how often a test may be tried; more than one for a robot in real time.
    """

    has_camera = True
    latency = 0.05
    tries = 1

    @pytest.fixture
    def make(self) -> Callable[[], Robot]:
        """Return a function that connects to the robot to test."""
        raise NotImplementedError("override the fixture make: it returns a function that connects to a robot")

    @pytest.fixture
    def robot(self, make: Callable[[], Robot]) -> Iterator[Robot]:
        """Yield the robot to test."""
        robot = make()
        yield robot
        with suppress(DeviceError):  # a test may have closed it
            robot.close()

    @pytest.fixture
    def clock(self) -> Clock:
        """Return the clock of the robot's world; by default, the real one."""
        return MonotonicClock()

    @pytest.fixture
    def closable(self, robot: Robot) -> Robot:
        return robot

    def test_every_sensor_reports_what_the_configuration_promises(self, robot: Robot, clock: Clock) -> None:
        seen = observe_all(robot, clock, self.has_camera)
        lidar, camera = robot.config.lidar, robot.config.camera
        assert seen.scan is not None
        assert seen.scan.ranges.shape == (lidar.beams,)
        assert seen.scan.ranges.dtype == np.float32
        assert (seen.scan.angle_min, seen.scan.angle_increment) == pytest.approx(
            (lidar.angle_min, lidar.angle_increment), abs=1e-4
        )
        assert np.isfinite(seen.scan.ranges).mean() > 0.9
        assert seen.battery is None or seen.battery > 0
        if self.has_camera:
            assert seen.frame is not None
            assert seen.frame.rgb.shape == (camera.height, camera.width, 3)
            assert seen.frame.rgb.dtype == np.uint8
            assert seen.frame.depth.shape == (camera.height, camera.width)
            assert seen.frame.depth.dtype == np.float32
            assert seen.frame.depth.min() >= 0
            assert seen.frame.focal == pytest.approx(camera.focal, rel=1e-3)

    @retry_when_late
    def test_observing_does_not_wait(self, robot: Robot, clock: Clock) -> None:
        observe_all(robot, clock, self.has_camera)
        begun = perf_counter()
        for _ in range(100):
            robot.observe()
        assert perf_counter() - begun < 5  # to wait for what is new would take ten

    @retry_when_late
    def test_what_is_observed_is_the_newest(self, robot: Robot, clock: Clock) -> None:
        observe_all(robot, clock, self.has_camera)
        scans: list[float] = []
        stamps: list[float] = []
        for _ in range(20):
            wait_seconds(clock, PERIOD)
            seen = robot.observe()
            assert seen.scan is not None
            assert seen.odometry is not None
            scans.append(seen.scan.stamp)
            stamps.append(seen.odometry.stamp)
        assert scans == sorted(scans)
        assert stamps == sorted(stamps)
        assert len(set(scans)) >= 0.7 * robot.config.lidar.rate
        assert clock.now() - scans[-1] < 2 / robot.config.lidar.rate + self.latency
        assert clock.now() - stamps[-1] < 2 * PERIOD + self.latency

    def test_what_it_can_do_is_sent_as_it_was_asked(self, robot: Robot) -> None:
        for twist in (Twist(0.1, 0.1), Twist(-0.1, 0.05), REST):
            sent = robot.apply(twist)
            assert (sent.linear, sent.angular) == pytest.approx((twist.linear, twist.angular))
        robot.stop()

    @pytest.mark.parametrize("twist", [Twist(0.0, 1.0), Twist(nan, 0.1), Twist(0.1, inf), Twist(-inf, 0.0)], ids=str)
    def test_what_no_wheel_can_do_is_rest(self, robot: Robot, twist: Twist) -> None:
        assert robot.apply(twist) == REST

    def test_more_than_it_can_do_is_sent_as_what_it_can(self, robot: Robot) -> None:
        limits, body = robot.config.limits, robot.config.body
        sent = robot.apply(Twist(9.0, 9.0))
        assert 0 < sent.linear <= limits.speed
        assert 0 < sent.angular <= sent.linear * body.curvature_limit + 1e-9
        assert -limits.reverse_speed <= robot.apply(Twist(-9.0, 0.0)).linear < 0
        robot.stop()

    @retry_when_late
    def test_it_drives_turns_and_stops_at_once(self, robot: Robot, clock: Clock) -> None:
        before = read_odometry(robot, clock)
        drive_robot(robot, clock, Twist(0.2, 0.3), 1.5)
        moving = read_odometry(robot, clock)
        assert moving.twist.linear == pytest.approx(0.2, rel=0.2)
        assert moving.twist.angular == pytest.approx(0.3, rel=0.2)
        robot.stop()
        wait_seconds(clock, 0.4 + self.latency)
        after = read_odometry(robot, clock)
        assert is_at_rest(after)
        assert after.pose.distance_to(moving.pose.x, moving.pose.y) < 0.05 + 0.2 * self.latency
        way = after.pose.relative_to(before.pose)
        assert 0.2 < way.x < 0.4
        assert 0.25 < way.heading < 0.65

    @retry_when_late
    def test_it_drives_backwards_after_a_stop(self, robot: Robot, clock: Clock) -> None:
        robot.stop()
        before = read_odometry(robot, clock)
        drive_robot(robot, clock, Twist(-0.1), 1.0)
        robot.stop()
        wait_seconds(clock, 0.4 + self.latency)
        assert -0.15 < read_odometry(robot, clock).pose.relative_to(before.pose).x < -0.05

    @retry_when_late
    def test_it_stops_by_itself_when_no_command_comes(self, robot: Robot, clock: Clock) -> None:
        drive_robot(robot, clock, Twist(0.15), 0.6)
        wait_seconds(clock, robot.config.limits.command_timeout / 2)
        assert not is_at_rest(read_odometry(robot, clock))
        wait_seconds(clock, robot.config.limits.command_timeout / 2 + 0.3 + self.latency)
        assert is_at_rest(read_odometry(robot, clock))

    @retry_when_late
    def test_stopping_is_never_refused(self, robot: Robot, clock: Clock) -> None:
        for _ in range(3):
            robot.stop()
        drive_robot(robot, clock, Twist(0.15), 0.4)
        robot.stop()
        robot.stop()
        wait_seconds(clock, 0.4 + self.latency)
        assert is_at_rest(read_odometry(robot, clock))

    def test_closed_is_closed(self, closable: Robot) -> None:
        closable.close()
        closable.close()
        with pytest.raises(DeviceError):
            closable.observe()
        with pytest.raises(DeviceError):
            closable.apply(Twist(0.1))
        with pytest.raises(DeviceError):
            closable.stop()


def wait_seconds(clock: Clock, seconds: float) -> None:
    """Wait on the clock of a robot's world."""
    clock.wait_until(clock.now() + seconds)


def drive_robot(robot: Robot, clock: Clock, twist: Twist, seconds: float) -> None:
    """Command a velocity at 20 Hz."""
    until = clock.now() + seconds
    while clock.now() < until - 1e-9:
        robot.apply(twist)
        wait_seconds(clock, PERIOD)


def observe_all(robot: Robot, clock: Clock, with_frame: bool, patience: float = 15.0) -> Observation:
    """Return what a robot observes as soon as every sensor has reported."""
    until = clock.now() + patience
    while clock.now() < until:
        seen = robot.observe()
        if seen.scan is not None and seen.odometry is not None and (seen.frame is not None or not with_frame):
            return seen
        wait_seconds(clock, PERIOD)
    raise AssertionError(f"a sensor said nothing for {patience} s: {robot.observe()}")


def read_odometry(robot: Robot, clock: Clock) -> Odometry:
    """Return the odometry of a robot, once it has been reported."""
    found = observe_all(robot, clock, with_frame=False).odometry
    assert found is not None
    return found


def is_at_rest(now: Odometry) -> bool:
    """Return whether a robot stands still."""
    return abs(now.twist.linear) < 0.01 and abs(now.twist.angular) < 0.02
