"""The overview of a run: what each level came to, what it took, and how its time was spent."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from minigridenv import MiniGridEnv
from spca.common.files import lock_folder
from spca.contracts import Status
from spca.llm.calls.ledger import Ledger, sums
from spca.report.level.levels import level
from spca.report.page.assembly import pack_run
from spca.report.read.model import LevelRow, Run, Span, Usage
from spca.report.read.origin import describe_continuations
from spca.report.read.run_files import open_run
from spca.report.read.runs import is_recorded, overview, sum_usage
from spca.report.read.spans import History, attempt_statuses, histories, spans
from spca.runs.recording.folder import LOCK
from tests.support.report.finished_files import read_finished, write_finished
from tests.support.report.making import IDS, Writing, finished_run


def seen(path: Path) -> Run:
    return overview(open_run(path))


def level_events(*entries: tuple[float, str, dict[str, Any]]) -> History:
    return History(1, [{"time": time, "event": event, **data} for time, event, data in entries])


def test_a_finished_run(finished_run: Path) -> None:
    run = seen(finished_run)
    assert (run.id, run.state, run.planned, run.finished, run.solved) == (finished_run.name, "finished", 3, 3, 2)
    assert run.models == {"planner": "openai/big", "planner_small": "openai/small", "coder": "openai/coder"}
    assert (run.sandbox, run.seed, run.git_commit, run.warnings) == ("strict", 1, None, ())
    assert run.usage == Usage(6, 6, 600, 60, 120, 300, 30, 0.006)
    assert run.started is not None
    assert run.ended is not None
    assert run.started < run.ended
    (category,) = run.categories
    assert (category.name, category.planned, category.finished, category.solved) == ("navigation", 3, 3, 2)
    assert (category.rounds, category.planner_calls, category.coder_calls, category.steps) == (3, 3, 3, 6)
    assert category.usage == run.usage


def test_a_level_of_it(finished_run: Path) -> None:
    row = seen(finished_run).levels[1]
    assert (row.number, row.category, row.level, row.env_id, row.seed) == (2, "navigation", "all", IDS[1], 1)
    assert (row.outcome, row.reason, row.begun) == ("fail", "stuck: it turns and turns", 1)
    assert (row.rounds, row.attempts, row.planner_calls, row.coder_calls) == (1, 1, 1, 1)
    assert (row.steps, row.steps_total) == (2, 2)
    assert row.usage == Usage(2, 2, 200, 20, 40, 100, 10, 0.002)
    assert row.durations == {"plan": 0.25, "solve": 0.5, "code": 0.125, "act": 0.0625}
    assert row.library is not None
    assert row.library["actions"] == 1
    assert [(span.phase, span.status) for span in row.spans] == [
        ("plan", ""),
        ("solve", ""),
        ("code", ""),
        ("act", "stuck"),
    ]


def test_checks_are_shown_and_change_nothing_else(finished_run: Path) -> None:
    files = open_run(finished_run)
    plain, (checked, _) = overview(files), pack_run(0, files, MiniGridEnv, lambda _name: None)
    assert {row.check for row in plain.levels} == {""}
    assert {row.check for row in checked.levels} == {"different"}  # what was written by hand is no recording
    assert [row.version for row in checked.levels] == [row.version for row in plain.levels]


def begun(runs: Path) -> Writing:
    """A run in the middle of its second level: a round and an attempt have failed, another attempt is under way."""
    run = Writing(runs)
    run.solve()
    run.begin()
    run.plan(error="unsolvable", solve_s=0.25)
    run.plan(repair=True)
    run.code()
    run.act(Status.STUCK)
    run.plan()
    run.code(error="syntax error")
    run.log("counter_inc", {"name": "simulation_runs"})
    return run


def outcomes(run: Run) -> list[str]:
    return [row.outcome for row in run.levels]


def test_a_killed_run(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.kill()
    overview_ = seen(run.path)
    assert (overview_.state, outcomes(overview_)) == ("stopped", ["success", "aborted", "pending"])
    row = overview_.levels[1]
    assert (row.reason, row.begun) == ("the process ended during it", 1)
    assert (row.rounds, row.attempts, row.planner_calls, row.coder_calls) == (2, 2, 3, 2)
    assert row.usage == Usage(5, 5, 500, 50, 100, 250, 25, 0.005)
    assert (row.steps, row.library) == (None, None)
    assert row.seconds is not None
    assert row.durations["plan"] == 0.75
    assert row.durations["solve"] == 1.25
    assert [(span.phase, span.round, span.status) for span in row.spans] == [
        ("plan", 1, ""),
        ("solve", 1, "error"),
        ("plan", 1, ""),
        ("solve", 1, ""),
        ("code", 1, ""),
        ("act", 1, ""),
        ("plan", 2, ""),
        ("solve", 2, ""),
        ("code", 2, "error"),
        ("act", 2, "aborted"),
    ]
    assert overview_.usage == Usage(7, 7, 700, 70, 140, 350, 35, 0.007)
    assert (overview_.levels[2].begun, overview_.levels[2].started, overview_.levels[2].seconds) == (0, None, None)


def test_a_run_that_goes_on(tmp_path: Path) -> None:
    run = begun(tmp_path)
    with lock_folder(run.path, "run", LOCK):
        now = seen(run.path)
    assert (now.state, now.ended, outcomes(now)) == ("running", None, ["success", "running", "pending"])
    assert now.levels[1].spans[-1].status == "running"


def test_an_interrupted_run(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.interrupt()
    row = seen(run.path).levels[1]
    assert (row.outcome, row.reason, row.attempts) == ("aborted", "interrupted by SIGTERM", 2)
    assert row.usage.requests == 5
    assert row.durations["act"] == 0.0625


def test_between_levels_of_a_run_that_goes_on_the_aborted_one_is_not_running(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.interrupt()
    with lock_folder(run.path, "run", LOCK):
        assert outcomes(seen(run.path)) == ["success", "aborted", "pending"]


def test_a_level_that_was_begun_again_is_shown_as_it_went_the_last_time(tmp_path: Path) -> None:
    run = begun(tmp_path)
    run.kill()
    run.resume()
    run.solve()
    row = seen(run.path).levels[1]
    assert (row.outcome, row.begun, row.rounds, row.attempts) == ("success", 2, 1, 1)
    assert [span.phase for span in row.spans] == ["plan", "solve", "code", "act"]
    assert row.usage.requests == 7, "what the killed try took is paid all the same"


def test_a_level_whose_end_did_not_reach_the_log_is_finished(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.solve()
    run.kill()
    lines = (run.path / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    (run.path / "metrics.jsonl").write_bytes(b"".join(lines[:-1]))
    row = seen(run.path).levels[0]
    assert (row.outcome, row.attempts) == ("success", 1)
    assert row.spans[-1].phase == "act"


def test_a_run_of_an_older_version_lacks_much(tmp_path: Path) -> None:
    path = finished_run(tmp_path)
    info = json.loads((path / "run.json").read_text())
    summaries = read_finished(path)
    for name in ("usage", "sandbox"):
        del info[name]
    for summary in summaries:
        for name in ("usage", "library", "corrections", "steps_total", "sandbox", "durations"):
            del summary[name]
    (path / "run.json").write_text(json.dumps(info))
    write_finished(path, summaries)
    (path / "calls.jsonl").unlink()
    run = seen(path)
    assert (run.sandbox, run.usage, outcomes(run)) == ("", Usage(), ["success", "fail", "success"])
    assert (run.levels[0].library, run.levels[0].steps, run.levels[0].steps_total) == (None, 2, None)
    assert run.levels[0].durations["plan"] == 0.25, "summed from its calls"


def test_the_version_of_a_level_changes_with_all_that_can_be_seen_of_it(tmp_path: Path) -> None:
    run, versions = Writing(tmp_path), list[str]()

    def look() -> None:
        versions.append(seen(run.path).levels[0].version)

    look()
    for step in (run.begin, run.plan, run.code, run.act, run.finish):
        step()
        look()
    assert len(set(versions)) == len(versions)
    run.solve()
    look()
    assert versions[-1] == versions[-2], "the next level does not change it"


def test_sums_are_those_of_the_books(finished_run: Path) -> None:
    summed = sums(Ledger(finished_run).records)
    usage = sum_usage(open_run(finished_run).records)
    assert {name: getattr(usage, name) for name in Usage.__dataclass_fields__} == {
        name: summed[name] for name in Usage.__dataclass_fields__
    }


def test_requests_whose_cost_or_tokens_are_not_known_are_counted() -> None:
    records: list[dict[str, Any]] = [
        {"cost": None, "input_tokens": None, "outcome": "lost"},
        {"cost": 0.5, "estimated": True},
        {},
    ]
    assert sum_usage(records) == Usage(requests=3, cost_usd=0.5, cost_unknown=2, estimated=1)


def test_what_answers_of_a_recording_cost_is_unknown(finished_run: Path, tmp_path: Path) -> None:
    path = tmp_path / finished_run.name
    shutil.copytree(finished_run, path)
    for name in ("metrics.jsonl", "calls.jsonl"):
        lines = (path / name).read_text(encoding="utf-8").replace('"openai/', '"replay//home/me/')
        (path / name).write_text(lines.replace('"cost": 0.001', '"cost": 0.0'), encoding="utf-8")
    assert not seen(finished_run).replayed
    run = seen(path)
    assert run.replayed
    assert (run.usage.requests, run.usage.cost_usd, run.usage.cost_unknown) == (6, 0.0, 6)
    assert [row.usage.cost_unknown for row in run.levels] == [2, 2, 2]
    assert run.usage.input_tokens == 600
    calls = [call for this in level(open_run(path), 1, None).rounds for call in this.calls]
    assert [(call.model, call.cost) for call in calls] == [("replay/big", None)]
    (path / "calls.jsonl").unlink()
    assert (seen(path).usage.cost_usd, seen(path).usage.cost_unknown) == (0.0, 6)


def test_answers_of_a_cache_are_a_recording_too() -> None:
    assert is_recorded({"model": "openai/big", "source": "cache"})
    assert not is_recorded({"model": "openai/big", "source": "resumed"})


ROUND = {"name": "spca_rounds"}
RUN = {"name": "simulation_runs"}
OK = {"ok": True}


def test_calls_end_when_they_are_logged_and_attempts_last_until_the_next_work() -> None:
    history = level_events(
        (100.0, "level_start", {}),
        (101.0, "counter_inc", ROUND),
        (104.0, "counter_inc", {"name": "planner_calls"}),
        (104.0, "planner_call", {"seconds": 2.0, "solve_s": 0.5, **OK}),
        (105.0, "coder_call", {"seconds": 0.5, "ok": False}),
        (106.0, "counter_inc", RUN),
        (109.5, "counter_inc", {"name": "coder_calls"}),
        (109.5, "coder_call", {"seconds": 1.0, **OK}),
        (110.0, "counter_inc", RUN),
        (112.0, "counter_inc", ROUND),
        (113.0, "planner_call", {"seconds": 0.5, "solve_s": 0.0, "ok": False}),
        (114.0, "counter_inc", RUN),
        (118.0, "level_summary", {}),
    )
    statuses = {(1, 1): "stuck", (1, 2): "runtime_error", (2, 1): ""}
    assert spans(history, 100.0, statuses, "aborted", None) == (
        Span("plan", 1, 1.5, 2.0),
        Span("solve", 1, 3.5, 0.5),
        Span("code", 1, 4.5, 0.5, "error"),
        Span("act", 1, 6.0, 2.5, "stuck"),
        Span("code", 1, 8.5, 1.0),
        Span("act", 1, 10.0, 2.0, "runtime_error"),
        Span("plan", 2, 12.5, 0.5, "error"),
        Span("act", 2, 14.0, 4.0),
    )
    acts = [span.seconds for span in spans(history, 100.0, statuses, "aborted", 2.25) if span.phase == "act"]
    assert acts == [2.25, 2.0, 2.25]


def test_clocks_that_go_backwards_give_no_negative_times() -> None:
    history = level_events((50.0, "counter_inc", RUN), (40.0, "coder_call", {"seconds": -1.0, **OK}))
    assert spans(history, 100.0, {}, "aborted", None) == (Span("act", 0, 0.0, 0.0), Span("code", 0, 0.0, 0.0))


def test_attempts_are_numbered_within_their_round() -> None:
    attempts: list[object] = [
        {"round": 1, "status": "stuck"},
        {"round": 2, "status": "stuck"},
        {"round": 2, "status": "success"},
        "x",
    ]
    found = attempt_statuses({"attempts": attempts})
    assert found == {(1, 1): "stuck", (2, 1): "stuck", (2, 2): "", (0, 1): ""}


def test_events_outside_of_levels_belong_to_none() -> None:
    assert histories([{"event": "x"}, {"event": "x", "level_index": True}, {"event": "x", "level_index": "1"}]) == {}


@pytest.fixture(scope="module")
def mixed_rows(mixed_run: Path) -> tuple[LevelRow, ...]:
    return seen(mixed_run).levels


def test_a_real_run_ends_as_it_should(mixed_rows: tuple[LevelRow, ...]) -> None:
    assert [row.outcome for row in mixed_rows] == ["success", "success", "fail"]
    assert mixed_rows[0].planner_calls > 1
    assert mixed_rows[2].rounds > 1


def test_the_spans_of_a_real_run_follow_one_another_within_their_level(mixed_rows: tuple[LevelRow, ...]) -> None:
    slack = 0.003  # events are stamped to the millisecond
    for row in mixed_rows:
        assert row.started is not None
        assert row.seconds is not None
        assert row.spans[0].start >= row.started - slack
        assert all(a.start + a.seconds <= b.start + slack for a, b in pairwise(row.spans))
        last = row.spans[-1]
        assert last.start + last.seconds <= row.started + row.seconds + slack


def test_the_spans_of_a_real_run_add_up_to_its_durations(mixed_rows: tuple[LevelRow, ...]) -> None:
    for row in mixed_rows:
        for phase, seconds in row.durations.items():
            summed = sum(span.seconds for span in row.spans if span.phase == phase)
            # An attempt is followed by the restoring of the state before it, which no event tells.
            assert summed == pytest.approx(seconds, abs=0.25 * row.attempts if phase == "act" else 0.01)


def test_every_attempt_of_a_real_run_has_its_span_and_status(mixed_run: Path, mixed_rows: tuple[LevelRow, ...]) -> None:
    files = open_run(mixed_run)
    for row, summary in zip(mixed_rows, files.finished, strict=True):
        trajectory = files.trajectory(summary)
        assert trajectory is not None
        told = [(span.round, span.status or "success") for span in row.spans if span.phase == "act"]
        assert told == [(attempt["round"], attempt["status"]) for attempt in trajectory["attempts"]]


def test_models_that_a_run_went_on_without_are_told() -> None:
    earlier = {"planner": "x/p", "planner_small": "x/s", "coder": "x/c", "finished": 1}
    (line,) = describe_continuations({"earlier_models": [earlier, "no object"]})
    assert line == "other models after 1 level; before: planner x/p, planner small x/s, coder x/c"
