"""EvaluationHarness and its metrics: the public name of :mod:`gridworld.evaluation.harness`."""

from __future__ import annotations

from gridworld.evaluation.harness import EvaluationHarness
from gridworld.evaluation.metrics import BenchmarkEvaluationResult, EvaluationResult, TaskBenchmarkResult, TierMetrics

__all__ = [
    "BenchmarkEvaluationResult",
    "EvaluationHarness",
    "EvaluationResult",
    "TaskBenchmarkResult",
    "TierMetrics",
]
