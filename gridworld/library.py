"""The tasks that ship with the package, and the lookup of tasks by name or path.

The benchmarks are ``tiers`` (folders ``tier1`` to ``tier5``) and ``validation_10``. The repository paths of the
benchmarks (``gridworld/tasks/tier1``, ``mazes/validation_10``) work from any working directory. If the working
directory has a file or folder at the same path, this file or folder is taken instead.
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
        TaskError: no benchmark has this name; the message names the benchmarks.
    """
    if name not in BENCHMARKS:
        raise TaskError(f"there is no benchmark {name!a}; there are {', '.join(BENCHMARKS)}")
    return _HERE / BENCHMARKS[name]


def resolve(where: str | os.PathLike[str]) -> Path:
    """Return the file or folder that ``where`` names: a path, a benchmark, or a repository path of shipped tasks.

    Raises:
        TaskError: no file or folder fits; the message names the benchmarks.
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
    in_shipped_folder = bool(parts) and parts[0] in _SHIPPED and ".." not in parts
    if in_shipped_folder and os.path.exists(shipped):
        return shipped
    names = ", ".join([*BENCHMARKS, f"{TASKS}/tier1 ..."])
    raise TaskError(f"there is no such file, folder or benchmark; shipped are {names}", name)


def name_of(where: str | os.PathLike[str]) -> str:
    """Return the name of a set of tasks as shown in results: the name of the folder, or of the file without its suffix.

    Raises:
        TaskError: the folder or file does not exist.
    """
    path = resolve(where).resolve()
    return path.name if path.is_dir() else path.stem


def task_files(where: str | os.PathLike[str]) -> list[Path]:
    """Return the task files of a benchmark, folder or file, sorted.

    The task files of a folder are its ``*.json`` files. If a folder has no ``*.json`` file, its task files are the
    ``*.json`` files of its folders ``tier1``, ``tier2``, ...

    Raises:
        TaskError: the path does not exist or holds no task file.
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
    """Return the files of all tasks that ship with the package."""
    return [path for name in BENCHMARKS for path in task_files(benchmark_dir(name))]


def tiers(where: str | os.PathLike[str] = TASKS) -> list[int]:
    """Return the numbers of the folders ``tier1``, ``tier2``, ... in a folder, ascending.

    Raises:
        TaskError: the folder does not exist.
    """
    folders = [entry.name for entry in _entries(resolve(where)) if entry.is_dir()]
    matches = (re.fullmatch(r"tier([1-9][0-9]{0,8})", name) for name in folders)
    return sorted(int(match[1]) for match in matches if match)


def tier_dir(tier: int, where: str | os.PathLike[str] = TASKS) -> Path:
    """Return the folder of a tier.

    Raises:
        TaskError: the folder does not exist; the message names the tiers that exist.
    """
    known = tiers(where)
    if tier not in known:
        hint = f"there are {', '.join(map(str, known))}" if known else "there are no folders tier1, tier2, ..."
        raise TaskError(f"there is no tier {tier}; {hint}", os.fspath(where))
    return resolve(where) / f"tier{tier}"


def _json_files(folder: Path) -> list[Path]:
    """Return the ``*.json`` files of a folder that are not hidden, sorted."""
    files = [entry for entry in _entries(folder) if entry.suffix == ".json"]
    return sorted(file for file in files if not file.name.startswith("."))


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError as error:
        raise TaskError(f"cannot be read: {error.strerror or error}", str(folder)) from error
