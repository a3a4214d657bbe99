"""Do jobs in Ray actors, on one machine or a cluster."""

from __future__ import annotations

import importlib
import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from typing import Any, Generic

from spca.common.installation import how_to_get
from spca.common.jobs.work import TRIES, J, R, Setup, unusable


def do_with_ray(setup: Setup[J, R], jobs: Sequence[J], workers: int) -> Generator[tuple[int, R]]:
    """Do jobs in Ray actors, in the cluster that ``RAY_ADDRESS`` names or one started here.

    Raises:
        SPCAError: the type that ``setup`` names: no job can be done, or Ray is not installed.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise setup.terms.error(f"--executor ray needs Ray: {how_to_get('ray')}") from error
    started = not ray.is_initialized()
    if started:
        own = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": workers, "include_dashboard": False}
        ray.init(log_to_driver=setup.verbose, logging_level="ERROR", **own)
    try:
        yield from _do(ray, setup, jobs, min(workers, len(jobs)))
    finally:
        if started:
            ray.shutdown()


class _Doer(Generic[J, R]):
    """The actor: it opens its setup on the first job and keeps it open."""

    def __init__(self, setup: Setup[J, R]) -> None:
        self._setup = setup
        self._held = ExitStack()
        self._do: Callable[[J], R] | None = None

    def do(self, job: J) -> R | Exception:
        """Return the result, or the error after which no job can be done."""
        try:
            self._do = self._do or self._held.enter_context(self._setup.start_worker())
            return self._do(job)
        except (self._setup.unusable, ImportError) as error:
            return unusable(self._setup, error)

    def close(self) -> None:
        self._held.close()


def _do(ray: Any, setup: Setup[J, R], jobs: Sequence[J], workers: int) -> Generator[tuple[int, R]]:
    actor = ray.remote(_Doer)
    queue = deque(jobs)
    tries = Counter[int]()
    running: dict[Any, tuple[J, Any]] = {}
    idle = [actor.remote(setup) for _ in range(workers)]
    while queue or running:
        while queue and idle:
            job = queue.popleft()
            doer = idle.pop()
            running[doer.do.remote(job)] = (job, doer)
        [ready], _ = ray.wait(list(running), num_returns=1)
        job, doer = running.pop(ready)
        try:
            result = ray.get(ready)
        except ray.exceptions.RayActorError:
            doer = actor.remote(setup)
            tries[job.index] += 1
            if tries[job.index] < TRIES:
                queue.appendleft(job)
            else:
                yield job.index, setup.make_lost_result(job, "its actor died")
        else:
            if isinstance(result, Exception):
                raise result
            yield job.index, result
        idle.append(doer)
    ray.get([doer.close.remote() for doer in idle])
