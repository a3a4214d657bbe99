"""Metrics of an evaluation: per task, per tier and per benchmark (pure except for files).

A solved task earns ``available_points * optimality_ratio``. The ratio is the number of optimal steps divided by the
number of steps taken; it is 1.0 for a shortest solution. The available points are ``points`` in the task's
``metadata``, or the tier of the task if ``points`` is missing.

If the search for the optimum gives up, ``optimal_steps`` is None. In this case, the ratio is computed from the best
proven lower bound, so that ratio and points are lower bounds, too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from gridworld.evaluation.results.results_file import write_results
from gridworld.evaluation.results.spending import Spending
from gridworld.runner.encoding import read_saved
from gridworld.runner.episode_result import EpisodeResult
from gridworld.task_spec import TaskSpecification

MAX_BYTES: Final = 1 << 30
"""Largest size of a results file in bytes; larger files are refused."""


@dataclass
class TaskBenchmarkResult:
    """The result of one task.

    Attributes:
        optimal_steps: length of a shortest solution; None if the task has no solution or the length is unknown.
        bound: lower bound on the length of every solution, proven by this program; None without a bound. If
            ``optimal_steps`` comes from the task's certificate, the bound may be lower than ``optimal_steps``.
        optimality_ratio: ``optimal_steps`` divided by the steps taken, in (0, 1]; None if the task was not solved. If
            the optimum is unknown, ``bound`` replaces ``optimal_steps``.
        points_earned: available points times the ratio; 0.0 if the task was not solved.
    """

    task_id: str
    success: bool
    steps_taken: int
    optimal_steps: int | None
    optimality_ratio: float | None
    available_points: float
    points_earned: float
    episode: EpisodeResult = field(repr=False)
    bound: int | None = None

    @classmethod
    def of(
        cls, spec: TaskSpecification, episode: EpisodeResult, optimal_steps: int | None, bound: int | None = None
    ) -> TaskBenchmarkResult:
        """Return the result of an episode.

        Args:
            spec: the task.
            episode: the episode of the task.
            optimal_steps: as the attribute of this class.
            bound: as the attribute of this class; None means that ``optimal_steps`` is proven and is the bound.
        """
        bound = optimal_steps if bound is None else bound
        ratio = None
        if episode.success and episode.steps_taken:
            # A solved episode shows that the optimum and the bound are at most its number of steps.
            if optimal_steps is not None and episode.steps_taken < optimal_steps:
                optimal_steps = None  # the episode refutes the certificate
            bound = max(1, min(bound or 1, episode.steps_taken))
            if bound == episode.steps_taken:
                optimal_steps = bound  # no solution is shorter than the bound, and this episode is as short
            ratio = (optimal_steps or bound) / episode.steps_taken
        available = available_points(spec)
        return cls(
            task_id=spec.task_id,
            success=episode.success,
            steps_taken=episode.steps_taken,
            optimal_steps=optimal_steps,
            bound=bound,
            optimality_ratio=ratio,
            available_points=available,
            points_earned=available * (ratio or 0.0),
            episode=episode,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of the results file, without the states of steps, because the actions determine these
        states.
        """
        names = ("task_id", "success", "steps_taken", "optimal_steps", "bound", "optimality_ratio")
        data = {name: getattr(self, name) for name in (*names, "available_points", "points_earned")}
        return {**data, "episode": self.episode.to_dict(states=False)}

    @property
    def against_bound(self) -> bool:
        """Whether the ratio and the points were computed from ``bound`` and are therefore lower bounds."""
        return self.optimality_ratio is not None and self.optimal_steps is None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TaskBenchmarkResult:
        """Rebuild a result from the dict of :meth:`to_dict`.

        Raises:
            KeyError, TypeError, ValueError: the dict does not have the form of :meth:`to_dict`.
        """
        optimal = data["optimal_steps"]
        bound = data.get("bound")
        ratio = data["optimality_ratio"]
        return cls(
            task_id=str(data["task_id"]),
            success=bool(data["success"]),
            steps_taken=int(data["steps_taken"]),
            optimal_steps=None if optimal is None else int(optimal),
            bound=None if bound is None else int(bound),
            optimality_ratio=None if ratio is None else float(ratio),
            available_points=float(data["available_points"]),
            points_earned=float(data["points_earned"]),
            episode=EpisodeResult.from_dict(data["episode"]),
        )


@dataclass
class TierMetrics:
    """Metrics of one tier; averages are over all tasks of the tier, solved or not."""

    tier: int
    num_tasks: int
    num_success: int
    success_rate: float
    avg_steps: float
    avg_reward: float
    results: list[EpisodeResult] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, tier: int, results: Sequence[EpisodeResult]) -> TierMetrics:
        """Return the metrics of the episodes of a tier."""
        solved = sum(each.success for each in results)
        return cls(
            tier=tier,
            num_tasks=len(results),
            num_success=solved,
            success_rate=_mean(each.success for each in results),
            avg_steps=_mean(each.steps_taken for each in results),
            avg_reward=_mean(each.total_reward for each in results),
            results=list(results),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics, without the episodes."""
        names = ("tier", "num_tasks", "num_success", "success_rate", "avg_steps", "avg_reward")
        return {name: getattr(self, name) for name in names}


@dataclass
class EvaluationResult:
    """Metrics of several tiers, and of the tasks of these tiers together."""

    model_name: str
    tier_metrics: dict[int, TierMetrics]
    overall_success_rate: float
    overall_avg_steps: float
    overall_avg_reward: float

    @classmethod
    def of(cls, model_name: str, tiers: Mapping[int, TierMetrics]) -> EvaluationResult:
        """Return the metrics over the episodes of all tiers."""
        episodes = [each for tier in tiers.values() for each in tier.results]
        return cls(
            model_name=model_name,
            tier_metrics=dict(tiers),
            overall_success_rate=_mean(each.success for each in episodes),
            overall_avg_steps=_mean(each.steps_taken for each in episodes),
            overall_avg_reward=_mean(each.total_reward for each in episodes),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able dict; the keys of ``tier_metrics`` are the tiers' numbers as text."""
        overall = ("overall_success_rate", "overall_avg_steps", "overall_avg_reward")
        return {
            "model_name": self.model_name,
            "tier_metrics": {str(tier): metrics.to_dict() for tier, metrics in self.tier_metrics.items()},
            **{name: getattr(self, name) for name in overall},
        }

    def save(self, path: str) -> None:
        """Write the metrics to a JSON file; an interrupted write leaves no partial file.

        Raises:
            EvaluationError: the file cannot be written.
        """
        write_results(path, self.to_dict())


@dataclass
class BenchmarkEvaluationResult:
    """Metrics of a named set of tasks.

    Attributes:
        point_rate: points earned divided by points available.
        avg_optimality_ratio: mean ratio of the solved tasks; 0.0 if no task was solved.
        num_against_bound: number of solved tasks whose ratio is computed from the lower bound. If this number is above
            0, points, point rate and mean ratio are lower bounds, too.
        run: JSON-able settings, versions and times of the run, as under ``run`` in the results file; empty if unknown.
    """

    benchmark_name: str
    model_name: str
    num_tasks: int
    num_success: int
    success_rate: float
    total_available_points: float
    total_points_earned: float
    point_rate: float
    avg_optimality_ratio: float
    task_results: list[TaskBenchmarkResult] = field(default_factory=list, repr=False)
    run: dict[str, Any] = field(default_factory=dict, repr=False)
    num_against_bound: int = 0

    @property
    def spending(self) -> Spending | None:
        """Requests, tokens and USD that the model used; None if the model reports neither tokens nor USD."""
        return Spending.of(result.episode.info.get("details") for result in self.task_results)

    @classmethod
    def of(
        cls,
        benchmark_name: str,
        model_name: str,
        results: Sequence[TaskBenchmarkResult],
        run: Mapping[str, Any] | None = None,
    ) -> BenchmarkEvaluationResult:
        """Return the metrics of the results of tasks."""
        ratios = [each.optimality_ratio for each in results if each.optimality_ratio is not None]
        available = math.fsum(each.available_points for each in results)
        earned = math.fsum(each.points_earned for each in results)
        return cls(
            benchmark_name=benchmark_name,
            model_name=model_name,
            num_tasks=len(results),
            num_success=sum(each.success for each in results),
            success_rate=_mean(each.success for each in results),
            total_available_points=available,
            total_points_earned=earned,
            point_rate=earned / available if available else 0.0,
            avg_optimality_ratio=_mean(ratios),
            task_results=list(results),
            run=dict(run or {}),
            num_against_bound=sum(each.against_bound for each in results),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the results file; ``usage`` and ``run`` are left out if unknown."""
        names = ("benchmark_name", "model_name", "num_tasks", "num_success", "success_rate")
        points = ("total_available_points", "total_points_earned", "point_rate")
        ratios = ("avg_optimality_ratio", "num_against_bound")
        data = {name: getattr(self, name) for name in (*names, *points, *ratios)}
        if self.spending:
            data["usage"] = asdict(self.spending)
        if self.run:
            data["run"] = dict(self.run)
        data["task_results"] = [each.to_dict() for each in self.task_results]
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BenchmarkEvaluationResult:
        """Rebuild a result from the dict of :meth:`to_dict`; the metrics are computed anew from the tasks.

        Raises:
            KeyError, TypeError, ValueError: the dict does not have the form of :meth:`to_dict`.
        """
        results = [TaskBenchmarkResult.from_dict(each) for each in data["task_results"]]
        name = str(data["benchmark_name"])
        model = str(data["model_name"])
        return cls.of(name, model, results, data.get("run"))

    def save(self, path: str) -> None:
        """Write the result to a JSON file; an interrupted write leaves no partial file.

        Raises:
            EvaluationError: the file cannot be written.
        """
        write_results(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BenchmarkEvaluationResult:
        """Return the result in a results file.

        Raises:
            EvaluationError: the file cannot be read or is not a results file.
        """
        return read_saved(path, cls.from_dict, MAX_BYTES, "a results file of an evaluation")


def available_points(spec: TaskSpecification) -> float:
    """Return ``metadata["points"]`` of a valid task, or the task's tier if this entry is missing."""
    return float((spec.metadata or {}).get("points", spec.difficulty_tier))


def _mean(values: Iterable[float]) -> float:
    """Return the mean of values, or 0.0 if there are no values."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 0.0
