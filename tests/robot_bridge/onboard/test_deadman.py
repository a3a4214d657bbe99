"""The deadman: its logic under any order of events, and as a process that is killed."""

from __future__ import annotations

import ast
import signal
import subprocess
import sys
from math import isclose, isfinite
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.onboard import deadman as module
from robot_bridge.onboard.deadman import Deadman, serve
from tests.support.waiting import PATIENCE

SPEED, REVERSE, TURN, TIMEOUT = 0.25, 0.12, 0.8, 0.3
numbers = st.floats()
events = st.lists(
    st.tuples(
        st.sampled_from(["command", "stop", "release", "wait"]), numbers, numbers, st.floats(min_value=0, max_value=0.5)
    )
)


def made() -> Deadman:
    return Deadman(timeout=TIMEOUT, speed=SPEED, reverse_speed=REVERSE, turn=TURN)


@given(events)
def test_output_is_zero_unless_fresh_finite_within_limits_and_not_stopped(
    sequence: list[tuple[str, float, float, float]],
) -> None:
    deadman, now, came, is_stopped, is_forgotten = made(), 0.0, None, False, True
    for kind, linear, angular, passed in sequence:
        now += passed
        if kind == "command":
            deadman.command(now, linear, angular)
            came, is_forgotten = now, not (isfinite(linear) and isfinite(angular))
        elif kind == "stop":
            deadman.stop()
            is_stopped = True
        elif kind == "release":
            deadman.release()
            is_stopped, is_forgotten = False, True
        v, w = deadman.output(now)
        assert -REVERSE <= v <= SPEED
        assert abs(w) <= TURN
        if came is None or now - came > TIMEOUT or is_stopped or is_forgotten:
            assert (v, w) == (0.0, 0.0)


@given(st.floats(-5, 5), st.floats(-5, 5))
def test_what_is_too_fast_keeps_its_arc_and_what_is_not_passes_unchanged(linear: float, angular: float) -> None:
    deadman = made()
    deadman.command(1.0, linear, angular)
    v, w = deadman.output(1.0)
    assert isclose(v * angular, w * linear, rel_tol=1e-9, abs_tol=1e-12)
    if -REVERSE <= linear <= SPEED and abs(angular) <= TURN:
        assert (v, w) == (linear, angular)


def test_a_command_is_repeated_while_it_is_fresh_and_not_longer() -> None:
    deadman = made()
    deadman.command(10.0, 0.1, 0.2)
    assert [deadman.output(10.0 + age) for age in (0.0, 0.29, 0.31, -0.1)] == [(0.1, 0.2), (0.1, 0.2), (0, 0), (0, 0)]


def test_numbers_that_are_not_finite_replace_the_command_by_a_stop() -> None:
    deadman = made()
    deadman.command(1.0, 0.1, 0.0)
    deadman.command(1.1, float("nan"), 0.0)
    assert deadman.output(1.1) == (0.0, 0.0)
    assert deadman.refused == 1


@pytest.mark.parametrize("name", ["timeout", "speed", "reverse_speed", "turn"])
@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_limits_that_would_limit_nothing_are_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        Deadman(**{name: value})


class Line:
    """A transport that plays a list of messages and then fails."""

    def __init__(self, messages: list[list[tuple[float, float] | bool]]) -> None:
        self.messages, self.sent, self.is_closed = messages, list[tuple[float, float]](), False

    def receive(self, seconds: float) -> list[tuple[float, float] | bool]:
        assert seconds <= TIMEOUT
        if not self.messages:
            raise OSError("the network is gone")
        return self.messages.pop(0)

    def send(self, linear: float, angular: float) -> None:
        assert not self.is_closed
        self.sent.append((linear, angular))

    def close(self) -> None:
        self.is_closed = True


def test_a_transport_that_fails_gets_zeros_before_it_is_closed() -> None:
    line = Line([[(0.1, 0.0)], [True], [(0.1, 0.0), (0.1, 0.1)], [False], [(0.1, 0.1)]])
    with pytest.raises(OSError, match="gone"):
        serve(line, made(), lambda: False)
    assert line.sent == [(0.1, 0.0), (0, 0), (0, 0), (0, 0), (0.1, 0.1), (0, 0), (0, 0), (0, 0)]
    assert line.is_closed


def test_freshness_begins_with_arrival_however_long_it_was_waited_for() -> None:
    now = 0.0

    class Slow(Line):
        def receive(self, seconds: float) -> list[tuple[float, float] | bool]:
            nonlocal now
            now += 2 * TIMEOUT
            return super().receive(seconds)

    line = Slow([[(0.1, 0.0)], [], [(0.2, 0.0)]])
    with pytest.raises(OSError, match="gone"):
        serve(line, made(), lambda: False, lambda: now)
    assert line.sent[:3] == [(0.1, 0.0), (0, 0), (0.2, 0.0)]


PROGRAM = """
import select, sys
from deadman import Deadman, serve, catch_termination
class Pipes:
    def receive(self, seconds):
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        line = sys.stdin.readline() if ready else ""
        return [tuple(map(float, line.split()))] if line else []
    def send(self, linear, angular): print(linear, angular, flush=True)
    def close(self): print("closed", flush=True)
with catch_termination() as is_over:
    serve(Pipes(), Deadman(), is_over)
"""


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGHUP])
def test_as_a_process_it_passes_on_times_out_and_says_zero_when_it_is_ended(ending: signal.Signals) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(module.__file__).parent,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write("0.1 0.2\n")
        process.stdin.flush()
        lines = list[str]()
        while "0.1 0.2\n" not in lines or lines[-1] != "0.0 0.0\n":
            lines.append(process.stdout.readline())
        process.send_signal(ending)
        rest = process.stdout.read().split("\n")
        assert process.wait(PATIENCE) == 0
    assert lines.count("0.1 0.2\n") <= 8, "a late machine repeats it less often"
    assert rest[-5:] == ["0.0 0.0", "0.0 0.0", "0.0 0.0", "closed", ""]


def test_it_needs_nothing_but_the_standard_library_of_python_3_10() -> None:
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"), feature_version=(3, 10))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names
