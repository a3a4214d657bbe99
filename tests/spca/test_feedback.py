"""What a coder is told of a failed attempt."""

from __future__ import annotations

from spca.contracts import PlanStep, Status
from spca.feedback import failure_report
from tests.doubles import outcome_of, plan_of

PLAN = plan_of(PlanStep("fetch", ("a1", "key_blue")), PlanStep("open_door", ("a1", "door_blue")))


def test_a_crash_is_told_with_its_step_and_traceback() -> None:
    outcome = outcome_of(
        Status.RUNTIME_ERROR,
        "ValueError: no key",
        (2, 0, 5),
        position=1,
        action="open_door",
        args=("a1", "door_blue"),
        traceback="Traceback (most recent call last):\n  agent_tmp.py, line 70, in open_door",
    )
    report = failure_report(PLAN, outcome)
    assert report.splitlines()[:4] == [
        "status: runtime_error",
        "message: ValueError: no key",
        "plan: [fetch(a1, key_blue), open_door(a1, door_blue)]",
        "failing step: 2 of 2: open_door(a1, door_blue)",
    ]
    assert "agent_tmp.py, line 70, in open_door" in report
    assert "primitives executed: 3" in report
    assert "last primitives: move_forward (act, line 70); turn_left (act, line 71); toggle (act, line 72)" in report
    assert report.splitlines()[-1] == "@."


def test_a_plan_carried_out_in_vain_has_no_failing_step() -> None:
    report = failure_report(PLAN, outcome_of(Status.GOAL_NOT_REACHED, codes=()))
    assert "failing step" not in report
    assert "traceback" not in report
    assert "last primitives" not in report


def test_a_long_attempt_is_told_by_its_end() -> None:
    codes = (0,) * 500 + (3,) * 24
    report = failure_report(PLAN, outcome_of(Status.STUCK, codes=codes))
    assert "primitives executed: 524" in report
    assert report.count("pick_up (") == 24
    assert "turn_left (" not in report
