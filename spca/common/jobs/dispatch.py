"""Choose the engine that does the jobs. It affects only the order of results, not the results."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from importlib import import_module
from typing import Final, Protocol

from spca.common.jobs.journal import Journal
from spca.common.jobs.work import J, R, Setup


class Engine(Protocol):
    """A way to run jobs."""

    def __call__(self, setup: Setup[J, R], jobs: Sequence[J], workers: int, /) -> Generator[tuple[int, R]]:
        """Yield the index and the result of every job, in the order in which they finish."""


ENGINES: Final[dict[str, tuple[str, str]]] = {
    "local": ("spca.common.jobs.processes", "do_in_processes"),
    "ray": ("spca.common.jobs.ray_engine", "do_with_ray"),
}
"""Value of ``--executor`` -> module and function, imported on first use."""


def find_engine(name: str) -> Engine:
    """Return the engine with a name of :data:`ENGINES`."""
    module, function = ENGINES[name]
    engine: Engine = getattr(import_module(module), function)
    return engine


def do_what_is_left(
    setup: Setup[J, R], jobs: Sequence[J], journal: Journal[R], workers: int = 1, engine: str = "local"
) -> Generator[R]:
    """Do the jobs that the journal lacks; each result is on disk before it is yielded.

    Raises:
        SPCAError: the type that ``setup`` names: no job can be done, or the journal cannot be written.
    """
    if left := [job for job in jobs if job.index not in journal.finished]:
        with closing(find_engine(engine)(setup, left, workers)) as doing:
            for index, result in doing:
                journal.add(index, result)
                yield result
