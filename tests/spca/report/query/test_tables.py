"""Rows of the tables agree with the page, and with what docs/queries.md says of them."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spca.contracts import ProblemWriter, Status
from spca.report.query import database
from spca.report.query.tables import TABLES
from spca.report.read import lenient
from spca.report.read.run_files import open_run
from spca.runs.results import DraftDecision
from spca.writers.stored import StoredWriter
from tests.support.report.making import Writing
from tests.support.spca.doubles import ROOT


def table(path: Path, name: str) -> list[dict[str, Any]]:
    """A table of a run."""
    result = database.ask([open_run(path)], f'FROM "{name}"')
    return [dict(zip(result.names, row, strict=True)) for row in result.rows]


@pytest.mark.long
def test_every_row_has_a_value_for_every_column_and_begins_with_the_run(mixed_run: Path) -> None:
    for name in TABLES:
        entries = table(mixed_run, name)
        assert entries
        assert {entry["run_id"] for entry in entries} == {mixed_run.name}


def test_the_run(finished_run: Path) -> None:
    (run,) = table(finished_run, "runs")
    assert (run["state"], run["seed"], run["sandbox"]) == ("finished", 1, "strict")
    assert (run["planner"], run["planner_small"], run["coder"]) == ("openai/big", "openai/small", "openai/coder")
    assert (run["planned"], run["finished"], run["solved"]) == (3, 3, 2)
    assert (run["requests"], run["input_tokens"], run["output_tokens"]) == (6, 600, 60)
    assert run["cost_usd"] == 0.006
    assert isinstance(run["started"], datetime)
    assert (run["spca"], run["python"], run["upstream_rules"]) == ("0.1.0", "3.11.7", False)
    assert json.loads(run["settings"]) == {"seed": 1, "upstream_rules": False}


@pytest.mark.long
def test_levels(finished_run: Path) -> None:
    first, second, _ = table(finished_run, "levels")
    assert (first["level_index"], first["category"], first["env_id"]) == (1, "navigation", "MiniGrid-Empty-5x5-v0")
    assert (first["outcome"], second["outcome"], second["reason"]) == ("success", "fail", "stuck: it turns and turns")
    assert (first["rounds"], first["attempts"], first["planner_calls"], first["coder_calls"]) == (1, 1, 1, 1)
    assert (first["plan_s"], first["solve_s"], first["code_s"], first["act_s"]) == (0.25, 0.5, 0.125, 0.0625)
    assert (first["steps"], first["requests"], first["input_tokens"], first["cost_usd"]) == (2, 2, 200, 0.002)
    assert (first["library_actions"], second["library_actions"]) == (1, 1)
    assert (first["agent_file"], second["agent_file"]) == ("agents/agent_v1.py", "agents/fail_agent_v2.py")
    assert (first["corrections"], first["begun"]) == ([], 1)


@pytest.mark.long
def test_writers_and_the_levels_that_they_planned(tmp_path: Path) -> None:
    run, made = Writing(tmp_path), StoredWriter(ProblemWriter("go", "(define)", "pass"), 1, "x")
    for writer, considered in ((made, DraftDecision("go", "go/v001", "")), (replace(made, failed=2), None)):
        run.begin()
        run.carry_out("go/v001") if considered is None else run.act()
        run.finish(writers=[writer], considered=considered)
    (row,) = table(run.path, "writers")
    assert row.pop("run_id") == run.path.name
    counts = {"planned": 1, "failed": 2, "cases": 0, "late": 0, "invalid": 0}
    assert row == {"writer": "go/v001", "level_index": 1, "left_out": "", **counts}
    assert [level["writer"] for level in table(run.path, "levels")] == [None, "go/v001", None]


@pytest.mark.long
def test_a_level_under_way_and_those_to_come(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.solve()
    run.begin()
    run.plan()
    run.kill()
    levels = table(run.path, "levels")
    assert [level["outcome"] for level in levels] == ["success", "aborted", "pending"]
    assert [level["requests"] for level in levels] == [2, 1, 0]
    assert levels[2]["steps"] is None


def test_calls_are_requests(finished_run: Path) -> None:
    calls = table(finished_run, "calls")
    assert [call["number"] for call in calls] == [1, 2, 3, 4, 5, 6]
    assert [call["level_index"] for call in calls] == [1, 1, 2, 2, 3, 3]
    assert {call["phase"] for call in calls} == {"planner", "coder"}
    assert (calls[0]["env_id"], calls[0]["cost_usd"], calls[0]["outcome"]) == (
        "MiniGrid-Empty-5x5-v0",
        0.001,
        "answered",
    )
    assert calls[0]["started"] == datetime(2027, 1, 15, 8)


@pytest.mark.long
def test_events_have_everything_in_data(finished_run: Path) -> None:
    events = table(finished_run, "events")
    lines = [json.loads(line) for line in (finished_run / "metrics.jsonl").read_text().splitlines()]
    assert [json.loads(event["data"]) for event in events] == lines
    assert [event["number"] for event in events] == list(range(1, len(lines) + 1))
    ends = [event for event in events if event["event"] == "level_summary"]
    assert [(end["env_id"], end["outcome"]) for end in ends][:1] == [("MiniGrid-Empty-5x5-v0", "success")]
    assert next(event["ok"] for event in events if event["event"] == "coder_call") is True


def test_steps_of_every_attempt(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.begin()
    run.plan()
    run.code()
    run.act(Status.STUCK)
    run.code()
    run.act()
    run.finish()
    run.kill()
    steps = table(run.path, "steps")
    assert [(step["attempt"], step["step"], step["status"]) for step in steps] == [
        (1, 1, "stuck"),
        (1, 2, "stuck"),
        (2, 1, "success"),
        (2, 2, "success"),
    ]
    assert {(step["primitive"], step["env_id"]) for step in steps} == {("move_forward", "MiniGrid-Empty-5x5-v0")}
    recorded = json.loads((run.path / "trajectories/navigation_MiniGrid-Empty-5x5-v0.json").read_text())["attempts"]
    assert [step["line"] for step in steps] == [entry[2] for attempt in recorded for entry in attempt["steps"]]
    assert {step["agent"] for step in steps} == {attempt["agent"] for attempt in recorded}
    positions = [entry[1] for attempt in recorded for entry in attempt["steps"]]
    assert [step["plan_position"] for step in steps] == positions
    actions = [recorded[0]["plan"][at]["action"] if at < 1 else None for at in positions]
    assert [step["action"] for step in steps] == actions


def test_attempts_without_a_primitive_are_there_and_tell_the_line_that_raised(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.solve()
    run.fail()
    run.kill()
    path = run.path / "trajectories/navigation_MiniGrid-Empty-6x6-v0.json"
    trajectory = json.loads(path.read_text())
    stuck = trajectory["attempts"][0]
    stuck["steps"][-1][2] = 2
    raised = {"status": "runtime_error", "message": "KeyError: 'x'", "steps": [], "attempt": 2}
    raised["traceback"] = "Traceback (most recent call last):\n  agent_tmp.py, line 1, in go\n    x\nKeyError: 'x'"
    trajectory["attempts"] += [stuck | raised, stuck | {"agent": "agents/none.py", "attempt": 3}, "no attempt"]
    path.write_text(json.dumps(trajectory))
    good, last, error, lost, nothing = table(run.path, "attempts")
    assert (good["level_index"], good["status"], good["line"], good["exception"]) == (1, "success", None, None)
    assert (good["steps"], good["plan_position"], good["reward"]) == (2, 0, stuck["reward"])
    assert (last["attempt"], last["line"]) == (1, 2)
    assert (error["exception"], error["line"], error["steps"], error["plan_position"]) == ("KeyError", 1, 0, 0)
    assert (error["action"], error["args"]) == (stuck["plan"][0]["action"], stuck["plan"][0]["args"])
    assert (lost["status"], lost["line"], lost["agent"]) == ("stuck", None, "agents/none.py")
    assert (nothing["level_index"], nothing["env_id"], nothing["status"]) == (2, "MiniGrid-Empty-6x6-v0", None)


@pytest.mark.long
def test_the_documentation_has_every_column(finished_run: Path) -> None:
    told = (ROOT / "docs/queries.md").read_text().split("\n### ")[1:]
    for section, name in zip(told, TABLES, strict=True):
        lines = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| ")][1:]
        found = {column.strip(" `"): type_.strip() for type_, names in lines for column in names.split(",")}
        result = database.ask([open_run(finished_run)], f'FROM "{name}"')
        assert (section.split("\n")[0], found) == (name, dict(zip(result.names, result.types, strict=True)))
        assert next(iter(result.names)) == "run_id"


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([-1, 2**53 + 1, 2**63, 2**64, 10**400, 1e308, -0.0])
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=6,
)


DEFINED = ROOT / "spca/report/query/tables.sql"


def hostile(name: str) -> st.SearchStrategy[dict[str, Any]]:
    read = DEFINED.read_text().partition(f"CREATE MACRO files.{name}(")[2].partition(";")[0]
    keys = sorted({*re.findall(r'"(\w+)": ', read), "level", "index", "plan", "steps"})
    assert len(keys) > 10
    return st.dictionaries(st.sampled_from(keys), ANYTHING, max_size=8)


def spelled(text: str) -> str:
    return "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)


def moment(value: object) -> datetime | None:
    seconds = lenient.number(value)
    try:
        return None if seconds is None else datetime(1970, 1, 1) + timedelta(seconds=seconds)
    except OverflowError:
        return None


NUMBERS = st.sampled_from([2**53, -(2**53), -(2**53) - 1, 1e15, 0.5e-6, 1.5e-6, -2.5e-6, 253402300799.9999, 10**12]) | (
    st.floats(-1e11, 3e11) | st.integers(-(2**54), 2**54)
)


@pytest.mark.long
@settings(max_examples=4, deadline=None)
@given(values=st.lists(ANYTHING | NUMBERS, min_size=20))
@example(
    values=[1e999, float("nan"), "\0", "\ud800\udc00\ud800", -62135596800, 253402300800, -62135596800.1, True, "1"]
)
def test_a_value_of_another_type_than_its_column_is_missing(finished_run: Path, values: list[object]) -> None:
    columns = {"number": "number", "cost": "cost_usd", "error": "error", "estimated": "estimated", "started": "started"}
    with TemporaryDirectory() as home:
        path = Path(shutil.copytree(finished_run, Path(home) / finished_run.name))
        lines = [json.dumps(dict.fromkeys(columns, value)) + "\n" for value in values]
        (path / "calls.jsonl").write_text("".join(lines))
        files = open_run(path)
        result = database.ask([files], f"FROM calls SELECT {', '.join(columns.values())}")
        rows = list(result.rows)
    assert rows == [
        (
            lenient.whole(value),
            lenient.number(value),
            spelled(value) if isinstance(value, str) else None,
            value if isinstance(value, bool) else None,
            moment(value),
        )
        for value in (record["error"] for record in files.records)
    ]


@pytest.mark.long
def test_a_list_of_texts_holds_nothing_else(finished_run: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(finished_run, tmp_path / finished_run.name))
    trajectory = path / "trajectories/navigation_MiniGrid-Empty-5x5-v0.json"
    given = {"action": "go", "args": ["a", 1, None, "\ud800", ["b"], "\0"]}
    attempts = [{"plan": [given], "steps": [[0, 0, 1]], "status": "stuck"}]
    trajectory.write_text(json.dumps({"attempts": attempts}))
    assert table(path, "attempts")[0]["args"] == ["a", "\\ud800", "\0"]
    assert table(path, "steps")[0]["args"] == ["a", "\\ud800", "\0"]


def test_a_log_that_is_loaded_in_several_parts(
    finished_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BATCH", 2)
    path = Path(shutil.copytree(finished_run, tmp_path / finished_run.name))
    size = 17 << 10
    with (path / "metrics.jsonl").open("a") as log:
        log.writelines(json.dumps({"event": "long", "error": "x" * size, "value": at}) + "\n" for at in range(4))
    files = open_run(path)
    sql = "FROM events SELECT number, value, length(error) WHERE event = 'long' ORDER BY number"
    rows = list(database.ask([files], sql).rows)
    assert rows == [(len(files.events) - 3 + at, at, size) for at in range(4)]


@pytest.mark.long
@settings(max_examples=2, deadline=None)
@given(event=hostile("events"), call=hostile("calls"), attempt=hostile("steps"))
@example(event={"name": 10**400}, call={"error": "\ud800"}, attempt={"steps": [[7, 0, 0], [0, 9, 10**400], [], 1]})
@example(event={"name": 10**4000, "value": 10**19}, call={"started": -1e15}, attempt={"plan": [None, {"args": ["\0"]}]})
def test_whatever_files_hold_becomes_rows(
    finished_run: Path, event: dict[str, Any], call: dict[str, Any], attempt: dict[str, Any]
) -> None:
    with TemporaryDirectory() as home:
        path = Path(shutil.copytree(finished_run, Path(home) / finished_run.name))
        for name, record in (("metrics.jsonl", event), ("calls.jsonl", call)):
            with (path / name).open("a") as log:
                log.write(json.dumps(record) + "\n")
        trajectory = path / "trajectories/navigation_MiniGrid-Empty-5x5-v0.json"
        trajectory.write_text(json.dumps({"attempts": [attempt], "seed": attempt, "env_id": 5}))
        rows = ", ".join(f'(FROM "{name}" AS entry SELECT list(entry))' for name in TABLES[:-1])
        answers: list[Any] = list(database.ask([open_run(path)], f"SELECT {rows}").rows)
    (found,) = answers
    for entries in found:
        assert entries
        assert all(next(iter(entry)) == "run_id" for entry in entries)


@pytest.mark.long
def test_what_is_nested_as_deeply_as_can_be_read(finished_run: Path, tmp_path: Path) -> None:
    path = Path(shutil.copytree(finished_run, tmp_path / finished_run.name))
    with (path / "metrics.jsonl").open("a") as log:
        log.writelines(f'{{"event": "deep", "at": {"[" * depth}{"]" * depth}}}\n' for depth in range(100, 1000, 10))
    files = open_run(path)
    result = database.ask([files], "SELECT count(*) FROM events WHERE event = 'deep'")
    assert list(result.rows) == [(sum(event["event"] == "deep" for event in files.events),)]
