"""Run folders as they are found: whole, cut anywhere, damaged, hostile, or being written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.files import lock_folder
from spca.errors import ReportError, ResumeError
from spca.report.read.run_files import _has_open, is_held, open_run
from spca.report.read.runs import overview
from spca.runs.recording.finished import JOURNAL
from spca.runs.recording.folder import LOCK, RunFolder
from tests.support.commands import only_run
from tests.support.report.making import IDS, Writing
from tests.support.spca.doubles import ROOT


@pytest.fixture
def damaged(finished_run: Path, tmp_path: Path) -> Path:
    """A copy to break."""
    (tmp_path / "outside.json").write_text('{"secret": 1}', encoding="utf-8")
    return shutil.copytree(finished_run, tmp_path / finished_run.name)


def test_a_whole_run_is_read_without_a_warning(finished_run: Path) -> None:
    files = open_run(finished_run)
    assert files.id == finished_run.name
    assert [task.env_id for task in files.tasks()] == list(IDS)
    assert [summary["outcome"] for summary in files.finished] == ["success", "fail", "success"]
    assert len(files.records) == 6
    assert files.events[0]["event"] == "level_start"
    trajectory = files.trajectory(files.finished[1])
    assert trajectory is not None
    assert trajectory["attempts"][0]["status"] == "stuck"
    source = files.source(trajectory["attempts"][0]["agent"])
    assert source is not None
    assert "def go(self, a):" in source
    assert (files.warnings, files.running) == ([], False)


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{", b"\xff"])
def test_a_folder_without_run_json_is_no_run(damaged: Path, content: bytes | None) -> None:
    (damaged / "run.json").unlink()
    if content is not None:
        (damaged / "run.json").write_bytes(content)
    with pytest.raises(ReportError, match=r"no run that can be looked at: run\.json: ") as caught:
        open_run(damaged)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["metrics.jsonl", "state/state.json", "state/curriculum.json"])
def test_a_file_that_no_memory_could_hold_is_left_out(damaged: Path, name: str) -> None:
    os.truncate(damaged / name, 1 << 40)
    files = open_run(damaged)
    overview(files)
    assert f"{name}: cannot be read: it has more than 256 MB" in files.warnings


@pytest.mark.long
def test_a_log_may_end_at_any_byte(tmp_path: Path) -> None:
    run = Writing(tmp_path, IDS[:1])
    run.begin()
    run.plan(error="a word: \u00fc")
    whole = (run.path / "metrics.jsonl").read_bytes()
    lines = [json.loads(line) for line in whole.splitlines()]
    for end in range(len(whole) + 1):
        (run.path / "metrics.jsonl").write_bytes(whole[:end])
        files = open_run(run.path)
        finished = whole[:end].count(b"\n")
        rest = whole[:end].rpartition(b"\n")[2]
        all_but_its_end = bool(rest) and whole[end : end + 1] == b"\n"
        torn = bool(rest) and not all_but_its_end
        assert files.warnings == ["metrics.jsonl: its last line is half-written, left out"] * torn
        assert list(files.events) == lines[: finished + all_but_its_end]


@pytest.mark.long
@given(data=st.data())
def test_a_damaged_log_never_stops_the_overview(
    tmp_path_factory: pytest.TempPathFactory, finished_run: Path, data: st.DataObject
) -> None:
    copy = shutil.copytree(finished_run, tmp_path_factory.mktemp("damaged") / "run")
    for name in ("metrics.jsonl", "calls.jsonl", "state/state.json", JOURNAL):
        text = (copy / name).read_bytes()
        start = data.draw(st.integers(0, len(text)), label=f"{name}: from")
        end = data.draw(st.integers(start, min(len(text), start + 400)), label="to")
        (copy / name).write_bytes(text[:start] + data.draw(st.binary(max_size=40), label="instead") + text[end:])
    run = overview(open_run(copy))
    assert [row.number for row in run.levels][:3] == [1, 2, 3]
    assert {row.outcome for row in run.levels} <= {"success", "fail", "aborted", "pending"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where in a JSON value something can be replaced."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, entry in inner for place in _places(entry, (*path, key)))]


def _with(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = _with(value[place[0]], place[1:], new)
    return copy


@pytest.mark.long
@given(data=st.data())
def test_values_of_any_type_are_read(
    tmp_path_factory: pytest.TempPathFactory, finished_run: Path, data: st.DataObject
) -> None:
    """Numbers that are none, texts that are lists: what is shown of the run is still of the right types."""
    copy = shutil.copytree(finished_run, tmp_path_factory.mktemp("odd") / "run")
    for name in ("run.json", "state/state.json", JOURNAL, "metrics.jsonl", "calls.jsonl", "state/curriculum.json"):
        lines = (copy / name).read_text(encoding="utf-8")
        values = [json.loads(line) for line in lines.splitlines()] if name.endswith("l") else [json.loads(lines)]
        chosen = data.draw(st.integers(0, len(values) - 1), label=name)
        place = data.draw(st.sampled_from(_places(values[chosen])[1:]), label="place")
        values[chosen] = _with(values[chosen], place, data.draw(JSON, label="instead"))
        (copy / name).write_text("".join(f"{json.dumps(value)}\n" for value in values), encoding="utf-8")
    for row in overview(open_run(copy)).levels:
        assert isinstance(row.reason + row.category + row.level + row.env_id, str)
        numbers = [row.seconds, row.started, row.steps, row.steps_total, row.rounds, row.usage.cost_usd, row.seed]
        assert all(0 <= value <= 2**53 for value in numbers if value is not None)
        assert all(span.start >= 0 and span.seconds >= 0 for span in row.spans)


def test_bad_lines_are_left_out_and_counted(damaged: Path) -> None:
    first, *rest = (damaged / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    junk = [b"[]\n", b"{\n", b"\x00\x00\n", b'{"a": 1}}\n', b"NaN\n", b"[" * 100_000 + b"\n", b"x\n"]
    (damaged / "metrics.jsonl").write_bytes(b"".join([first, *junk, *rest]))
    files = open_run(damaged)
    assert len(files.events) == 1 + len(rest)
    assert files.warnings[0] == "metrics.jsonl: line 2 is no JSON object, left out"
    assert files.warnings[-1] == "metrics.jsonl: 2 more lines like these"
    assert len(files.warnings) == 6


def test_bytes_that_are_not_utf8_are_replaced_and_told(damaged: Path) -> None:
    text = (damaged / "metrics.jsonl").read_bytes()
    (damaged / "metrics.jsonl").write_bytes(text.replace(b"Empty-5x5", b"Empty-\xff5", 1))
    (damaged / "agents/agent_v1.py").write_bytes(b"# \xfe\n")
    files = open_run(damaged)
    assert files.events[0]["level_name"] == "MiniGrid-Empty-\ufffd5-v0"
    assert files.source("agents/agent_v1.py") == "# \ufffd\n"
    assert files.warnings == [
        "metrics.jsonl: line 1 holds bytes that are not UTF-8",
        "agents/agent_v1.py: holds bytes that are not UTF-8",
    ]


@pytest.mark.parametrize("state", [None, b"", b"[]", b'{"finished": 3}', b'{"finished": [', b'{"levels": "3"}'])
def test_without_a_state_the_finished_levels_are_found_in_log_and_summaries(damaged: Path, state: bytes | None) -> None:
    whole = open_run(damaged).finished
    (damaged / "state/state.json").unlink()
    if state is not None:
        (damaged / "state/state.json").write_bytes(state)
    files = open_run(damaged)
    assert [s["index"] for s in files.finished] == [1, 2, 3]
    assert [s["reason"] for s in files.finished] == [s["reason"] for s in whole]
    assert files.warnings[0].startswith("state/state.json: ")
    (damaged / "metrics.jsonl").unlink()
    assert open_run(damaged).finished == whole


def test_a_curriculum_that_cannot_be_read_leaves_the_levels_that_were_played(damaged: Path) -> None:
    (damaged / "state/curriculum.json").write_text("[{}]", encoding="utf-8")
    files = open_run(damaged)
    assert files.tasks() == ()
    assert [row.env_id for row in overview(files).levels] == list(IDS)
    assert files.warnings == ['state/curriculum.json: categories[0]: "category_name" must be a non-empty line of text']


def test_missing_books_are_told_where_there_were_requests(damaged: Path) -> None:
    (damaged / "calls.jsonl").unlink()
    files = open_run(damaged)
    assert files.warnings == ["calls.jsonl: is missing"]
    assert overview(files).usage.input_tokens == 600


@pytest.mark.parametrize(
    "name",
    ["../outside.json", "{outside}", "llm/../../outside.json", "link.json", "linked/outside.json", "pipe", "agents"],
)
def test_names_lead_nowhere_but_to_files_of_the_folder(damaged: Path, name: str) -> None:
    outside = damaged.parent / "outside.json"
    (damaged / "link.json").symlink_to(outside)
    (damaged / "linked").symlink_to(damaged.parent)
    os.mkfifo(damaged / "pipe")
    name = name.format(outside=outside)
    files = open_run(damaged)
    assert files.source(name) is None
    assert files.read_object(name) is None
    assert files.trajectory({"trajectory": name}) is None
    assert len(files.warnings) == 1
    assert files.warnings[0].startswith(f"{name}: ")


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "\ud800", "nowhere.py", "loop"])
def test_names_that_no_file_has_are_missing(damaged: Path, name: str) -> None:
    (damaged / "loop").symlink_to(damaged / "loop")
    files = open_run(damaged)
    assert files.source(name) is None
    assert len(files.warnings) == 1


@pytest.mark.parametrize("summary", [{}, {"trajectory": None}, {"trajectory": 3}, {"trajectory": ""}])
def test_a_level_without_a_trajectory_has_none(finished_run: Path, summary: dict[str, Any]) -> None:
    files = open_run(finished_run)
    assert files.trajectory(summary) is None
    assert files.warnings == []


def test_hostile_names_in_the_state_are_not_followed(damaged: Path) -> None:
    text = (damaged / JOURNAL).read_text(encoding="utf-8")
    (damaged / JOURNAL).write_text(text.replace("trajectories/", "../" * 40 + "etc/"), encoding="utf-8")
    run = overview(open_run(damaged))
    assert [row.outcome for row in run.levels] == ["success", "fail", "success"]
    assert len(run.warnings) == 3
    assert all(line.endswith("lies outside of the run's folder") for line in run.warnings)


def test_a_run_is_running_while_a_process_holds_it(finished_run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(finished_run, tmp_path / "run")
    with lock_folder(folder, "run", LOCK):
        assert is_held(folder)
        files = open_run(folder)
    assert files.running
    assert overview(files).state == "running"
    assert not is_held(folder)
    assert not open_run(folder).running
    assert (folder / LOCK).exists()


def test_where_devices_have_two_numbers_the_holder_is_asked(tmp_path: Path) -> None:
    """As on btrfs: what ``/proc/locks`` says of the device is not what ``stat`` says."""
    lock = tmp_path / ".lock"
    me = str(os.getpid())
    with lock_folder(tmp_path, "run"):
        assert _has_open(me, lock.stat())
    assert not _has_open(me, lock.stat())
    assert not _has_open("-1", lock.stat())


def test_files_where_an_earlier_version_put_them_are_a_line(finished_run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(finished_run, tmp_path / "run")
    (folder / "state" / "state.json").rename(folder / "state.json")
    shutil.rmtree(folder / "state")
    with pytest.raises(ReportError, match=r"run has its files where an earlier version put them: begin a new run$"):
        open_run(folder)
    with pytest.raises(ResumeError, match=r"run has its files where an earlier version put them: begin a new run$"):
        RunFolder.open(tmp_path, "run")


def test_looking_takes_no_lock(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_a_run_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Whenever one looks: everything that is told is whole, and nothing that was there is gone."""
    code = (
        "import sys; from pathlib import Path; from tests.support.report.making import Writing\n"
        "run = Writing(Path(sys.argv[1]), [f'MiniGrid-Level{n}-v0' for n in range(12)])\n"
        "for n in range(12): (run.fail if n % 3 == 2 else run.solve)()\n"
        "run.end()"
    )
    seen, run = 0, None
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT) as writer:
        while writer.poll() is None:
            if not any(tmp_path.glob("*/run.json")):
                continue
            run = overview(open_run(only_run(tmp_path)))
            assert run.planned == 12
            assert run.finished >= seen
            assert [row.outcome for row in run.levels[: run.finished]] == (["success", "success", "fail"] * 4)[
                : run.finished
            ]
            assert not [line for line in run.warnings if "half-written" not in line]
            seen = run.finished
    assert writer.returncode == 0
    assert run is not None
    assert overview(open_run(only_run(tmp_path))).finished == 12


def test_a_run_that_has_only_just_begun_is_no_broken_one(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    files = open_run(run.path)
    assert (files.warnings, files.events, files.records, files.finished) == ([], (), (), [])
    assert {row.outcome for row in overview(files).levels} == {"pending"}
