"""Run the control loop in real time: a clock, real-time priority, and a loop in a thread of its own."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Final, Self

from robot_bridge.control.controller import Controller

_LOG: Final = logging.getLogger(__name__)


class MonotonicClock:
    """Clock of this machine that is never set back, in seconds."""

    def now(self) -> float:
        return monotonic()

    def wait_until(self, time: float) -> None:
        left = time - self.now()
        if left > 0:
            sleep(left)


class Lockstep:
    """Runner in the caller's thread, for simulated clocks and single-threaded use; ``advance`` runs one tick."""

    def __init__(self, tick: Callable[[], object]) -> None:
        self._tick = tick

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def advance(self) -> None:
        self._tick()


class RealTimeLoop:
    """Runner that ticks in a thread of its own, while the caller of ``advance`` makes decisions at 10 Hz.

    An error in a tick stops the robot (see :meth:`Controller.tick`) and ends the thread, and ``advance`` raises the
    error again. Leaving the context ends the thread and stops the robot. The context may be entered again.
    """

    def __init__(self, controller: Controller, step_s: float = 0.1) -> None:
        self._controller = controller
        self._step = step_s
        self._ended = threading.Event()
        self._failure: BaseException | None = None
        self._thread = self._make_thread()

    def _make_thread(self) -> threading.Thread:
        return threading.Thread(target=self._tick_until_ended, name="control", daemon=True)

    def __enter__(self) -> Self:
        self._ended.clear()
        self._failure = None
        self._thread = self._make_thread()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(timeout=5)
        if self._thread.is_alive():  # the thread hangs in a tick, whose result must not drive the robot
            _LOG.info("the control loop hangs: the robot is stopped")
            self._controller.chain.stop("the control loop hangs")
        self._controller.robot.stop()

    def advance(self) -> None:
        """Wait ``step_s`` seconds.

        Raises:
            BaseException: the error that ended the control loop.
        """
        self._ended.wait(self._step)
        if self._failure is not None:
            raise self._failure

    def _tick_until_ended(self) -> None:
        try:
            while not self._ended.is_set():
                self._controller.tick()
        except BaseException as failure:  # advance raises the error again in the caller's thread
            self._failure = failure
            self._ended.set()


Runner = Lockstep | RealTimeLoop
"""Context in which the control loop runs.

``advance`` lets a little time pass and raises any error of the control loop.
"""

PRIORITY: Final = 10
"""Real-time priority, 1 to 99; any value beats ordinary processes, and the kernel's own threads have 50."""


def describe_priority(fault: str) -> str:
    """Return the result ``fault`` of :func:`real_time` in words for the user."""
    if not fault:
        return f"real-time (SCHED_RR, {PRIORITY})"
    return (
        f"ordinary ({fault}), a busy computer makes the control loop late: "
        f"allow rtprio {PRIORITY} in /etc/security/limits.d (docs/robot.md)"
    )


@contextmanager
def real_time() -> Iterator[str]:
    """Give this thread real-time priority (SCHED_RR) within the block.

    Threads and processes started within the block inherit the priority. All threads of the process need the priority,
    because the interpreter runs a single thread at a time: a thread that holds the interpreter but is not scheduled
    blocks all other threads. Therefore start threads within the block, and start processes before the block.

    Yields:
        "", or why the system refuses the priority; the block then runs at ordinary priority.
    """
    if not hasattr(os, "sched_setscheduler"):
        yield "this system has no real-time scheduling for programs in Python"
        return
    old_policy = os.sched_getscheduler(0)
    old_parameters = os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError as error:
        yield error.strerror or str(error)
        return
    try:
        yield ""
    finally:
        os.sched_setscheduler(0, old_policy, old_parameters)
