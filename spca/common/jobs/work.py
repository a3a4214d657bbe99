"""Types of a job, its result, and the setup that a worker needs to do jobs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from spca.common.errors import JobError, SPCAError, missing_package

TRIES: Final = 2
"""How often a job is tried if its worker dies."""


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work.

    Attributes:
        index: its number, from 0.
        sha256: hash of its input; "" if its input cannot change.
    """

    index: int
    id: str
    sha256: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return its entry in the journal's header."""
        return {"task_id": self.id, "sha256": self.sha256}


class JobResult(Protocol):
    """The result of a job."""

    @property
    def task_id(self) -> str:
        """The ``id`` of its job."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-compatible data."""


J = TypeVar("J", bound=Job)
R = TypeVar("R", bound=JobResult)


@dataclass(frozen=True, slots=True)
class JobMessages:
    """Words for error messages (the run, who does the jobs, the flag that names the output), and the error to raise.

    ``again`` says how to do without a journal that is of no use.
    """

    whole: str = "evaluation"
    doer: str = "model"
    flag: str = "--output"
    error: type[SPCAError] = JobError
    again: str = "--overwrite begins again"

    @property
    def a_whole(self) -> str:
        """The run with its article."""
        return f"{'an' if self.whole[0] in 'aeiou' else 'a'} {self.whole}"


class Setup(ABC, Generic[J, R]):
    """How a worker prepares for jobs. It is sent to worker processes, so it must be picklable.

    Attributes:
        unusable: error to raise if no job can be done, which ends the run; its only argument is a message.
        verbose: whether workers may print.
    """

    terms: ClassVar[JobMessages] = JobMessages()
    unusable: ClassVar[type[SPCAError]] = JobError
    verbose: bool

    @abstractmethod
    def start_worker(self) -> AbstractContextManager[Callable[[J], R]]:
        """Return a context manager: its value does one job a call; it releases its resources on exit."""

    @abstractmethod
    def make_lost_result(self, job: J, how: str) -> R:
        """Return the result of a job whose worker died each time."""


def unusable(setup: Setup[J, R], error: Exception) -> Exception:
    """Return the error to raise in the end for one after which no job can be done."""
    if not isinstance(error, ImportError):
        return error
    return setup.unusable(missing_package(error, f"the {setup.terms.whole}"))
