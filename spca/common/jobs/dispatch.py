"""Choose the engine that does jobs, and do unfinished jobs. The engine affects only the order of results."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from importlib import import_module
from typing import Final, Protocol

from spca.common.jobs.journal import Journal
from spca.common.jobs.work import J, R, Setup


class Engine(Protocol):
    """A function that does jobs with workers."""

    def __call__(self, setup: Setup[J, R], jobs: Sequence[J], workers: int, /) -> Generator[tuple[int, R]]:
        """Yield the index and the result of every job, in the order in which the jobs finish."""


ENGINES: Final[dict[str, tuple[str, str]]] = {
    "local": ("spca.common.jobs.processes", "do_in_processes"),
    "ray": ("spca.common.jobs.ray_engine", "do_with_ray"),
}
"""Value of ``--executor`` -> module and function of the engine, which is imported on first use."""


def find_engine(name: str) -> Engine:
    """Return the engine with the given name, a key of :data:`ENGINES`."""
    module, function = ENGINES[name]
    engine: Engine = getattr(import_module(module), function)
    return engine


def do_what_is_left(
    setup: Setup[J, R], jobs: Sequence[J], journal: Journal[R], workers: int = 1, engine: str = "local"
) -> Generator[R]:
    """Do the jobs that the journal does not contain; yield each result once the result is on disk.

    Raises:
        SPCAError: no job can be done, or the journal cannot be written; ``setup`` determines the type of the error.
    """
    if unfinished := [job for job in jobs if job.index not in journal.finished]:
        do_jobs = find_engine(engine)
        with closing(do_jobs(setup, unfinished, workers)) as results:
            for index, result in results:
                journal.add(index, result)
                yield result
