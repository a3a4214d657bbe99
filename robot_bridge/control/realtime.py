"""Real time: a clock, real-time priority, and the control loop in its own thread."""

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
    """Seconds of this machine's monotonic clock."""

    def now(self) -> float:
        return monotonic()

    def wait_until(self, time: float) -> None:
        left = time - self.now()
        if left > 0:
            sleep(left)


class Lockstep:
    """Run the loop in the caller's thread: ``advance`` is one tick. For simulated clocks and single-threaded use."""

    def __init__(self, tick: Callable[[], object]) -> None:
        self._tick = tick

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def advance(self) -> None:
        self._tick()


class RealTimeLoop:
    """Tick in a thread; decisions are made at 10 Hz in the thread that calls ``advance``.

    An error in a tick has already stopped the robot (see :meth:`Controller.tick`); it ends the thread and ``advance``
    raises it again. Leaving the context ends the thread and stops the robot; the context may be entered again.
    """

    def __init__(self, controller: Controller, step_s: float = 0.1) -> None:
        self._controller = controller
        self._step = step_s
        self._ended = threading.Event()
        self._failure: BaseException | None = None
        self._thread = self._make_thread()

    def _make_thread(self) -> threading.Thread:
        return threading.Thread(target=self._work, name="control", daemon=True)

    def __enter__(self) -> Self:
        self._ended.clear()
        self._failure = None
        self._thread = self._make_thread()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(timeout=5)
        if self._thread.is_alive():  # it hangs in a tick, whose result must not drive the robot
            _LOG.info("the control loop hangs: the robot is stopped")
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

    def _work(self) -> None:
        try:
            while not self._ended.is_set():
                self._controller.tick()
        except BaseException as failure:  # the boundary of a thread: raised again by advance
            self._failure = failure
            self._ended.set()


Runner = Lockstep | RealTimeLoop
"""Keeps the control loop running in its context while decisions are made beside it.

``advance`` lets a little time pass and raises any error of the control loop.
"""

PRIORITY: Final = 10
"""Priority, 1 to 99: above every ordinary process, below the kernel's own threads (50)."""


def describe_priority(fault: str) -> str:
    """Return the result of :func:`real_time` in words."""
    if not fault:
        return f"real-time (SCHED_RR, {PRIORITY})"
    return (
        f"ordinary ({fault}), a busy computer makes the control loop late: "
        f"allow rtprio {PRIORITY} in /etc/security/limits.d (docs/robot.md)"
    )


@contextmanager
def real_time() -> Iterator[str]:
    """Schedule this thread, and what it starts in the block, before ordinary processes (SCHED_RR).

    All threads of a process need it, not only the one with the loop: the interpreter runs one at a time, and a thread
    that the system does not schedule blocks the others. A process started in the block has this priority too: start
    processes before it.

    Yields:
        "", or why it was not possible: then the block runs at ordinary priority.
    """
    if not hasattr(os, "sched_setscheduler"):
        yield "this system has no real-time scheduling for programs in Python"
        return
    policy = os.sched_getscheduler(0)
    before = os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError as error:
        yield error.strerror or str(error)
        return
    try:
        yield ""
    finally:
        os.sched_setscheduler(0, policy, before)
