"""What a user sees of a run."""

from __future__ import annotations

import io
from collections.abc import Mapping
from time import sleep
from types import SimpleNamespace
from typing import Any

import pytest
from rich.cells import cell_len
from rich.console import Console

from spca.llm.calls.ledger import sums
from spca.runs.curriculum import Task
from spca.runs.screen.display import Display, list_tasks
from tests.support.waiting import becomes

FREE: dict[str, Any] = sums([])
PAID = FREE | {"requests": 5, "input_tokens": 12_000, "output_tokens": 345, "reasoning_tokens": 67, "cost_usd": 0.0456}


def summary(
    outcome: str = "success", reason: str = "", rounds: int = 1, usage: Mapping[str, Any] = FREE
) -> dict[str, Any]:
    counters = {"spca_rounds": rounds, "planner_calls": 2, "coder_calls": 3, "planner_syntax": 1, "coder_syntax": 0}
    return {"outcome": outcome, "reason": reason, "counters": counters, "steps": 17, "usage": usage}


def with_usage(**more: Any) -> dict[str, Any]:
    """Totals of a run whose one category took the same."""
    usage = PAID | more
    return TOTALS | {"usage": usage | {"categories": {"a [b]": usage}}}


TOTALS: dict[str, Any] = {
    "usage": FREE | {"categories": {"a [b]": FREE}},
    "solved": 1,
    "levels": 2,
    "counters": {},
    "corrected": [],
    "sandbox": "strict",
    "categories": {
        "a [b]": {"solved": 1, "levels": 2, "rounds": 6, "planner_calls": 9, "coder_calls": 12, "steps": 34}
    },
}


NAME = "MiniGrid-Dynamic-Obstacles-Random-5x5-v0"
NAMES = (NAME, NAME.replace("5x5", "6x6"))
TASKS = tuple(Task(n, "a [b]", "", "Empty [x]", env_id) for n, env_id in enumerate(NAMES))
HEADING = "a [b]                                             calls steps   time  solved"


def shown(*, quiet: bool = False, reason: str = "stuck: round\nand round", width: int = 80) -> str:
    out = io.StringIO()
    console = Console(file=out, force_terminal=False, highlight=False, width=width, color_system=None)
    display = Display(TASKS, quiet=quiet, console=console)
    display.note("A [bracketed] note " + "long " * 40)
    display.level_started(1, TASKS[0])
    display.phase(1, "plan")
    display.level_ended(summary())
    display.level_started(2, TASKS[1])
    display.level_ended(summary("fail", reason, rounds=5), ["stuck"])
    display.table(TOTALS, 61.9, "/runs/1")
    display.close()
    return out.getvalue()


def test_plain_lines_when_it_is_no_terminal() -> None:
    lines = shown().splitlines()
    assert lines[0].startswith("A [bracketed] note long")
    assert len(lines[0]) > 200
    assert lines[1:8] == [
        HEADING,
        f"solved 1 {NAME}     5    17   0.0s     1/1",
        "         1 PDDL repair",
        f"failed 2 {NAMES[1]}     5    17   0.0s     1/2",
        "         1 PDDL repair, 1 failed attempt: stuck",
        "         stuck: round",
        "1 of 2 levels solved",
    ]
    assert any("a [b]" in line and "1/2" in line and "34" in line for line in lines[8:])
    assert lines[-2:] == [
        "1:01 elapsed; everything about the run lies in /runs/1",
        "look at it: python main.py report /runs/1",
    ]
    assert "\x1b" not in shown()


def test_untrusted_words_are_neither_markup_nor_several_lines() -> None:
    text = shown(reason="[red]:boom:\x1b[2J\rnothing [/] \u202e")
    assert "         [red]:boom:␛[2J␍nothing [/] ⟨U+202E⟩\n" in text


def test_what_a_server_says_is_one_line() -> None:
    out = io.StringIO()
    display = Display(TASKS, console=Console(file=out, width=80))
    display.note("a server answers: [red]\n  solved 1 x\x1b[A")
    assert out.getvalue() == "a server answers: [red]   solved 1 x␛[A\n"


def test_a_person_is_told_why_an_answer_cannot_be_used() -> None:
    out, told = io.StringIO(), list[object]()
    emit = Display(TASKS, console=Console(file=out, width=80)).telling(lambda *event: told.append(event))
    events = [("human/desk", "no\nbrace [/]"), ("human/desk", ""), ("openai/m", "no brace"), (None, "no brace")]
    for model, error in events:
        emit("planner_call", {"model": model, "error": error} if model else {"error": error})
    assert len(told) == len(events)
    assert out.getvalue() == "that answer cannot be used: no brace [/]\n"


def told(width: int = 100, *, is_terminal: bool = False) -> tuple[Display, io.StringIO]:
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=is_terminal, color_system=None, highlight=False)
    return Display(TASKS, console=console), out


def test_an_unusable_answer_is_quoted_as_data() -> None:
    display, out = told()
    emit = display.telling(lambda *_: None)
    began = "[red]Sure!\x1b[2J \u202e"
    emit("coder_call", {"model": "x/y", "error": "syntax error at line 1\n  Sure", "began": began})
    emit("planner_call", {"model": "x/y", "error": "the answer is empty", "began": ""})
    emit("coder_call", {"model": "x/y", "error": "Regression: worse"})
    assert out.getvalue().splitlines() == [
        '         coder: syntax error at line 1; the answer began: "[red]Sure!␛[2J ⟨U+202E⟩"',
        "         planner: the answer is empty",
    ]


@pytest.mark.parametrize("is_terminal", [False, True])
def test_lines_that_say_the_same_are_one_line_with_a_count(is_terminal: bool) -> None:
    """Before anything else is said, and at the latest when the level ends."""
    display, out = told(is_terminal=is_terminal)
    for number in range(2, 40):
        display.note(f"x/y: the server answers 500; trying again in {number} s ({number} of 40)")
    display.note("something else")
    display.note("x/y: busy")
    display.note("x/y: busy")
    display.close()
    assert out.getvalue().splitlines() == [
        "x/y: the server answers 500; trying again in 2 s (2 of 40)",
        "38 times: x/y: the server answers 500",
        "something else",
        "x/y: busy",
        "2 times: x/y: busy",
    ]


def test_a_failed_level_names_who_failed_in_its_rounds() -> None:
    display, out = told()
    display.level_started(1, TASKS[0])
    rounds = ["writer", "plan", "plan", "code"]
    display.level_ended(summary("fail", "stuck: round\nand round") | {"failed_rounds": rounds})
    assert out.getvalue().splitlines()[-1].strip() == "writer, plan, code failed: stuck: round"


def test_who_failed_how_often_stands_below_the_table() -> None:
    failures = [{"failed_by": culprit} for culprit in ("plan", "code", "code")]
    assert "failed: 2 by code, 1 by plan" in shown_table(TOTALS | {"failures": failures})
    assert not [line for line in shown_table(TOTALS) if line.startswith("failed")]


def test_levels_that_are_played_again_are_counted() -> None:
    display, out = told()
    display.announce_replayed_levels(0)
    display.announce_replayed_levels(2)
    assert out.getvalue() == "2 levels without a usable answer: played again\n"


@pytest.mark.parametrize("width", [1, 2, 9, 20, 39])
def test_no_terminal_is_too_narrow(width: int) -> None:
    assert "1 failed attempt: stuck" in shown(width=width)


def shown_table(totals: Mapping[str, Any], width: int = 120) -> list[str]:
    out = io.StringIO()
    Display(TASKS, quiet=True, console=Console(file=out, width=width, highlight=False)).table(totals, 61.9, "/runs/1")
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


def test_prompts_that_differ_from_those_recorded_are_told_of_free_models_too() -> None:
    told = "3 of 5 prompts differ from those that the answers were recorded for"
    replayed = FREE | {"requests": 5, "differing": 3}
    assert told in shown_table(TOTALS | {"usage": replayed | {"categories": {"a [b]": replayed}}})
    assert not [line for line in shown_table(with_usage()) if "recorded" in line]


def test_a_run_without_any_answer_tells_what_it_may_have_cost() -> None:
    lost = FREE | {"requests": 1, "lost": 1, "cost_unknown": 1}
    lines = shown_table(TOTALS | {"usage": lost | {"categories": {"a [b]": lost}}})
    assert "1 request (1 lost), 0 tokens, ? USD" in lines
    assert "?: the cost of 1 request is not known; see calls.jsonl" in lines
    (row,) = [line for line in lines if "a [b]" in line]
    assert row.split()[-3:] == ["0", "0", "?"]


@pytest.mark.parametrize(
    ("width", "headings"),
    [
        (120, ["category solved rounds planner coder steps tokens reasoning USD"]),
        (80, ["category solved rounds planner coder steps tokens reasoning USD"]),
        (60, ["category solved rounds planner coder steps tokens reasoning", "category USD"]),
        (40, ["category solved rounds planner coder", "category steps tokens reasoning USD"]),
    ],
)
def test_in_the_table_columns_that_do_not_fit_follow_below(width: int, headings: list[str]) -> None:
    lines = shown_table(with_usage(), width)
    assert [" ".join(line.split()) for line in lines if "category" in line] == headings
    assert max(cell_len(line) for line in lines if "a [b]" in line or "category" in line) <= width


def test_a_level_tells_what_it_took_and_the_run_so_far() -> None:
    out = io.StringIO()
    display = Display(TASKS, paid=True, console=Console(file=out, highlight=False, width=80))
    done = [{"outcome": "success"}]
    display.begin("Models: x", "strict", done, lambda: PAID | {"cost_usd": 1.5})
    display.level_started(2, TASKS[1])
    display.level_ended(summary("fail", usage=PAID))
    *_, resumed, heading, row, _below = out.getvalue().splitlines()
    assert resumed == (
        "resuming: 1 of 2 levels are finished, 1 of them solved; so far 12,345 tokens (67 reasoning), 1.5000 USD"
    )
    assert heading == "a [b]                                             calls   time  solved   spent"
    assert row == f"failed 2 {NAMES[1]}     5   0.0s     1/2  1.5000"


def test_a_level_without_reason_can_be_shown() -> None:
    assert "failed 2 MiniGrid" in shown(reason="")


def test_quiet_is_the_table_alone() -> None:
    assert shown(quiet=True).splitlines()[0].strip() == "1 of 2 levels solved"
    assert "MiniGrid" not in shown(quiet=True)


class Clock:
    """What the display takes for the time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("spca.runs.screen.display.time", SimpleNamespace(monotonic=lambda: self.now))


@pytest.mark.long
def test_a_terminal_shows_who_is_waited_for_while_the_clock_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, out = Clock(monkeypatch), io.StringIO()
    console = Console(file=out, force_terminal=True, highlight=False, width=200, color_system=None)
    display = Display(TASKS, console=console)
    display.begin("Models: x", "strict", [], lambda: PAID)
    display.level_started(1, TASKS[0])
    level = f"0 solved, 0 failed  a [b]  1/2 Empty [x]: {NAME}"
    spent = "5 calls, 12,345 tokens (67 reasoning), 0.0456 USD"
    try:
        assert becomes(lambda: f"{level}  world 0s  {spent}" in out.getvalue())
        display.phase(1, "plan")
        with display.asking("planner", "openai/gpt-x"):
            clock.now += 83
            assert becomes(lambda: f"{level}  round 1  planner openai/gpt-x 83s  {spent}" in out.getvalue())
        assert becomes(lambda: f"{level}  round 1  solver 0s  {spent}" in out.getvalue())
        display.phase(1, "code")
        assert becomes(lambda: f"{level}  round 1  checks 0s" in out.getvalue())
        display.phase(1, "act")
        clock.now += 1
        assert becomes(lambda: f"{level}  round 1  world 1s" in out.getvalue())
    finally:
        display.level_ended(summary())
    (row,) = [line for line in out.getvalue().splitlines() if "solved 1 Empty" in line]
    assert " ".join(row.partition("solved 1 ")[2].split()) == f"Empty [x]: {NAME} 1 5 17 84.0s 1/1"


def test_the_live_line_takes_as_many_lines_as_it_needs() -> None:
    display, out = told(40, is_terminal=True)
    display.begin("Models: x", "strict", [], lambda: PAID)
    display.level_started(1, TASKS[0])
    display.close()
    drawn = out.getvalue().partition("0:00  0 solved")[2]
    for words in (NAME, "world 0s", "12,345 tokens", "0.0456 USD"):
        assert words in " ".join(drawn.split())
    assert "…" not in drawn


def test_nothing_is_drawn_while_somebody_else_has_the_terminal() -> None:
    out = io.StringIO()
    display = Display(TASKS, console=Console(file=out, force_terminal=True, width=100, color_system=None))
    with display.suspend_display():
        assert out.getvalue() == ""
    display.level_started(1, TASKS[0])
    try:
        with display.suspend_display():
            before = out.getvalue()
            assert not becomes(lambda: out.getvalue() != before, 0.3)
        assert becomes(lambda: out.getvalue() != before)
    finally:
        display.close()


def test_a_terminal_is_never_given_a_longer_line_than_it_has_columns() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, highlight=False, width=40, color_system=None)
    display = Display(TASKS, console=console)
    display.note("words " * 20 + "/a/path/" + "x" * 50)
    *lines, path = out.getvalue().splitlines()
    assert max(map(len, lines)) <= 40
    assert all(line.endswith("words") for line in lines)
    assert path == "/a/path/" + "x" * 50


@pytest.mark.parametrize("dumb", [False, True])
def test_a_file_is_told_of_long_waits_once(monkeypatch: pytest.MonkeyPatch, dumb: bool) -> None:
    clock, out = Clock(monkeypatch), io.StringIO()
    looks = [0]
    spent = "5 calls, 12,345 tokens (67 reasoning), 0.0456 USD"
    console = Console(file=out, force_terminal=dumb, width=80, color_system=None, _environ={"TERM": "dumb"})
    display = Display(TASKS, console=console)
    display.begin("Models: x", "strict", [], lambda: PAID)

    def told(*lines: str) -> bool:
        return becomes(lambda: out.getvalue().partition(HEADING)[2].splitlines()[1:] == list(lines))

    def passes(seconds: float) -> None:
        """Time passes, and the thread looks at the clock: the second look has begun after that and ended."""
        clock.now += seconds
        seen = looks[0]
        assert becomes(lambda: looks[0] > seen + 2 or not display._wait_reporter.is_alive())

    def wait(_seconds: float) -> bool:
        looks[0] += 1
        sleep(0.0005)
        return display._level_ended.is_set()

    monkeypatch.setattr(display._level_ended, "wait", wait)
    display.level_started(1, TASKS[0])
    display.phase(1, "plan")
    for _ in range(6):
        with display.asking("planner", "openai/gpt-x"):
            passes(4)
    with display.asking("planner", "openai/gpt-x"):
        passes(4.75)
        assert told()
        passes(0.5)
        planner = f"  0:24 1 {NAME}  round 1  planner openai/gpt-x  {spent}"
        assert told(planner)
        passes(100)
    passes(4)
    assert told(planner)
    passes(1)
    solver = f"  2:09 1 {NAME}  round 1  solver  {spent}"
    assert told(planner, solver)
    for _ in range(9):
        display.phase(1, "act")
        passes(3)
    assert told(planner, solver)
    display.phase(2, "code")
    passes(4)
    silent = f"  2:41 1 {NAME}  round 2  checks  {spent}"
    assert told(planner, solver, silent)
    display.level_ended(summary())
    passes(100)
    assert "solved 1" in out.getvalue().splitlines()[-2]
    assert not display._wait_reporter.is_alive()


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
    display = Display(TASKS * 3)
    finished = [{"outcome": "success"}, {"outcome": "fail"}, {"outcome": "success"}]
    display.begin("Models: x", "strict", finished, lambda: FREE)
    assert (display.solved, display.failed) == (2, 1)
    assert capsys.readouterr().out.splitlines() == [
        "Models: x",
        "Sandbox: strict (docs/sandbox.md says what generated code can and cannot do).",
        "resuming: 3 of 6 levels are finished, 2 of them solved",
    ]


def test_what_a_run_works_with_is_left_out_where_it_was_told_before(capsys: pytest.CaptureFixture[str]) -> None:
    Display(TASKS, greets=False).begin("Models: x", "strict", [{"outcome": "success"}], lambda: FREE)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("resuming: 1 of")


def test_what_was_planned_without_a_call_is_said_at_the_end() -> None:
    out = io.StringIO()
    counters = {"planner_compiled": 5, "compiled_failed": 1}
    Display(TASKS, console=Console(file=out, width=100)).table(TOTALS | {"counters": counters}, 1.0, "/runs/1")
    assert "planned without a call, by stored problem writers: 4 levels\n" in out.getvalue()
