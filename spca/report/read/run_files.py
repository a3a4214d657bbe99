"""Reads a run's folder as it is: of a run that goes on, was killed, or whose files were damaged.

What cannot be read is left out and becomes a line of ``warnings``; only a folder without a ``run.json`` is no run.
Names of files that stand in other files lead nowhere but into the folder.
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
from spca.runs.recording.folder import CURRICULUM, LOCK, STATE, layout_fault
from spca.runs.recording.writer_files import FOLDER as WRITERS

_LISTED: Final = 5
"""Bad lines of a file that are named one by one."""
_LOCKS: Final = Path("/proc/locks")


class RunFiles:
    """The files of a run as they were when it was opened; other files than those below are read when asked for.

    Attributes:
        path: the folder, absolute, without links.
        id: its name.
        running: a process held the folder when it was opened.
        info: ``run.json``.
        events: of ``metrics.jsonl``.
        records: of ``calls.jsonl``.
        finished: summaries of finished levels.
        warnings: what could not be read; grows as more is read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.id = self.path.name
        self.warnings: list[str] = []
        # In this order: a run that goes on meanwhile is not taken for one that ended in the middle of a level, and a
        # level whose end is in the log is in the state.
        self.running = is_held(self.path)
        self.events = self._lines("metrics.jsonl")
        self.records = self._lines("calls.jsonl")
        self.info = self._info()
        self.finished = self._read_finished()
        requests = table(self.info.get("usage")).get("requests")
        for name, is_expected in {"metrics.jsonl": self.finished, "calls.jsonl": requests}.items():
            if is_expected and not (self.path / name).exists():
                self._warn(f"{name}: is missing")

    @property
    def seed(self) -> int | None:
        return whole(table(self.info.get("settings")).get("seed"))

    @cached_property
    def level_under_way(self) -> int | None:
        """Number of the level that the run is at; None of a run that does not go on."""
        if not self.running:
            return None
        for event in reversed(self.events):
            if event.get("event") == "level_start":
                return whole(event.get("level_index"))
        return None

    @cached_property
    def histories(self) -> Mapping[int, History]:
        """What the log tells of each level, by its number."""
        return histories(self.events)

    @cached_property
    def summaries(self) -> dict[int, dict[str, Any]]:
        """Summaries of finished levels, by number."""
        summaries = dict[int, dict[str, Any]]()
        for position, summary in enumerate(self.finished, 1):
            number = whole(summary.get("index")) or position
            summaries[number] = summary
        return summaries

    def tasks(self) -> tuple[Task, ...]:
        """Return the levels of the run in order, with those to come; () if the curriculum cannot be read."""
        chosen = table(self.info.get("settings"))
        start = text(chosen.get("start_category")) or None
        only = [value for name in ("only", "levels") if (value := text(chosen.get(name)))]
        source = self.source(CURRICULUM)
        if source is None:
            return ()
        try:
            return curriculum.parse(source, CURRICULUM).select(start_category=start, only=only).tasks()
        except (CurriculumError, SettingsError) as error:
            self._warn(str(error))
            return ()

    def trajectory(self, summary: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the recorded attempts of the level of ``summary``, None if they cannot be read."""
        name = text(summary.get("trajectory"))
        return self.read_object(name) if name else None

    def writer(self, label: str) -> dict[str, Any]:
        """Return what is known of a version of a problem writer, {} if it cannot be read."""
        return self.read_object(f"{WRITERS}/{label}.json") or {}

    def _warn(self, line: str) -> None:
        if line not in self.warnings:
            self.warnings.append(line)

    def _info(self) -> dict[str, Any]:
        if fault := layout_fault(self.path):
            raise ReportError(fault)
        info = self.read_object("run.json")
        if info is None:
            raise ReportError(f"{self.path} is no run that can be looked at: {self.warnings[-1]}")
        return info

    def _read_finished(self) -> list[dict[str, Any]]:
        state = self.read_object(STATE)
        if state is not None and isinstance(state.get("finished"), list):
            whole_ones = [summary for summary in state["finished"] if isinstance(summary, dict)]
            if len(whole_ones) < len(state["finished"]):
                self._warn(f"{STATE}: a finished level is no JSON object, left out")
            return whole_ones
        if state is not None:
            self._warn(f"{STATE}: lists no finished levels")
        # A level that was aborted and then begun again may have left summaries of both.
        paths = sorted(self.path.glob("summaries/summary_*.json"))
        written = filter(None, (self.read_object(f"summaries/{path.name}") for path in paths))
        logged = [event for event in self.events if event.get("event") == "level_summary"]
        ended = (summary for summary in (*written, *logged) if summary.get("outcome") in ENDED)
        found = {whole(summary.get("index")): summary for summary in ended}
        return [found[number] for number in sorted(number for number in found if number)]

    def _lines(self, name: str) -> tuple[dict[str, Any], ...]:
        """Return the objects of a file of JSON lines; it comes into being with its first line."""
        data = self._bytes(name) if os.path.lexists(self.path / name) else None
        lines = (data or b"").split(b"\n")
        found = list[dict[str, Any]]()
        bad = list[str]()
        for position, line in enumerate(lines, 1):
            words = line.decode("utf-8", "replace")
            value = _object(words) if words else {}
            if value:
                found.append(value)
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
        return tuple(found)

    def read_object(self, name: str) -> dict[str, Any] | None:
        """Return the JSON object of a file, such as a call of a model; None when it cannot be read."""
        data = self.source(name)
        if data is None:
            return None
        value = _object(data)
        if value is None:
            self._warn(f"{name}: is no JSON object")
        return value

    def source(self, name: str) -> str | None:
        """Return a text of the folder, such as an agent; None when it cannot be read."""
        data = self._bytes(name)
        if data is None:
            return None
        words = data.decode("utf-8", "replace")
        if words.encode() != data:
            self._warn(f"{name}: holds bytes that are not UTF-8")
        return words

    def _bytes(self, name: str) -> bytes | None:
        """Return a file of the folder; None, and a warning, when it lies elsewhere or cannot be read."""
        try:
            path = (self.path / name).resolve()
            if path.is_relative_to(self.path):
                return read_bytes(path, MAX_RUN_FILE_BYTES)
            self._warn(f"{name}: lies outside of the run's folder")
        except FileError as error:
            self._warn(f"{name}: cannot be read: {error.reason}")
        except (OSError, ValueError, RuntimeError) as error:  # a name that no file can have; links in a circle
            self._warn(f"{name}: cannot be read: {getattr(error, 'strerror', None) or error}")
        return None


def open_run(path: Path) -> RunFiles:
    """Read a run's folder.

    Raises:
        ReportError: it has no ``run.json`` that can be read.
    """
    return RunFiles(path)


def is_held(folder: Path) -> bool:
    """Return whether a process holds the folder's lock, without touching it: a run may want it in this moment."""
    try:
        lock = (folder / LOCK).stat()
        lines = _LOCKS.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return False
    device = f"{os.major(lock.st_dev):02x}:{os.minor(lock.st_dev):02x}"
    for fields in map(str.split, lines):  # "1: FLOCK ADVISORY WRITE <process> <device>:<inode> 0 EOF"
        if len(fields) < 6 or fields[1] != "FLOCK":
            continue
        where, _, inode = fields[5].rpartition(":")
        if inode == str(lock.st_ino) and (where == device or _has_open(fields[4], lock)):
            return True
    return False


def _has_open(process: str, lock: os.stat_result) -> bool:
    """Return whether a process has the lock open.

    Some file systems (btrfs, overlays) show another device to ``stat`` than to the list of locks.
    """
    for link in Path("/proc", process, "fd").glob("*"):
        try:
            if os.path.samestat(link.stat(), lock):
                return True
        except OSError:
            continue
    return False


def _object(data: str) -> dict[str, Any] | None:
    try:
        value = parse_lenient(data)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
