"""The journal of finished levels: what is in it, and what a kill at any byte leaves."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.errors import SettingsError
from spca.errors import ResumeError
from spca.llm.calls.ledger import Ledger
from spca.runs.recording.finished import JOURNAL, FinishedLevels
from spca.runs.recording.folder import STATE, RunFolder
from spca.runs.recording.recorder import Recorder
from spca.runs.results import LevelResult
from tests.spca.runs.recording.test_recorder import FAILURE, SUCCESS, TASK, finished
from tests.support.processes import in_fork
from tests.support.report.finished_files import write_as_earlier_version
from tests.support.spca.doubles import AGENT
from tests.support.spca.starting import Log

BARREN = {"coder": {"model": "x/coder", "calls": 8, "began": "no"}}


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path, {"settings": {}, "sandbox": "strict"}, "[]", AGENT)


def written(path: Path, count: int) -> FinishedLevels:
    levels = FinishedLevels(path, 0)
    for number in range(count):
        levels.append({"index": number, "text": "ü" * number}, [f"do_{number}"])
    return levels


@given(count=st.integers(0, 6), kept=st.integers(0, 6), cut=st.integers(0, 400), more=st.binary(max_size=30))
def test_only_counted_lines_are_levels_whatever_follows_them(
    tmp_path_factory: pytest.TempPathFactory, count: int, kept: int, cut: int, more: bytes
) -> None:
    path = tmp_path_factory.mktemp("journal") / "finished.jsonl"
    levels = written(path, count)
    kept = min(kept, count)
    expected = list(levels)[:kept]
    if count:
        data = path.read_bytes()
        end = sum(map(len, data.splitlines(keepends=True)[:kept]))
        path.write_bytes(data[: max(end, cut)] + more)  # a process was killed, or the disk lost what was not counted

    again = FinishedLevels(path, kept)
    assert list(again) == expected
    assert len(again) == kept
    again.append({"index": "new"}, ())
    assert [summary["index"] for summary in FinishedLevels(path, kept + 1)] == [*range(kept), "new"]


def test_levels_are_read_by_number(tmp_path: Path) -> None:
    levels = written(tmp_path / "finished.jsonl", 5)
    assert levels[-1]["index"] == 4
    assert [summary["index"] for summary in levels[1:3]] == [1, 2]
    assert [summary["index"] for summary in reversed(levels)] == [4, 3, 2, 1, 0]
    assert [(summary["index"], actions) for summary, actions in levels.read_levels(3)] == [
        (3, ("do_3",)),
        (4, ("do_4",)),
    ]
    with pytest.raises(IndexError):
        levels[5]


def test_a_journal_that_lacks_a_level_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "finished.jsonl"
    written(path, 3)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ResumeError, match=r"finished\.jsonl cannot be read: it has 2 of 3 finished levels$"):
        FinishedLevels(path, 3)
    path.unlink()
    with pytest.raises(ResumeError, match=r"finished\.jsonl cannot be read: No such file"):
        FinishedLevels(path, 3)


def test_a_line_that_is_cut_off_does_not_count(tmp_path: Path) -> None:
    path = tmp_path / "finished.jsonl"
    levels = written(path, 1)

    def append_with_little_room() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 5, resource.RLIM_INFINITY))
        with pytest.raises(SettingsError, match="No space left"):
            levels.append({"index": 1}, [])
        assert len(levels) == 1

    in_fork(append_with_little_room)()


@pytest.mark.parametrize(
    "line", ["{}", "[]", '{"summary": [], "actions": []}', '{"summary": {}, "actions": 3}', "x", "[" * 100_000]
)
def test_a_line_that_is_no_level_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "finished.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises(ResumeError, match=r"finished\.jsonl cannot be read: line 1 is no finished level"):
        list(FinishedLevels(path, 1))


def test_a_summary_that_a_run_did_not_write_is_named(folder: RunFolder) -> None:
    finished(folder, SUCCESS, FAILURE)
    journal = folder.path / JOURNAL
    journal.write_text(journal.read_text().replace('"spca_rounds": 2', '"spca_rounds": "2"'), encoding="utf-8")
    with pytest.raises(ResumeError, match=r"finished\.jsonl cannot be read: .*: line 1\.counters\.spca_rounds: "):
        Recorder(folder, Ledger())


def test_a_kill_at_any_byte_of_a_level_leaves_the_levels_before_it(folder: RunFolder) -> None:
    finished(folder, SUCCESS)
    journal, state = folder.path / JOURNAL, folder.path / STATE
    one, counted = journal.read_bytes(), state.read_bytes()
    finished(folder, FAILURE)
    two = journal.read_bytes()
    assert two.startswith(one)
    state.write_bytes(counted)  # killed before the state file counted the second level
    for end in range(len(one), len(two) + 1, 7):
        journal.write_bytes(two[:end])
        again = Recorder(folder, Ledger())
        assert [summary["outcome"] for summary in again.finished] == ["success"]
    again.finish(TASK, 7, FAILURE, Log(folder))
    assert len(journal.read_bytes().splitlines()) == 2
    assert len(Recorder(folder, Ledger()).finished) == 2


def test_levels_that_are_taken_back_are_replaced(folder: RunFolder) -> None:
    barren = LevelResult(False, "no code", AGENT, None, (), unusable=BARREN)
    finished(folder, SUCCESS, barren, barren)
    recorder = Recorder(folder, Ledger())
    assert (len(recorder.finished), recorder.taken_back) == (1, 2)
    assert len(folder.read_finished()) == 3, "nothing is written before a level is finished"
    recorder.finish(TASK, 7, FAILURE, Log(folder))
    assert [summary["reason"] for summary in folder.read_finished()] == ["success", "stuck: it turns"]
    assert len((folder.path / JOURNAL).read_bytes().splitlines()) == 2


def test_a_run_of_the_version_before_the_journal_goes_on(folder: RunFolder) -> None:
    before, _ = finished(folder, SUCCESS, FAILURE)
    summaries = list(before.finished)
    write_as_earlier_version(folder.path)
    recorder = Recorder(folder, Ledger())
    assert list(recorder.finished) == summaries
    assert [level.level for level in recorder.load_solved_levels(wants=lambda *_: False)] == [TASK.spec]
    assert not (folder.path / JOURNAL).exists()

    recorder.finish(TASK, 7, FAILURE, Log(folder))
    assert "finished" not in json.loads((folder.path / STATE).read_text())
    again = Recorder(folder, Ledger())
    assert list(again.finished)[:2] == summaries
    assert len(again.finished) == 3
    assert [level.level for level in again.load_solved_levels()] == [TASK.spec]


def test_the_state_file_does_not_grow(folder: RunFolder) -> None:
    sizes: list[int] = []
    for _ in range(12):
        finished(folder, SUCCESS)
        sizes.append((folder.path / STATE).stat().st_size)
    assert sizes[-1] - sizes[0] <= len("12") * 2


def test_solved_levels_that_are_not_wanted_are_not_read(folder: RunFolder) -> None:
    recorder, _ = finished(folder, SUCCESS)
    asked: list[Any] = []

    def wants(name: str, actions: tuple[str, ...]) -> bool:
        asked.append((name, actions))
        return False

    (folder.path / "trajectories/navigation_MiniGrid-Empty-5x5-v0.json").unlink()
    assert list(recorder.load_solved_levels(wants=wants)) == []
    assert [actions for _, actions in asked] == [("go",)]
