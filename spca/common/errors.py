"""The root of every error raised on purpose, and those that any part may raise.

Below it hang the trees of :mod:`spca.errors`, :mod:`gridworld.errors` and :mod:`robot_bridge.errors`.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from spca.common.installation import pip_install


class SPCAError(Exception):
    """Root of all trees; ``str(error)`` is one line that names the thing and the fix.

    Attributes:
        exit_code: with which a program ends that ends by it.
        resumable: once it is mended, a run that it stopped can go on.
    """

    exit_code: ClassVar[int] = 2
    resumable: ClassVar[bool] = True


class UserError(SPCAError):
    """A mistake of the user."""


class UsageError(UserError):
    """A command line with a word that is no option or command, or with a value that cannot be meant."""


class FileError(UserError):
    """A file that a user named, or that lies in a folder that a user named, cannot be read.

    Args:
        path: the file.
        reason: why, and how to mend it where that is not plain.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} cannot be read: {reason}")
        self.reason = reason


class SettingsError(UserError):
    """A flag, environment variable or folder that cannot be used."""


class WorkspaceBusyError(UserError):
    """Another process holds the lock of the workspace."""


class JobError(UserError):
    """Results or settings of many jobs that cannot be used, or none of the jobs can be done."""


class BudgetReached(SPCAError):
    """A limit on cost, calls or tokens was reached.

    Args:
        words: what was reached.
        flag: the flag that raises the limit.
    """

    exit_code = 3

    def __init__(self, words: str, flag: str) -> None:
        super().__init__(words)
        self.flag = flag

    @property
    def option(self) -> str:
        """What to add to a command that goes on, with its value in capitals."""
        return f"{self.flag} MORE"


class UnusableModelError(BudgetReached):
    """A model has given no usable answer in level after level: asking it further would be paid for nothing.

    Args:
        words: which model, what it was asked for and how its last answer began.
        flag: the flag that names another model, "" where none may be named.
        role: in which it was asked: planner or coder.
    """

    def __init__(self, words: str, flag: str, role: str) -> None:
        super().__init__(words, flag)
        self.role = role

    @property
    def option(self) -> str:
        """What to add to a command that goes on with another model."""
        return f"{self.flag} OTHER" if self.flag else ""


def missing_package(error: ImportError, what: str) -> str:
    """Return in words what a failed import needs, and the command that installs it.

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
"""Packages whose modules have other names."""
