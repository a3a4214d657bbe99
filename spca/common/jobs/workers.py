"""Who plays the tasks; results do not depend on it, only the order in which they come."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from gridworld.evaluation.running.tasks import EvaluationTask
    from gridworld.evaluation.running.worker_setup import Finished, WorkerSetup

Engine: TypeAlias = "Callable[[WorkerSetup, Sequence[EvaluationTask], int], Generator[Finished]]"
"""``engine(setup, tasks, workers)``: every task's number and result, in the order in which they are finished."""

ENGINES: Final[dict[str, tuple[str, str]]] = {
    "local": ("spca.common.jobs.processes", "play_in_processes"),
    "ray": ("spca.common.jobs.ray_engine", "play_with_ray"),
}
"""Modules and names of engines by what ``--engine`` takes; they are imported when they are used."""


def find_engine(name: str) -> Engine:
    """The engine of a name in :data:`ENGINES`."""
    module, function = ENGINES[name]
    engine: Engine = getattr(import_module(module), function)
    return engine
