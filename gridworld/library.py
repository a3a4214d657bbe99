"""The tasks that ship with the package, and where a name or path of tasks leads.

A benchmark is ``tiers`` (folders ``tier1`` to ``tier5``) or ``validation_10``. Their paths in the repository
(``gridworld/tasks/tier1``, ``mazes/validation_10``) lead to them from any working directory; a file or folder that is
really there goes first.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath

from gridworld.errors import TaskError

TASKS = "gridworld/tasks"
BENCHMARKS = {"tiers": "tasks", "validation_10": "mazes/validation_10"}

_HERE = Path(__file__).resolve().parent
_SHIPPED = ("tasks", "mazes")


def benchmark_dir(name: str) -> Path:
    """Return the folder of a benchmark.

    Raises:
        TaskError: there is no such benchmark; names those that there are.
    """
    if name not in BENCHMARKS:
        raise TaskError(f"there is no benchmark {name!a}; there are {', '.join(BENCHMARKS)}")
    return _HERE / BENCHMARKS[name]


def resolve(where: str | os.PathLike[str]) -> Path:
    """Return the file or folder for a path, the name of a benchmark or a path in the repository.

    Raises:
        TaskError: to nothing; names the benchmarks.
    """
    path = Path(where)
    name = os.fspath(where)
    if name and os.path.exists(path):
        return path
    if name in BENCHMARKS:
        return benchmark_dir(name)
    parts = PurePath(name).parts
    parts = parts[1:] if parts[:1] == ("gridworld",) else parts
    shipped = _HERE.joinpath(*parts)
    if parts and parts[0] in _SHIPPED and ".." not in parts and os.path.exists(shipped):
        return shipped
    shown = ", ".join([*BENCHMARKS, f"{TASKS}/tier1 ..."])
    raise TaskError(f"there is no such file, folder or benchmark; shipped are {shown}", name)


def name_of(where: str | os.PathLike[str]) -> str:
    """Return how results call the tasks in a folder or file: its name, that of a file without suffix.

    Raises:
        TaskError: it does not exist.
    """
    path = resolve(where).resolve()
    return path.name if path.is_dir() else path.stem


def task_files(where: str | os.PathLike[str]) -> list[Path]:
    """Return the files of a benchmark, folder or file, in order.

    Of a folder: its ``*.json``; if it has none, those of its folders ``tier1``, ``tier2``, ...

    Raises:
        TaskError: there are none.
    """
    path = resolve(where)
    if not path.is_dir():
        return [path]
    files = _json_files(path)
    if not files:
        files = [file for tier in tiers(path) for file in _json_files(path / f"tier{tier}")]
    if not files:
        raise TaskError("holds no *.json and no folder tier1, tier2, ... that does", str(path))
    return files


def shipped_files() -> list[Path]:
    """Return the files of all tasks that ship."""
    return [path for name in BENCHMARKS for path in task_files(benchmark_dir(name))]


def tiers(where: str | os.PathLike[str] = TASKS) -> list[int]:
    """Return the tiers of a folder with folders ``tier1``, ``tier2``, ...; in order.

    Raises:
        TaskError: the folder does not exist.
    """
    folders = [entry.name for entry in _entries(resolve(where)) if entry.is_dir()]
    matches = (re.fullmatch(r"tier([1-9][0-9]{0,8})", name) for name in folders)
    return sorted(int(match[1]) for match in matches if match)


def tier_dir(tier: int, where: str | os.PathLike[str] = TASKS) -> Path:
    """Return the folder of a tier.

    Raises:
        TaskError: it does not exist; names those that do.
    """
    known = tiers(where)
    if tier not in known:
        there = f"there are {', '.join(map(str, known))}" if known else "there are no folders tier1, tier2, ..."
        raise TaskError(f"there is no tier {tier}; {there}", os.fspath(where))
    return resolve(where) / f"tier{tier}"


def _json_files(folder: Path) -> list[Path]:
    files = [entry for entry in _entries(folder) if entry.suffix == ".json"]
    return sorted(file for file in files if not file.name.startswith("."))


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise TaskError(f"cannot be read: {error.strerror or error}", str(folder)) from error
