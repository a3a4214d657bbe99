"""Base class of the errors that the project raises on purpose, and the error classes that any package may raise.

The error classes of :mod:`spca.errors`, :mod:`gridworld.errors` and :mod:`robot_bridge.errors` derive from these.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from spca.common.installation import pip_install


class SPCAError(Exception):
    """Base class of all errors; ``str(error)`` is one line that names the faulty thing and the fix.

    Attributes:
        exit_code: exit code of a program that this error ends.
        resumable: whether a run that this error stopped can be resumed after the mistake is fixed.
    """

    exit_code: ClassVar[int] = 2
    resumable: ClassVar[bool] = True


class UserError(SPCAError):
    """A mistake of the user."""


class UsageError(UserError):
    """A command line has an unknown option or command, or an invalid value."""


class FileError(UserError):
    """A file that a user named, or that lies in a folder that a user named, cannot be read.

    Args:
        path: the file.
        reason: why the file cannot be read, and how to mend it if that is not obvious.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} cannot be read: {reason}")
        self.reason = reason


class SettingsError(UserError):
    """A flag, environment variable or folder that cannot be used."""


class PluginError(UserError):
    """A plugin is missing, fails, or is not the one that a run has used."""


class WorkspaceBusyError(UserError):
    """Another process holds the lock of the workspace."""


class JobError(UserError):
    """Results or settings of a set of jobs cannot be used, or no job can be done."""


class BudgetReached(SPCAError):
    """A limit on cost, calls or tokens was reached.

    Args:
        words: error message, which names the limit.
        flag: the flag that raises the limit.
    """

    exit_code = 3

    def __init__(self, words: str, flag: str) -> None:
        super().__init__(words)
        self.flag = flag

    @property
    def option(self) -> str:
        """Flag to add to the command that resumes the run; a word in capitals stands for the user's value."""
        return f"{self.flag} MORE"


class UnusableModelError(BudgetReached):
    """A model has given no usable answer in several levels in a row, so that further calls would be wasted.

    Args:
        words: error message, which names the model, the task of the model, and the beginning of its last answer.
        flag: the flag that chooses another model; "" if the model cannot be changed.
        role: the role in which the model was asked: planner or coder.
    """

    def __init__(self, words: str, flag: str, role: str) -> None:
        super().__init__(words, flag)
        self.role = role

    @property
    def option(self) -> str:
        """Flag to add to the command that resumes the run with another model."""
        return f"{self.flag} OTHER" if self.flag else ""


def missing_package(error: ImportError, what: str) -> str:
    """Return one sentence that says which package is missing and which command installs it.

    Args:
        what: the part that needs the package.
    """
    module = (error.name or "").partition(".")[0]
    if not module:
        return f"{what} needs a package that cannot be imported: {error}"
    package = _PACKAGES.get(module, module)
    if isinstance(error, ModuleNotFoundError):
        return f"{what} needs {package}, which is not installed: {pip_install(package)}"
    return f"{what} needs another {package} ({error}): {pip_install('--upgrade', package)}"


_PACKAGES: Final = {"PIL": "pillow", "unified_planning": "unified-planning", "dotenv": "python-dotenv"}
"""Module -> name of the package to install for it, if the names differ."""
