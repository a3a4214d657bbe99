"""How a level failed, in a line: the last attempt, and what came after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from spca.contracts import Status
from spca.report.level.origins import LevelOrigins, read_origins
from spca.report.read.run_files import open_run
from tests.support.report.making import WRITTEN, Writing

LINE = WRITTEN.text.count("\n")
"""That of ``go``."""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Writing]:
    made = Writing(tmp_path)
    made.begin()
    yield made
    made.kill()


def failed(run: Writing, reason: str = "") -> LevelOrigins:
    run.finish(reason)
    return read_origins(open_run(run.path))[1]


def attempt(run: Writing, status: Status = Status.STUCK, message: str = "the same 4 states") -> None:
    run.plan()
    run.code()
    run.act(status, message, line=LINE)


def rounds_without_code(run: Writing) -> None:
    attempt(run)
    run.code()
    run.act(Status.STUCK, line=LINE)
    for _ in range(4):
        run.plan()
        run.code(error="syntax error")


def rounds_of_several_kinds(run: Writing) -> None:
    attempt(run)
    for _ in range(2):
        run.plan(error="unsolvable")
    run.plan()
    run.code(objection="the key is green")


def other_words_for_the_same(run: Writing) -> None:
    attempt(run)
    run.code()


def no_more_code(run: Writing) -> None:
    attempt(run)
    run.code(error="syntax error")


def no_plan(run: Writing) -> None:
    for number in range(5):
        run.plan(error=f"unsolvable {number}\nmore of it")


def no_plan_and_no_code(run: Writing) -> None:
    run.plan(error="unsolvable")
    run.plan()
    run.code(error="syntax error")


STUCK = f"got stuck in go (line {LINE})"
STATES = "stuck: go"


@pytest.mark.parametrize(
    ("happens", "headline", "group"),
    [
        (rounds_without_code, f"attempt 1.2 {STUCK}; then 4 rounds without usable code", STATES),
        (
            rounds_of_several_kinds,
            f"attempt 1.1 {STUCK}; then 2 rounds without a plan and 1 round in which the coder sent the plan back",
            STATES,
        ),
        (other_words_for_the_same, f"attempt 1.1 {STUCK}; then the coder gave the same code again", STATES),
        (no_more_code, f"attempt 1.1 {STUCK}; then the coder had no usable code", STATES),
        (no_plan, "no plan in 5 rounds: unsolvable 4", "no_plan: the * doors are *"),
        (no_plan_and_no_code, "no attempt in 2 rounds: syntax error", "no_code: the * doors are *"),
    ],
)
def test_what_came_last(run: Writing, happens: Callable[[Writing], None], headline: str, group: str) -> None:
    happens(run)
    found = failed(run, "the 3 doors are red\nmore")
    assert (found.headline, found.group) == (headline, group)


@pytest.mark.parametrize(
    ("status", "message", "headline"),
    [
        (Status.GOAL_NOT_REACHED, "it is not complete", "attempt 1.1: goal not reached"),
        (Status.RUNTIME_ERROR, f"KeyError: 'x' in go, line {LINE}", f"attempt 1.1 raised KeyError in go (line {LINE})"),
        (
            Status.RUNTIME_ERROR,
            f"no yield for 1.0 s in go, line {LINE}",
            f"attempt 1.1: go (line {LINE}) was still running when its time was over",
        ),
        (Status.REWARD_FAILED, "lava", f"attempt 1.1 ended the episode without success in go (line {LINE})"),
        (Status.SYNTAX_ERROR, f"line {LINE}: no", f"attempt 1.1 could not be loaded in go (line {LINE})"),
        (
            Status.MISSING_METHOD,
            "class Agent has no method fly",
            "attempt 1.1: fly is in the plan, but class Agent has no such method",
        ),
    ],
)
def test_how_the_last_attempt_ended(run: Writing, status: Status, message: str, headline: str) -> None:
    attempt(run, status, message)
    assert failed(run).headline == headline


def test_a_line_outside_of_all_methods_is_grouped_by_the_message(run: Writing) -> None:
    run.plan()
    run.code()
    run.act(Status.STUCK, "the same cycle of 4 states", line=0)
    found = failed(run)
    assert (found.headline, found.group) == ("attempt 1.1 got stuck", "stuck: the same cycle of * states")


def test_a_level_that_did_not_fail_has_none(run: Writing) -> None:
    attempt(run, Status.SUCCESS)
    found = failed(run)
    assert (found.headline, found.group, found.blame) == ("", "", None)


def test_where_the_log_is_gone_the_attempt_is_told_alone(run: Writing) -> None:
    rounds_without_code(run)
    run.finish("no usable code")
    (run.path / "metrics.jsonl").write_bytes(b"")
    assert read_origins(open_run(run.path))[1].headline == f"attempt 1.2 {STUCK}"
