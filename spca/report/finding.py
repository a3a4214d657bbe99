"""Which run folders a user means, and where what is made of them may go."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from spca.common.command import program
from spca.errors import ReportError
from spca.runs.recording.folder import RUN, other_kind, suggest_id

PUBLISHED: Final = "published"
"""What stands for the published run of the original system where two runs are compared."""


def find(name: str | None, runs: Path, cwd: Path) -> list[Path]:
    """Return the run folders that ``name`` means, sorted by id.

    It may be a run of ``runs``, a folder of a run, or a folder of runs.
    A run of ``runs`` may be named by the beginning of its id, if it is the only one that begins so. ``None`` means the
    latest run of ``runs``; relative paths are relative to ``cwd``.

    Raises:
        ReportError: there is no such run; names the nearest.
    """
    known = _runs_in(runs)
    if name is None:
        if not known:
            raise ReportError(f"there are no runs in {runs}: begin one with {program()} run")
        return known[-1:]
    path = cwd / name
    found = [folder for folder in known if folder.name == name]
    if not found:
        found = [path] if os.path.isfile(path / RUN) else _runs_in(path)
    if name and not found:
        found = [folder for folder in known if folder.name.startswith(name)]
    if not name or not found:
        raise ReportError(_nothing(name, path, runs, known))
    if len(found) > 1 and found[0].parent == runs and not os.path.isdir(path):
        raise ReportError(
            f"{len(found)} runs in {runs} begin with {name}, such as {found[-1].name}: give more of the id"
        )
    return found


def find_one(name: str | None, runs: Path, cwd: Path) -> Path:
    """Return the run folder that ``name`` means, see :func:`find`.

    Raises:
        ReportError: there is no such run, or it is a folder of several.
    """
    found = find(name, runs, cwd)
    if len(found) != 1:
        raise ReportError(f"{name} holds {len(found)} runs: name one of them, such as {found[-1].name}")
    return found[0]


def check_target(path: Path) -> None:
    """Refuse a file that cannot be written, before there is anything to write.

    Raises:
        ReportError: says why.
    """
    if not path.parent.is_dir():
        raise ReportError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise ReportError(f"cannot write {path}: it is a folder")


def _nothing(name: str, path: Path, runs: Path, known: Sequence[Path]) -> str:
    if name == PUBLISHED:
        return f"the published run is there to be compared with: report --compare RUN {PUBLISHED}"
    kind = other_kind(runs / name) or other_kind(path)
    if name and kind:
        return kind
    if name and os.path.isdir(path):
        return f"{path} holds no run"
    if os.sep in name:
        return f"there is no folder {path}"
    return f"no run {name!r} in {runs}: {suggest_id(name, [each.name for each in known])}"


def _runs_in(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if os.path.isfile(path / RUN))
    except (OSError, ValueError):
        return []
