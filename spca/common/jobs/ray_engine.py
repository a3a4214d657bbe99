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
    """Do jobs in Ray actors; yield index and result of each job.

    The actors run in the cluster that ``RAY_ADDRESS`` names. If the variable is not set, a local cluster is started.

    Raises:
        SPCAError: no job can be done, or Ray is not installed; ``setup`` determines the type of the error.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError as error:
        raise setup.terms.error(f"--executor ray needs Ray: {how_to_get('ray')}") from error
    started = not ray.is_initialized()
    if started:
        local_cluster = {"num_cpus": workers, "include_dashboard": False}
        cluster = {} if os.environ.get("RAY_ADDRESS") else local_cluster
        ray.init(log_to_driver=setup.verbose, logging_level="ERROR", **cluster)
    try:
        yield from _do_jobs(ray, setup, jobs, min(workers, len(jobs)))
    finally:
        if started:
            ray.shutdown()


class _JobActor(Generic[J, R]):
    """A Ray actor that does jobs; the actor starts its worker (``Setup.start_worker``) on the first job."""

    def __init__(self, setup: Setup[J, R]) -> None:
        self._setup = setup
        self._stack = ExitStack()
        self._do: Callable[[J], R] | None = None

    def do(self, job: J) -> R | Exception:
        """Return the result of a job, or the error if no job can be done at all."""
        try:
            if self._do is None:
                self._do = self._stack.enter_context(self._setup.start_worker())
            return self._do(job)
        except (self._setup.unusable, ImportError) as error:
            return unusable(self._setup, error)

    def close(self) -> None:
        self._stack.close()


def _do_jobs(ray: Any, setup: Setup[J, R], jobs: Sequence[J], workers: int) -> Generator[tuple[int, R]]:
    """Do jobs with ``workers`` actors; yield index and result of each job.

    If an actor dies, its job is tried again. After :data:`TRIES` failed tries, the job is lost.
    """
    actor_class = ray.remote(_JobActor)
    queue = deque(jobs)
    tries = Counter[int]()
    running: dict[Any, tuple[J, Any]] = {}  # reference of the result -> job and actor
    idle = [actor_class.remote(setup) for _ in range(workers)]
    while queue or running:
        while queue and idle:
            job = queue.popleft()
            actor = idle.pop()
            running[actor.do.remote(job)] = (job, actor)
        [ready], _ = ray.wait(list(running), num_returns=1)
        job, actor = running.pop(ready)
        try:
            result = ray.get(ready)
        except ray.exceptions.RayActorError:
            actor = actor_class.remote(setup)
            tries[job.index] += 1
            if tries[job.index] < TRIES:
                queue.appendleft(job)
            else:
                yield job.index, setup.make_lost_result(job, "its actor died")
        else:
            if isinstance(result, Exception):
                raise result
            yield job.index, result
        idle.append(actor)
    ray.get([actor.close.remote() for actor in idle])
