"""What a coder is told of a failed attempt."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from spca.contracts import FailedPlan, PlanStep, Status, TraceStep
from spca.llm.feedback import find_cited_methods, pddl_error, plan_failure, shorten_middle
from tests.support.bodies.grid import failure_report, show
from tests.support.spca.doubles import outcome_of, plan_of

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
    assert report.splitlines()[-1] == ">."


def test_a_plan_carried_out_in_vain_has_no_failing_step() -> None:
    report = failure_report(PLAN, outcome_of(Status.GOAL_NOT_REACHED, codes=()))
    assert "failing step" not in report
    assert "traceback" not in report
    assert "last primitives" not in report


def test_a_long_attempt_is_told_by_its_end() -> None:
    codes = (0,) * 500 + (3,) * 24
    report = failure_report(PLAN, outcome_of(Status.STUCK, codes=codes))
    assert "primitives executed: 524" in report
    assert "last primitives: pick_up (act, line 570); pick_up (act, line 571); " in report
    assert report.count("pick_up (") == 24
    assert "turn_left (" not in report


def test_equal_primitives_from_one_line_are_told_once() -> None:
    trace = tuple(TraceStep(code, 0, "walk", 70) for code in (2, 2, 2, 0, 2))
    report = failure_report(PLAN, replace(outcome_of(Status.STUCK), trace=trace))
    told = "move_forward x3 (walk, line 70); turn_left (walk, line 70); move_forward (walk, line 70)"
    assert f"last primitives: {told}\n" in report


def test_the_method_that_yielded_is_named_beside_its_action() -> None:
    trace = (TraceStep(2, 0, "walk", 70), TraceStep(0, 0, "walk", 71), TraceStep(5, 0, "walk", 5))
    report = failure_report(
        PLAN, replace(outcome_of(Status.STUCK), trace=trace), lambda line: {70: "_step", 71: "walk"}.get(line, "")
    )
    told = "move_forward (walk > _step, line 70); turn_left (walk, line 71); toggle (walk, line 5)"
    assert f"last primitives: {told}\n" in report


def test_what_a_report_points_into_is_read_back_from_it() -> None:
    traceback = "Traceback (most recent call last):\n  agent_tmp.py, line 70, in walk\n    yield from self.go(1)\n"
    traceback += "  agent_tmp.py, line 90, in _step\n    raise ValueError\nValueError: in vain (no, line 3)"
    trace = (TraceStep(2, 0, "walk", 70), TraceStep(0, 1, "fetch", 71))
    outcome = replace(outcome_of(Status.RUNTIME_ERROR, traceback=traceback), trace=trace)
    report = failure_report(PLAN, outcome, lambda line: {70: "_ahead", 71: "fetch"}[line])
    assert find_cited_methods(report)[:2] == ("_step", "walk")
    assert set(find_cited_methods(report)) == {"_step", "walk", "fetch", "_ahead", "no"}
    assert find_cited_methods("line 3: in _step, nothing") == ()


def test_the_end_is_told_with_direction_and_hand() -> None:
    outcome = outcome_of(Status.STUCK, shown=show((("agent", "empty"),), "South", "key blue"))
    assert "map at the end:\nthe agent faces South; in its hand: key blue\n" in failure_report(PLAN, outcome)
    assert failure_report(PLAN, outcome).endswith("\nv.")


def test_the_map_at_the_end_is_cropped_below_its_legend() -> None:
    seen = (("unseen", "unseen"), ("unseen", "agent"), ("unseen", "lava"))
    report = failure_report(PLAN, outcome_of(Status.REWARD_FAILED, shown=show(seen, "West")))
    assert report.endswith("map at the end:\nthe agent faces West; in its hand: nothing\n(~ lava)\n<\n~")


def test_a_report_is_bounded_whatever_code_says() -> None:
    long = "x" * 5000
    plan = plan_of(*(PlanStep("fetch", (f"key_{n}",)) for n in range(300)))
    trace = tuple(TraceStep(n % 7, 0, "a_method_of_some_length", n) for n in range(999))
    grid = (("agent", *["wall"] * 21), *[("wall",) * 22] * 21)
    outcome = outcome_of(
        Status.RUNTIME_ERROR, long, position=0, action="fetch", args=("key_0",), traceback=long, printed=long
    )
    assert len(failure_report(plan, replace(outcome, trace=trace, shown=show(grid)))) < 4200


def test_failed_plans_are_told_by_status_and_reason() -> None:
    failed = FailedPlan("[fetch(a1)]", "stuck", "stuck: the same cycle of 4 states repeated 3 times")
    gate = FailedPlan(
        "[walk(a1)]", "missing_method", "no usable code after 6 calls: the gate says\nmap at the end:\n@."
    )
    assert plan_failure([failed, gate]) == {
        "kind": "plan_failed",
        "failed_plans": [
            {"plan": "[fetch(a1)]", "status": "stuck", "message": "the same cycle of 4 states repeated 3 times"},
            {
                "plan": "[walk(a1)]",
                "status": "missing_method",
                "message": "no usable code after 6 calls: the gate says",
            },
        ],
    }
    (told,) = plan_failure([FailedPlan("p" * 999, "stuck", "m" * 999)])["failed_plans"]
    assert len(told["plan"]) + len(told["message"]) < 700


def test_an_error_of_pddl_is_cut_in_its_middle() -> None:
    assert pddl_error("short") == {"kind": "pddl_error", "message": "short"}
    told = pddl_error("first" + "x" * 9000 + "last")["message"]
    assert told.startswith("firstx")
    assert told.endswith("xlast")
    assert len(told) == 1500


@given(st.text(), st.integers(5, 50))
def test_shortened_text_keeps_its_limit(text: str, limit: int) -> None:
    assert len(shorten_middle(text, limit)) <= limit
    assert shorten_middle(text, len(text)) == text
