"""The doctor's checks of the deadman, which do not move the robot.

The deadman is the program on the robot that passes commands on to the driver, and sends zeros when commands cease. The
test command is a speed of one micrometre a second, which a driver that counts in millimetres rounds to zero. The topic
from the deadman to the driver shows whether the deadman passes the command on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from math import inf
from typing import Final

from robot_bridge.cli.doctor.check import Check
from robot_bridge.contracts import REST, Twist
from robot_bridge.onboard.relay import STOP
from robot_bridge.ros import types
from robot_bridge.ros.dds import Bus, wait_until
from robot_bridge.ros.messages import twist_from, twist_message
from robot_bridge.ros.topics import DRIVER_COMMANDS, HOST_COMMANDS, Topics

_TEST_COMMAND: Final = Twist(1e-6, 0.0)
_PERIOD: Final = 0.05
"""Seconds between two test commands."""
_LISTEN_S: Final = 2.0
"""Seconds during which the deadman's messages are counted."""
_APPEAR_S: Final = 3.0
"""Longest wait for the deadman to appear on its topics."""
_ANSWER_S: Final = 1.5
"""Longest wait for a reaction of the deadman."""
_FORGET_S: Final = 12.0
"""Seconds after which a killed publisher counts as gone."""
_HOLD_S: Final = 0.3
"""Seconds during which a stopped deadman must not pass commands on."""
_MIN_RATE: Final = 14.0
"""Lowest accepted rate of the deadman's messages, in Hz; the nominal rate is 20 Hz."""
_ATTEMPTS: Final = 3
"""Greatest number of attempts to measure a time. The shortest result counts, because a busy computer can only lengthen
the time.
"""


def checks(domain: int, topics: Topics, limit: float) -> Iterator[Check]:
    """Yield the checks of the deadman.

    The deadman must be the only publisher to the driver, pass commands on, send zeros within ``limit`` seconds after
    commands cease, and obey a stop. After the checks the deadman is released, unless another program stopped it.
    """
    if topics.commands != HOST_COMMANDS:
        yield Check("deadman", False, f"commands go to {topics.commands}, where no deadman listens")
        return
    with Bus(domain) as bus:
        probe = _Probe(bus)
        fault, rate = probe.find_fault()
        if fault:
            yield Check("deadman", False, fault)
            return
        yield Check("deadman", True, f"passes commands on, {rate:.0f} Hz (at least {_MIN_RATE:.0f})")
        stop_time = _measure_best(probe.measure_time_out, limit)
        finding = _describe_zeros(stop_time, "the last command", limit)
        yield Check("deadman's time-out", stop_time <= limit, finding)
        yield probe.check_stop(limit)


def _measure_best(measure: Callable[[], float], limit: float) -> float:
    """Call ``measure`` until its result is within ``limit``, at most ``_ATTEMPTS`` times; return the least result."""
    best = measure()
    for _ in range(_ATTEMPTS - 1):
        if best > limit:
            best = min(best, measure())
    return best


def _describe_zeros(stop_time: float, event: str, limit: float) -> str:
    finding = f"zeros {stop_time:.2f} s after {event}" if stop_time < inf else f"no zeros after {event}"
    return f"{finding} (at most {limit:.2f})"


class _Probe:
    """Probe that publishes test commands and stops, and receives the messages from the deadman to the driver."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._commands = bus.publisher(HOST_COMMANDS, types.TWIST)
        self._stop = bus.publisher(STOP, types.BOOL)
        self._driver = bus.subscription(DRIVER_COMMANDS, types.TWIST, depth=20)
        self._stops = bus.subscription(STOP, types.BOOL, reliable=True, depth=20)
        self._last_sent = 0.0
        self._stop_count = 0
        self._is_stopped_by_others = False

    def find_fault(self) -> tuple[str, float]:
        """Return why the deadman cannot be relied on ("" if it can), and the rate of its messages in Hz."""
        if not wait_until(lambda: self._commands.listeners and self._driver.publishers, _APPEAR_S):
            who = "listens on " + HOST_COMMANDS if not self._commands.listeners else "sends on " + DRIVER_COMMANDS
            return f"nobody {who}: start the deadman on the robot", 0.0
        if not wait_until(lambda: self._driver.publishers == 1, _FORGET_S):
            return f"{self._driver.publishers} publish on {DRIVER_COMMANDS}: end all others", 0.0
        received: list[Twist] = []
        end = time.monotonic() + _LISTEN_S
        while time.monotonic() < end:
            self._bus.wait(_PERIOD)
            received += map(twist_from, self._driver.take())
        rate = len(received) / _LISTEN_S
        if any(twist != REST for twist in received):
            return "somebody drives the robot: end that first", rate
        if rate < _MIN_RATE:
            return f"sends {rate:.1f} times a second (at least {_MIN_RATE:.0f})", rate
        return self._find_deafness(), rate

    def _find_deafness(self) -> str:
        """Return why the deadman does not obey commands, or "" if the deadman obeys.

        If the deadman obeys, the last command that is sent is zero velocity.
        """
        if not wait_until(lambda: self._stop.listeners, _APPEAR_S):
            return f"does not listen on {STOP}"
        if self._wait_for_output(_TEST_COMMAND, is_commanded=True) == inf:
            return f"passes no commands on: {STOP} is true, or it does not hear this computer"
        self._commands.send(twist_message(REST))
        return ""

    def measure_time_out(self) -> float:
        """Return the seconds from the last command to the deadman's first zero velocity, or infinity if none comes."""
        self._wait_for_output(_TEST_COMMAND, is_commanded=True)
        has_zero = self._wait_for_output(REST, is_commanded=False) < inf
        return time.monotonic() - self._last_sent if has_zero else inf

    def check_stop(self, limit: float) -> Check:
        """Check that a stop ends commands within ``limit`` seconds, and that the deadman can be released again."""
        stop_time = _measure_best(self._measure_stop, limit)
        if self._is_stopped_by_others:
            return Check(STOP, False, "somebody else stopped it meanwhile: it is left so")
        is_released = self._wait_for_output(_TEST_COMMAND, is_commanded=True) < inf
        self._commands.send(twist_message(REST))
        if not is_released:
            return Check(STOP, False, "it is not released by false")
        return Check(STOP, stop_time <= limit, _describe_zeros(stop_time, "it became true", limit))

    def _measure_stop(self) -> float:
        """Return the seconds from a stop to the deadman's first zero velocity.

        Return infinity if the deadman still passes commands on after the stop. Release the deadman at the end, unless
        another program has also stopped it.
        """
        self._wait_for_output(_TEST_COMMAND, is_commanded=True)
        self._stop.send(types.make(types.BOOL, data=True))
        stop_time = self._wait_for_output(REST, is_commanded=True)
        is_held = self._wait_for_output(_TEST_COMMAND, is_commanded=True, seconds=_HOLD_S) == inf
        self._count_stops()
        # The probe hears its own stop, too: a second stop came from another program.
        self._is_stopped_by_others = self._is_stopped_by_others or self._stop_count > 1
        self._stop_count = 0
        if not self._is_stopped_by_others:
            self._stop.send(types.make(types.BOOL, data=False))
        return stop_time if is_held else inf

    def _count_stops(self) -> None:
        """Read and count the published stops, including the probe's own.

        All messages must be read, because an unread message would make every wait for messages return at once.
        """
        self._stop_count += sum(message.data for message in self._stops.take())

    def _wait_for_output(self, wanted: Twist, *, is_commanded: bool, seconds: float = _ANSWER_S) -> float:
        """Return the seconds until the deadman sends ``wanted`` to the driver.

        Return infinity if the deadman does not send ``wanted`` within ``seconds``. If ``is_commanded``, the test
        command is sent at 20 Hz during the wait.
        """
        began = time.monotonic()
        self._driver.take()
        while (now := time.monotonic()) < began + seconds:
            if is_commanded and now >= self._last_sent + _PERIOD:
                self._commands.send(twist_message(_TEST_COMMAND))
                self._last_sent = now
            self._bus.wait(_PERIOD / 5)
            self._count_stops()
            if any(twist_from(message) == wanted for message in self._driver.take()):
                return time.monotonic() - began
        return inf
