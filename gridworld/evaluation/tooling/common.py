"""What the tools share: files that were named, tasks, and progress."""

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
    """Return the files that files, folders and benchmarks lead to, each once and in order.

    Args:
        problems: gets a line for each name that leads to nothing.
    """
    found: dict[Path, None] = {}
    for name in named:
        try:
            found.update(dict.fromkeys(library.task_files(name)))
        except TaskError as error:
            problems.append(str(error))
    return list(found)


def find_tasks(name: str) -> list[Path]:
    """Return the files of tasks: of a path or benchmark, or of the id or file name of a shipped task.

    Raises:
        TaskError: there are none.
    """
    try:
        return library.task_files(name)
    except TaskError as error:
        shipped = library.shipped_files()
        files = [path for path in shipped if name in (path.stem, path.name)]
        files = files or [path for path in shipped if TaskSpecification.from_json(path).task_id == name]
        if not files:
            problem = "is no file, folder or shipped task; `list` tells those that ship"
            raise TaskError(problem, name) from error
        return files


def find_task(name: str) -> Path:
    """Return the file of one task, named as for :func:`find_tasks`.

    Raises:
        TaskError: there is none, or more than one.
    """
    files = find_tasks(name)
    if len(files) > 1:
        raise TaskError("is a folder of several tasks; name one of them", name)
    return files[0]


def load(path: str | os.PathLike[str], *, strict: bool = False, proofs: bool = True) -> TaskSpecification:
    """Return a valid task; print one warning line on standard error if something in its file is not used.

    Args:
        proofs: warn of a certificate that cannot be used, too.

    Raises:
        TaskError: it cannot be read or is not valid, or holds unknown fields and ``strict`` is set; names the file.
    """
    notes: list[str] = []
    spec = read_valid(path, strict, notes)
    notes += unused_proof(spec) if proofs else ()
    if notes:
        complain(f"warning: {TaskError(notes, os.fspath(path))}")
    return spec


def unused_proof(spec: TaskSpecification) -> list[str]:
    """Return why the certificate of a valid task cannot be used; an empty list if it can, or if there is none."""
    _, problem = stored_proof(spec, TILINGS[tiling_of(spec, None)])
    return [problem] if problem else []


def tiling_of(spec: TaskSpecification, asked: str | None) -> str:
    """Return the tiling asked for, else the one that the task's metadata names, else the square one."""
    named = (spec.metadata or {}).get("tiling")
    return asked or (named if isinstance(named, str) and named in TILINGS else SQUARE.name)
