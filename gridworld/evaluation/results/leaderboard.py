"""What a leaderboard shows, from results files: groups of comparable results, ranked, and each task of each (pure).

Results are compared within a benchmark on a tiling; where their tasks differ all the same, the page says so. Figures
are computed anew from the tasks, so a file cannot claim others.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from gridworld.errors import EvaluationError
from gridworld.evaluation.metrics import BenchmarkEvaluationResult, TaskBenchmarkResult
from gridworld.evaluation.results.spending import Spending, is_amount
from gridworld.runner.episode_result import EpisodeResult
from spca.common.text import one_line, strip_folders

_LONGEST: Final = 120
_MOST_STEPS: Final = 10**9
_MOST_POINTS: Final = 1e12


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a model did on a task.

    Attributes:
        optimal: None if it is not known.
        bound: proven lower bound of it; None if the file has none.
        ratio: of a solved task, in (0, 1], else None; at least that where the optimum is not known.
        error: what the model raised, "" for nothing.
        ending: how the episode ended, in the same few words wherever one ended alike.
    """

    solved: bool
    steps: int
    optimal: int | None
    bound: int | None
    ratio: float | None
    points: float
    available: float
    error: str
    ending: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A results file.

    Attributes:
        label: the model; with the date where it has several results in its group.
        finished: when, "" if it is not told.
        settings: what of the settings is worth a word.
        options: the settings as the file has them.
        tasks_hash: equal for equal sets of tasks.
        seconds: that the model took; None if it is not told.
        spending: tokens that it read and wrote, and what they cost; None if it is not told.
        outcomes, episodes: by task id.
        rank: in its group; equal results share one.
    """

    model: str
    benchmark: str
    tiling: str
    backend: str
    finished: str
    settings: str
    options: Mapping[str, Any]
    source: str
    tasks: int
    solved: int
    success_rate: float
    points: float
    available: float
    point_rate: float
    optimality: float | None
    mean_steps: float
    seconds: float | None
    spending: Spending | None
    tasks_hash: str
    outcomes: Mapping[str, Outcome]
    episodes: Mapping[str, EpisodeResult]
    tiers: Mapping[str, int]
    digests: Mapping[str, str]
    label: str = ""
    rank: int = 1

    @property
    def bounded(self) -> int:
        """Count the solved tasks whose ratio uses a lower bound, which makes points and optimality lower bounds."""
        return sum(outcome.ratio is not None and outcome.optimal is None for outcome in self.outcomes.values())

    @property
    def errors(self) -> int:
        """Tasks that an error of the model ended."""
        return sum(bool(outcome.error) for outcome in self.outcomes.values())


@dataclass(frozen=True, slots=True)
class Group:
    """Comparable results, the best first, and their tasks in order."""

    name: str
    tiling: str
    entries: tuple[Entry, ...]
    task_ids: tuple[str, ...]
    tiers: Mapping[str, int] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return self.name if self.tiling == "square" else f"{self.name} ({self.tiling})"

    @property
    def is_mixed(self) -> bool:
        """Whether the sets of tasks differ."""
        return any(set(entry.outcomes) != set(self.task_ids) for entry in self.entries) or any(
            _differs(task, self.entries) for task in self.task_ids
        )


def read_entries(paths: Iterable[str | os.PathLike[str]]) -> tuple[list[Entry], list[str]]:
    """The results in files, and a line for each file that holds none."""
    entries, problems = [], []
    for path in paths:
        try:
            entries.append(read_entry(path))
        except EvaluationError as error:
            problems.append(str(error))
    return entries, problems


def read_entry(path: str | os.PathLike[str]) -> Entry:
    """The results in a file.

    Raises:
        EvaluationError: it cannot be read or holds what no evaluation wrote; names the file.
    """
    results = BenchmarkEvaluationResult.load(path)
    try:
        return entry_of(results, results.run, os.fspath(path))
    except ValueError as error:
        raise EvaluationError(f"{os.fspath(path)}: is not a results file of an evaluation: {error}") from error


def entry_of(results: BenchmarkEvaluationResult, told: Mapping[str, Any], source: str) -> Entry:
    """An entry from results and what they tell about the run.

    Raises:
        ValueError: a figure is impossible.
    """
    outcomes: dict[str, Outcome] = {}
    for result in results.task_results:
        if (name := _text(result.task_id)) in outcomes:
            raise ValueError(f"task {name} comes twice")
        outcomes[name] = _outcome(result)
    settings = _mapping(told.get("settings"))
    tasks = [_mapping(each) for each in _list(told.get("tasks"))]
    digests = {_text(each["task_id"]): str(each.get("sha256", "")) for each in tasks if "task_id" in each}
    count = len(outcomes)
    return Entry(
        model=_text(results.model_name),
        benchmark=_text(results.benchmark_name),
        tiling=_text(settings.get("tiling", "square")),
        backend=_text(settings.get("backend", "")),
        finished=_text(told.get("finished", ""))[:25],
        settings=_settings_told(settings),
        options=settings,
        source=_text(os.path.basename(source)),
        tasks=count,
        solved=results.num_success,
        success_rate=results.success_rate,
        points=results.total_points_earned,
        available=results.total_available_points,
        point_rate=results.point_rate,
        optimality=results.avg_optimality_ratio or None,
        mean_steps=math.fsum(each.steps for each in outcomes.values()) / count if count else 0.0,
        seconds=_summed(result.episode.info.get("model_seconds") for result in results.task_results),
        spending=results.spending,
        tasks_hash=_hash_of_tasks(outcomes, digests),
        outcomes=outcomes,
        episodes=dict(zip(outcomes, (result.episode for result in results.task_results), strict=True)),
        tiers={_text(each["task_id"]): each["tier"] for each in tasks if "task_id" in each and _is_tier(each)},
        digests=digests,
    )


def grouped(entries: Sequence[Entry]) -> list[Group]:
    """Groups by name, each with its best result first."""
    groups: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        groups.setdefault((entry.benchmark, entry.tiling), []).append(entry)
    return [_group(name, tiling, members) for (name, tiling), members in sorted(groups.items())]


def overview(groups: Sequence[Group]) -> list[tuple[str, tuple[Entry | None, ...]]]:
    """Each model with its best entry of every group, None where it has none; by the sum of their shares."""
    models = dict.fromkeys(entry.model for group in groups for entry in group.entries)
    rows = [
        (model, tuple(next((entry for entry in group.entries if entry.model == model), None) for group in groups))
        for model in models
    ]
    return sorted(rows, key=lambda row: (-math.fsum(entry.point_rate for entry in row[1] if entry), row[0]))


def _group(name: str, tiling: str, entries: list[Entry]) -> Group:
    entries = sorted(entries, key=lambda each: (-each.point_rate, -each.success_rate, each.model, each.finished))
    merits = [(entry.point_rate, entry.success_rate) for entry in entries]
    ranked = [replace(entry, rank=merits.index(merit) + 1) for entry, merit in zip(entries, merits, strict=True)]
    ids = tuple(dict.fromkeys(task for entry in ranked for task in entry.outcomes))
    tiers = {task: tier for entry in ranked for task, tier in entry.tiers.items()}
    return Group(name, tiling, tuple(_labelled(ranked)), ids, tiers)


def _labelled(entries: Sequence[Entry]) -> Iterator[Entry]:
    """Entries told apart: by the model, then the date, then the file."""
    dated = [f"{entry.model} · {entry.finished.replace('T', ' ')[:16]}".removesuffix(" · ") for entry in entries]
    models = [entry.model for entry in entries]
    for entry, label in zip(entries, dated, strict=True):
        if models.count(entry.model) == 1:
            yield replace(entry, label=entry.model)
        else:
            yield replace(entry, label=label if dated.count(label) == 1 else f"{label} · {entry.source}")


def _differs(task: str, entries: Sequence[Entry]) -> bool:
    """Whether a task that all have is not the same: by its digest, and by its optimum where that is not told."""
    digests = {entry.digests.get(task, "") for entry in entries}
    told = digests - {""}
    return len(told) > 1 or (told != digests and len({entry.outcomes[task].optimal for entry in entries}) > 1)


def _outcome(result: TaskBenchmarkResult) -> Outcome:
    steps, optimal, ratio = result.steps_taken, result.optimal_steps, result.optimality_ratio
    name = _text(result.task_id)
    least = [each for each in (optimal, result.bound) if each is not None]
    if not 0 <= steps <= _MOST_STEPS or not all(0 < each <= _MOST_STEPS for each in least):
        raise ValueError(f"task {name}: impossible number of steps")
    if ratio is not None and not 0 < ratio <= 1:
        raise ValueError(f"task {name}: optimality_ratio is not in (0, 1]")
    if not (0 <= result.points_earned <= result.available_points <= _MOST_POINTS):
        raise ValueError(f"task {name}: points_earned is not from 0 to available_points")
    error = result.episode.info.get("model_error")
    described = "" if error is None else _text(error)
    return Outcome(
        solved=result.success,
        steps=steps,
        optimal=optimal,
        bound=result.bound,
        ratio=ratio if result.success else None,
        points=result.points_earned,
        available=result.available_points,
        error=described,
        ending="solved" if result.success else _describe_failure(result.episode, described),
    )


def _describe_failure(episode: EpisodeResult, error: str) -> str:
    if error:
        return f"model error: {error}"
    if episode.terminated:
        return "entered a hazard"
    return "ran out of steps" if episode.truncated else "stopped before the end"


def _settings_told(settings: Mapping[str, Any]) -> str:
    told = []
    if settings.get("backend"):
        told.append(str(settings["backend"]))
    if settings.get("observation") == "text":
        told.append("text, no images")
    elif settings.get("text_observation") is True:
        told.append("text observation")
    if is_amount(several := settings.get("actions_per_call", 1)) and several > 1:
        told.append(f"{several:g} actions per call")
    if settings.get("history_images") == 0:
        told.append("no earlier images")
    if settings.get("history_text") is False:
        told.append("no history")
    if "seed" in settings:
        told.append(f"seed {settings['seed']}")
    return _text(", ".join(told))


def _hash_of_tasks(outcomes: Mapping[str, Outcome], digests: Mapping[str, str]) -> str:
    told = [[task, digests.get(task) or outcome.optimal] for task, outcome in sorted(outcomes.items())]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:6]


def _summed(values: Iterable[Any]) -> float | None:
    """The sum of those that are sensible numbers; None if there are none."""
    numbers = [float(each) for each in values if is_amount(each)]
    return math.fsum(numbers) if numbers else None


def _is_tier(told: Mapping[str, Any]) -> bool:
    tier = told.get("tier")
    return isinstance(tier, int) and not isinstance(tier, bool) and 0 <= tier <= _MOST_STEPS


def _text(value: object) -> str:
    """Untrusted text as it is shown: on one line, nothing hidden in it, no folder of a machine, not too long."""
    text = one_line(strip_folders(value if isinstance(value, str) else repr(value)))
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
