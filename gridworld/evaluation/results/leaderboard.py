"""Reading, checking and ranking of results files for a leaderboard (pure).

Results are ranked together if they have the same benchmark and the same tiling. If their tasks differ nevertheless, the
page says so. Metrics are computed anew from the tasks, so that a file cannot claim other metrics.
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
    """Settings of an evaluation that influence the model's input."""

    tiling: str = "square"
    backend: str = ""
    seed: int | None = None
    actions_per_call: int = 1

    def __str__(self) -> str:
        """Return the names and values of the settings that differ from their defaults."""
        changed: list[str] = []
        for each in fields(self):
            value = getattr(self, each.name)
            if value != each.default:
                changed.append(f"{each.name.replace('_', ' ')} {value}")
        return ", ".join(changed)


@dataclass(frozen=True, slots=True)
class PlayedTask:
    """A task as it was played. ``sha256`` is the digest of the task's file, or "" in older results files without
    digests.
    """

    task_id: str
    sha256: str = ""
    tier: int | None = None


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The entries under ``run`` in a results file."""

    finished: str = ""
    settings: PlayedSettings = PlayedSettings()
    tasks: tuple[PlayedTask, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A results file.

    Attributes:
        results: metrics of the file.
        run: the entries under ``run`` in the file.
        source: name of the file.
        label: name of the model. If the group holds several results of the model, the name of the file is appended.
        rank: rank in the group, from 1; equal results have the same rank.
    """

    results: BenchmarkEvaluationResult
    run: RunRecord
    source: str
    label: str = ""
    rank: int = 1

    @property
    def merit(self) -> tuple[float, float]:
        """The key of the ranking: (point rate, success rate). A larger key is better."""
        return self.results.point_rate, self.results.success_rate

    @cached_property
    def tasks(self) -> Mapping[str, TaskBenchmarkResult]:
        """The result of each task, by id of the task."""
        return {each.task_id: each for each in self.results.task_results}

    @cached_property
    def digests(self) -> Mapping[str, str]:
        """The SHA-256 of each task's file, by id of the task."""
        return {each.task_id: each.sha256 for each in self.run.tasks}

    @cached_property
    def tasks_hash(self) -> str:
        """The first 6 digits of a hash of the set of tasks; equal sets have equal hashes."""
        identities: list[list[object]] = []
        for task, result in sorted(self.tasks.items()):
            # In files without digests, the optimum tells tasks of the same id apart.
            identities.append([task, self.digests.get(task) or result.optimal_steps])
        digest = hashlib.sha256(json.dumps(identities).encode())
        return digest.hexdigest()[:6]


@dataclass(frozen=True, slots=True)
class Group:
    """Results of one benchmark on one tiling, the best result first."""

    name: str
    tiling: str
    entries: tuple[Entry, ...]

    @property
    def title(self) -> str:
        return self.name if self.tiling == "square" else f"{self.name} ({self.tiling})"

    @property
    def tiers(self) -> Mapping[str, int | None]:
        """The tier of each task that occurs in a result, by id of the task; None if the tier is unknown."""
        tiers = {task.task_id: task.tier for entry in self.entries for task in entry.run.tasks}
        return {task: tiers.get(task) for entry in self.entries for task in entry.tasks}

    @property
    def is_mixed(self) -> bool:
        """Whether the results have different sets of tasks, as far as the files show."""
        return len({entry.tasks_hash for entry in self.entries}) > 1


def read_entries(paths: Iterable[str | os.PathLike[str]]) -> tuple[list[Entry], list[str]]:
    """Return (entries, problems): the entry of each file, and an error line for each file that holds no results."""
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
    """Return the groups of comparable results, sorted by title.

    For each benchmark, the square tiling comes before other tilings.
    """
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        name = (entry.results.benchmark_name, entry.run.settings.tiling)
        groups.setdefault(name, []).append(entry)
    ranked = [_rank_group(*name, members) for name, members in groups.items()]
    return sorted(ranked, key=lambda group: group.title)


def _rank_group(name: str, tiling: str, entries: list[Entry]) -> Group:
    """Return a group whose entries have ranks and labels, the best result first."""
    # Sorting is stable, so that results of equal merit stay in the order of names and times.
    by_name = sorted(entries, key=lambda each: (each.results.model_name, each.run.finished))
    best_first = sorted(by_name, key=lambda each: each.merit, reverse=True)
    merits = [entry.merit for entry in best_first]
    models = [entry.results.model_name for entry in best_first]
    ranked = []
    for entry, model in zip(best_first, models, strict=True):
        label = model if models.count(model) == 1 else f"{model} · {entry.source}"
        rank = merits.index(entry.merit) + 1
        ranked.append(replace(entry, label=label, rank=rank))
    return Group(name, tiling, tuple(ranked))


def _make_entry(source: str, data: Mapping[str, Any]) -> Entry:
    """Return the entry for the content of a results file.

    Raises:
        KeyError, TypeError, ValueError: the content is not that of a results file, or a metric is impossible.
    """
    results = BenchmarkEvaluationResult.from_dict(data)
    entry = Entry(results, TypeAdapter(RunRecord).validate_python(results.run), source)
    is_repeated = len(entry.tasks) != len(results.task_results)
    if not entry.tasks or is_repeated:
        raise ValueError("there are no tasks, or one comes twice")
    for result in results.task_results:
        if not _is_possible(result):
            raise ValueError(f"task {result.task_id}: impossible figures")
    return entry


def _is_possible(result: TaskBenchmarkResult) -> bool:
    """Return whether steps, ratio and points are in the ranges that an evaluation can produce."""
    optima = [each for each in (result.optimal_steps, result.bound) if each is not None]
    if not 0 <= result.steps_taken <= _MAX_STEPS:
        return False
    if not all(0 < each <= _MAX_STEPS for each in optima):
        return False
    if result.optimality_ratio is not None and not 0 < result.optimality_ratio <= 1:
        return False
    return 0 <= result.points_earned <= result.available_points <= _MAX_POINTS
