"""Every error that gridworld raises on purpose, in one tree below :mod:`spca.common.errors`.

::

    GridworldError
    ├── TaskError          a task specification or file that cannot be used (also a ValueError)
    ├── ActionError        an action that does not exist (also a ValueError)
    ├── BackendError       a call at the wrong time, such as step before reset or after the end (also a RuntimeError)
    ├── SearchLimitError   the exact search reached its limit and is undecided
    ├── GenerationError    no task with the requested properties could be generated
    ├── ModelError         a model that does not exist, lacks a part, or does not answer
    │   └── ModelUnavailableError   a model gives no more answers: its server is gone, or its credit is spent
    │       ├── BudgetSpentError        a limit on the cost, calls or tokens of a model was reached: exit code 3
    │       └── MissingPartError        a package is not installed
    └── EvaluationError    results or settings of an evaluation that cannot be used

``str(error)`` is one line that names the cause and the remedy. A task that was not solved is a result, never an error.
:class:`TaskWarning` is a Python warning, outside of this tree.
"""

from __future__ import annotations

from collections.abc import Iterable

from spca.common.errors import SPCAError, missing_package


class GridworldError(SPCAError):
    """Base class of every error that gridworld raises on purpose."""


class TaskError(GridworldError, ValueError):
    """A task specification that cannot be used.

    Args:
        problems: the problems of the task, each as "field: reason"; at least one problem.
        source: the file of the task, or "" if the task has no file; unprintable characters are escaped.
    """

    def __init__(self, problems: Iterable[str] | str, source: str = "") -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        self.source = source
        if not source.isprintable():
            self.source = source.encode("unicode_escape").decode("ascii")
        others = len(self.problems) - 1
        suffix = f" (and {others} more)" if others > 0 else ""
        prefix = f"{self.source}: " if self.source else ""
        super().__init__(f"{prefix}{self.problems[0]}{suffix}")


class TaskWarning(UserWarning):
    """A warning that a part of a task is ignored, such as an unknown field."""


class ActionError(GridworldError, ValueError):
    """An action that does not exist."""


class BackendError(GridworldError, RuntimeError):
    """A call at the wrong time; the message names the call that has to come first."""


class SearchLimitError(GridworldError):
    """An exact search that reached its limit and is undecided.

    Attributes:
        bound: proven lower bound on the number of steps of every solution; a solution need not exist.
    """

    def __init__(self, message: str, bound: int = 1) -> None:
        self.bound = bound
        super().__init__(message)

    def __reduce__(self) -> tuple[type[SearchLimitError], tuple[str, int]]:
        return type(self), (str(self), self.bound)


class GenerationError(GridworldError):
    """A failure to generate a task with the requested properties."""


class ModelError(GridworldError):
    """A model that does not exist, lacks a part, or does not answer."""


class ModelUnavailableError(ModelError):
    """A model that gives no more answers.

    The evaluation stops, does not count the current episode, and can be resumed.
    """


class BudgetSpentError(ModelUnavailableError):
    """A limit on cost, calls or tokens that was reached.

    Args:
        flag: the command-line option that raises the limit.
    """

    exit_code = 3

    def __init__(self, message: str, flag: str) -> None:
        self.flag = flag
        super().__init__(message)

    def __reduce__(self) -> tuple[type[BudgetSpentError], tuple[str, str]]:
        return type(self), (str(self), self.flag)


class MissingPartError(ModelUnavailableError):
    """A required package that is not installed; the message names the command that installs the package."""


def missing_part(error: ImportError, what: str = "this") -> MissingPartError:
    """Return the user error for a failed import.

    Args:
        error: the failed import.
        what: the part of the program that needs the package, as named in the message.
    """
    return MissingPartError(missing_package(error, what))


class EvaluationError(GridworldError):
    """Results or settings of an evaluation that cannot be used."""
