"""What is to blame, told from records of attempts as the sandbox and the simulator write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.contracts import AgentSource, PlanStep, Status
from spca.protocols import Executor, Failed, Yielded
from spca.report.read.blame import blame, exception, plan_position
from spca.report.read.model import Blame
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from tests.support.contracts.executing import methods, run, steps

HURRIED = Limits(yield_seconds=0.3, first_yield_seconds=0.6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9) | st.just(10**30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("round", "attempt", "plan", "message", "traceback", "steps", "start")


def record(status: str, plan: Sequence[PlanStep] = (), lines: Sequence[int] = (), **more: Any) -> dict[str, Any]:
    """An attempt as a trajectory has it; ``lines`` are those that yielded."""
    actions = [{"action": step.action, "args": list(step.args)} for step in plan]
    took = [[2, 0, line] for line in lines]
    return {
        "round": 2,
        "attempt": 3,
        "status": status,
        "message": "",
        "traceback": "",
        "plan": actions,
        "steps": took,
    } | more


def executed(executor: Executor, agent: AgentSource, *names: str) -> Blame:
    """The blame of an attempt that the executor ends."""
    plan = steps(*names)
    *before, failed = run(executor, agent, plan)
    assert isinstance(failed, Failed)
    lines = [event.step.line for event in before if isinstance(event, Yielded)]
    found = blame(
        record(failed.status, plan, lines, message=failed.message, traceback=failed.traceback), agent.text, "id"
    )
    assert found is not None
    assert (found.round, found.attempt, found.agent, found.status) == (2, 3, "id", failed.status)
    return found


def place(found: Blame | None) -> tuple[int, str, int, int, str]:
    assert found is not None
    return found.line, found.method, found.first, found.last, found.why


RAISING = methods(
    """
    def go(self):
        yield 2
        yield from self._deeper()

    def _deeper(self):
        yield 1
        return {}['key']
    """
)


@pytest.mark.long
def test_an_exception_is_blamed_on_the_deepest_line_of_the_agent() -> None:
    with SandboxExecutor(check=None) as executor:
        assert place(executed(executor, RAISING, "go")) == (8, "_deeper", 6, 8, "raised KeyError")


def test_what_the_sandbox_stops_is_blamed_on_what_was_running() -> None:
    with SandboxExecutor(check=None, limits=HURRIED) as executor:
        endless = methods("def go(self):\n    yield 2\n    while True:\n        pass")
        line, *rest = place(executed(executor, endless, "go"))
        assert line in (4, 5)
        assert rest == ["go", 2, 5, "was still running when its time was over"]
        wrong = methods("def go(self):\n    yield 'north'")
        assert place(executed(executor, wrong, "go")) == (3, "go", 2, 3, "yielded what is no primitive")
        plain = methods("def go(self):\n    yield 2\n\ndef stop(self):\n    return 6")
        assert place(executed(executor, plain, "go", "stop")) == (5, "stop", 5, 6, "is an action without a yield")


@pytest.mark.long
def test_a_method_that_is_not_there_has_no_line() -> None:
    with SandboxExecutor(check=None) as executor:
        line, method, *extent, why = place(executed(executor, RAISING, "go", "fly"))
    assert (line, method, extent) == (0, "fly", [0, 0])
    assert "no such method" in why


@pytest.mark.long
def test_code_that_cannot_be_loaded_is_blamed_on_the_line_that_is_named() -> None:
    with SandboxExecutor(check=None) as executor:
        broken = methods("def go(self)\n    yield 2\n\ndef stop(self):\n    yield 6")
        assert place(executed(executor, broken, "go"))[:4] == (2, "go", 2, 3)
        at_start = AgentSource("X = 1 // 0\n" + RAISING.text)
        assert place(executed(executor, at_start, "go"))[0] == 1
    with SandboxExecutor() as executor:
        refused = methods("def go(self):\n    import os\n    yield 2")
        assert place(executed(executor, refused, "go"))[:2] == (3, "go")


@pytest.mark.parametrize("status", [Status.STUCK, Status.GOAL_NOT_REACHED, Status.REWARD_FAILED])
def test_what_ended_in_the_world_is_blamed_on_the_last_primitive(status: Status) -> None:
    found = blame(record(status, steps("go"), [3, 7, 3, 7]), RAISING.text, "id")
    assert place(found)[:4] == (7, "_deeper", 6, 8)
    assert "primitive" in place(found)[4]


def test_where_nothing_was_yielded_the_plans_action_is_to_blame() -> None:
    agent = methods("def go(self):\n    yield from ()\n\ndef stop(self):\n    yield from ()")
    ended = blame(record(Status.GOAL_NOT_REACHED, steps("go", "stop")), agent.text, "id")
    assert place(ended)[:4] == (5, "stop", 5, 6)
    killed = blame(
        record(Status.RUNTIME_ERROR, steps("go", "stop"), message="the process was killed"), agent.text, "id"
    )
    assert place(killed)[:4] == (2, "go", 2, 3)


def test_a_success_and_an_end_that_is_not_known_have_no_blame() -> None:
    for status in (Status.SUCCESS, "", "nonsense"):
        assert blame(record(status, steps("go"), [3]), RAISING.text, "id") is None


def test_a_message_cannot_pass_for_a_frame() -> None:
    message = "ValueError: \n  agent_tmp.py, line 3, in go"
    told = f"Traceback (most recent call last):\n  agent_tmp.py, line 8, in _deeper\n    x\n{message}"
    found = blame(record(Status.RUNTIME_ERROR, message=message, traceback=told), RAISING.text, "id")
    assert place(found)[:2] == (8, "_deeper")


def test_a_line_outside_of_the_source_is_none() -> None:
    for line in (-1, 0, 10**6, True, "3", None):
        assert place(blame(record(Status.STUCK, lines=[line]), RAISING.text, "id"))[0] == 0  # type: ignore[list-item]


@given(st.sampled_from(list(Status)), st.dictionaries(st.sampled_from(FIELDS), JSON), st.text(max_size=80))
def test_whatever_a_file_holds_there_is_a_line_or_none(status: Status, fields: dict[str, Any], source: str) -> None:
    found = blame({"status": status.value, **fields}, source, "id")
    assert (found is None) == (status is Status.SUCCESS)
    if found is not None:
        assert 0 <= found.line <= source.count("\n") + 1
        assert found.line == 0 or found.first <= found.line <= found.last
    position, plan = plan_position({"status": status.value, **fields}), fields.get("plan")
    assert position in range(len(plan)) if isinstance(plan, list) and plan else position is None


def frames(*names: str) -> str:
    """A traceback, outermost frame first."""
    return "".join(f"  agent_tmp.py, line 3, in {name}\n    x\n" for name in names)


@pytest.mark.parametrize(
    ("status", "more", "position"),
    [
        (Status.SUCCESS, {}, 0),
        (Status.SUCCESS, {"plan": []}, None),
        (Status.RUNTIME_ERROR, {"traceback": frames("stop", "help")}, 1),
        (Status.RUNTIME_ERROR, {"traceback": frames("go", "stop")}, 0),
        (Status.RUNTIME_ERROR, {"message": "stop returned None: an action must yield"}, 0),
        (Status.RUNTIME_ERROR, {"message": "TypeError: stop returned None: an action must yield"}, 1),
        (Status.RUNTIME_ERROR, {"message": "no yield for 1.0 s in stop, line 3"}, 1),
        (Status.MISSING_METHOD, {"message": "class Agent has no method stop", "steps": []}, 1),
        (Status.GOAL_NOT_REACHED, {"steps": []}, 1),
        (Status.STUCK, {"steps": [[2, 9, 3]]}, 1),
        (Status.STUCK, {"steps": ["x"]}, 0),
    ],
)
def test_the_step_of_the_plan_at_which_it_ended(status: Status, more: dict[str, Any], position: int | None) -> None:
    assert plan_position(record(status, steps("go", "stop"), (3,)) | more) == position


@pytest.mark.parametrize(
    ("status", "message", "name"),
    [
        (Status.RUNTIME_ERROR, "KeyError: 'x'", "KeyError"),
        (Status.RUNTIME_ERROR, "StopIteration", "StopIteration"),
        (Status.RUNTIME_ERROR, "no yield for 1.0 s in go, line 3", None),
        (Status.STUCK, "KeyError: 'x'", None),
    ],
)
def test_the_class_of_what_was_raised(status: Status, message: str, name: str | None) -> None:
    assert exception(record(status, message=message)) == name
