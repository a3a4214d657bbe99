"""The deadman, the last safety on the robot: pass fresh commands of the host on, and send zeros without them.

This file runs on the robot under Python 3.10 and imports only the standard library. ``relay.py`` gives the deadman its
transport. Without the deadman, the driver would keep the last command for ever if the host was killed, hangs or is out
of reach. The deadman sees no obstacles; the safety chain on the host does.

The age of a command is measured from its arrival, on the monotonic clock of this machine, so the host's clock does not
matter. The transport must keep only the newest command, so that a network cannot deliver old commands late.
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
_FINAL_ZEROS = 3
_TERMINATION_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Deadman:
    """Decides the velocity for the driver from the host's commands and the times of their arrival; does no I/O.

    If a command exceeds a limit, both of its numbers are scaled, so that the robot stays on the commanded arc.

    Args:
        timeout: seconds for which a command is fresh.
        speed, reverse_speed: hard limits, m/s.
        turn: hard limit, rad/s.

    Attributes:
        is_stopped: whether a stop is in force.
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
        self._reverse_speed = reverse_speed
        self._turn = turn
        self._arrived = float("-inf")
        self._command = (0.0, 0.0)
        self.is_stopped = False
        self.refused = 0

    def command(self, now: float, linear: float, angular: float) -> None:
        """Store a command of the host, m/s and rad/s, scaled to the limits; if a number is not finite, store zeros."""
        if not (isfinite(linear) and isfinite(angular)):
            self.refused += 1
            linear = 0.0
            angular = 0.0
        max_speed = self._speed if linear > 0 else self._reverse_speed
        linear_scale = max_speed / max(abs(linear), max_speed)
        angular_scale = self._turn / max(abs(angular), self._turn)
        scale = min(1.0, linear_scale, angular_scale)

        # Rounding may leave a product just above its limit.
        linear = _limit(linear * scale, max_speed)
        angular = _limit(angular * scale, self._turn)
        self._command = (linear, angular)
        self._arrived = now

    def stop(self) -> None:
        """Make :meth:`output` return zeros until :meth:`release`."""
        self.is_stopped = True

    def release(self) -> None:
        """Undo :meth:`stop` and forget the last command."""
        self.is_stopped = False
        self._command = (0.0, 0.0)

    def is_fresh(self, now: float) -> bool:
        """Return whether the newest command is recent enough to be passed on."""
        return 0 <= now - self._arrived <= self._timeout

    def output(self, now: float) -> tuple[float, float]:
        """Return the velocity to send to the driver now, (m/s, rad/s).

        The velocity is the newest command. It is zeros if this command is not fresh or if a stop is in force.
        """
        if self.is_stopped or not self.is_fresh(now):
            return (0.0, 0.0)
        return self._command


def _limit(value: float, limit: float) -> float:
    return max(-limit, min(limit, value))


class Transport(Protocol):
    """The connection of the deadman with the host's topics and the driver's topic."""

    def receive(self, seconds: float) -> Sequence[tuple[float, float] | bool]:
        """Wait for messages from the host; return them in order, or [] if no message comes in ``seconds``.

        A message is (linear, angular) in m/s and rad/s, or True to stop, or False to release.
        """
        ...

    def send(self, linear: float, angular: float) -> None:
        """Send a velocity to the driver, m/s and rad/s."""
        ...

    def close(self) -> None: ...


def serve(
    transport: Transport, deadman: Deadman, is_over: Callable[[], bool], clock: Callable[[], float] = time.monotonic
) -> None:
    """Pass commands from the transport through the deadman and back to the transport until ``is_over`` returns True.

    A new command is sent at once and repeated as long as the command is fresh. After that, zeros are sent. At the end,
    zeros are sent and the transport is closed, even if the transport raises an exception.
    """
    try:
        while not is_over():
            for message in transport.receive(PERIOD_S):
                _dispatch(deadman, message, clock())
            transport.send(*deadman.output(clock()))
    finally:
        try:
            for _ in range(_FINAL_ZEROS):
                transport.send(0.0, 0.0)
        finally:
            transport.close()


def _dispatch(deadman: Deadman, message: tuple[float, float] | bool, now: float) -> None:
    """Pass a message to the deadman: a command, a stop or a release."""
    if isinstance(message, tuple):
        deadman.command(now, *message)
    elif message:
        deadman.stop()
    else:
        deadman.release()


@contextmanager
def catch_termination() -> Iterator[Callable[[], bool]]:
    """Catch SIGTERM, SIGINT and SIGHUP while the context is open.

    Yield a function that returns whether one of these signals has come. At the end, restore the old handlers.
    """
    received: list[int] = []
    old_handlers = {
        number: signal.signal(number, lambda caught, _: received.append(caught)) for number in _TERMINATION_SIGNALS
    }
    try:
        yield lambda: bool(received)
    finally:
        for number, handler in old_handlers.items():
            signal.signal(number, handler)
