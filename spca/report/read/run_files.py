"""Reader of a run's folder in any state: the run may be going on or killed, and files may be damaged.

A file that cannot be read is left out, and a line of ``warnings`` names the file. Only a folder without ``run.json`` is
refused. A file name that is recorded in another file is followed only if it leads into the folder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from spca.common.errors import FileError, SettingsError
from spca.common.files import MAX_RUN_FILE_BYTES, read_bytes
from spca.errors import CurriculumError, ReportError
from spca.report.read.lenient import parse_lenient, table, text, whole
from spca.report.read.spans import ENDED, History, histories
from spca.runs import curriculum
from spca.runs.curriculum import Task
from spca.runs.recording.finished import JOURNAL
from spca.runs.recording.folder import CURRICULUM, LOCK, STATE, layout_fault
from spca.runs.recording.writer_files import FOLDER as WRITERS

_LISTED: Final = 5
"""Largest number of warnings about single lines of a file."""
_LOCKS: Final = Path("/proc/locks")
"""The kernel's list of file locks."""


class RunFiles:
    """The files of a run. The attributes hold the state at the time when the folder was opened; methods read further
    files.

    Attributes:
        path: the folder's absolute path, without symbolic links.
        id: name of the folder.
        running: whether a process held the lock of the folder.
        info: content of ``run.json``.
        events: events of ``metrics.jsonl``.
        records: lines of the ledger, ``calls.jsonl``.
        finished: summaries of finished levels.
        warnings: lines about files that could not be read; later reads append to this list.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.id = self.path.name
        self.warnings: list[str] = []
        # The order matters if the run goes on meanwhile. The lock is checked first, so that a run that ends now does
        # not seem to have ended in the middle of a level. The state is read last, so that it has every level whose end
        # is in the log.
        self.running = is_held(self.path)
        self.events = self._lines("metrics.jsonl")
        self.records = self._lines("calls.jsonl")
        self.info = self._info()
        self.finished = self._read_finished()
        requests = table(self.info.get("usage")).get("requests")
        for name, recorded in {"metrics.jsonl": self.finished, "calls.jsonl": requests}.items():
            if recorded and not (self.path / name).exists():
                self._warn(f"{name}: is missing")

    @property
    def seed(self) -> int | None:
        return whole(table(self.info.get("settings")).get("seed"))

    @cached_property
    def level_under_way(self) -> int | None:
        """Number of the level that the run is working on; None if the run is not going on."""
        if not self.running:
            return None
        for event in reversed(self.events):
            if event.get("event") == "level_start":
                return whole(event.get("level_index"))
        return None

    @cached_property
    def histories(self) -> Mapping[int, History]:
        """The history of each level that the log mentions, by number of the level."""
        return histories(self.events)

    @cached_property
    def summaries(self) -> dict[int, dict[str, Any]]:
        """Summaries of finished levels, by number of the level."""
        summaries: dict[int, dict[str, Any]] = {}
        for position, summary in enumerate(self.finished, 1):
            number = whole(summary.get("index")) or position
            summaries[number] = summary
        return summaries

    def tasks(self) -> tuple[Task, ...]:
        """Return all levels of the run in order, begun or not; () if the curriculum cannot be read."""
        settings = table(self.info.get("settings"))
        start = text(settings.get("start_category")) or None
        selections = (text(settings.get(name)) for name in ("only", "levels"))
        only = [selection for selection in selections if selection]
        source = self.source(CURRICULUM)
        if source is None:
            return ()
        try:
            return curriculum.parse(source, CURRICULUM).select(start_category=start, only=only).tasks()
        except (CurriculumError, SettingsError) as error:
            self._warn(str(error))
            return ()

    def trajectory(self, summary: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the content of the trajectory file that a level's summary names; None if the file cannot be read."""
        name = text(summary.get("trajectory"))
        return self.read_object(name) if name else None

    def writer(self, label: str) -> dict[str, Any]:
        """Return the content of the JSON file of a problem writer's version; {} if the file cannot be read."""
        return self.read_object(f"{WRITERS}/{label}.json") or {}

    def _warn(self, line: str) -> None:
        if line not in self.warnings:
            self.warnings.append(line)

    def _info(self) -> dict[str, Any]:
        """Return the content of ``run.json``.

        Raises:
            ReportError: another version of the program wrote the folder, or ``run.json`` cannot be read.
        """
        if fault := layout_fault(self.path):
            raise ReportError(fault)
        info = self.read_object("run.json")
        if info is None:
            raise ReportError(f"{self.path} is no run that can be looked at: {self.warnings[-1]}")
        return info

    def _read_finished(self) -> list[dict[str, Any]]:
        """Return the summaries of finished levels, in order.

        Read the summaries from the journal, or from the state file of an earlier version of the program. If the state
        file cannot be read, use summary files and the log.
        """
        state = self.read_object(STATE)
        levels = whole(state.get("levels")) if state is not None and "finished" not in state else None
        if levels is not None:
            journal = self._read_journal(levels)
            if len(journal) == levels:
                return journal
            self._warn(f"{JOURNAL}: has {len(journal)} of {levels} finished levels")
        if state is not None and isinstance(state.get("finished"), list):
            summaries = [summary for summary in state["finished"] if isinstance(summary, dict)]
            if len(summaries) < len(state["finished"]):
                self._warn(f"{STATE}: a finished level is no JSON object, left out")
            return summaries
        if state is not None and levels is None:
            self._warn(f"{STATE}: lists no finished levels")
        # A level that was aborted and then begun again may have left two summaries. The finished one counts.
        paths = sorted(self.path.glob("summaries/summary_*.json"))
        written = filter(None, (self.read_object(f"summaries/{path.name}") for path in paths))
        logged = [event for event in self.events if event.get("event") == "level_summary"]
        by_number: dict[int, dict[str, Any]] = {}
        for summary in (*written, *logged):
            number = whole(summary.get("index"))
            if number and summary.get("outcome") in ENDED:
                by_number[number] = summary
        return [by_number[number] for number in sorted(by_number)]

    def _read_journal(self, levels: int) -> list[dict[str, Any]]:
        """Return the summaries in the first ``levels`` lines of the journal; further lines are not final yet."""
        entries = self._lines(JOURNAL, levels)
        return [entry["summary"] for entry in entries if isinstance(entry.get("summary"), dict)]

    def _lines(self, name: str, most: int = -1) -> tuple[dict[str, Any], ...]:
        """Return the objects of a file of JSON lines. If the file does not exist, no line was written, and the result
        is ().

        Args:
            most: number of lines to read at most; -1 for all lines.
        """
        data = self._bytes(name) if os.path.lexists(self.path / name) else None
        lines = (data or b"").split(b"\n", most)
        if most >= 0:
            lines = lines[:most]
        objects: list[dict[str, Any]] = []
        bad: list[str] = []
        for position, line in enumerate(lines, 1):
            words = line.decode("utf-8", "replace")
            value = _parse_object(words) if words else {}
            if value:
                objects.append(value)
                if words.encode() != line:
                    bad.append(f"{name}: line {position} holds bytes that are not UTF-8")
            elif value is None and position == len(lines):
                self._warn(f"{name}: its last line is half-written, left out")
            elif value is None:
                bad.append(f"{name}: line {position} is no JSON object, left out")
        for warning in bad[:_LISTED]:
            self._warn(warning)
        if len(bad) > _LISTED:
            self._warn(f"{name}: {len(bad) - _LISTED} more lines like these")
        return tuple(objects)

    def read_object(self, name: str) -> dict[str, Any] | None:
        """Return the JSON object in a file, such as a transcript; if the file cannot be read, add a warning and return
        None.
        """
        data = self.source(name)
        if data is None:
            return None
        value = _parse_object(data)
        if value is None:
            self._warn(f"{name}: is no JSON object")
        return value

    def source(self, name: str) -> str | None:
        """Return the text of a file, such as an agent; if the file cannot be read, add a warning and return None."""
        data = self._bytes(name)
        if data is None:
            return None
        words = data.decode("utf-8", "replace")
        if words.encode() != data:
            self._warn(f"{name}: holds bytes that are not UTF-8")
        return words

    def _bytes(self, name: str) -> bytes | None:
        """Return the content of a file.

        If the file is outside of the folder or cannot be read, add a warning and return None.
        """
        try:
            path = (self.path / name).resolve()
            if path.is_relative_to(self.path):
                return read_bytes(path, MAX_RUN_FILE_BYTES)
            self._warn(f"{name}: lies outside of the run's folder")
        except FileError as error:
            self._warn(f"{name}: cannot be read: {error.reason}")
        except (OSError, ValueError, RuntimeError) as error:  # an invalid file name, or symbolic links in a circle
            self._warn(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}")
        return None


def open_run(path: Path) -> RunFiles:
    """Read a run's folder.

    Raises:
        ReportError: the folder has no readable ``run.json``.
    """
    return RunFiles(path)


def is_held(folder: Path) -> bool:
    """Return whether a process holds the lock of a run's folder.

    The function reads the kernel's list of locks. Acquiring the lock as a test could make a run fail that starts at the
    same time.
    """
    try:
        lock = (folder / LOCK).stat()
        lines = _LOCKS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    major = os.major(lock.st_dev)
    minor = os.minor(lock.st_dev)
    lock_device = f"{major:02x}:{minor:02x}"
    for fields in map(str.split, lines):  # "1: FLOCK ADVISORY WRITE <process> <device>:<inode> 0 EOF"
        if len(fields) < 6 or fields[1] != "FLOCK":
            continue
        device, _, inode = fields[5].rpartition(":")
        if inode != str(lock.st_ino):
            continue
        if device == lock_device or _has_open(fields[4], lock):
            return True
    return False


def _has_open(process: str, lock: os.stat_result) -> bool:
    """Return whether the process with a given id has the lock file open.

    The check is needed because file systems such as btrfs and overlays have two devices for a file: one in ``stat``,
    another in the list of locks.
    """
    for link in Path("/proc", process, "fd").glob("*"):
        try:
            if os.path.samestat(link.stat(), lock):
                return True
        except OSError:
            continue
    return False


def _parse_object(data: str) -> dict[str, Any] | None:
    """Return the JSON object in a text; None if the text is no JSON object."""
    try:
        value = parse_lenient(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
