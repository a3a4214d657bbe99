"""What a user sees of a run."""

from __future__ import annotations

import io
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from spca.llm.calls.ledger import sums
from spca.runs.display import Display, list_tasks
from tests.support.waiting import becomes

FREE: dict[str, Any] = sums([])
PAID = FREE | {"requests": 5, "input_tokens": 12_000, "output_tokens": 345, "reasoning_tokens": 67, "cost_usd": 0.0456}


def summary(
    outcome: str = "success", reason: str = "", rounds: int = 1, usage: Mapping[str, Any] = FREE
) -> dict[str, Any]:
    counters = {"spca_rounds": rounds, "planner_calls": 2, "coder_calls": 3}
    return {"outcome": outcome, "reason": reason, "counters": counters, "steps": 17, "usage": usage}


def with_usage(**more: Any) -> dict[str, Any]:
    """Totals of a run whose one category took the same."""
    usage = PAID | more
    return TOTALS | {"usage": usage | {"categories": {"a [b]": usage}}}


TOTALS: dict[str, Any] = {
    "usage": FREE | {"categories": {"a [b]": FREE}},
    "solved": 1,
    "levels": 2,
    "corrected": [],
    "sandbox": "strict",
    "categories": {
        "a [b]": {"solved": 1, "levels": 2, "rounds": 6, "planner_calls": 9, "coder_calls": 12, "steps": 34}
    },
}


def shown(*, quiet: bool = False, reason: str = "stuck: round\nand round") -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=False, highlight=False, width=100, color_system=None)
    display = Display(2, quiet=quiet, console=console)
    display.note("A [bracketed] note " + "long " * 40)
    display.level_started(1, "a [b]", "Empty [x]", "MiniGrid-Empty-5x5-v0")
    display.phase(1, "plan")
    display.level_ended(summary())
    display.level_started(2, "a [b]", "Empty", "MiniGrid-Empty-6x6-v0")
    display.level_ended(summary("fail", reason, rounds=5))
    display.table(TOTALS, 61.9, "/runs/1")
    display.close()
    return out.getvalue()


def test_plain_lines_when_it_is_no_terminal() -> None:
    lines = shown().splitlines()
    assert lines[0].startswith("A [bracketed] note long")
    assert len(lines[0]) > 200
    assert lines[1] == "a [b]"
    assert lines[2].startswith(
        "solved  [1/2] Empty [x]: MiniGrid-Empty-5x5-v0  1 round, 2 planner + 3 coder calls, 17 steps, "
    )
    assert lines[3].startswith("failed  [2/2] Empty: MiniGrid-Empty-6x6-v0  5 rounds, 2 planner + 3 coder calls")
    assert lines[4].strip() == "stuck: round"
    assert lines[5].strip() == "1 of 2 levels solved"
    assert any("a [b]" in line and "1/2" in line and "34" in line for line in lines[6:])
    assert lines[-2:] == [
        "1:01 elapsed; everything about the run lies in /runs/1",
        "look at it: python main.py report /runs/1",
    ]
    assert "\x1b" not in shown()


def shown_table(totals: Mapping[str, Any], width: int = 120) -> list[str]:
    out = io.StringIO()
    Display(2, quiet=True, console=Console(file=out, width=width, highlight=False)).table(totals, 61.9, "/runs/1")
    return out.getvalue().splitlines()


def test_a_program_that_is_no_model_has_no_price() -> None:
    lines = shown_table(TOTALS)
    assert not [line for line in lines if "USD" in line or "tokens" in line or "requests" in line]


def test_tokens_and_dollars_stand_in_the_table_and_below_it() -> None:
    lines = shown_table(with_usage())
    (heading,) = [line for line in lines if "category" in line]
    assert "tokens reasoning" in " ".join(heading.split())
    assert "USD" in heading
    (row,) = [line for line in lines if "a [b]" in line]
    assert row.split()[-3:] == ["12,345", "67", "0.0456"]
    assert "5 requests, 12,345 tokens (67 reasoning), 0.0456 USD" in lines


def test_what_is_unknown_or_estimated_is_told_as_such() -> None:
    lines = shown_table(with_usage(rejected=1, lost=2, unknown=1, cost_unknown=3, estimated=1))
    assert "5 requests (1 rejected, 2 lost, 1 unknown), ~12,345 tokens (67 reasoning), ~0.0456+3? USD" in lines
    assert "?: the cost of 3 requests is not known; see calls.jsonl" in lines
    assert not [line for line in shown_table(with_usage()) if "?" in line or "~" in line]


def test_a_run_without_any_answer_tells_what_it_may_have_cost() -> None:
    lost = FREE | {"requests": 1, "lost": 1, "cost_unknown": 1}
    lines = shown_table(TOTALS | {"usage": lost | {"categories": {"a [b]": lost}}})
    assert "1 request (1 lost), 0 tokens, ? USD" in lines
    assert "?: the cost of 1 request is not known; see calls.jsonl" in lines
    (row,) = [line for line in lines if "a [b]" in line]
    assert row.split()[-3:] == ["0", "0", "?"]


def test_a_level_tells_what_it_took() -> None:
    out = io.StringIO()
    display = Display(2, console=Console(file=out, highlight=False, width=100))
    display.level_started(1, "a", "b", "c")
    display.level_ended(summary(usage=PAID))
    assert out.getvalue().rstrip().endswith(" s, 12,345 tokens (67 reasoning), 0.0456 USD")


def test_a_level_without_reason_can_be_shown() -> None:
    assert "failed  [2/2]" in shown(reason="")


def test_quiet_is_the_table_alone() -> None:
    assert shown(quiet=True).splitlines()[0].strip() == "1 of 2 levels solved"
    assert "MiniGrid" not in shown(quiet=True)


def test_a_terminal_shows_the_phase_while_the_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    now, out = [100.0], io.StringIO()
    monkeypatch.setattr("spca.runs.display.time", SimpleNamespace(monotonic=lambda: now[0]))
    console = Console(file=out, force_terminal=True, highlight=False, width=100, color_system=None)
    display = Display(2, console=console)
    display.level_started(1, "a [b]", "Empty [x]", "MiniGrid-Empty-5x5-v0")
    display.phase(1, "plan")
    try:
        level = "a [b] [1/2] Empty [x]: MiniGrid-Empty-5x5-v0"
        assert becomes(lambda: f"0:00  0 solved, 0 failed  {level}  round 1 plan" in out.getvalue())
        now[0] += 1.3
        assert becomes(lambda: f"0:01  0 solved, 0 failed  {level}" in out.getvalue())
    finally:
        display.level_ended(summary())
    assert "solved  [1/2] Empty [x]: MiniGrid-Empty-5x5-v0  1 round" in out.getvalue()


def test_nothing_is_drawn_while_somebody_else_has_the_terminal() -> None:
    out = io.StringIO()
    display = Display(2, console=Console(file=out, force_terminal=True, width=100, color_system=None))
    with display.suspended():
        assert out.getvalue() == ""
    display.level_started(1, "a", "b", "c")
    try:
        with display.suspended():
            before = out.getvalue()
            assert not becomes(lambda: out.getvalue() != before, 0.3)
        assert becomes(lambda: out.getvalue() != before)
    finally:
        display.close()


def test_solved_and_failed_are_counted() -> None:
    display = Display(2, console=Console(file=io.StringIO()))
    for outcome in ("success", "fail", "fail"):
        display.level_started(1, "a", "b", "c")
        display.level_ended(summary(outcome, "x"))
    assert (display.solved, display.failed) == (1, 2)


def test_the_list_of_tasks(capsys: pytest.CaptureFixture[str]) -> None:
    list_tasks([("a", "one", "x"), ("a", "one", "y"), ("a", "two", "z"), ("b", "two", "w")])
    assert capsys.readouterr().out.splitlines() == [
        "a",
        "  one",
        "    x",
        "    y",
        "  two",
        "    z",
        "b",
        "  two",
        "    w",
    ]


def test_a_resumed_run_counts_what_was_finished_before(capsys: pytest.CaptureFixture[str]) -> None:
    display = Display(5)
    display.begin("Models: x", "strict", [{"outcome": "success"}, {"outcome": "fail"}, {"outcome": "success"}])
    assert (display.solved, display.failed) == (2, 1)
    assert capsys.readouterr().out.splitlines() == [
        "Models: x",
        "Sandbox: strict (docs/sandbox.md says what generated code can and cannot do).",
        "resuming: 3 of 5 levels are finished",
    ]
