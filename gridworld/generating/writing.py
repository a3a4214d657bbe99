"""Generated tasks as files: each appears whole or not at all, what is there already is kept."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gridworld.certificate import stored_proof
from gridworld.errors import GenerationError, TaskError
from gridworld.task_spec import TaskSpecification
from gridworld.tilings import TILINGS


@dataclass(frozen=True, slots=True)
class Written:
    """A task in its file: "written", "replaced", or "kept" because it was there."""

    path: Path
    spec: TaskSpecification
    what: Literal["written", "replaced", "kept"]


def write_tasks(
    specs: Iterable[TaskSpecification], out_dir: str | os.PathLike[str], *, overwrite: bool = False
) -> Iterator[Written]:
    """Write tasks to ``ID.json`` in a folder, one by one as they are made.

    Args:
        overwrite: replace files that hold something else.

    Raises:
        GenerationError: a file holds something else, or the folder cannot be used; what was written stays.
    """
    folder = Path(out_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # a NUL in the path
        reason = getattr(error, "strerror", None) or error
        raise GenerationError(f"folder {os.fspath(out_dir)!a} cannot be made: {reason}") from None
    for spec in specs:
        yield _write(spec, folder / f"{spec.task_id}.json", overwrite)


def read_made(path: Path, task_id: str, origin: Mapping[str, Any]) -> TaskSpecification | None:
    """The task in a file if it was generated from these arguments and not changed since; else None."""
    try:
        spec = TaskSpecification.from_json(path, strict=True)
        proof, _ = stored_proof(spec, TILINGS[origin["tiling"]])
    except TaskError:
        return None
    ours = (spec.metadata or {}).get("generator") == origin and spec.task_id == task_id
    return spec if ours and proof is not None else None


def _holds(path: Path, spec: TaskSpecification) -> bool:
    try:
        return TaskSpecification.from_json(path, strict=True) == spec
    except TaskError:
        return False


def _write(spec: TaskSpecification, path: Path, overwrite: bool) -> Written:
    there = os.path.lexists(path)
    if there and _holds(path, spec):
        return Written(path, spec, "kept")
    if there and not overwrite:
        raise GenerationError(f"file {os.fspath(path)!a} holds something else: take another folder, or overwrite it")
    try:
        spec.to_json(path)
    except TaskError as error:
        raise GenerationError(str(error)) from None
    return Written(path, spec, "replaced" if there else "written")
