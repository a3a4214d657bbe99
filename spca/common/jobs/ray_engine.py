"""Tasks played by actors of Ray, on one machine or a cluster."""

from __future__ import annotations

import importlib
import os
from collections import Counter, deque
from collections.abc import Generator, Sequence
from typing import Any

from gridworld.errors import EvaluationError, ModelError, missing_part
from gridworld.evaluation.harness import EvaluationHarness
from gridworld.evaluation.metrics import TaskBenchmarkResult
from gridworld.evaluation.running.tasks import EvaluationTask
from gridworld.evaluation.running.worker_setup import TRIES, Finished, WorkerSetup, lost


def play_with_ray(setup: WorkerSetup, tasks: Sequence[EvaluationTask], workers: int) -> Generator[Finished]:
    """By actors of Ray, in the cluster that ``RAY_ADDRESS`` names or one started here.

    Raises:
        ModelError: the model cannot be used.
        EvaluationError: Ray is not installed.
    """
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise EvaluationError("--engine ray needs Ray: pip install 'sense-plan-code-act[ray]'") from None
    started = not ray.is_initialized()
    if started:
        own = {} if os.environ.get("RAY_ADDRESS") else {"num_cpus": workers, "include_dashboard": False}
        ray.init(log_to_driver=setup.verbose, logging_level="ERROR", **own)
    try:
        yield from _play(ray, setup, tasks, min(workers, len(tasks)))
    finally:
        if started:
            ray.shutdown()


class _Player:
    """What an actor holds."""

    def __init__(self, setup: WorkerSetup) -> None:
        self._setup = setup
        self._harness: EvaluationHarness | None = None

    def judge(self, task: EvaluationTask) -> TaskBenchmarkResult | str:
        """The result, or why the model cannot be used."""
        try:
            self._harness = self._harness or self._setup.harness()
            return self._harness.judge(task.spec, self._setup.verbose)
        except ModelError as error:
            return str(error)
        except ImportError as error:
            return str(missing_part(error, "the evaluation"))

    def close(self) -> None:
        if self._harness is not None:
            self._harness.close()


def _play(ray: Any, setup: WorkerSetup, tasks: Sequence[EvaluationTask], workers: int) -> Generator[Finished]:
    actor = ray.remote(_Player)
    queue, tries = deque(tasks), Counter[int]()
    running: dict[Any, tuple[EvaluationTask, Any]] = {}
    idle = [actor.remote(setup) for _ in range(workers)]
    while queue or running:
        while queue and idle:
            task, player = queue.popleft(), idle.pop()
            running[player.judge.remote(task)] = (task, player)
        [ready], _ = ray.wait(list(running), num_returns=1)
        task, player = running.pop(ready)
        try:
            result = ray.get(ready)
        except ray.exceptions.RayActorError:
            player = actor.remote(setup)
            tries[task.index] += 1
            if tries[task.index] < TRIES:
                queue.appendleft(task)
            else:
                yield task.index, lost(task, setup, "its actor died")
        else:
            if isinstance(result, str):
                raise ModelError(result)
            yield task.index, result
        idle.append(player)
    ray.get([player.close.remote() for player in idle])
