"""The doctor: of the twin, of a robot over DDS, of deadmen that do not do what they must, and of what is missing."""

from __future__ import annotations

import importlib.metadata
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path

import numpy as np
import pytest

from robot_bridge.cli import main, robots
from robot_bridge.cli.doctor import examination, probe
from robot_bridge.cli.doctor.check import Check
from robot_bridge.cli.options import AnyRobotOptions
from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose, Twist
from robot_bridge.control.realtime import PRIORITY, Lockstep, real_time
from robot_bridge.exploration.asker import LockstepLink
from robot_bridge.onboard.deadman import Deadman, serve
from robot_bridge.onboard.relay import STOP
from robot_bridge.onboard.relay_dds import DdsTransport
from robot_bridge.ros import robot as ros2_robot
from robot_bridge.ros import types
from robot_bridge.ros.dds import Bus, wait_until
from robot_bridge.ros.messages import twist_message
from robot_bridge.ros.topics import DRIVER_COMMANDS, HOST_COMMANDS, Topics
from tests.support.robot_bridge.kinematic import KinematicRobot, SteppedClock
from tests.support.robot_bridge.loopback import CONFIGURATION, own_domain, started
from tests.support.tiers import long
from tests.support.waiting import is_punctual

SMALLEST = ("--world", "MiniGrid-Empty-5x5-v0")
LIMIT = 0.5
TRIES = 5
"""A machine that is busy with other tests makes sensors slow and old: one of these must do."""


def lines(told: str) -> dict[str, tuple[str, str]]:
    """Verdict and finding by name."""
    return {line[7:30].rstrip(): (line[:6].rstrip(), line[31:]) for line in told.splitlines()}


def test_it_finds_nothing_wrong_with_the_twin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--no-camera", *SMALLEST]) == 0
    found = lines(capsys.readouterr().out)
    assert {verdict for verdict, _ in found.values()} == {"ok"}
    assert {"gymnasium", "mujoco", "lidar", "odometry", "scan", "battery", "e-stop", "command time-out", "stop"} <= set(
        found
    )
    assert found["lidar"][1].endswith(" ms (at most 200)")


def body(robot: KinematicRobot) -> robots.ReadyRobot:
    clock = robot.clock
    return robots.ReadyRobot(
        robot, clock, Pose(), "", None, lambda each: Lockstep(each.tick), lambda: LockstepLink(clock, None)
    )


def test_it_tells_of_a_driver_that_keeps_the_last_command_for_ever() -> None:
    robot = KinematicRobot(SteppedClock())
    by_itself = examination._check_command_timeout(body(robot), robot.config)
    assert (by_itself.holds, by_itself.found[:8]) == (False, "stood 3.")
    assert examination._check_stop(body(robot)).holds


def sensor(stamps: list[float], oldest: float = 0.05, limit: float = inf, why: str = "") -> Check:
    return examination._check_sensor("lidar", stamps, oldest, 10.0, limit, lambda name: why and f"{name} {why}")


def test_it_tells_of_a_sensor_that_is_silent_slow_or_late() -> None:
    assert sensor([]).found == "nothing came in 1 s"
    assert sensor([], why="is off").found == "nothing came in 1 s: lidar is off"
    slow = sensor([0.0, 0.2, 0.4, 0.6])
    assert (slow.holds, slow.found) == (False, "5.0 Hz (at least 7.0), never older than 50 ms")
    steady = list(np.arange(30) / 10)
    assert sensor(steady, limit=0.2).holds
    late = sensor(steady, 0.25, 0.2)
    assert (late.holds, late.found) == (False, "10.0 Hz (at least 7.0), never older than 250 ms (at most 200)")


@pytest.mark.parametrize("module", ["mujoco", "gymnasium", "numpy"])
def test_what_is_missing_is_a_line_and_the_rest_is_looked_at(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    version = importlib.metadata.version

    def without(package: str) -> str:
        if package == module:
            raise importlib.metadata.PackageNotFoundError(package)
        return version(package)

    monkeypatch.setattr(importlib.metadata, "version", without)
    for name in [name for name in sys.modules if name.startswith("robot_bridge.cli.doctor.examination")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delattr("robot_bridge.cli.doctor.examination", raising=False)
    assert main(["doctor", "--no-camera", *SMALLEST]) == 1
    said = capsys.readouterr()
    found = lines(said.out)
    assert found[module] == ("FAILS", "not installed")
    assert said.out.count("pip install") == 1
    assert found["packages"][1] == f"install what is missing: {sys.executable} -m pip install -r requirements/robot.txt"
    assert found["rosbags"][0] == "ok"
    assert found["robot"][0] == "FAILS"
    assert module in found["robot"][1]
    assert said.err == ""


@pytest.fixture(scope="module")
def own() -> Iterator[int]:
    """A domain where nobody else was before, whose killed processes would be seen for a while."""
    with pytest.MonkeyPatch.context() as patch, own_domain() as found:
        patch.setenv("CYCLONEDDS_URI", CONFIGURATION)
        yield found


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sensors and deadmen are looked at long enough for a rate, and for the longest time that a deadman may take."""
    monkeypatch.setattr(examination, "LOOKED_FOR", 1.0)
    monkeypatch.setattr(probe, "_LISTEN_S", 0.6)
    monkeypatch.setattr(probe, "_ANSWER_S", LIMIT + 0.2)


@pytest.fixture
def priority() -> Iterator[None]:
    """Of this process and of what it starts, where it is allowed: a busy machine is not to be what is examined."""
    with real_time():
        yield


@pytest.mark.long
@pytest.mark.usefixtures("priority")
def test_a_robot_over_dds_is_looked_at_without_moving_it(own: int, capsys: pytest.CaptureFixture[str]) -> None:
    with started("tests.support.robot_bridge.served_twin", str(own), "--deadman", wait_for="ready") as twin:
        was_punctual = False
        for _ in range(TRIES):
            code = main(["doctor", "--robot", "ros2", "--no-camera", "--domain", str(own)])
            told = capsys.readouterr().out
            if code == 0:
                break
            was_punctual |= is_punctual()
        twin.terminate()
        twin.wait(20)
    found = lines(told)
    failed = {name for name, (verdict, _) in found.items() if verdict != "ok"}
    if not was_punctual and failed and failed <= {"lidar", "odometry", "scan"}:
        pytest.skip(f"this machine is too busy for a twin in real time: {told}")
    assert not failed, told
    assert {"priority", "lidar", "odometry", "scan", "battery", "deadman", "deadman's time-out", STOP, "e-stop"} <= set(
        found
    )


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is there, and nobody is waited for."""
    monkeypatch.setattr(ros2_robot, "wait_until", lambda condition, _: wait_until(condition, 0.2))
    monkeypatch.setattr(probe, "_APPEAR_S", 0.2)


@pytest.mark.usefixtures("hurried")
def test_every_sensor_of_a_silent_robot_is_listed(own: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--robot", "ros2", "--domain", str(own)]) == 1
    found = lines(capsys.readouterr().out)
    for name, topic, kind in (
        ("lidar", "/scan", types.SCAN),
        ("odometry", "/odom", types.ODOMETRY),
        ("battery", "/voltage", types.FLOAT32),
    ):
        assert found[name] == ("FAILS", f"nothing came in 1 s: nobody publishes {topic} as {kind}")
    assert found["camera"][1].count("nobody publishes") == 2
    assert found["deadman"] == ("FAILS", "nobody listens on /spca/cmd_vel: start the deadman on the robot")
    assert found["e-stop"][0] == "FAILS"


class Deaf(Deadman):
    """Does not obey a stop."""

    def stop(self) -> None: ...


class Pressed(Deadman):
    """Somebody else stops it, too, when it is stopped."""

    def __init__(self, bus: Bus) -> None:
        super().__init__()
        self.person = bus.publisher(STOP, types.BOOL)

    def stop(self) -> None:
        if not self.is_stopped:
            self.person.send(types.make(types.BOOL, data=True))
        super().stop()


def stopped() -> Deadman:
    deadman = Deadman()
    deadman.stop()
    return deadman


@contextmanager
def running(domain: int, deadman: Deadman) -> Iterator[list[tuple[float, float]]]:
    """A deadman in a thread; gives what it tells the driver."""
    ended, told = threading.Event(), list[tuple[float, float]]()

    class Line(DdsTransport):
        def send(self, linear: float, angular: float) -> None:
            told.append((linear, angular))
            super().send(linear, angular)

    line = Line(domain, HOST_COMMANDS, DRIVER_COMMANDS, STOP)
    thread = threading.Thread(target=lambda: serve(line, deadman, ended.is_set))
    thread.start()
    try:
        yield told
    finally:
        ended.set()
        thread.join()


def probed(domain: int, deadman: Deadman, name: str = STOP) -> tuple[dict[str, Check], list[tuple[float, float]]]:
    """What is found; again, where a machine that is late keeps it from coming as far as to ``name``."""
    with real_time():
        for _ in range(TRIES):
            with running(domain, deadman) as told:
                found = {check.name: check for check in probe.checks(domain, Topics(), LIMIT)}
            if name in found and "times a second" not in found["deadman"].found:
                break
    return found, told


def test_a_deadman_is_tried_with_what_moves_no_robot(own: int) -> None:
    found, told = probed(own, Deadman())
    assert set(found) == {"deadman", "deadman's time-out", STOP}
    assert max(abs(linear) for linear, _ in told) == 1e-6


@pytest.mark.long
@pytest.mark.parametrize(
    ("deadman", "name", "told"),
    [
        (lambda: Deaf(), STOP, "no zeros after it became true (at most 0.50)"),
        long(lambda: Deadman(timeout=1e9), "deadman's time-out", "no zeros after the last command (at most 0.50)"),
        long(stopped, "deadman", "passes no commands on: /spca/stop is true, or it does not hear this computer"),
    ],
)
def test_a_deadman_that_does_not_do_what_it_must_is_told(
    own: int, deadman: Callable[[], Deadman], name: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "_ATTEMPTS", 1)  # more would help only where the machine is what is late
    found, _ = probed(own, deadman(), name)
    assert (found[name].holds, found[name].found) == (False, told)


def test_a_stop_of_somebody_else_is_not_released(own: int) -> None:
    with Bus(own) as bus:
        deadman = Pressed(bus)
        found, _ = probed(own, deadman)
    assert found[STOP] == Check(STOP, False, "somebody else stopped it meanwhile: it is left so")
    assert deadman.is_stopped


def test_who_else_commands_the_driver_is_told(own: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "_FORGET_S", 0.5)
    with Bus(own) as bus:
        other = bus.publisher(DRIVER_COMMANDS, types.TWIST)
        found, _ = probed(own, Deadman(), "deadman")
        other.send(twist_message(Twist()))
    assert found["deadman"].found == "2 publish on /cmd_vel: end all others"


def test_commands_that_go_past_the_deadman_are_told(own: int) -> None:
    (found,) = probe.checks(own, Topics(commands="/cmd_vel"), LIMIT)
    assert (found.holds, found.found) == (False, "commands go to /cmd_vel, where no deadman listens")


def policies() -> set[tuple[int, int]]:
    """Of all threads of this process."""
    threads = [int(path.name) for path in Path("/proc/self/task").iterdir()]
    return {(os.sched_getscheduler(each), os.sched_getparam(each).sched_priority) for each in threads}


@pytest.mark.long
@pytest.mark.usefixtures("hurried")
@pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="Linux only")
def test_a_real_robot_is_driven_in_real_time_where_allowed_and_nothing_after_it(own: int) -> None:
    with real_time() as refusal:
        pass
    ordinary = policies()
    with robots.open_robot(
        AnyRobotOptions(robot="ros2", domain=own, no_camera=True), RobotConfig(), must_answer=False
    ) as opened:
        assert opened.priority_fault == refusal
        assert refusal or (os.SCHED_RR, PRIORITY) in policies()
        assert refusal or os.sched_getscheduler(0) == os.SCHED_RR
    assert wait_until(lambda: policies() == ordinary, 30)
