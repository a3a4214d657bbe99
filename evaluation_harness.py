"""Public import path of EvaluationHarness and its metrics; the code is in :mod:`gridworld.evaluation`."""

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
