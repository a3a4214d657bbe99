"""The journal of finished tasks: cut anywhere, read again, refused where it belongs to something else."""

from __future__ import annotations

import fcntl
import json
import math
import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gridworld.backends import MultiGridBackend
from gridworld.errors import EvaluationError
from gridworld.evaluation.metrics import TaskBenchmarkResult
from gridworld.evaluation.running.worker_setup import WorkerSetup
from gridworld.runner.grid_runner import GridRunner
from spca.common.jobs.journal import Journal
from tests.support.gridworld.drawn import drawn

TASK = drawn("####\n#AG#\n####")
HEADER: dict[str, Any] = {
    "settings": {"backend": "minigrid", "timeout": 3},
    "tasks": [{"task_id": name, "file": f"{name}.json", "sha256": name} for name in "abc"],
    "started": "then",
}


def open_journal(
    path: Path, header: dict[str, Any], may_change: frozenset[str] = frozenset(), **flags: bool
) -> Journal[TaskBenchmarkResult]:
    return Journal(path, header, TaskBenchmarkResult.from_dict, may_change, terms=WorkerSetup.terms, **flags)


def result(*actions: int, index: int = 0) -> TaskBenchmarkResult:
    episode = GridRunner(MultiGridBackend(render_mode=None)).collect_demonstrations(TASK, actions)
    return replace(TaskBenchmarkResult.of(TASK, episode, 1), task_id="abc"[index])


def test_wherever_a_journal_is_cut_no_complete_line_is_lost(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    with open_journal(whole, HEADER) as journal:
        for index, actions in enumerate(([2], [], [0, 1, 2])):
            journal.add(index, result(*actions, index=index))
    content = whole.read_bytes()
    ends = [place for place, byte in enumerate(content) if byte == ord("\n")]
    assert len(ends) == 4
    cuts = {place + by for place in ends for by in (0, 1, 2, 40)} | set(range(0, len(content), 97)) | {len(content)}
    for cut in sorted(cut for cut in cuts if cut <= len(content)):
        path = tmp_path / "cut"
        path.write_bytes(content[:cut])
        with open_journal(path, {**HEADER, "started": "later"}, resume=True) as journal:
            kept = sum(end < cut for end in ends)
            assert len(journal.finished) == max(0, kept - 1)
            assert journal.header["started"] == ("then" if kept else "later")
            for index in range(3):
                if index not in journal.finished:
                    journal.add(index, result(*([2], [], [0, 1, 2])[index], index=index))
        assert path.read_bytes().replace(b'"later"', b'"then"') == content


def test_an_existing_journal_is_neither_continued_nor_lost_unasked(tmp_path: Path) -> None:
    path = tmp_path / "new" / "journal"
    with open_journal(path, HEADER) as journal:
        journal.add(0, result(2))
    with pytest.raises(EvaluationError, match="add --resume to go on, or --overwrite"):
        open_journal(path, HEADER)
    with open_journal(path, HEADER, resume=True) as journal:
        assert journal.finished[0].to_dict() == result(2).to_dict()
    with open_journal(path, HEADER, overwrite=True) as journal:
        assert not journal.finished
        journal.remove()
    assert not path.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"settings": {"backend": "multigrid", "timeout": 3}}, 'backend was "minigrid", now "multigrid"'),
        ({"settings": {"backend": "minigrid", "timeout": 3, "more": 1}}, "more was null, now 1"),
        ({"tasks": HEADER["tasks"][:1]}, "there were 3 tasks, now 1"),
        ({"tasks": [{**HEADER["tasks"][0], "sha256": "9"}, *HEADER["tasks"][1:]]}, r"'a' has changed \(a\.json\)"),
        ({"tasks": HEADER["tasks"][::-1]}, "task 'a' was there, now 'c'"),
    ],
)
def test_another_evaluation_is_refused_and_the_difference_named(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    path = tmp_path / "journal"
    open_journal(path, HEADER).close()
    before = path.read_bytes()
    with pytest.raises(EvaluationError, match=words):
        open_journal(path, {**HEADER, **change}, resume=True)
    assert path.read_bytes() == before


def test_some_settings_may_change(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    open_journal(path, HEADER).close()
    other = {**HEADER, "settings": {"backend": "minigrid", "timeout": 99}}
    with pytest.raises(EvaluationError, match="timeout was 3, now 99"):
        open_journal(path, other, resume=True)
    open_journal(path, other, frozenset({"timeout"}), resume=True).close()


def line_of(index: object, **changes: object) -> bytes:
    return json.dumps({"index": index, "result": {**result(2).to_dict(), **changes}}).encode()


@pytest.mark.parametrize(
    "line",
    [b"{}", b'{"index": 0, "result": {}}', b"[1]", b"\xff", b"3", b"[" * 20000]
    + [line_of(index) for index in (-3, 1, 3, math.inf, "x", None)]
    + [line_of(0, steps_taken=math.inf), line_of(0, task_id="b"), line_of(0, episode=[])],
)
def test_a_broken_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "journal"
    with open_journal(path, HEADER) as journal:
        journal.add(0, result(2))
    content = path.read_bytes()
    path.write_bytes(content + line + b"\n")
    with pytest.raises(EvaluationError, match="line 3 is broken"):
        open_journal(path, HEADER, resume=True)
    path.write_bytes(line + b"\n" + content)
    with pytest.raises(EvaluationError, match=r"line 1 is broken|not a journal"):
        open_journal(path, HEADER, resume=True)


@pytest.mark.parametrize("change", [{"settings": []}, {"tasks": 3}, {"tasks": [1, 2, 3]}, {"tasks": None}])
def test_a_header_of_other_types_is_of_another_evaluation(tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "journal"
    path.write_text(json.dumps({"journal": 1, **HEADER, **change}) + "\n", encoding="utf-8")
    with pytest.raises(EvaluationError, match="cannot go on"):
        open_journal(path, HEADER, resume=True)


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    """Once when writing, and not again when closing."""
    path = tmp_path / "journal"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_journal(path, HEADER) as journal:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 9, before[1]))
        try:
            with pytest.raises(EvaluationError, match="cannot be written: File too large"):
                journal.add(0, result(2))
            journal.close()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with open_journal(path, HEADER, resume=True) as journal:
        assert not journal.finished
    (tmp_path / "endless").symlink_to("/dev/zero")
    with pytest.raises(EvaluationError, match="not a regular file"):
        open_journal(tmp_path / "endless", HEADER, resume=True)


def test_a_journal_that_is_gone_once_it_can_be_had_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other evaluation ended, and removed it, between the opening and the locking of this one."""
    path = tmp_path / "journal"
    monkeypatch.setattr(fcntl, "flock", lambda *_: path.unlink())
    with pytest.raises(EvaluationError, match="has just finished"):
        open_journal(path, HEADER)


def test_two_evaluations_cannot_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    with open_journal(path, HEADER) as journal:
        with pytest.raises(EvaluationError, match="another evaluation is writing"):
            open_journal(path, HEADER, overwrite=True)
        journal.add(0, result(2))
    assert path.read_bytes().count(b"\n") == 2
    (tmp_path / "file").touch()
    with pytest.raises(EvaluationError, match="cannot be written"):
        open_journal(tmp_path / "file" / "journal", HEADER)
