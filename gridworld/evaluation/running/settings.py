"""Settings of an evaluation, and the tasks that the settings select."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from gridworld import library
from gridworld.errors import EvaluationError, TaskError
from gridworld.evaluation.options import TaskOptions
from gridworld.evaluation.running.player import Telling
from gridworld.evaluation.running.tasks import EvaluationTask, tasks_in
from gridworld.search.solver import DEFAULT_LIMIT

TILINGS_OF: Final[Mapping[str, tuple[str, ...]]] = {"minigrid": ("square",), "multigrid": ("square", "hex")}
"""Supported tilings of each backend."""

_CREDENTIALS: Final = re.compile(r"(?<=://)[^/@\s]*@")


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings that influence the results of an evaluation.

    Attributes:
        tasks: options of the benchmark, the backend and the seed.
        model: name of the model, as for ``--model``.
        options: options of this model, a dataclass; None for a model without options.
        telling: settings of the model's input.
        limit: number of states that the search for a shortest solution of a task may expand.

    Raises:
        EvaluationError: two options contradict each other.
    """

    tasks: TaskOptions
    model: str
    options: object = None
    telling: Telling = field(default_factory=Telling)
    limit: int = DEFAULT_LIMIT

    def __post_init__(self) -> None:
        tasks = self.tasks
        if tasks.tiling not in TILINGS_OF.get(tasks.backend, (tasks.tiling,)):
            able = ", ".join(name for name, tilings in TILINGS_OF.items() if tasks.tiling in tilings)
            also = f"; --backend {able} has it" if able else ""
            raise EvaluationError(f"the {tasks.backend} backend has no tiling {tasks.tiling!a}{also}")
        if tasks.benchmark == "directory" and not tasks.task_dir:
            raise EvaluationError("--benchmark directory needs --task-dir DIR")
        if tasks.benchmark == "validation_10" and tasks.task_dir:
            raise EvaluationError("--task-dir goes with --benchmark directory or tiers, not with validation_10")
        if tasks.benchmark != "tiers" and tasks.tiers is not None:
            raise EvaluationError(f"--tier goes with --benchmark tiers, not with {tasks.benchmark}")

    @property
    def benchmark_name(self) -> str:
        """Name of the set of tasks in results files. If only some tiers were selected, the name lists these tiers."""
        tasks = self.tasks
        if tasks.benchmark == "directory":
            return library.name_of(tasks.task_dir or ".")
        if tasks.tiers is None:
            return tasks.benchmark
        return f"{tasks.benchmark}_{','.join(map(str, tasks.tiers))}"

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able dict without nested dicts; user names and passwords in addresses are removed."""
        data = asdict(self)
        tasks = data.pop("tasks")
        telling = data.pop("telling")
        options = data.pop("options") or {}
        if telling["observation"] == "image":  # journals from before this setting existed must stay equal
            del telling["observation"]
        flat = {**data, **tasks, **telling, **options}
        for name, value in flat.items():
            if isinstance(value, str):
                flat[name] = _CREDENTIALS.sub("", value)
        return flat


def tasks_of(settings: Settings, *, strict: bool = False, warnings: list[str] | None = None) -> list[EvaluationTask]:
    """Read and check all task files of an evaluation; return the tasks in order.

    Args:
        settings: settings of the evaluation.
        strict, warnings: see :func:`gridworld.evaluation.running.tasks.tasks_in`.

    Raises:
        TaskError: a folder or file cannot be used.
    """
    options = settings.tasks
    files: list[tuple[Path, int | None]]
    if options.benchmark == "tiers":
        folder = options.task_dir or library.TASKS
        tiers = library.tiers(folder) if options.tiers is None else options.tiers
        if not tiers:
            raise TaskError("there are no folders tier1, tier2, ...", str(folder))
        files = [(file, tier) for tier in tiers for file in library.task_files(library.tier_dir(tier, folder))]
    else:
        source: str = options.benchmark
        if source == "directory" and options.task_dir:
            source = options.task_dir
        files = [(file, None) for file in library.task_files(source)]
    return tasks_in(files, options.tiling, strict=strict, warnings=warnings)
