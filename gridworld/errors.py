"""Every error that gridworld raises on purpose, in one tree below :mod:`spca.common.errors`.

::

    GridworldError
    ├── TaskError          a task specification or file that cannot be used (also a ValueError)
    ├── ActionError        an action that does not exist (also a ValueError)
    ├── BackendError       a call that makes no sense now: step before reset or after the end (also a RuntimeError)
    ├── SearchLimitError   the exact search was given too little room to decide
    ├── GenerationError    no task as asked for could be made
    ├── ModelError         a model that does not exist, lacks something, or does not answer
    │   └── ModelUnavailableError   nothing more can be had from it: its server is gone, it ran out of credit
    │       ├── BudgetSpentError        a cap on what it may cost was reached: exit code 3
    │       └── MissingPartError        a package is not installed
    └── EvaluationError    results or settings of an evaluation that cannot be used

``str(error)`` is one line that names the thing and the fix. A task that was not solved is a result, never an error.
:class:`TaskWarning` is a Python warning.
"""

from __future__ import annotations

from collections.abc import Iterable

from spca.common.errors import SPCAError, missing_package


class GridworldError(SPCAError):
    """Root of the tree."""


class TaskError(GridworldError, ValueError):
    """A task specification that cannot be used.

    Args:
        problems: what is wrong, each "field: reason"; at least one.
        source: the file it came from, "" for none; control characters in it are escaped.
    """

    def __init__(self, problems: Iterable[str] | str, source: str = "") -> None:
        self.problems = (problems,) if isinstance(problems, str) else tuple(problems)
        self.source = source
        if not source.isprintable():
            self.source = source.encode("unicode_escape").decode("ascii")
        more = f" (and {len(self.problems) - 1} more)" if len(self.problems) > 1 else ""
        where = f"{self.source}: " if self.source else ""
        super().__init__(f"{where}{self.problems[0]}{more}")


class TaskWarning(UserWarning):
    """Something in a task is ignored, such as an unknown field."""


class ActionError(GridworldError, ValueError):
    """An action that does not exist."""


class BackendError(GridworldError, RuntimeError):
    """A call that makes no sense now; names the one that has to come first."""


class SearchLimitError(GridworldError):
    """The exact search was given too little room to decide.

    Attributes:
        bound: proven all the same: every solution, if there is one, takes at least so many steps.
    """

    def __init__(self, message: str, bound: int = 1) -> None:
        self.bound = bound
        super().__init__(message)

    def __reduce__(self) -> tuple[type[SearchLimitError], tuple[str, int]]:
        return type(self), (str(self), self.bound)


class GenerationError(GridworldError):
    """No task as asked for could be made."""


class ModelError(GridworldError):
    """A model that does not exist, lacks something, or does not answer."""


class ModelUnavailableError(ModelError):
    """A model gives no more answers; the evaluation stops, counts nothing, and can be resumed."""


class BudgetSpentError(ModelUnavailableError):
    """A limit on cost, calls or tokens was reached.

    Args:
        flag: the option that raises the limit.
    """

    exit_code = 3

    def __init__(self, message: str, flag: str) -> None:
        self.flag = flag
        super().__init__(message)

    def __reduce__(self) -> tuple[type[BudgetSpentError], tuple[str, str]]:
        return type(self), (str(self), self.flag)


class MissingPartError(ModelUnavailableError):
    """A required package is not installed; the message names the command that installs it."""


def missing_part(error: ImportError, what: str = "this") -> MissingPartError:
    """Turn a failed import into a user error.

    Args:
        what: the part that needs the package.
    """
    return MissingPartError(missing_package(error, what))


class EvaluationError(GridworldError):
    """Results or settings of an evaluation that cannot be used."""
