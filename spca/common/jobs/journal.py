"""Journal of finished jobs, with one line of JSON per job, kept until all results are written elsewhere.

Each line is on disk before the next result is handled. Therefore ``--resume`` continues after the last finished job,
even if the program was killed. If the last line is incomplete, the line is dropped and its job is done again.
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
"""Version of the format of journals."""
_TERMS: Final = JobMessages()


class Journal(Generic[R]):
    """An open journal, locked so that no second program writes the same output.

    Args:
        path: path of the file.
        header: a dict with ``settings``, and with ``tasks``, a list of :meth:`Job.to_dict`. If an existing journal is
            continued, its header must be the same.
        read: makes a result from the dict that its ``to_dict`` returned; raises KeyError, TypeError or ValueError.
        may_change: names of settings that may differ from those of the existing journal.
        resume: whether to continue an existing journal, if there is one.
        overwrite: whether to start over even if there is a journal.
        terms: words for error messages, and the type of errors.

    Attributes:
        header: the header with which the jobs were started.
        finished: index of a job -> its result.

    Raises:
        SPCAError: a journal exists, but neither ``resume`` nor ``overwrite`` is set; the journal belongs to other jobs,
            is broken, or is in use; or the journal cannot be written. The type is ``terms.error``.
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
        self._read_result = read
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
                self._load(may_change)
            else:
                self._file.truncate(0)
            if self._file.seek(0, os.SEEK_END) == 0:
                self._write({"journal": _VERSION, **self.header})
        except BaseException:
            self.close()  # which releases the lock
            raise

    def add(self, index: int, result: R) -> None:
        """Write the result of the job ``index`` into the journal.

        Raises:
            SPCAError: the journal cannot be written.
        """
        # Set before the line is written, because an interruption right after the write must not lose the entry.
        self.finished[index] = result
        try:
            self._write({"index": index, "result": result.to_dict()})
        except SPCAError:
            del self.finished[index]
            raise

    def remove(self) -> None:
        """Delete the file, once the results are written elsewhere."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file, which releases the lock; ignore errors, because failed writes were reported before."""
        with suppress(OSError):
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _lock(self) -> None:
        """Lock the file, and check that the path still leads to the locked file.

        Raises:
            SPCAError: another program holds the lock, or has removed the file since this process opened the file.
        """
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise self._make_lock_error("is writing it") from error
        try:
            is_same_file = os.path.samestat(os.fstat(self._file.fileno()), os.stat(self.path))
        except OSError:
            is_same_file = False
        if not is_same_file:
            raise self._make_lock_error("has just finished here")

    def _make_lock_error(self, how: str) -> SPCAError:
        terms = self._terms
        return terms.error(f"{self.path}: another {terms.whole} {how}; choose another {terms.flag}")

    def _write(self, line: Mapping[str, Any]) -> None:
        """Append a line of JSON, and wait until the line is on disk."""
        try:
            self._file.write((json_text(line) + "\n").encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._terms.error(f"{self.path}: cannot be written: {error.strerror or error}") from error

    def _load(self, may_change: frozenset[str]) -> None:
        """Read the header and the finished jobs of an existing journal; do nothing if the journal is empty.

        Raises:
            SPCAError: the journal belongs to other jobs, or is broken.
        """
        complete_lines = whole_lines(self.path)
        if not complete_lines:
            return
        header_line, *lines = complete_lines
        header = self._parse_line(header_line, 1)
        if header.pop("journal", None) != _VERSION:
            raise self._terms.error(f"{self.path}: is not a journal of this version; {self._terms.again}")
        changed = difference(header, self.header, may_change)
        if changed:
            raise self._terms.error(f"{self.path}: cannot go on: {changed}; {self._terms.again}")
        tasks = self.header["tasks"]
        self.header = header
        for number, line in enumerate(lines, start=2):
            data = self._parse_line(line, number)
            try:
                index = int(data["index"])
                result = self._read_result(data["result"])
                is_known_task = 0 <= index < len(tasks) and tasks[index]["task_id"] == result.task_id
                if not is_known_task:
                    raise ValueError(f"there is no task {index} called {result.task_id!a}")
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise self._make_broken_error(number, error) from error
            self.finished[index] = result
        _LOG.info("%s: goes on after %d of %d jobs", self.path, len(self.finished), len(tasks))

    def _parse_line(self, line: bytes, number: int) -> dict[str, Any]:
        """Return the JSON object in line ``number`` (from 1)."""
        try:
            return dict(json.loads(line))
        except (ValueError, TypeError, RecursionError) as error:
            raise self._make_broken_error(number, error) from error

    def _make_broken_error(self, number: int, error: Exception) -> SPCAError:
        """Return the error to raise for a broken line; ``number`` counts from 1."""
        why = f"line {number} is broken ({error!s:.100})"
        return self._terms.error(f"{self.path}: {why}; {self._terms.again}")


def difference(began: Mapping[str, Any], now: Mapping[str, Any], may_change: frozenset[str]) -> str:
    """Return the first difference between the settings or tasks of two headers, in words; "" if there is none.

    Args:
        began: header of the existing journal.
        now: header of the present program.
        may_change: names of settings whose difference does not matter.
    """
    old = _dict_or_empty(began.get("settings"))
    new = now["settings"]
    for name in sorted({*old, *new} - may_change):
        before = json_text(old.get(name))
        after = json_text(new.get(name))
        if before != after:
            return f"{name} was {before:.80}, now {after:.80}"
    tasks = began.get("tasks")
    old_tasks = [_dict_or_empty(task) for task in tasks] if isinstance(tasks, list) else []
    return _find_changed_task(old_tasks, now["tasks"])


def _find_changed_task(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> str:
    """Return the first difference between two lists of tasks, in words; "" if there is none."""
    for before, after in zip(old, new, strict=False):
        if before.get("task_id") != after["task_id"]:
            return f"task {before.get('task_id')!a} was there, now {after['task_id']!a}"
        if before.get("sha256") != after.get("sha256"):
            file = f" ({after['file']})" if "file" in after else ""
            return f"task {after['task_id']!a} has changed{file}"
    if len(old) != len(new):
        return f"there were {len(old)} tasks, now {len(new)}"
    return ""


def _dict_or_empty(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
