"""Results files for a leaderboard: read, checked, and ranked within groups of comparable ones (pure).

Results are compared within a benchmark on a tiling; where their tasks differ all the same, the page says so. Figures
are computed anew from the tasks, so a file cannot claim others.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, Final

from pydantic import TypeAdapter

from gridworld.errors import EvaluationError
from gridworld.evaluation.metrics import MAX_BYTES, BenchmarkEvaluationResult, TaskBenchmarkResult
from gridworld.evaluation.running.player import Telling
from gridworld.runner.encoding import read_saved

_MAX_STEPS: Final = 10**9
_MAX_POINTS: Final = 1e12


@dataclass(frozen=True, slots=True)
class PlayedSettings(Telling):
    """Settings that decide what a model meets."""

    tiling: str = "square"
    backend: str = ""
    seed: int | None = None
    actions_per_call: int = 1

    def __str__(self) -> str:
        """Return those that are not the usual ones."""
        told = list[str]()
        for each in fields(self):
            value = getattr(self, each.name)
            if value != each.default:
                told.append(f"{each.name.replace('_', ' ')} {value}")
        return ", ".join(told)


@dataclass(frozen=True, slots=True)
class PlayedTask:
    """A task as it was played; older files do not tell the digest of its file."""

    task_id: str
    sha256: str = ""
    tier: int | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a results file tells of its run."""

    finished: str = ""
    settings: PlayedSettings = PlayedSettings()
    tasks: tuple[PlayedTask, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A results file.

    Attributes:
        source: name of the file.
        label: the model; with the file where it has several results in its group.
        rank: in its group; equal results share one.
    """

    results: BenchmarkEvaluationResult
    run: RunRecord
    source: str
    label: str = ""
    rank: int = 1

    @property
    def merit(self) -> tuple[float, float]:
        return self.results.point_rate, self.results.success_rate

    @cached_property
    def tasks(self) -> Mapping[str, TaskBenchmarkResult]:
        return {each.task_id: each for each in self.results.task_results}

    @cached_property
    def digests(self) -> Mapping[str, str]:
        return {each.task_id: each.sha256 for each in self.run.tasks}

    @cached_property
    def tasks_hash(self) -> str:
        """Return a few characters that are equal for equal sets of tasks."""
        told = list[list[object]]()
        for task, result in sorted(self.tasks.items()):
            told.append([task, self.digests.get(task) or result.optimal_steps])
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:6]


@dataclass(frozen=True, slots=True)
class Group:
    """Comparable results, the best first."""

    name: str
    tiling: str
    entries: tuple[Entry, ...]

    @property
    def title(self) -> str:
        return self.name if self.tiling == "square" else f"{self.name} ({self.tiling})"

    @property
    def tiers(self) -> Mapping[str, int | None]:
        """Return the tier of each task that any result has, None where it is not told."""
        tiers = {task.task_id: task.tier for entry in self.entries for task in entry.run.tasks}
        return {task: tiers.get(task) for entry in self.entries for task in entry.tasks}

    @property
    def is_mixed(self) -> bool:
        """Whether the sets of tasks differ, as far as files tell."""
        return len({entry.tasks_hash for entry in self.entries}) > 1


def read_entries(paths: Iterable[str | os.PathLike[str]]) -> tuple[list[Entry], list[str]]:
    """Return the results in files, and a line for each file that holds none."""
    entries = []
    problems = []
    for path in paths:
        make = partial(_make_entry, os.path.basename(path))
        try:
            entries.append(read_saved(path, make, MAX_BYTES, "a results file of an evaluation"))
        except EvaluationError as error:
            problems.append(str(error))
    return entries, problems


def rank_entries(entries: Sequence[Entry]) -> list[Group]:
    """Return groups by title, so that squares come before other tilings, each with its best result first."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        name = (entry.results.benchmark_name, entry.run.settings.tiling)
        groups.setdefault(name, []).append(entry)
    ranked = [_rank_group(*name, members) for name, members in groups.items()]
    return sorted(ranked, key=lambda group: group.title)


def _rank_group(name: str, tiling: str, entries: list[Entry]) -> Group:
    by_name = sorted(entries, key=lambda each: (each.results.model_name, each.run.finished))
    best_first = sorted(by_name, key=lambda each: each.merit, reverse=True)
    merits = [entry.merit for entry in best_first]
    models = [entry.results.model_name for entry in best_first]
    ranked = []
    for entry, model in zip(best_first, models, strict=True):
        label = model if models.count(model) == 1 else f"{model} · {entry.source}"
        ranked.append(replace(entry, label=label, rank=merits.index(entry.merit) + 1))
    return Group(name, tiling, tuple(ranked))


def _make_entry(source: str, data: Mapping[str, Any]) -> Entry:
    """Return an entry from the content of a results file.

    Raises:
        KeyError, TypeError, ValueError: it is none, or a figure is impossible.
    """
    results = BenchmarkEvaluationResult.from_dict(data)
    entry = Entry(results, TypeAdapter(RunRecord).validate_python(results.run), source)
    if not 0 < len(entry.tasks) == len(results.task_results):
        raise ValueError("there are no tasks, or one comes twice")
    for result in results.task_results:
        if not _is_possible(result):
            raise ValueError(f"task {result.task_id}: impossible figures")
    return entry


def _is_possible(result: TaskBenchmarkResult) -> bool:
    least = [each for each in (result.optimal_steps, result.bound) if each is not None]
    if not 0 <= result.steps_taken <= _MAX_STEPS:
        return False
    if not all(0 < each <= _MAX_STEPS for each in least):
        return False
    if result.optimality_ratio is not None and not 0 < result.optimality_ratio <= 1:
        return False
    return 0 <= result.points_earned <= result.available_points <= _MAX_POINTS
