"""Problem writers of a run as files: final with the commit of a level, and found again when it goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spca.code.regression import SolvedLevel
from spca.contracts import Checkpoint, PlanStep, ProblemWriter, Status
from spca.errors import ResumeError
from spca.llm.calls.ledger import Ledger
from spca.runs.curriculum import Task
from spca.runs.recording.folder import RunFolder
from spca.runs.recording.recorder import Recorder
from spca.runs.recording.writer_files import WriterFiles
from spca.runs.results import Attempt, DraftDecision, LevelResult, Round
from spca.writers.merit import reason_left_out
from spca.writers.stored import Case, Miss, StoredWriter, Tally, WriterFailure, writer_state
from tests.support.report.finished_files import read_finished, write_finished
from tests.support.spca.doubles import AGENT, SNAPSHOT, outcome_of, plan_of
from tests.support.spca.starting import Log

TASKS = [Task(n, "navigation", "Walk", "Empty", f"MiniGrid-Empty-{n}x{n}-v0") for n in (5, 6, 8)]
PLAN = replace(plan_of(PlanStep("go", ("a1",))), writer="go/v001")
FIRST = ProblemWriter("go", "(define (domain d))", "def make_problem(s):\n    return 'ü'\n")
SECOND = replace(FIRST, source="def make_problem(s):\n    return 'more'\n")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path, {"settings": {}, "sandbox": "strict"}, "[]", AGENT)


def solved(missed: tuple[WriterFailure, ...] = ()) -> LevelResult:
    attempt = Attempt(0, 1, Checkpoint((0, 1), "hash"), PLAN, AGENT, outcome_of(Status.SUCCESS))
    return LevelResult.from_rounds([Round(PLAN, (attempt,), "", snapshot=SNAPSHOT, missed=missed)], AGENT)


def case(task: Task) -> Case:
    start = Checkpoint((0, 1), "hash")
    return Case(writer_state(SNAPSHOT, task.info()), PLAN.problem, SolvedLevel(task.spec, 7, start, PLAN))


def recorder(folder: RunFolder) -> Recorder:
    made = Recorder(folder, Ledger())
    made.enter("navigation")
    return made


def finish(made: Recorder, folder: RunFolder, task: Task, *writers: StoredWriter, **more: Any) -> dict[str, Any]:
    return made.finish(task, 7, more.pop("result", solved()), Log(folder), writers, **more)


def written(folder: RunFolder) -> dict[str, str]:
    files = (path for path in (folder.path / "pddl/writers").rglob("*") if path.is_file())
    return {str(path.relative_to(folder.path / "pddl/writers")): path.read_text() for path in files}


def seen(stored: StoredWriter) -> tuple[Any, ...]:
    """All of a writer that is kept; of a plan that is its steps."""
    cases = [(each.state, each.problem, each.solved.level.name, each.solved.checkpoint) for each in stored.cases]
    return stored.writer, stored.label, stored.born, stored.solved, stored.failed, cases


def test_a_run_that_goes_on_has_the_same_writers(folder: RunFolder) -> None:
    born = StoredWriter(FIRST, 1, "navigation/a", (case(TASKS[0]),))
    grown = replace(born, cases=(*born.cases, case(TASKS[1])), solved=1, failed=2)
    first = recorder(folder)
    finish(first, folder, TASKS[0], born, considered=DraftDecision("go", "go/v001", ""))
    finish(first, folder, TASKS[1], grown)
    for again in (recorder(folder).writers, WriterFiles(folder, folder.state()["writers"]).stored):
        assert [seen(each) for each in again] == [seen(grown)]
        assert again[0].cases[1].solved.plan.steps == PLAN.steps
    assert written(folder).keys() == {"go/v001.py", "go/v001.pddl", "go/v001.json"}
    assert folder.read_json("pddl/writers/go/v001.json")["solved"] == 1


def test_strikes_and_their_reason_are_kept_with_the_run(folder: RunFolder) -> None:
    tallies = {"doors": Tally(failed=2), "navigation": Tally(solved=1, late=1)}
    struck = StoredWriter(FIRST, 1, "navigation/a", (case(TASKS[0]),), 1, 2, 1, 0, tallies)
    finish(recorder(folder), folder, TASKS[0], struck, considered=DraftDecision("go", "go/v001", ""))
    (again,) = recorder(folder).writers
    assert (again.failed, again.late, again.invalid, again.tallies) == (2, 1, 0, tallies)
    why = "2 wrong plans in categories of which it has solved no level"
    assert (reason_left_out(again, "doors"), reason_left_out(again, "navigation")) == (why, "")
    assert folder.read_json("pddl/writers/go/v001.json")["left_out"] == why


def test_a_run_that_counted_no_strikes_goes_on(folder: RunFolder) -> None:
    born = StoredWriter(FIRST, 1, "navigation/a", (case(TASKS[0]),), 3, 1)
    finish(recorder(folder), folder, TASKS[0], born, considered=DraftDecision("go", "go/v001", ""))
    state = folder.state()
    for name in ("late", "invalid", "tallies", "left_out"):
        del state["writers"][0][name]
    folder.commit(state)
    (again,) = recorder(folder).writers
    assert seen(again) == seen(born)
    assert (again.late, again.invalid, again.tallies) == (0, 0, {})


def test_every_version_stays_but_the_newest_is_gone_on_with(folder: RunFolder) -> None:
    first = recorder(folder)
    old = StoredWriter(FIRST, 1, "navigation/a", (case(TASKS[0]),))
    new = StoredWriter(SECOND, 2, "navigation/b", (case(TASKS[0]), case(TASKS[1])))
    finish(first, folder, TASKS[0], old, considered=DraftDecision("go", "go/v001", ""))
    beaten = replace(old, failed=1)
    finish(first, folder, TASKS[1], beaten, new, considered=DraftDecision("go", "go/v002", ""))
    again = recorder(folder)
    assert folder.read_json("pddl/writers/go/v001.json")["failed"] == 1
    assert [seen(each) for each in again.writers] == [seen(new)]
    files = written(folder)
    assert (files["go/v001.py"], files["go/v002.py"]) == (FIRST.source, SECOND.source)


def test_what_a_killed_level_left_is_gone_when_the_run_goes_on(folder: RunFolder) -> None:
    first = recorder(folder)
    born = StoredWriter(FIRST, 1, "navigation/a", (case(TASKS[0]),))
    finish(first, folder, TASKS[0], born, considered=DraftDecision("go", "go/v001", ""))
    before, state = written(folder), (folder.path / "state/state.json").read_bytes()
    grown = replace(born, solved=1)
    other = StoredWriter(replace(SECOND, name="other"), 1, "navigation/b", (case(TASKS[1]),))
    finish(first, folder, TASKS[1], grown, other, considered=DraftDecision("other", "other/v001", ""))
    (folder.path / "state/state.json").write_bytes(state)  # killed before the commit
    (folder.path / "pddl/writers/go/.torn.tmp").touch()
    again = recorder(folder)
    assert [seen(each) for each in again.writers] == [seen(born)]
    finish(again, folder, TASKS[1], born)
    assert written(folder) == before


def test_a_summary_says_who_planned_who_did_not_and_what_became_of_the_new_one(folder: RunFolder) -> None:
    first, missed = recorder(folder), WriterFailure("shy/v001", Miss.REFUSED, "not mine")
    told = finish(
        first, folder, TASKS[0], result=solved((missed,)), considered=DraftDecision("go", "", "go: it differs")
    )
    assert told["writers"] == {
        "plan": "go/v001",
        "missed": [{"label": "shy/v001", "miss": "refused", "reason": "not mine"}],
        "offered": "go",
        "accepted": "",
        "rejected": "go: it differs",
    }
    assert recorder(folder).rejection == "go: it differs"
    finish(first, folder, TASKS[1])
    assert recorder(folder).rejection == "go: it differs"
    finish(first, folder, TASKS[2], considered=DraftDecision("go", "go/v001", ""))
    assert recorder(folder).rejection == ""


def test_a_trajectory_has_what_was_planned_for_and_by_whom(folder: RunFolder) -> None:
    told = finish(recorder(folder), folder, TASKS[0])
    trajectory = folder.read_json(told["trajectory"])
    assert trajectory["snapshot"]["mission"] == SNAPSHOT.mission
    assert trajectory["snapshot"]["level"]["skill"] == "Walk"
    assert [attempt["writer"] for attempt in trajectory["attempts"]] == ["go/v001"]


def test_a_run_of_before_there_were_writers_goes_on(folder: RunFolder) -> None:
    first = recorder(folder)
    finish(first, folder, TASKS[0])
    state = folder.state()
    (summary,) = read_finished(folder.path)
    del state["writers"], summary["writers"]
    folder.commit(state)
    write_finished(folder.path, [summary])
    again = recorder(folder)
    assert (again.writers, again.rejection) == ((), "")


def test_a_missing_file_is_named(folder: RunFolder) -> None:
    born = StoredWriter(FIRST, 1, "navigation/a", (case(TASKS[0]),))
    finish(recorder(folder), folder, TASKS[0], born, considered=DraftDecision("go", "go/v001", ""))
    (folder.path / "pddl/writers/go/v001.pddl").unlink()
    with pytest.raises(ResumeError, match=r"pddl/writers/go/v001\.pddl"):
        recorder(folder)


def test_a_name_that_begins_anew_has_its_own_source(folder: RunFolder) -> None:
    first = recorder(folder)
    for task, writer in zip(TASKS, (FIRST, SECOND), strict=False):  # a run without curriculum forgets its writers
        born = StoredWriter(writer, 1, "navigation/a", (case(task),))
        finish(first, folder, task, born, considered=DraftDecision("go", "go/v001", ""))
    assert [each.writer for each in recorder(folder).writers] == [SECOND]


def test_what_went_with_another_library_is_not_gone_on_with(tmp_path: Path) -> None:
    settings = {"settings": {"carry_over": False}, "sandbox": "strict"}
    folder = RunFolder.create(tmp_path, settings, "[]", AGENT)
    first = recorder(folder)
    finish(first, folder, TASKS[0], considered=DraftDecision("go", "", "go: it differs"))
    finish(first, folder, TASKS[1], considered=DraftDecision("other", "other/v001", ""))
    finish(first, folder, TASKS[2], considered=DraftDecision("go", "", "go: it differs"))
    assert first.enter("doors")
    finish(first, folder, replace(TASKS[0], category="doors"))
    again = Recorder(folder, Ledger())
    assert again.rejection == ""
    assert again.accepted == {"", "other/v001"}
