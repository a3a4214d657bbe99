"""The priority of a process that drives a robot, so that a busy machine does not make its control loop late."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

PRIORITY: Final = 10
"""Of 1 to 99: before every ordinary process, after the kernel's own threads (50)."""


def told(fault: str) -> str:
    """In words, what :func:`real_time` came to."""
    if not fault:
        return f"real-time (SCHED_RR, {PRIORITY})"
    return (
        f"ordinary ({fault}), a busy computer makes the control loop late: "
        f"allow rtprio {PRIORITY} in /etc/security/limits.d (docs/robot.md)"
    )


@contextmanager
def real_time() -> Iterator[str]:
    """Schedule this thread, and what it starts in the block, before ordinary processes (SCHED_RR).

    All threads of a process need it, not only the one with the loop: the interpreter lets one run at a time, and one
    that is not let run by the system keeps it from the others. So has a process that is
    started in the block: start those before it.

    Yields:
        "", or why it was not possible: the block runs at ordinary priority then.
    """
    if not hasattr(os, "sched_setscheduler"):
        yield "this system has no real-time scheduling for programs in Python"
        return
    policy, before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError as error:
        yield error.strerror or str(error)
        return
    try:
        yield ""
    finally:
        os.sched_setscheduler(0, policy, before)
