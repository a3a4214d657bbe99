"""The tasks of an evaluation: read, checked, and told in its results."""

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
"""Those whose versions stand in results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationTask(Job):
    """A task of an evaluation.

    Attributes:
        tier: of its folder, for "tiers"; else None.
        file: where it came from, of a shipped task the path in the repository; "" if from no file.
    """

    spec: TaskSpecification
    tier: int | None = None
    file: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the results file about it."""
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
    """Return the tasks in files, each with the tier of its folder; all are read and checked before any is played.

    Args:
        strict: refuse fields that the format does not know.
        warnings: gets a line for each file with unused content; None: issue Python warnings instead.

    Raises:
        TaskError: one cannot be used on this tiling; names its file.
    """
    tasks = []
    for index, (file, tier) in enumerate(files):
        notes: list[str] = []
        spec = _load(file, tiling, strict, notes)
        if notes:
            _tell(str(TaskError(notes, str(file))), warnings)
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        tasks.append(EvaluationTask(index, spec.task_id, digest, spec=spec, tier=tier, file=_label(file)))
    return tasks


def _tell(line: str, lines: list[str] | None) -> None:
    if lines is None:
        warn(line, TaskWarning, stacklevel=4)
    else:
        lines.append(line)


def check_tiling(spec: TaskSpecification, tiling: str, source: str = "") -> None:
    """Raise if a task was made for another tiling than the square one and is played on a third.

    Args:
        source: the file of the task, "" for none.

    Raises:
        TaskError: it was made for another tiling.
    """
    made_for = _made_for(spec)
    if made_for not in (SQUARE.name, tiling):
        play = f'--backend multigrid --tiling {made_for}, from Python MultiGridBackend("{made_for}")'
        problem = f"metadata.tiling: the task was made for {made_for}, not for {tiling}; play it with {play}"
        raise TaskError(problem, source or f"task {spec.task_id!a}")


def _made_for(spec: TaskSpecification) -> str:
    metadata = spec.metadata or {}
    generator = metadata.get("generator")
    for told in (metadata, generator if isinstance(generator, Mapping) else {}):
        tiling = told.get("tiling")
        if isinstance(tiling, str) and tiling in TILINGS and tiling != SQUARE.name:
            return tiling
    return SQUARE.name


def read_valid(path: str | os.PathLike[str], strict: bool, notes: list[str]) -> TaskSpecification:
    """Return the task in a file.

    Args:
        strict: refuse fields that the format does not know.
        notes: gets a line for each field that is not used.

    Raises:
        TaskError: it cannot be read or is not valid; names the file.
    """
    spec = TaskSpecification.from_json(path, strict=strict, warnings=notes)
    _, problems = spec.validate()
    if problems:
        raise TaskError(problems, os.fspath(path))
    return spec


def _load(file: Path, tiling: str, strict: bool, notes: list[str]) -> TaskSpecification:
    spec = read_valid(file, strict, notes)
    check_tiling(spec, tiling, str(file))
    _, unused = stored_proof(spec, TILINGS[tiling])
    notes += [unused] if unused else []
    return spec


def _label(file: Path) -> str:
    try:
        return str(Path("gridworld") / file.resolve().relative_to(_PACKAGE))
    except ValueError:
        return str(file)
