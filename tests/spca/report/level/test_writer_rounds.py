"""What a report shows of stored problem writers: who planned, who did not and why, and what was accepted."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from spca.contracts import ProblemWriter, Status
from spca.report.level.levels import level
from spca.report.read import model
from spca.report.read.run_files import open_run
from spca.report.read.runs import overview
from spca.report.read.writers import OfferedWriter, TriedWriter, WriterRow
from spca.report.terminal import show_run
from spca.runs.results import DraftDecision, Round
from spca.writers.stored import Miss, StoredWriter, Tally, WriterFailure
from tests.support.report.making import Writing

GO = StoredWriter(ProblemWriter("go", "(define (domain d))", "def make_problem(snapshot):\n    return ''\n"), 1, "x")
REFUSED, FAILED = TriedWriter("shy/v001", "refused", "it is not mine"), TriedWriter("go/v001", "failed", "it ended")


@pytest.fixture
def writing(tmp_path: Path) -> Writing:
    return Writing(tmp_path)


def shown(writing: Writing, number: int = 1) -> model.Level:
    return level(open_run(writing.path), number, None)


def numbers(found: model.Level) -> list[tuple[int, list[tuple[int, str]]]]:
    """Of each round its number, and number and end of its attempts."""
    attempts = [[turn.attempt for turn in each.tries if turn.attempt] for each in found.rounds]
    return [
        (each.number, [(attempt.number, attempt.status) for attempt in tries])
        for each, tries in zip(found.rounds, attempts, strict=True)
    ]


def test_a_level_that_a_writer_planned_has_round_0_alone(writing: Writing) -> None:
    writing.begin()
    writing.store("go/v001", "shy/v001")
    writing.pass_over("shy/v001")
    writing.carry_out("go/v001")
    writing.finish()
    found = shown(writing)
    assert numbers(found) == [(0, [(1, "success")])]
    assert found.rounds[0].writers == (REFUSED, TriedWriter("go/v001", "", ""))
    assert [action.name for action in found.rounds[0].plan] == ["go"]
    assert overview(open_run(writing.path)).levels[0].writer == "go/v001"


def test_each_plan_of_a_writer_is_shown_by_itself_before_the_rounds(writing: Writing) -> None:
    writing.begin()
    writing.store("go/v001", "shy/v001", "run/v002")
    writing.carry_out("go/v001", Status.STUCK)
    writing.pass_over("shy/v001")
    writing.code()
    writing.carry_out("run/v002", Status.GOAL_NOT_REACHED)
    writing.plan()
    writing.act()
    writing.finish()
    found = shown(writing)
    assert numbers(found) == [(0, [(1, "stuck")]), (0, [(2, "goal_not_reached")]), (1, [(1, "success")])]
    assert [len(each.tries[0].calls) for each in found.rounds] == [0, 1, 0]
    assert [each.writers for each in found.rounds[:2]] == [
        (FAILED,),
        (REFUSED, TriedWriter("run/v002", "failed", "it ended")),
    ]
    spans = overview(open_run(writing.path)).levels[0].spans
    assert [(span.phase, span.round, span.status) for span in spans if span.phase == "act"] == [
        ("act", 0, "stuck"),
        ("act", 0, "goal_not_reached"),
        ("act", 1, ""),
    ]


def test_attempts_that_the_log_lost_are_shown_all_the_same(writing: Writing) -> None:
    writing.begin()
    writing.store("go/v001")
    writing.carry_out("go/v001", Status.STUCK)
    writing.carry_out("run/v001", Status.STUCK)
    writing.plan()
    writing.act()
    writing.finish()
    (writing.path / "metrics.jsonl").write_bytes(b"")
    assert numbers(shown(writing)) == [(0, [(1, "stuck")]), (0, [(2, "stuck")]), (1, [(1, "success")])]


def test_writers_that_all_refuse_come_before_the_first_round(writing: Writing) -> None:
    writing.begin()
    writing.store("shy/v001")
    writing.pass_over("shy/v001")
    writing.plan()
    writing.act()
    writing.finish()
    found = shown(writing)
    assert numbers(found) == [(0, []), (1, [(1, "success")])]
    assert found.rounds[0].writers == (REFUSED,)


def test_an_accepted_writer_is_shown_with_its_source_and_counted_in_the_run(writing: Writing) -> None:
    missed = (WriterFailure("go/v001", Miss.FAILED, "in vain"), WriterFailure("go/v001", Miss.REFUSED, "not mine"))
    writing.begin()
    writing.plan()
    writing.act()
    writing.finish(writers=[GO], considered=DraftDecision("go", "go/v001", ""))
    beaten = replace(GO, failed=2, tallies={"elsewhere": Tally(failed=2)})
    why = "2 wrong plans in categories of which it has solved no level"
    for rounds in ((), (Round(None, (), "", missed=missed),)):
        writing.begin()
        writing.store("go/v001")
        writing.carry_out("go/v001")
        writing.finish(writers=[beaten], rounds=rounds)
    offer = shown(writing).offer
    assert offer is not None
    assert (offer.name, offer.label, offer.reason) == ("go", "go/v001", "")
    found = shown(writing)
    assert {offer.source, offer.domain} <= found.texts.keys()
    run = overview(open_run(writing.path))
    assert run.writers == (WriterRow("go/v001", 1, 2, 2, 0, left_out=why),)
    out = io.StringIO()
    show_run(run, Console(file=out, width=200))
    assert f"go/v001  of level 1, planned 2 levels without a call, 2 failed; left out: {why}" in out.getvalue()
    assert "source in pddl/writers/ of the folder" in out.getvalue()


def test_a_writer_that_was_not_accepted_is_shown_with_the_reason(writing: Writing) -> None:
    writing.begin()
    writing.plan()
    writing.act()
    writing.finish(considered=DraftDecision("go", "", "go: two runs \x1b differ"))
    assert shown(writing).offer == OfferedWriter("go", "", "go: two runs \x1b differ")
    assert overview(open_run(writing.path)).writers == ()
