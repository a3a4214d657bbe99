"""Types of jobs, of their results, and of the setup that a worker needs to do jobs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from spca.common.errors import JobError, SPCAError, missing_package

TRIES: Final = 2
"""Number of times that a job is tried if its worker dies."""


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work.

    Attributes:
        index: number of the job, from 0.
        sha256: hash of the job's input; "" if the input cannot change.
    """

    index: int
    id: str
    sha256: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the job in the journal's header."""
        return {"task_id": self.id, "sha256": self.sha256}


class JobResult(Protocol):
    """The result of a job."""

    @property
    def task_id(self) -> str:
        """The ``id`` of the job."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-compatible data."""


J = TypeVar("J", bound=Job)
R = TypeVar("R", bound=JobResult)


@dataclass(frozen=True, slots=True)
class JobMessages:
    """Words for error messages, and the type of errors to raise.

    Attributes:
        whole: word for all jobs together.
        doer: word for the part that does the jobs.
        flag: flag that names the output.
        error: type of errors to raise.
        again: advice for a journal that cannot be continued.
    """

    whole: str = "evaluation"
    doer: str = "model"
    flag: str = "--output"
    error: type[SPCAError] = JobError
    again: str = "--overwrite begins again"

    @property
    def a_whole(self) -> str:
        """``whole`` with its indefinite article."""
        return f"{'an' if self.whole[0] in 'aeiou' else 'a'} {self.whole}"


class Setup(ABC, Generic[J, R]):
    """The preparation of a worker for jobs. A setup must be picklable, because it is sent to worker processes.

    Attributes:
        terms: words for error messages.
        unusable: type of the error to raise if no job can be done; its only argument is a message.
        verbose: whether workers may print.
    """

    terms: ClassVar[JobMessages] = JobMessages()
    unusable: ClassVar[type[SPCAError]] = JobError
    verbose: bool

    @abstractmethod
    def start_worker(self) -> AbstractContextManager[Callable[[J], R]]:
        """Return a context manager whose value is a function that does one job; exit releases all resources."""

    @abstractmethod
    def make_lost_result(self, job: J, how: str) -> R:
        """Return the result of a job whose worker died in every try; ``how`` tells how the worker ended."""


def unusable(setup: Setup[J, R], error: Exception) -> Exception:
    """Return the error to raise if no job can be done because of ``error``.

    An ImportError is replaced by an error that names the missing package.
    """
    if not isinstance(error, ImportError):
        return error
    return setup.unusable(missing_package(error, f"the {setup.terms.whole}"))
