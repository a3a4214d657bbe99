"""What is done many times: a job, how a worker makes what it needs for one, and what results from it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from spca.common.errors import JobError, SPCAError, missing_package

TRIES: Final = 2
"""How often the job of a worker that dies is begun."""


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work.

    Attributes:
        index: its number, from 0 on.
        sha256: of what it reads; "" if it reads nothing that may change.
    """

    index: int
    id: str
    sha256: str = ""

    def to_dict(self) -> dict[str, Any]:
        """What the journal says about it."""
        return {"task_id": self.id, "sha256": self.sha256}


class JobResult(Protocol):
    """What a job results in."""

    @property
    def task_id(self) -> str:
        """The ``id`` of its job."""

    def to_dict(self) -> dict[str, Any]:
        """JSON-able."""


J = TypeVar("J", bound=Job)
R = TypeVar("R", bound=JobResult)


@dataclass(frozen=True, slots=True)
class Terms:
    """What messages call the whole, who does the jobs, and the flag that names the file; and what is raised."""

    whole: str = "evaluation"
    doer: str = "model"
    flag: str = "--output"
    error: type[SPCAError] = JobError

    @property
    def a_whole(self) -> str:
        """The whole with its article."""
        return f"{'an' if self.whole[0] in 'aeiou' else 'a'} {self.whole}"


class Setup(ABC, Generic[J, R]):
    """How a worker makes what it needs. It is sent to worker processes, so it can be pickled.

    Attributes:
        unusable: raised where no job can be done, which ends everything; made of a message alone.
        verbose: whether workers may print.
    """

    terms: ClassVar[Terms] = Terms()
    unusable: ClassVar[type[SPCAError]] = JobError
    verbose: bool

    @abstractmethod
    def opened(self) -> AbstractContextManager[Callable[[J], R]]:
        """Return what does one job after another, made ready on entry and released on exit."""

    @abstractmethod
    def lost(self, job: J, how: str) -> R:
        """Return the result of a job whose worker died each time."""


def why_unusable(setup: Setup[J, R], error: Exception) -> str:
    """Return the message of what ``setup`` raises for an error after which no job can be done."""
    return missing_package(error, f"the {setup.terms.whole}") if isinstance(error, ImportError) else str(error)
