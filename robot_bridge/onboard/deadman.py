"""The robot's own last word: passes the host's commands on while they are fresh, and zeros when they are not.

This file runs on the robot, with the transport that it is given (``relay.py``): Python 3.10, standard library only,
nothing else of ours is imported. It stops a robot whose host was killed, hangs, or is out of reach, and whose driver
would keep the last command for ever. It sees no obstacles: the safety chain on the host does.

Freshness is measured from the arrival of a command, on this machine's monotonic clock: the host's clock does not
matter, and a network that delivers old commands late must be kept from doing so by the transport (keep last one).
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from typing import Protocol

TIMEOUT_S = 0.25
PERIOD_S = 0.05
_FAREWELLS = 3
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Deadman:
    """What to send to the driver, from what came from the host and when (pure but for its state).

    Args:
        timeout: seconds for which a command is fresh.
        speed, reverse_speed: hard limits, m/s. Of what exceeds one, both numbers are scaled, so that the arc stays.
        turn: hard limit, rad/s.

    Attributes:
        is_stopped: whether it was told to stop.
        refused: how many commands were not made of finite numbers.
    """

    def __init__(
        self, *, timeout: float = TIMEOUT_S, speed: float = 0.3, reverse_speed: float = 0.15, turn: float = 1.0
    ) -> None:
        limits = (timeout, speed, reverse_speed, turn)
        if not all(isfinite(limit) and limit > 0 for limit in limits):
            raise ValueError("timeout and limits of the deadman must be positive numbers")
        self._timeout = timeout
        self._speed = speed
        self._reverse = reverse_speed
        self._turn = turn
        self._came = float("-inf")
        self._command = (0.0, 0.0)
        self.is_stopped = False
        self.refused = 0

    def command(self, now: float, linear: float, angular: float) -> None:
        """Take a command of the host: m/s and rad/s. One that is not made of finite numbers is a stop."""
        if not (isfinite(linear) and isfinite(angular)):
            self.refused += 1
            linear = 0.0
            angular = 0.0
        most = self._speed if linear > 0 else self._reverse
        linear_share = most / max(abs(linear), most)
        angular_share = self._turn / max(abs(angular), self._turn)
        share = min(1.0, linear_share, angular_share)

        # Rounding may leave a product just above its limit.
        linear = _limit(linear * share, most)
        angular = _limit(angular * share, self._turn)
        self._command = (linear, angular)
        self._came = now

    def stop(self) -> None:
        """Send nothing but zeros until :meth:`release`."""
        self.is_stopped = True

    def release(self) -> None:
        """Undo :meth:`stop`; what was commanded before is forgotten."""
        self.is_stopped = False
        self._command = (0.0, 0.0)

    def is_fresh(self, now: float) -> bool:
        """Return whether the newest command may be passed on."""
        return 0 <= now - self._came <= self._timeout

    def output(self, now: float) -> tuple[float, float]:
        """Return what the driver is to be told now."""
        if self.is_stopped or not self.is_fresh(now):
            return (0.0, 0.0)
        return self._command


def _limit(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))


class Transport(Protocol):
    """Between the host's topics and the driver's."""

    def receive(self, seconds: float) -> Sequence[tuple[float, float] | bool]:
        """Return what came, in order, as soon as something has, or [] after ``seconds``.

        Messages are (linear, angular), or True to stop and False to release.
        """
        ...

    def send(self, linear: float, angular: float) -> None:
        """Tell the driver."""
        ...

    def close(self) -> None: ...


def serve(
    transport: Transport, deadman: Deadman, is_over: Callable[[], bool], clock: Callable[[], float] = time.monotonic
) -> None:
    """Pass commands on at once, repeat the newest while it is fresh, send zeros otherwise, until ``is_over``.

    However it ends, an exception of the transport included, zeros are sent and the transport is closed.
    """
    try:
        while not is_over():
            for message in transport.receive(PERIOD_S):
                _take(deadman, message, clock())
            transport.send(*deadman.output(clock()))
    finally:
        try:
            for _ in range(_FAREWELLS):
                transport.send(0.0, 0.0)
        finally:
            transport.close()


def _take(deadman: Deadman, message: tuple[float, float] | bool, now: float) -> None:
    if isinstance(message, tuple):
        deadman.command(now, *message)
    elif message:
        deadman.stop()
    else:
        deadman.release()


@contextmanager
def catch_termination() -> Iterator[Callable[[], bool]]:
    """Catch the signals that end a process politely, that of a closed terminal included.

    Yield a function that returns whether one of them has come.
    """
    came = list[int]()
    old = {number: signal.signal(number, lambda got, _: came.append(got)) for number in _ENDING}
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
