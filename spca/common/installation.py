"""Where the program lies: in a checkout, or installed from a wheel."""

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
"""Folder of ``main.py`` and the other applications in a wheel (``scripts/wheel.py``); a checkout has none."""


def applications() -> Path:
    """The folder of ``main.py``, ``run_eval.py``, the initial ``agent.py`` and the curriculum."""
    return APPLICATIONS if APPLICATIONS.is_dir() else _SPCA.parent


def application(name: str) -> Any:
    """Import one of the applications, such as ``main``; from now on this process finds them, before all others."""
    folder = str(applications())
    if folder not in sys.path[:1]:  # further back, others could stand in for them
        sys.path.insert(0, folder)
    return import_module(name)


@dataclass(frozen=True, slots=True)
class ApplicationFunction:
    """A function of an application, for a process that does not find applications yet, such as an actor of Ray."""

    module: str
    function: str

    def __call__(self, *arguments: Any) -> Any:
        return getattr(application(self.module), self.function)(*arguments)


def home(root: Path, cwd: Path) -> Path:
    """The folder in which workspace and runs lie by default: the checkout, or ``cwd`` where the program is installed.

    Args:
        root: the folder of the applications.
    """
    return cwd if root == APPLICATIONS else root


def find_runs(folder: str | None) -> Path:
    """Return where runs lie: a folder that a user names, or the default one."""
    return Path.cwd() / (folder or home(applications(), Path.cwd()) / "runs")


def where_runs_lie(runs: Path) -> str:
    """Return `` --runs DIR`` for a command about something in this folder, "" where it is the default one."""
    return "" if runs == home(applications(), Path.cwd()) / "runs" else f" --runs {shlex.quote(str(runs))}"


def how_to_get(extra: str) -> str:
    """The command that installs what an extra needs."""
    if APPLICATIONS.is_dir():
        return pip_install(f"sense-plan-code-act[{extra}]")
    lock = f"requirements/{extra}.txt"
    return pip_install("-r", lock) if (_SPCA.parent / lock).is_file() else pip_install(extra)


def pip_install(*arguments: str) -> str:
    """The command that installs into the environment of this process: another one's ``pip`` may come first."""
    return shlex.join([sys.executable or "python", "-m", "pip", "install", *arguments])
