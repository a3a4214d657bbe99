"""Who does the jobs; results do not depend on it, only the order in which they come."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from importlib import import_module
from typing import Final, Protocol

from spca.common.jobs.journal import Journal
from spca.common.jobs.work import J, R, Setup


class Engine(Protocol):
    """What does jobs."""

    def __call__(self, setup: Setup[J, R], jobs: Sequence[J], workers: int, /) -> Generator[tuple[int, R]]:
        """Yield every job's number and result, in the order in which they are finished."""


ENGINES: Final[dict[str, tuple[str, str]]] = {
    "local": ("spca.common.jobs.processes", "do_in_processes"),
    "ray": ("spca.common.jobs.ray_engine", "do_with_ray"),
}
"""Modules and names of engines by what ``--engine`` takes; they are imported when they are used."""


def find_engine(name: str) -> Engine:
    """The engine of a name in :data:`ENGINES`."""
    module, function = ENGINES[name]
    engine: Engine = getattr(import_module(module), function)
    return engine


def do_what_is_left(
    setup: Setup[J, R], jobs: Sequence[J], journal: Journal[R], workers: int = 1, engine: str = "local"
) -> Generator[R]:
    """Do the jobs that the journal lacks; each result is on the disk before it comes.

    Raises:
        SPCAError: as ``setup`` says, where no job can be done or the journal cannot be written.
    """
    if left := [job for job in jobs if job.index not in journal.finished]:
        with closing(find_engine(engine)(setup, left, workers)) as doing:
            for index, result in doing:
                journal.add(index, result)
                yield result
