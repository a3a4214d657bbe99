"""Journal of finished jobs, one line each, kept until their results are written.

Each line is on disk before the next result is handled, so ``--resume`` continues after the last finished job, however
the program ended. A torn last line is dropped, and its job is done again.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Generic, Self

from spca.common.encoding import json_text
from spca.common.errors import SPCAError
from spca.common.files import whole_lines
from spca.common.jobs.work import JobMessages, R

_LOG: Final = logging.getLogger(__name__)

_VERSION: Final = 1
_TERMS: Final = JobMessages()


class Journal(Generic[R]):
    """An open journal, locked against a second program with the same output.

    Args:
        path: of the file.
        header: ``settings``, and ``tasks`` from :meth:`Job.to_dict`; on resuming they must match the journal's own.
        read: the inverse of the results' ``to_dict``; it raises KeyError, TypeError or ValueError.
        may_change: names of settings that need not match.
        resume: continue an existing journal, if there is one.
        overwrite: start over, even if there is a journal.

    Attributes:
        header: the header with which the jobs were started.
        finished: job index -> result.

    Raises:
        SPCAError: the type that ``terms`` names: a journal exists and neither flag is given; it belongs to other jobs,
            is broken or in use; or it cannot be written.
    """

    def __init__(
        self,
        path: Path,
        header: Mapping[str, Any],
        read: Callable[[Mapping[str, Any]], R],
        may_change: frozenset[str] = frozenset(),
        *,
        resume: bool = False,
        overwrite: bool = False,
        terms: JobMessages = _TERMS,
    ) -> None:
        self.path = path
        self.header = dict(header)
        self.finished: dict[int, R] = {}
        self._of = read
        self._terms = terms
        if path.exists() and not (resume or overwrite):
            begun = f"{terms.a_whole} was interrupted or still runs here"
            raise terms.error(f"{path}: {begun}; add --resume to go on, or --overwrite")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = open(path, "a+b")  # noqa: SIM115 - held open until close()
        except OSError as error:
            raise terms.error(f"{path}: cannot be written: {error.strerror or error}") from error
        try:
            if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode):
                raise terms.error(f"{path}: is not a regular file; choose another {terms.flag}")
            self._lock()
            if resume and not overwrite:
                self._read(may_change)
            else:
                self._file.truncate(0)
            if self._file.seek(0, os.SEEK_END) == 0:
                self._write({"journal": _VERSION, **self.header})
        except BaseException:  # closing the file releases the lock
            self.close()
            raise

    def add(self, index: int, result: R) -> None:
        """Store the result of a job.

        Raises:
            SPCAError: it cannot be written.
        """
        self.finished[index] = result  # before the line, which an interruption may follow at once
        try:
            self._write({"index": index, "result": result.to_dict()})
        except SPCAError:
            del self.finished[index]
            raise

    def remove(self) -> None:
        """Delete the file: the results are written elsewhere."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the lock; a failed write was reported when it happened and is not tried again."""
        with suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise self._make_lock_error("is writing it") from error
        try:
            same = os.path.samestat(os.fstat(self._file.fileno()), os.stat(self.path))
        except OSError:
            same = False
        if not same:
            raise self._make_lock_error("has just finished here")

    def _make_lock_error(self, how: str) -> SPCAError:
        terms = self._terms
        return terms.error(f"{self.path}: another {terms.whole} {how}; choose another {terms.flag}")

    def _write(self, line: Mapping[str, Any]) -> None:
        try:
            self._file.write((json_text(line) + "\n").encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._terms.error(f"{self.path}: cannot be written: {error.strerror or error}") from error

    def _read(self, may_change: frozenset[str]) -> None:
        complete = whole_lines(self.path)
        if not complete:
            return
        header, *lines = complete
        began = self._parse_line(header, 1)
        if began.pop("journal", None) != _VERSION:
            raise self._terms.error(f"{self.path}: is not a journal of this version; {self._terms.again}")
        different = difference(began, self.header, may_change)
        if different:
            raise self._terms.error(f"{self.path}: cannot go on: {different}; {self._terms.again}")
        tasks = self.header["tasks"]
        self.header = began
        for number, line in enumerate(lines, start=2):
            data = self._parse_line(line, number)
            try:
                index = int(data["index"])
                result = self._of(data["result"])
                if not (0 <= index < len(tasks) and tasks[index]["task_id"] == result.task_id):
                    raise ValueError(f"there is no task {index} called {result.task_id!a}")
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise self._broken(number, error) from error
            self.finished[index] = result
        _LOG.info("%s: goes on after %d of %d jobs", self.path, len(self.finished), len(tasks))

    def _parse_line(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            return dict(json.loads(line))
        except (ValueError, TypeError, RecursionError) as error:
            raise self._broken(number, error) from error

    def _broken(self, number: int, error: Exception) -> SPCAError:
        why = f"line {number} is broken ({error!s:.100})"
        return self._terms.error(f"{self.path}: {why}; {self._terms.again}")


def difference(began: Mapping[str, Any], now: Mapping[str, Any], may_change: frozenset[str]) -> str:
    """Return the first difference between two headers that matters, in words, or ""."""
    old = _dict(began.get("settings"))
    new = now["settings"]
    for name in sorted({*old, *new} - may_change):
        before = json_text(old.get(name))
        after = json_text(new.get(name))
        if before != after:
            return f"{name} was {before:.80}, now {after:.80}"
    tasks = began.get("tasks")
    old_tasks = [_dict(task) for task in tasks] if isinstance(tasks, list) else []
    return _different_tasks(old_tasks, now["tasks"])


def _different_tasks(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> str:
    for before, after in zip(old, new, strict=False):
        if before.get("task_id") != after["task_id"]:
            return f"task {before.get('task_id')!a} was there, now {after['task_id']!a}"
        if before.get("sha256") != after.get("sha256"):
            file = f" ({after['file']})" if "file" in after else ""
            return f"task {after['task_id']!a} has changed{file}"
    if len(old) != len(new):
        return f"there were {len(old)} tasks, now {len(new)}"
    return ""


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
