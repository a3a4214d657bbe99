"""What an evaluation comes to: per task, per tier, per benchmark (pure).

A solved task earns ``available_points * optimality_ratio``, the ratio being optimal steps by steps taken, so 1.0 for a
shortest way. Available are as many points as the tier of the task, unless its ``metadata`` gives ``points``. Where the
optimum is not known, since the search had too little room, ``optimal_steps`` is None and the ratio is that of the best
proven lower bound, so that ratio and points are lower bounds too.
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
"""Of a results file."""


@dataclass
class TaskBenchmarkResult:
    """How one task went.

    Attributes:
        optimal_steps: length of a shortest solution; None if there is none or it is not known.
        bound: proven here: every solution takes at least so many steps; None if there is none. Less than
            ``optimal_steps`` where those come from the certificate of the task.
        optimality_ratio: optimal steps, else the bound, by steps taken, in (0, 1]; None if the task was not solved.
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
        """Judge an episode.

        Args:
            optimal_steps, bound: as in the attributes; ``bound`` None: ``optimal_steps`` are proven.
        """
        bound = optimal_steps if bound is None else bound
        ratio = None
        if episode.success and episode.steps_taken:
            if optimal_steps is not None and episode.steps_taken < optimal_steps:
                optimal_steps = None  # a certificate claimed them, and the episode refutes it
            bound = max(1, min(bound or 1, episode.steps_taken))
            if bound == episode.steps_taken:
                optimal_steps = bound  # nothing is shorter, and here is a way of that length
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
        """Return the entry of the results file; without the states of steps, which the actions give back."""
        names = ("task_id", "success", "steps_taken", "optimal_steps", "bound", "optimality_ratio")
        data = {name: getattr(self, name) for name in (*names, "available_points", "points_earned")}
        return {**data, "episode": self.episode.to_dict(states=False)}

    @property
    def against_bound(self) -> bool:
        """Whether ratio and points use the lower bound, and so are lower bounds too."""
        return self.optimality_ratio is not None and self.optimal_steps is None

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> TaskBenchmarkResult:
        """Rebuild the result from :meth:`to_dict`.

        Raises:
            KeyError, TypeError, ValueError: it is not what :meth:`to_dict` wrote.
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
    """Figures of one tier; averages are over all its tasks, solved or not."""

    tier: int
    num_tasks: int
    num_success: int
    success_rate: float
    avg_steps: float
    avg_reward: float
    results: list[EpisodeResult] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, tier: int, results: Sequence[EpisodeResult]) -> TierMetrics:
        """Compute the figures of episodes."""
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
        """Return the figures, without the episodes."""
        names = ("tier", "num_tasks", "num_success", "success_rate", "avg_steps", "avg_reward")
        return {name: getattr(self, name) for name in names}


@dataclass
class EvaluationResult:
    """Figures of several tiers and of all their tasks together."""

    model_name: str
    tier_metrics: dict[int, TierMetrics]
    overall_success_rate: float
    overall_avg_steps: float
    overall_avg_reward: float

    @classmethod
    def of(cls, model_name: str, tiers: Mapping[int, TierMetrics]) -> EvaluationResult:
        """Compute the figures of tiers."""
        episodes = [each for tier in tiers.values() for each in tier.results]
        return cls(
            model_name=model_name,
            tier_metrics=dict(tiers),
            overall_success_rate=_mean(each.success for each in episodes),
            overall_avg_steps=_mean(each.steps_taken for each in episodes),
            overall_avg_reward=_mean(each.total_reward for each in episodes),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-able dict, tiers by their number as text."""
        overall = ("overall_success_rate", "overall_avg_steps", "overall_avg_reward")
        return {
            "model_name": self.model_name,
            "tier_metrics": {str(tier): metrics.to_dict() for tier, metrics in self.tier_metrics.items()},
            **{name: getattr(self, name) for name in overall},
        }

    def save(self, path: str) -> None:
        """Write a JSON file, whole or not at all.

        Raises:
            EvaluationError: it cannot be written.
        """
        write_results(path, self.to_dict())


@dataclass
class BenchmarkEvaluationResult:
    """Figures of a named set of tasks.

    Attributes:
        point_rate: points earned by points available.
        avg_optimality_ratio: mean over the solved tasks; 0.0 if there are none.
        num_against_bound: solved tasks whose ratio uses the lower bound; if there are any, points, point rate and mean
            ratio are lower bounds too.
        run: how they were had, JSON-able, as under ``run`` in the results file; empty if that is not known.
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
        """What the model took, None if it does not tell."""
        return Spending.of(result.episode.info.get("details") for result in self.task_results)

    @classmethod
    def of(
        cls,
        benchmark_name: str,
        model_name: str,
        results: Sequence[TaskBenchmarkResult],
        run: Mapping[str, Any] | None = None,
    ) -> BenchmarkEvaluationResult:
        """Compute the figures of tasks."""
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
            avg_optimality_ratio=_mean(each.optimality_ratio for each in results if each.optimality_ratio is not None),
            task_results=list(results),
            run=dict(run or {}),
            num_against_bound=sum(each.against_bound for each in results),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the results file; without ``usage`` and ``run`` if nothing is known of them."""
        names = ("benchmark_name", "model_name", "num_tasks", "num_success", "success_rate")
        points = ("total_available_points", "total_points_earned", "point_rate")
        ratios = ("avg_optimality_ratio", "num_against_bound")
        data = {name: getattr(self, name) for name in (*names, *points, *ratios)}
        data |= {"usage": asdict(self.spending)} if self.spending else {}
        run = {"run": dict(self.run)} if self.run else {}
        return {**data, **run, "task_results": [each.to_dict() for each in self.task_results]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BenchmarkEvaluationResult:
        """Rebuild the result from :meth:`to_dict`; the figures are computed again.

        Raises:
            KeyError, TypeError, ValueError: it is not what :meth:`to_dict` wrote.
        """
        results = [TaskBenchmarkResult.from_dict(each) for each in data["task_results"]]
        name = str(data["benchmark_name"])
        model = str(data["model_name"])
        return cls.of(name, model, results, data.get("run"))

    def save(self, path: str) -> None:
        """Write a JSON file, whole or not at all.

        Raises:
            EvaluationError: it cannot be written.
        """
        write_results(path, self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> BenchmarkEvaluationResult:
        """Read a results file.

        Raises:
            EvaluationError: it cannot be read or is not a results file.
        """
        return read_saved(path, cls.from_dict, MAX_BYTES, "a results file of an evaluation")


def available_points(spec: TaskSpecification) -> float:
    """Return ``metadata["points"]`` of a valid task, else its tier."""
    return float((spec.metadata or {}).get("points", spec.difficulty_tier))


def _mean(values: Iterable[float]) -> float:
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 0.0
