"""The priority of a process that drives a robot."""

from __future__ import annotations

import os
import threading

import pytest

from robot_bridge.control.realtime import PRIORITY, describe_priority, real_time

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_setscheduler"), reason="Linux only")


def scheduled() -> tuple[int, int]:
    """Policy and priority of this thread."""
    return os.sched_getscheduler(0), os.sched_getparam(0).sched_priority


def test_threads_that_are_started_have_the_priority_and_it_ends() -> None:
    ordinary, found = scheduled(), list[tuple[int, int]]()
    with real_time() as fault:
        thread = threading.Thread(target=lambda: found.append(scheduled()))
        thread.start()
        thread.join()
        found.append(scheduled())
    assert scheduled() == ordinary
    expected = ordinary if fault else (os.SCHED_RR, PRIORITY)
    assert found == [expected, expected]


def test_a_refusal_is_told_and_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    ordinary = scheduled()
    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with real_time() as fault:
        assert fault == "Operation not permitted"
        assert scheduled() == ordinary


def test_it_ends_where_the_block_raises() -> None:
    ordinary = scheduled()
    with pytest.raises(ValueError, match="mine"), real_time():
        raise ValueError("mine")
    assert scheduled() == ordinary


def test_a_system_without_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_setscheduler")
    with real_time() as fault:
        assert "no real-time" in fault


def test_what_came_of_it_is_told_with_what_to_do() -> None:
    assert describe_priority("") == "real-time (SCHED_RR, 10)"
    refused = describe_priority("Operation not permitted")
    assert refused.startswith("ordinary (Operation not permitted), ")
    assert "allow rtprio 10 in /etc/security/limits.d" in refused
