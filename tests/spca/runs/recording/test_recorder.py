"""Finished levels as files, the commit that makes them final, and totals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from spca.contracts import AgentSource, Checkpoint, PlanStep, Status, TrustedPDDL
from spca.llm.calls.ledger import Ledger, Place, Record, RequestOutcome
from spca.runs.curriculum import Task
from spca.runs.recording.folder import RunFolder
from spca.runs.recording.recorder import Recorder, library_size, totals
from spca.runs.recording.writer_files import read_solved_level
from spca.runs.results import Attempt, LevelResult
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import AGENT, outcome_of, plan_of
from tests.support.spca.starting import Log

BETTER = AgentSource(AGENT.text + "\n    def go(self, a):\n        yield 2\n\n    def _help(self):\n        return 1\n")
PLAN = plan_of(PlanStep("go", ("a1",)))
TASK = Task(0, "navigation", "Walk", "Empty", "MiniGrid-Empty-5x5-v0")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path, {"settings": {}, "sandbox": "strict"}, "[]", AGENT)


def attempt(status: Status, agent: AgentSource = BETTER, start: tuple[int, ...] = (), number: int = 1) -> Attempt:
    return Attempt(1, number, Checkpoint(start, "hash"), PLAN, agent, outcome_of(status, codes=(2, 2)))


SUCCESS = LevelResult(
    True, "success", BETTER, PLAN, (attempt(Status.STUCK), attempt(Status.SUCCESS, start=(0, 1), number=2))
)
FAILURE = LevelResult(False, "stuck: it turns", AGENT, PLAN, (attempt(Status.STUCK),))
NO_PLAN = LevelResult(False, "no valid plan after 9 calls: x", AGENT, None, ())


def finished(folder: RunFolder, *results: LevelResult) -> tuple[Recorder, Log]:
    recorder, log = Recorder(folder, Ledger(folder.path)), Log(folder)
    for result in results:
        recorder.enter("navigation")
        recorder.finish(TASK, 7, result, log)
    return recorder, log


def test_a_solved_level_gives_the_library_and_the_pddl_to_go_on_with(folder: RunFolder) -> None:
    recorder, _ = finished(folder, SUCCESS)
    assert recorder.agent == BETTER
    assert recorder.trusted == TrustedPDDL(PLAN.domain, PLAN.problem)
    assert folder.read_text("agents/agent_v1.py") == BETTER.text
    assert folder.read_text("pddl/domain_v1.pddl") == PLAN.domain
    (summary,) = recorder.finished
    assert (summary["steps"], summary["steps_total"]) == (4, 4)
    assert summary["library"] == {"actions": 1, "methods": 9, "bytes": len(BETTER.text)}


def test_a_failed_level_leaves_the_library_and_saves_its_attempt_with_a_prefix(folder: RunFolder) -> None:
    recorder, _ = finished(folder, FAILURE)
    assert recorder.agent == AGENT
    assert recorder.trusted is None
    assert folder.read_text("agents/fail_agent_v1.py") == BETTER.text
    assert folder.read_text("pddl/fail_problem_v1.pddl") == PLAN.problem
    assert not (folder.path / "agents/agent_v1.py").exists()
    assert recorder.finished[0]["library"]["actions"] == 0


def test_a_failure_keeps_the_pddl_of_the_last_success(folder: RunFolder) -> None:
    recorder, _ = finished(folder, SUCCESS, FAILURE, NO_PLAN)
    assert recorder.agent == BETTER
    assert recorder.trusted == TrustedPDDL(PLAN.domain, PLAN.problem)
    assert folder.state()["agent"] == "agents/agent_v1.py"
    assert not (folder.path / "pddl/fail_domain_v3.pddl").exists()
    assert recorder.finished[2]["steps"] == 0


def test_everything_is_on_disk_before_the_commit_and_the_event_after_it(folder: RunFolder) -> None:
    _, log = finished(folder, SUCCESS, FAILURE)
    assert log.told == [("summary", 0), ("end", 1), ("summary", 1), ("end", 2)]


def test_a_recorder_that_is_made_again_goes_on_where_the_last_one_stopped(folder: RunFolder) -> None:
    recorder, _ = finished(folder, SUCCESS, FAILURE)
    again = Recorder(folder, Ledger(folder.path))
    assert (again.agent, again.trusted, again.category) == (recorder.agent, recorder.trusted, "navigation")
    assert list(again.finished) == list(recorder.finished)
    assert len(again.finished) == 2


def test_a_new_category_forgets_trusted_pddl_but_not_the_agent(folder: RunFolder) -> None:
    recorder, _ = finished(folder, SUCCESS)
    seen = [(recorder.enter(name), recorder.trusted is None) for name in ("navigation", "doors", "doors")]
    assert seen == [(False, False), (True, True), (False, True)]
    assert recorder.agent == BETTER


def test_without_carrying_over_a_new_category_begins_as_the_run_did(tmp_path: Path) -> None:
    settings = {"settings": {"carry_over": False}, "sandbox": "strict"}
    folder = RunFolder.create(tmp_path, settings, "[]", AGENT)
    recorder, log = finished(folder, SUCCESS)
    assert (recorder.agent, len(list(recorder.load_solved_levels()))) == (BETTER, 1)
    assert recorder.enter("doors")
    assert (recorder.agent, list(recorder.load_solved_levels())) == (AGENT, [])
    recorder.finish(TASK, 7, FAILURE, log)
    again = Recorder(folder, Ledger(folder.path))
    assert (again.agent, again.category, list(again.load_solved_levels())) == (AGENT, "doors", [])


def test_without_reuse_no_pddl_is_trusted(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, {"settings": {"reuse": False}, "sandbox": "strict"}, "[]", AGENT)
    recorder, _ = finished(folder, SUCCESS)
    assert (recorder.agent, recorder.trusted) == (BETTER, None)


def test_the_first_category_keeps_the_pddl_that_the_run_began_with(tmp_path: Path) -> None:
    trusted = TrustedPDDL("(d)", "(p)")
    folder = RunFolder.create(tmp_path, {"settings": {}, "sandbox": "strict"}, "[]", AGENT, trusted)
    recorder = Recorder(folder, Ledger())
    assert not recorder.enter("navigation")
    assert recorder.trusted == trusted


def test_a_trajectory_holds_every_attempt_and_the_episode_that_counts(folder: RunFolder) -> None:
    finished(folder, SUCCESS)
    recorded = folder.read_json("trajectories/navigation_MiniGrid-Empty-5x5-v0.json")
    assert (recorded["env_id"], recorded["seed"], recorded["solved"]) == (TASK.env_id, 7, True)
    assert recorded["primitives"] == [0, 1, 2, 2]
    assert recorded["checkpoint"] == {"length": 2, "state_hash": "hash"}
    assert [a["status"] for a in recorded["attempts"]] == ["stuck", "success"]
    for each in recorded["attempts"]:
        assert folder.read_text(each["agent"]) == BETTER.text


def test_solved_levels_come_back_for_the_gate(folder: RunFolder) -> None:
    recorder, _ = finished(folder, FAILURE, SUCCESS)
    (level,) = recorder.load_solved_levels()
    assert (level.level, level.seed) == (TASK.spec, 7)
    assert level.checkpoint == Checkpoint((0, 1), "hash")
    assert level.plan.steps == PLAN.steps
    assert list(recorder.load_solved_levels(since=2)) == []
    assert read_solved_level(folder.read_json("trajectories/navigation_MiniGrid-Empty-5x5-v0.json")) == level


def test_totals_add_up_and_hold_no_times(folder: RunFolder) -> None:
    recorder, _ = finished(folder, SUCCESS, FAILURE, NO_PLAN)
    summary = recorder.totals(7, 5)
    assert (summary["run_id"], summary["seed"], summary["sandbox"]) == (folder.run_id, 7, "strict")
    assert all(level["sandbox"] == "strict" for level in recorder.finished)
    assert (summary["levels"], summary["finished"], summary["solved"]) == (5, 3, 1)
    assert (summary["steps"], summary["steps_total"]) == (6, 6)
    assert summary["counters"] == {"spca_rounds": 6, "planner_calls": 9, "coder_calls": 12}
    assert summary["categories"] == {
        "navigation": {"levels": 3, "solved": 1, "rounds": 6, "planner_calls": 9, "coder_calls": 12, "steps": 6}
    }
    assert [f["reason"] for f in summary["failures"]] == ["stuck: it turns", "no valid plan after 9 calls: x"]
    assert not [key for key in summary if "time" in key or "elapsed" in key]


def test_the_books_are_summed_by_level_category_and_run(folder: RunFolder) -> None:
    """Requests of a killed try at a level count for that level, those of an unfinished one for the run."""
    books = Ledger(folder.path)
    recorder, log = Recorder(folder, books), Log(folder)
    spend(books, 1, "navigation", "0.5", RequestOutcome.ANSWERED)
    spend(books, 1, "navigation", None, RequestOutcome.UNKNOWN)
    spend(books, 1, "navigation", "0", RequestOutcome.REJECTED)
    recorder.enter("navigation")
    first = recorder.finish(TASK, 7, SUCCESS, log)["usage"]
    spend(books, 2, "navigation", "0.25", RequestOutcome.ANSWERED)
    second = recorder.finish(TASK, 7, FAILURE, log)["usage"]
    spend(books, 3, "doors", "0.125", RequestOutcome.ANSWERED)

    def told(usage: Mapping[str, Any]) -> tuple[int, int, float, int]:
        return usage["requests"], usage["answered"], usage["cost_usd"], usage["cost_unknown"]

    assert (told(first), told(second)) == ((3, 1, 0.5, 1), (1, 1, 0.25, 0))
    assert told(folder.info()["usage"]) == (4, 2, 0.75, 1)  # as of the last finished level
    whole = recorder.report(7, 5)["usage"]
    assert told(whole) == (5, 3, 0.875, 1)
    assert {name: told(usage) for name, usage in whole["categories"].items()} == {
        "navigation": (4, 2, 0.75, 1),
        "doors": (1, 1, 0.125, 0),
    }
    assert folder.read_json("summary.json")["usage"] == folder.info()["usage"] == json.loads(json.dumps(whole))
    assert folder.info()["settings"] == {}
    assert Recorder(folder, Ledger(folder.path)).usage() == whole


def spend(ledger: Ledger, index: int, category: str, cost: str | None, outcome: RequestOutcome) -> None:
    place = Place("run", index, category, f"level-{index}", 7)
    usd = None if cost is None else Decimal(cost)
    record = Record(ledger.next_number, place, 1, ref("m"), "", "k", 0.0, cost=usd, outcome=outcome)
    ledger.begin(record)
    ledger.end(record)


def test_a_run_without_requests_has_used_nothing(folder: RunFolder) -> None:
    usage = Recorder(folder, Ledger(folder.path)).usage()
    assert (usage["requests"], usage["cost_usd"], usage["categories"]) == (0, 0.0, {})


def test_totals_of_nothing() -> None:
    assert totals([], 5)["library"] is None


def test_a_librarys_size() -> None:
    assert library_size(AGENT) == {"actions": 0, "methods": 7, "bytes": len(AGENT.text.encode())}
