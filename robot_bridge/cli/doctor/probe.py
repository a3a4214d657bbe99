"""What the doctor sees of the deadman without moving the robot.

Whether it passes commands on is tried with a micrometre a second: drivers count in millimetres. Its topic to the driver
shows what becomes of it.
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

_SPECK: Final = Twist(1e-6, 0.0)
_PERIOD: Final = 0.05
_LISTENED: Final = 2.0
_PATIENCE: Final = 3.0
"""Seconds that it may take to appear; and to answer:"""
_ANSWERED: Final = 1.5
_FORGOTTEN: Final = 12.0
"""Seconds after which a publisher that was killed counts as gone."""
_HELD: Final = 0.3
_MIN_RATE: Final = 14.0
"""Of its 20 Hz."""
_TRIES: Final = 3
"""A busy computer only adds to the time that a stop takes: the best counts."""


def checks(domain: int, topics: Topics, limit: float) -> Iterator[Check]:
    """Yield the checks of the deadman.

    Is it there and alone, does it pass commands on, end them by itself within ``limit`` seconds, and obey a stop? It is
    released again, unless somebody else stopped it.
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
        took = _measure_best(probe.measure_time_out, limit)
        yield Check("deadman's time-out", took <= limit, _describe_zeros(took, "the last command", limit))
        yield probe.check_stop(limit)


def _measure_best(attempt: Callable[[], float], limit: float) -> float:
    """Return the shortest time of several attempts, which end with the first within the limit."""
    took = attempt()
    for _ in range(_TRIES - 1):
        if took > limit:
            took = min(took, attempt())
    return took


def _describe_zeros(took: float, event: str, limit: float) -> str:
    found = f"zeros {took:.2f} s after {event}" if took < inf else f"no zeros after {event}"
    return f"{found} (at most {limit:.2f})"


class _Probe:
    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._commands = bus.publisher(HOST_COMMANDS, types.TWIST)
        self._stop = bus.publisher(STOP, types.BOOL)
        self._driver = bus.subscription(DRIVER_COMMANDS, types.TWIST, depth=20)
        self._stops = bus.subscription(STOP, types.BOOL, reliable=True, depth=20)
        self._sent = 0.0
        self._heard = 0
        self._is_left = False

    def find_fault(self) -> tuple[str, float]:
        """Return why it cannot be relied on, "" if it can, and how many times a second it sends."""
        if not wait_until(lambda: self._commands.listeners and self._driver.publishers, _PATIENCE):
            who = "listens on " + HOST_COMMANDS if not self._commands.listeners else "sends on " + DRIVER_COMMANDS
            return f"nobody {who}: start the deadman on the robot", 0.0
        if not wait_until(lambda: self._driver.publishers == 1, _FORGOTTEN):
            return f"{self._driver.publishers} publish on {DRIVER_COMMANDS}: end all others", 0.0
        came = list[Twist]()
        end = time.monotonic() + _LISTENED
        while time.monotonic() < end:
            self._bus.wait(_PERIOD)
            came += map(twist_from, self._driver.take())
        rate = len(came) / _LISTENED
        if any(twist != REST for twist in came):
            return "somebody drives the robot: end that first", rate
        if rate < _MIN_RATE:
            return f"sends {rate:.1f} times a second (at least {_MIN_RATE:.0f})", rate
        return self._find_deafness(), rate

    def _find_deafness(self) -> str:
        """Return why it does not do what it is told, "" if it does; it is told to rest in the end."""
        if not wait_until(lambda: self._stop.listeners, _PATIENCE):
            return f"does not listen on {STOP}"
        if self._wait_for_output(_SPECK, is_commanded=True) == inf:
            return f"passes no commands on: {STOP} is true, or it does not hear this computer"
        self._commands.send(twist_message(REST))
        return ""

    def measure_time_out(self) -> float:
        """Return the seconds from a last command to the first zero."""
        self._wait_for_output(_SPECK, is_commanded=True)
        is_ended = self._wait_for_output(REST, is_commanded=False) < inf
        return time.monotonic() - self._sent if is_ended else inf

    def check_stop(self, limit: float) -> Check:
        """Stop it while it is commanded, and release it."""
        took = _measure_best(self._measure_stop, limit)
        if self._is_left:
            return Check(STOP, False, "somebody else stopped it meanwhile: it is left so")
        is_released = self._wait_for_output(_SPECK, is_commanded=True) < inf
        self._commands.send(twist_message(REST))
        if not is_released:
            return Check(STOP, False, "it is not released by false")
        return Check(STOP, took <= limit, _describe_zeros(took, "it became true", limit))

    def _measure_stop(self) -> float:
        """Return the seconds from a stop to the first zero, infinite if commands still pass after it."""
        self._wait_for_output(_SPECK, is_commanded=True)
        self._stop.send(types.make(types.BOOL, data=True))
        took = self._wait_for_output(REST, is_commanded=True)
        is_held = self._wait_for_output(_SPECK, is_commanded=True, seconds=_HELD) == inf
        self._hear()
        self._is_left = self._is_left or self._heard > 1
        self._heard = 0
        if not self._is_left:
            self._stop.send(types.make(types.BOOL, data=False))
        return took if is_held else inf

    def _hear(self) -> None:
        """Count the stops, its own too; while one is unread, no wait waits."""
        self._heard += sum(message.data for message in self._stops.take())

    def _wait_for_output(self, wanted: Twist, *, is_commanded: bool, seconds: float = _ANSWERED) -> float:
        """Return the seconds until the driver is told so, infinite if it is not.

        Meanwhile it is commanded at 20 Hz, or not.
        """
        began = time.monotonic()
        self._driver.take()
        while (now := time.monotonic()) < began + seconds:
            if is_commanded and now >= self._sent + _PERIOD:
                self._commands.send(twist_message(_SPECK))
                self._sent = now
            self._bus.wait(_PERIOD / 5)
            self._hear()
            if any(twist_from(message) == wanted for message in self._driver.take()):
                return time.monotonic() - began
        return inf
