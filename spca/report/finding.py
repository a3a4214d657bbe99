"""Finding the run folders that a user names, and checking the target of an output file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from spca.common.command import program
from spca.errors import ReportError
from spca.runs.recording.folder import RUN, other_kind, suggest_id

PUBLISHED: Final = "published"
"""Name that stands for the published run of the original system when two runs are compared."""


def find(name: str | None, runs: Path, cwd: Path) -> list[Path]:
    """Return the run folders that ``name`` means, sorted by id.

    Args:
        name: id of a run in ``runs``, path of a run's folder, path of a folder of runs, or unique beginning of an id;
            None for the latest run in ``runs``.
        runs: the folder of runs.
        cwd: the folder that a relative path is relative to.

    Raises:
        ReportError: no run matches, or several ids begin with ``name``.
    """
    runs_here = _runs_in(runs)
    if name is None:
        if not runs_here:
            raise ReportError(f"there are no runs in {runs}: begin one with {program()} run")
        return runs_here[-1:]
    path = cwd / name
    matches = [folder for folder in runs_here if folder.name == name]
    if not matches:
        matches = [path] if os.path.isfile(path / RUN) else _runs_in(path)
    if name and not matches:
        matches = [folder for folder in runs_here if folder.name.startswith(name)]
    if not name or not matches:
        raise ReportError(_explain_no_match(name, path, runs, runs_here))
    is_ambiguous = len(matches) > 1 and not os.path.isdir(path)
    if is_ambiguous and matches[0].parent == runs:
        example = matches[-1].name
        raise ReportError(f"{len(matches)} runs in {runs} begin with {name}, such as {example}: give more of the id")
    return matches


def find_one(name: str | None, runs: Path, cwd: Path) -> Path:
    """Return the only run folder that ``name`` means; see :func:`find`.

    Raises:
        ReportError: no run or more than one run matches.
    """
    matches = find(name, runs, cwd)
    if len(matches) != 1:
        example = matches[-1].name
        raise ReportError(f"{name} holds {len(matches)} runs: name one of them, such as {example}")
    return matches[0]


def check_target(path: Path) -> None:
    """Check that an output file can be written at a path; call this before the content of the file is made.

    Raises:
        ReportError: the folder of the path does not exist, or the path is a folder.
    """
    if not path.parent.is_dir():
        raise ReportError(f"cannot write {path}: there is no folder {path.parent}")
    if path.is_dir():
        raise ReportError(f"cannot write {path}: it is a folder")


def _explain_no_match(name: str, path: Path, runs: Path, known: Sequence[Path]) -> str:
    """Return a message that says why no run matches a name, and that suggests the nearest id if the name looks like an
    id.

    Args:
        path: the path that ``name`` means if it is a path.
        known: the run folders in ``runs``.
    """
    if name == PUBLISHED:
        return f"the published run is there to be compared with: report --compare RUN {PUBLISHED}"
    kind = other_kind(runs / name) or other_kind(path)
    if name and kind:
        return kind
    if name and os.path.isdir(path):
        return f"{path} holds no run"
    if os.sep in name:
        return f"there is no folder {path}"
    ids = [folder.name for folder in known]
    return f"no run {name!r} in {runs}: {suggest_id(name, ids)}"


def _runs_in(folder: Path) -> list[Path]:
    """Return the run folders in a folder, sorted by id; [] if the folder cannot be read."""
    try:
        return sorted(path for path in folder.iterdir() if os.path.isfile(path / RUN))
    except (OSError, ValueError):
        return []
