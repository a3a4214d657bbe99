"""Jobs of any kind: done once each, by one process or several, whatever dies or refuses."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from spca.common.debug_log import LOG_NAME, hold_debug_log, log_to_folder, start_debug_log
from spca.common.errors import FileError
from spca.common.jobs.dispatch import do_what_is_left
from spca.common.jobs.journal import Journal
from spca.common.jobs.processes import unbroken
from spca.common.jobs.versions import find_versions
from spca.common.jobs.work import Job
from tests.support.spca.toy_jobs import Square, Squares, SquaresError
from tests.support.tiers import few

JOBS = [Job(index, str(index + 1), f"sha {index}") for index in range(5)]
HEADER: dict[str, Any] = {"settings": {"of": "numbers"}, "tasks": [job.to_dict() for job in JOBS]}


def journal(folder: Path, resume: bool = False) -> Journal[Square]:
    return Journal(folder / "journal", HEADER, lambda data: Square(**data), resume=resume, terms=Squares.terms)


def squares(setup: Squares, workers: int) -> dict[int, Square]:
    with journal(setup.folder) as kept:
        list(do_what_is_left(setup, JOBS, kept, workers))
        return dict(kept.finished)


@pytest.mark.parametrize("workers", [1, 2])
def test_each_job_is_done_and_workers_are_released(tmp_path: Path, workers: int) -> None:
    done = squares(Squares(tmp_path), workers)
    assert {index: result.value for index, result in done.items()} == {0: 1, 1: 4, 2: 9, 3: 16, 4: 25}
    assert len(list(tmp_path.glob("closed-*"))) == workers


def test_what_is_finished_is_not_done_again(tmp_path: Path) -> None:
    setup = Squares(tmp_path)
    with journal(tmp_path) as kept, closing(do_what_is_left(setup, JOBS, kept)) as doing:
        assert [next(doing), next(doing)] == [Square("1", 1), Square("2", 4)]
    torn = (tmp_path / "journal").read_bytes() + b'{"index": 2, "resu'
    (tmp_path / "journal").write_bytes(torn)
    with journal(tmp_path, resume=True) as kept:
        assert [result.task_id for result in do_what_is_left(setup, JOBS, kept)] == ["3", "4", "5"]
        assert list(do_what_is_left(Squares(tmp_path, needs="no_such_package"), JOBS, kept)) == []
    lines = [json.loads(line) for line in (tmp_path / "journal").read_text().splitlines()]
    assert [line.get("index") for line in lines] == [None, 0, 1, 2, 3, 4]


def test_a_line_that_an_interruption_follows_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with journal(tmp_path) as kept:
        monkeypatch.setattr(os, "fsync", interrupt)
        with pytest.raises(KeyboardInterrupt):
            list(do_what_is_left(Squares(tmp_path), JOBS, kept))
        assert kept.finished == {0: Square("1", 1)}
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(SquaresError, match="No space left"):
            list(do_what_is_left(Squares(tmp_path), JOBS, kept))
        assert kept.finished == {0: Square("1", 1)}


def interrupt(_descriptor: int) -> None:
    raise KeyboardInterrupt


def full(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(("dies", "value"), few(1, [(("3", ""), -1), (("", "3"), 9)]))
def test_a_job_that_kills_its_worker_is_begun_once_more(tmp_path: Path, dies: tuple[str, str], value: int) -> None:
    with hold_debug_log():
        start_debug_log()
        with log_to_folder(tmp_path):
            done = squares(Squares(tmp_path, *dies), 2)
    told = (tmp_path / LOG_NAME).read_text()
    assert re.search(r"INFO .*worker process \d+ ended with code -9, its job: .*id='3'", told)
    assert "squares 5\n" in told, "workers log into the file of their host"
    assert [done[index].value for index in range(5)] == [1, 4, value, 16, 25]
    assert ("code -9" in done[2].note) == (value < 0)


@pytest.mark.parametrize("workers", [1, 2])
def test_where_no_job_can_be_done_all_ends(tmp_path: Path, workers: int) -> None:
    with pytest.raises(SquaresError, match="nothing is squared today"):
        squares(Squares(tmp_path, refuses="2"), workers)
    (tmp_path / "journal").unlink()
    with pytest.raises(FileError if workers == 1 else SquaresError, match="cannot be read: no paper"):
        squares(Squares(tmp_path, breaks="2"), workers)


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        SquaresError, match=r"^the squaring needs no_such_package, which is not installed: .* -m pip install"
    ):
        squares(Squares(tmp_path, needs="no_such_package"), 2)


def test_messages_speak_of_the_jobs_at_hand(tmp_path: Path) -> None:
    with journal(tmp_path):
        with pytest.raises(SquaresError, match="a squaring was interrupted or still runs here; add --resume"):
            journal(tmp_path)
        with pytest.raises(SquaresError, match=r"another squaring is writing it; choose another --out$"):
            journal(tmp_path, resume=True)


def test_a_changed_job_is_named(tmp_path: Path) -> None:
    journal(tmp_path).close()
    changed = {**HEADER, "tasks": [{"task_id": "1", "sha256": "other"}, *HEADER["tasks"][1:]]}
    with pytest.raises(SquaresError, match="cannot go on: task '1' has changed; --overwrite"):
        Journal(tmp_path / "journal", changed, lambda data: Square(**data), resume=True, terms=Squares.terms)


def test_versions_are_of_what_is_installed() -> None:
    assert find_versions("numpy", "no-such-distribution").keys() == {"python", "numpy"}


def test_heavy_libraries_are_imported_on_use() -> None:
    program = (
        "import sys, spca.common.jobs.dispatch, spca.common.jobs.processes, spca.common.jobs.ray_engine, "
        "spca.common.jobs.progress, spca.common.jobs.versions; print(*{'rich', 'ray', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_what_a_worker_pays_for_it_receives_before_it_leaves(tmp_path: Path) -> None:
    with pytest.raises(SquaresError, match="enough was paid"):
        squares(Squares(tmp_path, pays="1"), 2)
    assert (tmp_path / "received").exists()


def test_elsewhere_nothing_is_put_off() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: came.append(number))
    try:
        with unbroken():
            signal.raise_signal(signal.SIGTERM)
            assert came == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
