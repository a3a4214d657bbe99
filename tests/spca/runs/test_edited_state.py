"""A ``state/state.json`` that was edited or damaged: a run goes on with it, or one line names a file of the run.

The file is in the form of the version before the journal, which holds all that the new files hold.
"""

from __future__ import annotations

import copy
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from metrics_logger import MetricsLogger
from spca.code import library
from spca.code.regression import SolvedLevel
from spca.common.errors import UserError
from spca.contracts import AgentSource, Checkpoint, PlanStep, ProblemWriter, Status
from spca.evaluation.learned import read_learned
from spca.llm.calls.ledger import Ledger
from spca.runs.curriculum import Task
from spca.runs.recording.folder import STATE, RunFolder
from spca.runs.recording.recorder import Recorder, library_size
from spca.runs.results import Attempt, DraftDecision, LevelResult, Round
from spca.writers.stored import Case, StoredWriter, writer_state
from tests.support.report.finished_files import write_as_earlier_version
from tests.support.spca.doubles import ROOT, SNAPSHOT, outcome_of, plan_of
from tests.support.spca.starting import Log
from tests.support.tiers import long

INITIAL = AgentSource((ROOT / "agent.py").read_text(encoding="utf-8"))
CURRICULUM = '[{"category_name": "navigation", "skill": "s", "levels": [{"name": "l", "configs": ["x-v0", "y-v0"]}]}]'
PLAN = replace(plan_of(PlanStep("go", ("a1",))), writer="go/v001")
WRITER = ProblemWriter("go", "(define (domain d))", "def make_problem(s):\n    return 'x'\n")

REPLACED: Final[tuple[Any, ...]] = (
    *(None, True, 0, -1, 1.5, float("nan"), 10**30, "", "x", "a\0b", "\ud800", "../../x", "/etc/hostname", "n" * 5000),
    *("run.json", "agents/agent_v0.py", "state", [], [[]], ["a\0b"], [None], {}, {"a": {}}, {"": "\0"}),
)
"""What is written in place of a value."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run with a solved and a failed level, trusted PDDL and a problem writer."""
    runs = tmp_path_factory.mktemp("run") / "runs"
    folder = RunFolder.create(runs, {"settings": {}, "sandbox": "strict"}, CURRICULUM, INITIAL)
    recorder, log = Recorder(folder, Ledger()), Log(folder)
    solved, failed = (Task(n, "navigation", "Walk", "l", env_id) for n, env_id in enumerate(("x-v0", "y-v0")))
    start = Checkpoint((0, 1), "hash")
    attempt = Attempt(0, 1, start, PLAN, INITIAL, outcome_of(Status.SUCCESS))
    case = Case(writer_state(SNAPSHOT, solved.info()), PLAN.problem, SolvedLevel(solved.spec, 7, start, PLAN))
    writer = StoredWriter(WRITER, 1, "navigation/x-v0", (case,), solved=1)
    success = LevelResult.from_rounds([Round(PLAN, (attempt,), "", snapshot=SNAPSHOT)], INITIAL)
    recorder.enter("navigation")
    recorder.finish(solved, 7, success, log, [writer], DraftDecision("go", "go/v001", ""))
    recorder.finish(failed, 7, LevelResult(False, "stuck: it turns", INITIAL, PLAN, ()), log, [writer])
    write_as_earlier_version(folder.path)
    return folder


def go_on(folder: RunFolder) -> None:
    """Read what a run, and an evaluation of it, goes on with."""
    begun = RunFolder.load_begun(folder.path.parent, folder.run_id)
    recorder = Recorder(begun.folder, Ledger())
    assert recorder.accepted is not None
    assert recorder.rejection is not None
    list(recorder.load_solved_levels())
    recorder.totals(7, 2)
    library_size(recorder.agent)
    library.action_listing(recorder.agent.text, "go")
    with MetricsLogger(folder.path, folder.run_id) as logger:
        logger.repair(recorder.finished)
    recorder.enter("another")
    read_learned(folder.run_id, folder.path.parent, folder.path, ROOT)


def refused(folder: RunFolder, text: str | bytes) -> str:
    """The line with which a state is refused, "" where the run goes on."""
    (folder.path / STATE).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    (folder.path / "metrics.jsonl").unlink(missing_ok=True)
    try:
        go_on(folder)
    except UserError as error:
        line = str(error)
        assert "\n" not in line
        assert str(folder.path) in line
        return line
    return ""


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values in a JSON value, of a list's elements only the first."""
    if path:
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value[:1]) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places(part, (*path, key))


def edited(state: dict[str, Any], path: tuple[Any, ...], value: Any = ...) -> str:
    """The text of a state with another value at a place, without one that is ``...``."""
    copied = copy.deepcopy(state)
    inside: Any = copied
    for key in path[:-1]:
        inside = inside[key]
    if value is ...:
        del inside[path[-1]]
    else:
        inside[path[-1]] = value
    return json.dumps(copied)


def edits(state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield systematic edits of a state: what they are, and the text."""
    for path in places(state):
        yield f"{path} left out", edited(state, path)
        for value in REPLACED:
            yield f"{path} = {value!a:.20}", edited(state, path, value)


def check(run: RunFolder, tmp_path: Path, every: int) -> dict[str, str]:
    """Try each ``every``-th edit of a copy of the run; return the refusals."""
    folder = RunFolder(tmp_path / "runs" / run.run_id)
    shutil.copytree(run.path, folder.path)
    state = run.state()
    assert refused(folder, json.dumps(state)) == ""
    lines = {}
    for what, text in list(edits(state))[::every]:
        try:
            if line := refused(folder, text):
                lines[what] = line
        except Exception as error:  # whatever it is, the edit that showed it is named
            raise AssertionError(what) from error
    return lines


@pytest.mark.parametrize(("every", "least"), [(7, 50), long(1, 400)])
def test_an_edited_state_is_one_line(run: RunFolder, tmp_path: Path, every: int, least: int) -> None:
    assert len(check(run, tmp_path, every)) > least


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (
            ("writers", 0, "name"),
            "a\0b",
            "state.json cannot be read: its state is not what a run has left: writers.0.name",
        ),
        (("writers", 0, "version"), [1], "state.json cannot be read: its state is not what a run has left: writers.0"),
        (
            ("writers", 0, "name"),
            ...,
            "state.json cannot be read: its state is not what a run has left: writers.0.name",
        ),
        (("writers", 0, "cases", 0), "run.json", "run.json cannot be read"),
        (("writers", 0, "cases", 0), "\ud800", "writers.0.cases.0: "),
        (("writers",), {"a": 1}, "writers: Input should be a valid list"),
        (
            ("finished", 0, "counters", "planner_calls"),
            "3",
            "finished.0.counters.planner_calls: Input should be a valid",
        ),
        (("finished", 0, "trajectory"), "state/curriculum.json", "curriculum.json cannot be read: it holds no object"),
        (("agent",), "run.json", "run.json is no agent"),
        (("agent",), "nowhere.py", "nowhere.py cannot be read: No such file"),
        (("trusted",), {"domain": ""}, "trusted.problem: Field required"),
        (("trusted", "more"), 1, "trusted.more: Extra inputs are not permitted"),
        (("finished",), ..., "state.json cannot be read: it has no 'levels'"),
        (("finished",), {}, "finished: Input should be a valid list"),
    ],
)
def test_the_line_names_file_and_field(
    run: RunFolder, tmp_path: Path, path: tuple[Any, ...], value: Any, said: str
) -> None:
    folder = RunFolder(tmp_path / "runs" / run.run_id)
    shutil.copytree(run.path, folder.path)
    assert said in refused(folder, edited(run.state(), path, value))


def test_a_state_that_was_damaged_is_one_line(run: RunFolder, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / run.run_id)
    shutil.copytree(run.path, folder.path)
    whole = json.dumps(run.state()).encode()
    cuts = [whole[: len(whole) * part // 20] for part in range(20)]
    others = [
        b"[]",
        b"null",
        b"3",
        b"\xff" + whole,
        b"\0" + whole,
        b"[" * 100_000,
        b'{"finished": ' + b"9" * 5000 + b"}",
    ]
    for text in (*cuts, *others):
        assert f"{STATE} cannot be read: " in refused(folder, text)


def test_texts_that_a_run_may_hold_are_kept(run: RunFolder, tmp_path: Path) -> None:
    """An error of generated code may print half a surrogate pair."""
    folder = RunFolder(tmp_path / "runs" / run.run_id)
    shutil.copytree(run.path, folder.path)
    assert refused(folder, edited(run.state(), ("finished", 0, "reason"), "ValueError: \ud800")) == ""
