"""A level from its files: rounds, turns and calls as they happened, also where files are missing or broken."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spca.common.files import make_folder
from spca.common.web.packing import to_json
from spca.contracts import Status
from spca.report.level.levels import level
from spca.report.read import model
from spca.report.read.run_files import open_run
from spca.report.replay.resimulation import Resimulated
from tests.support.report.making import WRITTEN, Writing
from tests.support.spca.doubles import AGENT


def read(folder: Path, number: int) -> model.Level:
    return level(open_run(folder), number, None)


def shown(found: model.Level, name: str) -> str:
    """A text of a level, as it is shown."""
    return "\n".join(found.texts[name].lines)


def attempts(found: model.Level) -> list[model.Attempt]:
    return [turn.attempt for this in found.rounds for turn in this.tries if turn.attempt]


def calls(found: model.Level) -> Iterator[model.Call]:
    for this in found.rounds:
        yield from this.calls
        for turn in this.tries:
            yield from turn.calls


def used(found: model.Level) -> set[str]:
    """Ids of all texts that a level refers to."""
    names = {call.answer for call in calls(found)} | {call.code for call in calls(found)}
    names |= {name for call in calls(found) for name in (*call.pddl, *(message.text for message in call.messages))}
    names |= {name for this in found.rounds for name in (this.domain, this.problem)}
    names |= {found.offer.source, found.offer.domain} if found.offer else set()
    differences = [d for this in found.rounds for d in (this.domain_diff, this.problem_diff)]
    differences += [turn.diff for this in found.rounds for turn in this.tries]
    names |= {name for each in differences if each for name in (each.old, each.new)}
    return (names | {attempt.agent for attempt in attempts(found)}) - {""}


def test_a_real_run_is_shown_as_it_was_logged(mixed_run: Path) -> None:
    files = open_run(mixed_run)
    for number, summary in enumerate(files.finished, 1):
        found = level(files, number, None)
        counters, recorded = summary["counters"], (files.trajectory(summary) or {})["attempts"]
        made = list(calls(found))
        assert sum(this.number > 0 for this in found.rounds) == counters["spca_rounds"]
        tried = [each.miss for this in found.rounds for each in this.writers]
        assert tried.count("") + tried.count("failed") == counters["planner_compiled"]
        assert [call.phase for call in made].count("planner") == counters["planner_calls"]
        assert [call.phase for call in made].count("coder") == counters["coder_calls"]
        assert [(a.round, a.number, a.status, a.file) for a in attempts(found)] == [
            (a["round"], a["attempt"], a["status"], a["agent"]) for a in recorded
        ]
        assert all(call.messages and call.answer for call in made)
        assert (found.outcome, found.reason) == (summary["outcome"], summary["reason"])
        assert found.mission.startswith(("get to", "go to"))
        assert set(found.texts) == used(found)


def test_what_was_solved_is_not_blamed_and_what_failed_is(mixed_run: Path) -> None:
    files = open_run(mixed_run)
    outcomes = [summary["outcome"] for summary in files.finished]
    assert set(outcomes) == {"success", "fail"}
    for number, outcome in enumerate(outcomes, 1):
        found = read(mixed_run, number)
        if outcome == "success":
            assert found.blame is None
            continue
        last = attempts(found)[-1]
        assert found.blame == last.blame
        assert found.blame is not None
        source = shown(found, found.blame.agent).split("\n")
        assert f"def {found.blame.method}(" in source[found.blame.first - 1]
        assert found.blame.first <= found.blame.line <= found.blame.last


def test_answers_are_shown_as_what_is_in_them(mixed_run: Path) -> None:
    for number in (1, 2, 3):
        found = read(mixed_run, number)
        for this in found.rounds:
            assert not this.number or [shown(found, name) for name in this.calls[-1].pddl] == [
                shown(found, this.domain),
                shown(found, this.problem),
            ]
            for turn in this.tries:
                for call in turn.calls:
                    assert "def " in shown(found, call.code)
                if turn.diff:
                    assert turn.attempt is not None
                    assert turn.diff.new == turn.attempt.agent
        agents = [shown(found, attempt.agent) for attempt in attempts(found)]
        differences = [turn.diff for this in found.rounds for turn in this.tries if turn.attempt]
        assert [d is not None for d in differences[1:]] == [a != b for a, b in pairwise(agents)]


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[Writing]:
    run = Writing(tmp_path)
    yield run
    run.kill()


def test_the_order_of_the_log_is_the_order_of_the_rounds(writing: Writing) -> None:
    writing.begin()
    writing.plan(error="parse_error: oops")
    writing.plan(repair=True)
    writing.code(error="syntax error")
    writing.code()
    writing.act(Status.STUCK)
    writing.act(Status.GOAL_NOT_REACHED)
    writing.plan()
    writing.code()
    writing.act()
    writing.finish()
    found = read(writing.path, 1)
    first, second = found.rounds
    assert [(call.ok, call.error) for call in first.calls] == [(False, "parse_error: oops"), (True, "")]
    assert [len(turn.calls) for turn in first.tries] == [2, 0]
    assert [turn.attempt.status for turn in first.tries if turn.attempt] == ["stuck", "goal_not_reached"]
    assert [len(turn.calls) for turn in second.tries] == [1]
    assert first.plan == (model.Action("go", ("a1",)),)
    assert [[code for code, _, _ in attempt.steps] for attempt in attempts(found)] == [[2, 2]] * 3
    assert (second.domain_diff, second.problem_diff) == (None, None)


def test_a_domain_that_is_kept_is_shown_as_the_one_that_was_trusted(writing: Writing) -> None:
    writing.begin()
    writing.plan()
    (event,) = [e for e in open_run(writing.path).histories[1].events if e["event"] == "planner_call"]
    prompt = '<trusted_pddl>\n{"domain": "(define (domain kept))", "problem": "(old)"}\n</trusted_pddl>'
    transcript = {
        "messages": [{"role": "user", "text": prompt.split("\n")}],
        "answer": {"text": ['{"domain": null, "problem": "(new)"}']},
    }
    path = writing.path / event["transcript"]
    make_folder(path.parent)
    path.write_text(json.dumps(transcript), encoding="utf-8")
    found = read(writing.path, 1)
    (call,) = found.rounds[0].calls
    assert [shown(found, name) for name in call.pddl] == ["(define (domain kept))", "(new)"]


def test_the_first_diff_is_to_the_library_before_the_level(writing: Writing) -> None:
    writing.solve()
    writing.fail()
    first, second = read(writing.path, 1), read(writing.path, 2)
    change = first.rounds[0].tries[0].diff
    assert change is not None
    assert (shown(first, change.old), shown(first, change.new)) == (AGENT.text, WRITTEN.text)
    assert second.rounds[0].tries[0].diff is None


def test_a_level_that_is_under_way_or_was_aborted_is_shown_as_far_as_it_came(writing: Writing) -> None:
    writing.solve()
    writing.begin()
    writing.plan()
    writing.code(error="syntax error")
    writing.code()
    writing.act()
    found = read(writing.path, 2)
    assert (found.outcome, found.blame) == ("aborted", None)
    assert [[(len(turn.calls), turn.attempt) for turn in this.tries] for this in found.rounds] == [[(2, None)]]
    writing.interrupt()
    assert read(writing.path, 2).reason == "interrupted by SIGTERM"
    writing.resume()
    writing.begin()
    assert read(writing.path, 2).rounds == ()
    assert (read(writing.path, 3).outcome, read(writing.path, 99).outcome) == ("pending", "pending")


def test_a_plan_that_was_sent_back_is_shown_as_that(writing: Writing) -> None:
    writing.begin()
    writing.plan()
    writing.code()
    writing.act(Status.STUCK, "it turns and turns")
    writing.plan()
    writing.code(objection="the key is \x1b[1mgreen")
    writing.plan()
    writing.code(objection="and still is")
    writing.finish("the coder sent the plan back: and still is")
    found = read(writing.path, 1)
    told = [[(call.ok, call.objection) for turn in this.tries for call in turn.calls] for this in found.rounds]
    assert told == [[(True, "")], [(True, "the key is \x1b[1mgreen")], [(True, "and still is")]]
    assert [attempt.round for attempt in attempts(found)] == [1]
    assert found.blame == attempts(found)[-1].blame


@pytest.mark.parametrize("phase", ["planner", "coder"])
def test_a_level_that_ended_for_want_of_a_plan_or_of_code_blames_its_last_attempt(writing: Writing, phase: str) -> None:
    writing.begin()
    writing.plan()
    writing.code()
    writing.act(Status.STUCK, "it turns and turns")
    writing.plan(error="unsolvable" if phase == "planner" else "")
    if phase == "coder":
        writing.code(error="no code")
    writing.finish(f"no use of the {phase}")
    found = read(writing.path, 1)
    assert (found.outcome, found.reason) == ("fail", f"no use of the {phase}")
    assert found.blame is not None
    assert [found.blame] == [attempt.blame for attempt in attempts(found)]


def test_a_level_in_which_nothing_ran_has_no_blame(writing: Writing) -> None:
    writing.begin()
    writing.plan(error="unsolvable")
    writing.finish("no valid plan after 1 calls: unsolvable")
    assert read(writing.path, 1).blame is None


def test_a_level_whose_coder_had_no_other_code_blames_its_last_attempt(writing: Writing) -> None:
    writing.begin()
    writing.plan()
    writing.code()
    writing.act(Status.STUCK, "it turns and turns")
    writing.code()
    writing.finish()
    found = read(writing.path, 1)
    assert found.blame is not None
    assert found.blame == attempts(found)[0].blame


def test_episodes_and_checks_come_from_the_simulation(finished_run: Path) -> None:
    equal = model.Check("equal", "")

    def simulate(trajectory: Mapping[str, Any]) -> Resimulated:
        return Resimulated("walk \x1b[31m", tuple((None, equal) for _ in trajectory["attempts"]))

    found = level(open_run(finished_run), 1, simulate)
    assert found.mission == "walk \x1b[31m"
    assert [attempt.check for attempt in attempts(found)] == [equal]


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, -1, 0, 10**30, 1.5, "", "x", "../../etc/passwd", "\ud800", [], [[]], {}, {"a": [1]}]
)


def mutated(value: Any, draw: st.DrawFn) -> Any:
    """A JSON value of which one part, chosen at random, is left out or something else."""
    if isinstance(value, dict) and value and draw(st.integers(0, 9)):
        key = draw(st.sampled_from(sorted(value)))
        if not draw(st.integers(0, 4)):
            return {name: inner for name, inner in value.items() if name != key}
        return value | {key: mutated(value[key], draw)}
    if isinstance(value, list) and value and draw(st.integers(0, 9)):
        at = draw(st.integers(0, len(value) - 1))
        if not draw(st.integers(0, 4)):
            return value[:at] + value[at + 1 :]
        return [*value[:at], mutated(value[at], draw), *value[at + 1 :]]
    return draw(JUNK)


@pytest.mark.long
@given(st.data())
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_of_a_damaged_run_the_rest_is_shown(mixed_run: Path, data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home, "run")
        shutil.copytree(mixed_run, folder)
        paths = sorted(path for path in folder.rglob("*.json*") if path.name != "run.json")
        for path in data.draw(st.lists(st.sampled_from(paths), min_size=1, max_size=4)):
            damage(path, data)
        files = open_run(folder)
        for number in range(5):
            found = level(files, number, None)
            assert used(found) <= set(found.texts)
            json.loads(to_json(found))


def damage(path: Path, data: st.DataObject) -> None:
    if not path.exists():
        return
    if not data.draw(st.integers(0, 5)):
        path.unlink()
        return
    lines = path.read_text(encoding="utf-8").split("\n") if path.suffix == ".jsonl" else [path.read_text("utf-8")]
    at = data.draw(st.integers(0, len(lines) - 1))
    draw: Any = lambda strategy: data.draw(strategy)  # noqa: E731
    try:
        lines[at] = json.dumps(mutated(json.loads(lines[at]), draw))
    except ValueError:
        lines[at] = ""
    path.write_text("\n".join(lines), encoding="utf-8")
