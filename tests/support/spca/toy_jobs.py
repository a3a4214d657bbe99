"""Jobs that take no time: squares of numbers, by workers that may die."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from spca.common.errors import FileError, JobError
from spca.common.jobs.work import Job, Setup, Terms


@dataclass(frozen=True, slots=True)
class Square:
    """The result; -1 where the worker died each time."""

    task_id: str
    value: int
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class SquaresError(JobError):
    """Nothing can be squared."""


@dataclass(frozen=True, slots=True)
class Squares(Setup[Job, Square]):
    """Squares the number in the name of a job.

    Attributes:
        folder: gets a file for each start and end of a worker, and for the first death at ``dies_once``.
        dies: the job at which a worker dies each time; ``dies_once``: only once.
        needs: a package to import first.
    """

    terms: ClassVar[Terms] = Terms("squaring", "squarer", "--out", SquaresError)
    unusable: ClassVar[type[SquaresError]] = SquaresError

    folder: Path
    dies: str = ""
    dies_once: str = ""
    needs: str = ""
    refuses: str = ""
    breaks: str = ""
    verbose: bool = False

    @contextmanager
    def opened(self) -> Iterator[Callable[[Job], Square]]:
        __import__(self.needs or "os")
        try:
            yield self._square
        finally:
            (self.folder / f"closed-{os.getpid()}").touch()

    def lost(self, job: Job, how: str) -> Square:
        return Square(job.id, -1, how)

    def _square(self, job: Job) -> Square:
        if job.id == self.refuses:
            raise SquaresError("nothing is squared today")
        if job.id == self.breaks:
            raise FileError(self.folder, "no paper")
        died = self.folder / "died"
        if job.id == self.dies or (job.id == self.dies_once and not died.exists()):
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Square(job.id, int(job.id) ** 2)
