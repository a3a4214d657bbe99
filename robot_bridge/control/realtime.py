"""Real time: a clock, and the control loop in a thread of its own that measures its jitter and ends cleanly."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol, Self

import numpy as np

from robot_bridge.control.controller import Controller

_MEASURED: Final = 72_000
"""Periods that jitter is measured over: an hour at 20 Hz."""


class MonotonicClock:
    """Seconds of this machine's monotonic clock."""

    def now(self) -> float:
        return time.monotonic()

    def wait_until(self, time: float) -> None:
        left = time - self.now()
        if left > 0:
            _sleep(left)


def _sleep(seconds: float) -> None:
    time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Jitter:
    """Of the loop's period, milliseconds: median, 99th percentile, and the 99th percentile of its deviation."""

    periods: int
    p50_ms: float
    p99_ms: float
    deviation_p99_ms: float


class Runner(Protocol):
    """What keeps the control loop going while decisions are made beside it."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def advance(self) -> None:
        """Let a little time pass; raises what went wrong in the control loop."""
        ...


class Lockstep:
    """One thread: ``advance`` is one tick. For simulated clocks, and wherever a single thread will do."""

    def __init__(self, tick: Callable[[], object]) -> None:
        self._tick = tick

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def advance(self) -> None:
        self._tick()


class RealTimeLoop:
    """Ticks in a thread; decisions are made at 10 Hz in the thread that calls ``advance``.

    What is raised in a tick has stopped the robot already (see :meth:`Controller.tick`); it ends the thread and is
    raised again by ``advance``. Leaving the context ends the thread and stops the robot; it may be entered again.
    """

    def __init__(self, controller: Controller, step_s: float = 0.1) -> None:
        self._controller, self._step = controller, step_s
        self._ended = threading.Event()
        self._failure: BaseException | None = None
        self._periods = deque[float](maxlen=_MEASURED)
        self._thread = self._made()

    def _made(self) -> threading.Thread:
        return threading.Thread(target=self._work, name="control", daemon=True)

    def __enter__(self) -> Self:
        self._ended.clear()
        self._failure, self._thread = None, self._made()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(timeout=5)
        if self._thread.is_alive():  # hangs in a tick: what comes of it must not drive
            self._controller.chain.stop("the control loop hangs")
        self._controller.robot.stop()

    def advance(self) -> None:
        """Wait a tenth of a second.

        Raises:
            BaseException: what ended the control loop.
        """
        self._ended.wait(self._step)
        if self._failure is not None:
            raise self._failure

    @property
    def jitter(self) -> Jitter:
        """Of the periods so far."""
        periods = 1000 * np.array(self._periods) if self._periods else np.zeros(1)
        wanted = 1000 / self._controller.config.control_rate
        p50, p99 = np.percentile(periods, (50, 99))
        deviation = np.percentile(np.abs(periods - wanted), 99)
        return Jitter(len(self._periods), float(p50), float(p99), float(deviation))

    def _work(self) -> None:
        last = None
        try:
            while not self._ended.is_set():
                now = time.perf_counter()
                if last is not None:
                    self._periods.append(now - last)
                last = now
                self._controller.tick()
        except BaseException as failure:  # the boundary of a thread: raised again by advance
            self._failure = failure
            self._ended.set()
