"""Jobs that take no time: squares of numbers, by workers that may die."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from spca.common.errors import FileError, JobError
from spca.common.jobs.processes import unbroken
from spca.common.jobs.work import Job, JobMessages, Setup
from tests.support.waiting import becomes


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
        pays: the job that pays for something, and never ends; all others refuse once it has paid.
        dies: the job at which a worker dies each time; ``dies_once``: only once.
        needs: a package to import first.
    """

    terms: ClassVar[JobMessages] = JobMessages("squaring", "squarer", "--out", SquaresError)
    unusable: ClassVar[type[SquaresError]] = SquaresError

    folder: Path
    dies: str = ""
    dies_once: str = ""
    needs: str = ""
    refuses: str = ""
    breaks: str = ""
    pays: str = ""
    verbose: bool = False

    @contextmanager
    def start_worker(self) -> Iterator[Callable[[Job], Square]]:
        __import__(self.needs or "os")
        try:
            yield self._square
        finally:
            (self.folder / f"closed-{os.getpid()}").touch()

    def make_lost_result(self, job: Job, how: str) -> Square:
        return Square(job.id, -1, how)

    def _square(self, job: Job) -> Square:
        if job.id == self.refuses:
            raise SquaresError("nothing is squared today")
        if job.id == self.breaks:
            raise FileError(self.folder, "no paper")
        if job.id == self.pays:
            with unbroken():
                (self.folder / "paid").touch()
                time.sleep(0.3)
                (self.folder / "received").touch()
            while True:
                time.sleep(0.01)
        if self.pays:
            assert becomes((self.folder / "paid").exists)
            raise SquaresError("enough was paid")
        died = self.folder / "died"
        if job.id == self.dies or (job.id == self.dies_once and not died.exists()):
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        logging.getLogger("spca.squares").debug("squares %s", job.id)
        return Square(job.id, int(job.id) ** 2)
