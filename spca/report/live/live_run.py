"""A run's folder looked at while it is being written: the overview, renewed after changes, and levels on request."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from spca.act.frame import WorldMaker
from spca.common.web.packing import compress
from spca.report.level.levels import level
from spca.report.level.origins import Origins
from spca.report.page import assembly
from spca.report.read import model, run_files
from spca.report.read.run_files import RunFiles

SHARE: Final = 0.25
"""At most this part of the time is spent on reading; folders of long runs take a while."""

_WATCHED: Final = (
    "",
    "metrics.jsonl",
    "calls.jsonl",
    "state/state.json",
    "run.json",
    "summary.json",
    "llm",
    "trajectories",
)
"""What changes when a run goes on: files, and folders that get new files."""


@dataclass(frozen=True, slots=True)
class View:
    """A folder as it was read once; ``version`` counts from 1, ``report`` is a piece."""

    version: int
    files: RunFiles
    run: model.Run
    origins: Origins
    report: bytes


class LiveRun:
    """A run that may still go on. One thread calls :meth:`refresh`, any may ask for pieces.

    Pieces are JSON, compressed with gzip.

    Args:
        rest_s: at least so many seconds lie between the beginnings of two readings.

    Attributes:
        view: the folder as it was read last.

    Raises:
        ReportError: the folder is no run.
    """

    def __init__(self, path: Path, make_world: WorldMaker, *, rest_s: float = 1.0) -> None:
        self._path = path
        self._make_world = make_world
        self._rest_s = rest_s
        self._building = threading.Lock()
        self._levels: dict[int, tuple[str, bytes]] = {}
        started = time.monotonic()
        self._seen = self._stamp()
        self.view = self._read(1)
        self._resting_until = self._end_of_rest(started)

    def refresh(self) -> bool:
        """Read the folder again if something changed in it and the last reading was long enough ago; whether it was.

        When it is gone or not to be read, what was there before stays, with a warning.
        """
        started = time.monotonic()
        if started < self._resting_until or (stamp := self._stamp()) == self._seen:
            return False
        view = self.view
        try:
            self.view = self._read(view.version + 1)
        except Exception as error:  # the server goes on whatever becomes of the folder
            warning = f"the folder cannot be read any more, this is what it held before: {error}"
            run = replace(view.run, state="stopped", warnings=(*view.files.warnings, warning))
            self.view = replace(view, version=view.version + 1, run=run, report=_pack_report(run))
        self._seen = stamp
        self._resting_until = self._end_of_rest(started)
        return True

    def level(self, number: int) -> bytes | None:
        """The piece of a :class:`model.Level`, with all its texts; None when the run has not come to such a level.

        Levels are built one at a time and remembered until there is something new in them. What goes wrong in
        building one is raised as it is.
        """
        with self._building:
            view = self.view
            row = next((row for row in view.run.levels if row.number == number), None)
            if row is None or row.outcome == "pending":
                return None
            version, piece = self._levels.get(number, ("", b""))
            if version != row.version:
                simulate = assembly.simulator(view.files, self._make_world)
                piece = compress(level(view.files, number, simulate, view.origins))
                self._levels[number] = (row.version, piece)
            return piece

    def _read(self, version: int) -> View:
        files = run_files.open_run(self._path)
        run, origins = assembly.read_run(files)
        return View(version, files, run, origins, _pack_report(run))

    def _end_of_rest(self, started: float) -> float:
        """When the folder may be read again after a reading that began at ``started`` and ends now."""
        return started + max(self._rest_s, (time.monotonic() - started) / SHARE)

    def _stamp(self) -> Mapping[str, Any]:
        """What is different after each change."""
        return {"held": run_files.is_held(self._path), **{name: _stat(self._path / name) for name in _WATCHED}}


def _pack_report(run: model.Run) -> bytes:
    return compress(assembly.report_of(run.id, [run]))


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
