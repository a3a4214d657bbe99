"""Reading and checking of the tasks of an evaluation, and their entries in the results file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from warnings import warn

from gridworld import library
from gridworld.errors import TaskError, TaskWarning
from gridworld.rules.tilings import SQUARE, TILINGS
from gridworld.search.certificate import stored_proof
from gridworld.task_spec import TaskSpecification
from spca.common.jobs.work import Job

_PACKAGE: Final = Path(library.__file__).resolve().parent


DISTRIBUTIONS: Final = ("sense-plan-code-act", "gymnasium", "minigrid", "numpy")
"""Packages whose versions the results file records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationTask(Job):
    """A task of an evaluation.

    Attributes:
        spec: the task itself.
        tier: tier of the task's folder if the benchmark is "tiers"; None for other benchmarks.
        file: path of the task's file; for a shipped task, the path in the repository; "" for a task without a file.
    """

    spec: TaskSpecification
    tier: int | None = None
    file: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of this task in the results file."""
        tier = {} if self.tier is None else {"tier": self.tier}
        source = {"file": self.file, "sha256": self.sha256} if self.file else {}
        return {"task_id": self.id, **tier, **source}


def tasks_in(
    files: Iterable[tuple[Path, int | None]],
    tiling: str,
    *,
    strict: bool = False,
    warnings: list[str] | None = None,
) -> list[EvaluationTask]:
    """Return the tasks in files, in the order of the files.

    Args:
        files: pairs of (path of a file, tier of its folder or None).
        tiling: name of the tiling on which the tasks are to be played.
        strict: whether unknown fields are an error.
        warnings: list to which one line is appended for each file with unused content. If None, Python warnings are
            issued.

    Raises:
        TaskError: a task cannot be read, is not valid, or was made for another tiling.
    """
    tasks = []
    for index, (file, tier) in enumerate(files):
        notes: list[str] = []
        spec = _load(file, tiling, strict, notes)
        if notes:
            _warn(str(TaskError(notes, str(file))), warnings)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        tasks.append(EvaluationTask(index, spec.task_id, digest, spec=spec, tier=tier, file=_label(file)))
    return tasks


def _warn(line: str, lines: list[str] | None) -> None:
    if lines is None:
        warn(line, TaskWarning, stacklevel=4)
    else:
        lines.append(line)


def check_tiling(spec: TaskSpecification, tiling: str, source: str = "") -> None:
    """Check that a task may be played on a tiling.

    A task for the square tiling may be played on every tiling. Any other task may be played only on the tiling for
    which it was made.

    Args:
        spec: the task.
        tiling: name of the tiling on which the task is to be played.
        source: path of the task's file; "" without a file.

    Raises:
        TaskError: the task was made for another tiling.
    """
    made_for = _made_for(spec)
    if made_for not in (SQUARE.name, tiling):
        play = f'--backend multigrid --tiling {made_for}, from Python MultiGridBackend("{made_for}")'
        problem = f"metadata.tiling: the task was made for {made_for}, not for {tiling}; play it with {play}"
        raise TaskError(problem, source or f"task {spec.task_id!a}")


def _made_for(spec: TaskSpecification) -> str:
    """Return the tiling for which a task was made; by default "square".

    The tiling is named in the metadata, or in the entry ``generator`` of the metadata.
    """
    metadata = spec.metadata or {}
    generator = metadata.get("generator")
    sources = [metadata, generator] if isinstance(generator, Mapping) else [metadata]
    for source in sources:
        tiling = source.get("tiling")
        if isinstance(tiling, str) and tiling in TILINGS and tiling != SQUARE.name:
            return tiling
    return SQUARE.name


def read_valid(path: str | os.PathLike[str], strict: bool, notes: list[str]) -> TaskSpecification:
    """Return the task in a file.

    Args:
        path: path of the file.
        strict: whether unknown fields are an error.
        notes: list to which a line for each unused field is appended.

    Raises:
        TaskError: the file cannot be read, or the task is not valid.
    """
    spec = TaskSpecification.from_json(path, strict=strict, warnings=notes)
    _, problems = spec.validate()
    if problems:
        raise TaskError(problems, os.fspath(path))
    return spec


def _load(file: Path, tiling: str, strict: bool, notes: list[str]) -> TaskSpecification:
    """Return the task in a file, and append a line on each unused content to ``notes``.

    Raises:
        TaskError: the task cannot be read, is not valid, or was made for another tiling.
    """
    spec = read_valid(file, strict, notes)
    check_tiling(spec, tiling, str(file))
    _, why_unused = stored_proof(spec, TILINGS[tiling])
    if why_unused:
        notes.append(why_unused)
    return spec


def _label(file: Path) -> str:
    """Return the path of a file; for a shipped task, return the path in the repository."""
    try:
        return str(Path("gridworld") / file.resolve().relative_to(_PACKAGE))
    except ValueError:
        return str(file)
