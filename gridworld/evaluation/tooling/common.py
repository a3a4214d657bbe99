"""Functions that several tools use: finding and loading of task files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from gridworld import library
from gridworld.errors import TaskError
from gridworld.evaluation.running.tasks import read_valid
from gridworld.rules.tilings import SQUARE, TILINGS
from gridworld.search.certificate import stored_proof
from gridworld.task_spec import TaskSpecification
from spca.common.command import complain

Source: TypeAlias = Annotated[str, Parameter(name="FILE", required=True, help="a file, folder or benchmark")]


def files_of(named: Sequence[str], problems: list[str]) -> list[Path]:
    """Return the task files that paths or names of benchmarks lead to, in order and without repetitions.

    Args:
        named: paths of files or folders, or names of benchmarks.
        problems: list to which a line is appended for each name that leads to no task file.
    """
    files: dict[Path, None] = {}  # a dict keeps the order and drops repetitions
    for name in named:
        try:
            files.update(dict.fromkeys(library.task_files(name)))
        except TaskError as error:
            problems.append(str(error))
    return list(files)


def find_tasks(name: str) -> list[Path]:
    """Return the task files that a name leads to.

    The name is the path of a file or folder, the name of a benchmark, or the id or file name of a shipped task.

    Raises:
        TaskError: the name leads to no task file.
    """
    try:
        return library.task_files(name)
    except TaskError as error:
        shipped = library.shipped_files()
        files = [path for path in shipped if name in (path.stem, path.name)]
        if not files:
            files = [path for path in shipped if TaskSpecification.from_json(path).task_id == name]
        if not files:
            problem = "is no file, folder or shipped task; `list` tells those that ship"
            raise TaskError(problem, name) from error
        return files


def find_task(name: str) -> Path:
    """Return the only task file that a name leads to. For the kinds of names, see :func:`find_tasks`.

    Raises:
        TaskError: the name leads to no task file, or to several.
    """
    files = find_tasks(name)
    if len(files) > 1:
        raise TaskError("is a folder of several tasks; name one of them", name)
    return files[0]


def load(path: str | os.PathLike[str], *, strict: bool = False, proofs: bool = True) -> TaskSpecification:
    """Return the task in a file; print one warning line on standard error if the file holds unused content.

    Args:
        path: path of the file.
        strict: whether unknown fields are an error.
        proofs: whether to warn of a certificate that cannot be used.

    Raises:
        TaskError: the file cannot be read, the task is not valid, or ``strict`` is set and a field is unknown.
    """
    notes: list[str] = []
    spec = read_valid(path, strict, notes)
    if proofs:
        notes += unused_proof(spec)
    if notes:
        complain(f"warning: {TaskError(notes, os.fspath(path))}")
    return spec


def unused_proof(spec: TaskSpecification) -> list[str]:
    """Return one line on why a valid task's certificate cannot be used; [] if the certificate is usable or missing."""
    _, problem = stored_proof(spec, TILINGS[tiling_of(spec, None)])
    return [problem] if problem else []


def tiling_of(spec: TaskSpecification, asked: str | None) -> str:
    """Return ``asked`` if given, otherwise the tiling in the task's metadata, otherwise "square"."""
    if asked:
        return asked
    named = (spec.metadata or {}).get("tiling")
    return named if isinstance(named, str) and named in TILINGS else SQUARE.name
