"""The summaries of a run's finished levels, which lie in a journal on the disk and not in memory.

``state/finished.jsonl`` has a line for each finished level: ``{"summary": ..., "actions": ...}``. A level is finished
once ``state/state.json`` counts its line. Further lines, whole or torn, were written by a process that was killed; the
next line overwrites them.
"""

from __future__ import annotations

import errno
import json
import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, overload

from spca.common.encoding import json_text
from spca.common.errors import FileError
from spca.common.files import explain_failure, open_to_read, write_atomic
from spca.errors import ResumeError

JOURNAL: Final = "state/finished.jsonl"


class FinishedLevel(NamedTuple):
    """A finished level in the journal.

    Attributes:
        summary: the summary of the level.
        actions: names of the actions of the last plan, in order; None if an earlier version of the program recorded
            the level.
    """

    summary: dict[str, Any]
    actions: tuple[str, ...] | None


class FinishedLevels(Sequence[Mapping[str, Any]]):
    """The summaries of the finished levels of a run, in order; each access reads the journal.

    Args:
        path: the journal.
        count: number of finished levels; further lines of the journal do not count.
        earlier: the summaries in the state file of an earlier version of the program, which had no journal.

    Raises:
        ResumeError: the journal cannot be read, or has too few lines.
    """

    def __init__(self, path: Path, count: int, earlier: Sequence[dict[str, Any]] | None = None) -> None:
        self._path = path
        self._earlier = None if earlier is None else list(earlier[:count])
        self._ends = array("Q")  # position after each line
        if earlier is None:
            self._find_lines(count)

    @property
    def is_in_journal(self) -> bool:
        """Whether the journal holds the levels, not the state file of an earlier version of the program."""
        return self._earlier is None

    def append(self, summary: Mapping[str, Any], actions: Sequence[str]) -> None:
        """Write a line for one more finished level; it counts once the state file counts it.

        Raises:
            SettingsError: the file system refuses.
        """
        if self._earlier is not None:
            self._write_journal(self._earlier)
        line = json_text({"summary": summary, "actions": list(actions)}).encode() + b"\n"
        end = self._ends[-1] if self._ends else 0
        with explain_failure(f"cannot write {self._path}"):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o644)
            with open(descriptor, "wb", buffering=0) as file:
                file.truncate(end)  # lines that do not count
                file.seek(end)
                if file.write(line) != len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
        self._ends.append(end + len(line))

    def drop(self, count: int) -> None:
        """Drop the last ``count`` levels; the file does not change before the next level is written."""
        if self._earlier is not None:
            del self._earlier[len(self._earlier) - count :]
        else:
            del self._ends[len(self._ends) - count :]

    def read_levels(self, first: int = 0) -> Iterator[FinishedLevel]:
        """Yield the finished levels in order, without the first ``first`` levels.

        Raises:
            ResumeError: the journal cannot be read.
        """
        if self._earlier is not None:
            for summary in self._earlier[first:]:
                yield FinishedLevel(summary, None)
            return
        if first >= len(self._ends):
            return
        begin = self._ends[first - 1] if first else 0
        with self._open() as file:
            file.seek(begin)
            lines = islice(file, len(self._ends) - first)
            for number, line in enumerate(lines, first + 1):
                yield self._parse(line, number)

    def locate(self, number: int) -> tuple[Path, str]:
        """Return the file that holds a level, and the place in the file; ``number`` counts from 1."""
        if self._earlier is None:
            return self._path, f"line {number}"
        return self._path.with_name("state.json"), f"finished.{number - 1}"

    def __len__(self) -> int:
        return len(self._ends if self._earlier is None else self._earlier)

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return (level.summary for level in self.read_levels())

    @overload
    def __getitem__(self, index: int) -> Mapping[str, Any]: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Mapping[str, Any]]: ...

    def __getitem__(self, index: int | slice) -> Mapping[str, Any] | Sequence[Mapping[str, Any]]:
        positions = range(len(self))[index]
        if isinstance(positions, range):
            return [self[position] for position in positions]
        return next(self.read_levels(positions)).summary

    def _open(self) -> Any:
        try:
            return open_to_read(self._path)
        except FileError as error:
            raise ResumeError(str(error)) from error

    def _find_lines(self, count: int) -> None:
        """Find the first ``count`` lines of the journal."""
        if not count:
            return
        end = 0
        with self._open() as file:
            for line in islice(file, count):
                end += len(line)
                if line.endswith(b"\n"):
                    self._ends.append(end)
        if len(self._ends) < count:
            raise ResumeError(f"{self._path} cannot be read: it has {len(self._ends)} of {count} finished levels")

    def _parse(self, line: bytes, number: int) -> FinishedLevel:
        try:
            entry = json.loads(line)
            summary = entry["summary"]
            actions = entry["actions"]
            if not isinstance(summary, dict):
                raise TypeError("its summary is no object")
            return FinishedLevel(summary, None if actions is None else tuple(map(str, actions)))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = f"line {number} is no finished level: {type(error).__name__}: {error}"
            raise ResumeError(f"{self._path} cannot be read: {what}") from error

    def _write_journal(self, summaries: Sequence[Mapping[str, Any]]) -> None:
        """Write the journal of a run whose state file held the summaries."""
        lines: list[bytes] = []
        end = 0
        for summary in summaries:
            lines.append(json_text({"summary": summary, "actions": None}).encode() + b"\n")
            end += len(lines[-1])
            self._ends.append(end)
        write_atomic(self._path, b"".join(lines))
        self._earlier = None
