"""Folders of the program, in a checkout or installed from a wheel."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

_SPCA: Final = Path(__file__).resolve().parents[1]

PACKAGES: Final = _SPCA.parent
"""Folder of the packages: the checkout, or ``site-packages``."""

APPLICATIONS: Final = _SPCA / "_apps"
"""Folder of ``main.py`` and the other applications in a wheel (``scripts/wheel.py``); missing in a checkout."""


def applications() -> Path:
    """Return the folder of ``main.py``, ``run_eval.py``, the initial ``agent.py`` and the curriculum."""
    return APPLICATIONS if APPLICATIONS.is_dir() else _SPCA.parent


def application(name: str) -> Any:
    """Import and return one of the applications, such as ``main``.

    The folder of the applications is put first in the import path of this process.
    """
    folder = str(applications())
    if folder not in sys.path[:1]:  # elsewhere another module of the same name could be found first
        sys.path.insert(0, folder)
    return import_module(name)


@dataclass(frozen=True, slots=True)
class ApplicationFunction:
    """A function of an application; a process that cannot import applications can call it, too (an actor of Ray)."""

    module: str
    function: str

    def __call__(self, *arguments: Any) -> Any:
        return getattr(application(self.module), self.function)(*arguments)


def home(root: Path, cwd: Path) -> Path:
    """Return the folder that contains workspace and runs by default.

    This is the checkout, or ``cwd`` if the program is installed.

    Args:
        root: the folder of the applications.
    """
    return cwd if root == APPLICATIONS else root


def find_runs(folder: str | None) -> Path:
    """Return the path of the folder of runs: ``folder`` if the user names one, else the default folder."""
    return Path.cwd() / (folder or home(applications(), Path.cwd()) / "runs")


def where_runs_lie(runs: Path) -> str:
    """Return the text " --runs DIR" to append to a command about ``runs``; "" if ``runs`` is the default folder."""
    return "" if runs == home(applications(), Path.cwd()) / "runs" else f" --runs {shlex.quote(str(runs))}"


def how_to_get(extra: str) -> str:
    """Return the command that installs the packages of ``extra``, a group of optional dependencies."""
    if APPLICATIONS.is_dir():
        return pip_install(f"sense-plan-code-act[{extra}]")
    lock = f"requirements/{extra}.txt"
    return pip_install("-r", lock) if (_SPCA.parent / lock).is_file() else pip_install(extra)


def pip_install(*arguments: str) -> str:
    """Return the ``pip install`` command with ``arguments`` for this process's Python.

    The command ``pip`` alone may belong to another Python.
    """
    return shlex.join([sys.executable or "python", "-m", "pip", "install", *arguments])
