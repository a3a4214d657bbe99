"""Reader of a run's folder while the run is being written.

The overview is read again after each change of the folder; a level is read on request.
"""

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
"""Largest fraction of the time that is spent on reading. A limit is needed because the folder of a long run takes long
to read.
"""

_MAX_CACHED: Final = 200
"""Largest number of levels whose pieces are kept; a piece takes some ten kilobytes."""

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
"""Files that a run changes, and folders in which a run makes files; "" is the run's folder."""


@dataclass(frozen=True, slots=True)
class View:
    """The content of a run's folder at the time of a reading.

    Attributes:
        version: number of the reading, from 1.
        report: the first part of the page's report, as a piece.
    """

    version: int
    files: RunFiles
    run: model.Run
    origins: Origins
    report: bytes


class LiveRun:
    """A run that may be going on. Only one thread may call :meth:`refresh`; any thread may read pieces.

    A piece is a part of the report, such as a level, as JSON that is compressed with gzip.

    Args:
        rest_s: least time between the beginnings of two readings, in seconds.

    Attributes:
        view: the folder's content at the last reading.

    Raises:
        ReportError: the folder is not the folder of a run.
    """

    def __init__(self, path: Path, make_world: WorldMaker, *, rest_s: float = 1.0) -> None:
        self._path = path
        self._make_world = make_world
        self._rest_s = rest_s
        self._building = threading.Lock()
        self._levels: dict[int, tuple[str, bytes]] = {}  # version and piece of the latest levels that were asked for
        started = time.monotonic()
        self._seen = self._stamp()
        self.view = self._read(1)
        self._resting_until = self._end_of_rest(started)

    def refresh(self) -> bool:
        """Read the folder again if the folder has changed, unless the last reading was too recent.

        If the folder cannot be read any more, keep the last view and add a warning.

        Returns:
            Whether the view has been replaced.
        """
        started = time.monotonic()
        if started < self._resting_until:
            return False
        stamp = self._stamp()
        if stamp == self._seen:
            return False
        view = self.view
        try:
            self.view = self._read(view.version + 1)
        except Exception as error:  # boundary: no state of the folder may stop the server
            warning = f"the folder cannot be read any more, this is what it held before: {error}"
            run = replace(view.run, state="stopped", warnings=(*view.files.warnings, warning))
            self.view = replace(view, version=view.version + 1, run=run, report=_pack_report(run))
        self._seen = stamp
        self._resting_until = self._end_of_rest(started)
        return True

    def level(self, number: int) -> bytes | None:
        """Return the piece of a level, with all its texts; None if the run has not begun a level of this number.

        Levels are built one at a time. A piece is cached until the level changes. An error while a piece is built is
        raised.
        """
        with self._building:
            view = self.view
            matching = (row for row in view.run.levels if row.number == number)
            row = next(matching, None)
            if row is None or row.outcome == "pending":
                return None
            version, piece = self._levels.get(number, ("", b""))
            if version != row.version:
                simulate = assembly.simulator(view.files, self._make_world)
                piece = compress(level(view.files, number, simulate, view.origins))
            self._levels.pop(number, None)
            self._levels[number] = (row.version, piece)  # the last one asked for comes last
            if len(self._levels) > _MAX_CACHED:
                del self._levels[next(iter(self._levels))]
            return piece

    def _read(self, version: int) -> View:
        files = run_files.open_run(self._path)
        run, origins = assembly.read_run(files)
        return View(version, files, run, origins, _pack_report(run))

    def _end_of_rest(self, started: float) -> float:
        """Return the earliest time of the next reading, if the last reading began at ``started`` and ends now.

        Times are those of the monotonic clock, in seconds.
        """
        duration = time.monotonic() - started
        return started + max(self._rest_s, duration / SHARE)

    def _stamp(self) -> Mapping[str, Any]:
        """Return a value that changes whenever the folder changes."""
        stamp: dict[str, Any] = {"held": run_files.is_held(self._path)}
        for name in _WATCHED:
            stamp[name] = _stat(self._path / name)
        return stamp


def _pack_report(run: model.Run) -> bytes:
    return compress(assembly.report_of(run.id, [run]))


def _stat(path: Path) -> tuple[int, int, int] | None:
    """Return time of modification (ns), size (bytes) and inode of a file; None if the file cannot be accessed."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
