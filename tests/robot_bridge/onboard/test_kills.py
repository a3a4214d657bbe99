"""Host, deadman and robot as three processes: whichever is killed, the robot stands soon after.

Speeds are those of the twin's odometry, which has no noise. All run in real time where that is allowed, as on a robot.
Elsewhere a busy machine makes them late: an attempt in which the robot or the deadman was silent for long says nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from robot_bridge.config import Limits
from robot_bridge.control.realtime import real_time
from robot_bridge.ros import types
from robot_bridge.ros.dds import Bus, Subscription
from robot_bridge.ros.messages import odometry_from
from robot_bridge.ros.topics import DRIVER_COMMANDS, HOST_COMMANDS
from tests.support.robot_bridge.loopback import started
from tests.support.waiting import PATIENCE

TWIN, HOST, DEADMAN = (
    "tests.support.robot_bridge.served_twin",
    "tests.support.robot_bridge.commander",
    "robot_bridge.onboard.relay",
)
CYCLONE = ("--transport", "cyclonedds", "--domain")
STANDS = 0.01
SOON = Limits().command_timeout + 0.4
"""For a robot that is left to its own timeout."""
TRIES = 5
FAIR = 0.15
"""Seconds for which neither robot (50 Hz) nor deadman (20 Hz) may have been silent where a time is to count."""


@dataclass
class Ear:
    """Hears odometry and what the driver is told. ``gap``: the longest silence so far, seconds."""

    bus: Bus
    odometry: Subscription
    driver: Subscription
    gap: float = 0.0
    came: dict[str, float] = field(default_factory=dict)

    def speed(self) -> float:
        """The next that the robot tells."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            self.bus.wait(0.1)
            now, found = time.monotonic(), self.odometry.take()
            self._note("driver", self.driver.take(), now)
            self._note("odometry", found, now)
            if found:
                return odometry_from(found[-1]).twist.linear
        raise AssertionError("the robot tells nothing")

    def listen(self) -> None:
        """Silences before do not count."""
        self.gap, self.came = 0.0, {}

    def _note(self, name: str, found: list[Any], now: float) -> None:
        if found:
            self.gap = max(self.gap, now - self.came.get(name, now))
            self.came[name] = now


@dataclass(frozen=True)
class Stop:
    """``seconds`` from a kill until the robot stood; ``is_fair``: nobody was late meanwhile."""

    seconds: float
    is_fair: bool


def stopped_after_kill(ear: Ear, killed: subprocess.Popen[str]) -> Stop:
    """The robot drives before."""
    end = time.monotonic() + PATIENCE
    while ear.speed() < 0.14:
        assert time.monotonic() < end, "the robot does not drive"
    ear.listen()
    os.kill(killed.pid, signal.SIGKILL)
    begun = time.monotonic()
    while abs(ear.speed()) > STANDS:
        assert time.monotonic() < begun + PATIENCE, "the robot does not stop"
    taken, gap = time.monotonic() - begun, ear.gap
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        assert abs(ear.speed()) <= STANDS
    return Stop(taken, gap <= FAIR)


def check(attempt: Callable[[], Stop], limit: float) -> None:
    """One of several attempts must be within the limit; where the machine was late in all of them nothing is known."""
    found = list[Stop]()
    while len(found) < TRIES:
        found.append(attempt())
        if found[-1].seconds <= limit:
            return
    if not any(each.is_fair for each in found):
        pytest.skip(f"this machine is too busy to measure a stop: {found}")
    pytest.fail(f"it stood too late (at most {limit} s): {found}")


@pytest.fixture(scope="module", autouse=True)
def priority() -> Iterator[None]:
    """Of this process and of all that it starts."""
    with real_time():
        yield


@pytest.fixture(scope="module")
def ear(domain: int, priority: None) -> Iterator[Ear]:  # noqa: ARG001
    """Of a twin in a process of its own, without a deadman."""
    with started(TWIN, str(domain), wait_for="ready"), Bus(domain) as bus:
        yield Ear(bus, bus.subscription("/odom", types.ODOMETRY), bus.subscription(DRIVER_COMMANDS, types.TWIST))


def test_whose_host_is_killed_is_stopped_by_the_deadman(domain: int, ear: Ear) -> None:
    def killed() -> Stop:
        with started(HOST, str(domain), HOST_COMMANDS, wait_for="driving") as host:
            return stopped_after_kill(ear, host)

    with started(DEADMAN, *CYCLONE, str(domain)):
        check(killed, 0.5)


@pytest.mark.long
def test_whose_deadman_is_killed_stops_itself(domain: int, ear: Ear) -> None:
    """And its host says so and ends."""

    def killed() -> Stop:
        with (
            started(DEADMAN, *CYCLONE, str(domain)) as deadman,
            started(HOST, str(domain), HOST_COMMANDS, wait_for="driving") as host,
        ):
            taken = stopped_after_kill(ear, deadman)
            told, _ = host.communicate(timeout=PATIENCE)
        lost = "DeviceError: the deadman sends nothing on /cmd_vel: it has ended, or is out of reach"
        assert told.splitlines()[-1] == lost
        return taken

    check(killed, SOON)


def test_a_deadman_that_is_terminated_sends_zeros_and_ends(domain: int) -> None:
    with (
        Bus(domain) as bus,
        started(DEADMAN, *CYCLONE, str(domain)) as deadman,
    ):
        heard = bus.subscription(DRIVER_COMMANDS, types.TWIST, reliable=True, depth=1)
        end = time.monotonic() + PATIENCE
        while not heard.take():
            assert time.monotonic() < end
            bus.wait(0.1)
        deadman.terminate()
        assert deadman.wait(PATIENCE) == 0
        assert [message.linear.x for message in heard.take()] == [0.0]
