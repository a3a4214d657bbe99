"""Figures of tasks, tiers and benchmarks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.backends import MultiGridBackend
from gridworld.errors import EvaluationError
from gridworld.evaluation.metrics import (
    BenchmarkEvaluationResult,
    EvaluationResult,
    TaskBenchmarkResult,
    TierMetrics,
    available_points,
)
from gridworld.runner.grid_runner import EpisodeResult, GridRunner
from gridworld.search.optimum import fingerprint, optimum_of
from tests.support.gridworld.drawn import drawn

TASK = drawn("######\n#A..G#\n######", max_steps=20)
FIELDS = [
    "benchmark_name",
    "model_name",
    "num_tasks",
    "num_success",
    "success_rate",
    "total_available_points",
    "total_points_earned",
    "point_rate",
    "avg_optimality_ratio",
    "num_against_bound",
    "task_results",
]
OF_A_TASK = [
    "task_id",
    "success",
    "steps_taken",
    "optimal_steps",
    "bound",
    "optimality_ratio",
    "available_points",
    "points_earned",
    "episode",
]


def episode(*actions: int) -> EpisodeResult:
    return GridRunner(MultiGridBackend(render_mode=None)).collect_demonstrations(TASK, actions)


def judged(*actions: int, optimal: int | None = 3, bound: int | None = None) -> TaskBenchmarkResult:
    return TaskBenchmarkResult.of(TASK, episode(*actions), optimal, bound)


def test_points_are_earned_by_short_ways() -> None:
    best, slow, failed = judged(2, 2, 2), judged(6, 6, 6, 2, 2, 2), judged(2)
    assert [each.optimality_ratio for each in (best, slow, failed)] == [1.0, 0.5, None]
    assert [each.points_earned for each in (best, slow, failed)] == [1.0, 0.5, 0.0]
    assert [each.bound for each in (best, slow, failed)] == [3, 3, 3]
    assert not any(each.against_bound for each in (best, slow, failed))


def test_a_solved_task_without_a_known_optimum_earns_points_against_the_bound() -> None:
    long = (6, 6, 6, 2, 2, 2)
    for bound, ratio in ((3, 0.5), (1, 1 / 6), (None, 1 / 6)):
        unknown = judged(*long, optimal=None, bound=bound)
        assert (unknown.success, unknown.optimal_steps, unknown.against_bound) == (True, None, True)
        assert unknown.optimality_ratio == unknown.points_earned == pytest.approx(ratio)
    proven = judged(*long, optimal=None, bound=6)
    assert (proven.optimal_steps, proven.points_earned, proven.against_bound) == (6, 1.0, False)
    failed = judged(2, optimal=None, bound=3)
    assert (failed.bound, failed.optimality_ratio, failed.points_earned, failed.against_bound) == (3, None, 0.0, False)
    benchmark = BenchmarkEvaluationResult.of(
        "mine", "me", [judged(*long), judged(*long, optimal=None, bound=3), failed]
    )
    assert (benchmark.num_against_bound, benchmark.avg_optimality_ratio) == (1, 0.5)
    assert BenchmarkEvaluationResult.from_dict(benchmark.to_dict()).num_against_bound == 1


def test_who_is_shorter_than_a_certificate_refutes_it_and_gains_nothing() -> None:
    refuting = judged(2, 2, 2, optimal=5, bound=2)
    assert (refuting.optimal_steps, refuting.bound) == (None, 2)
    assert refuting.optimality_ratio == pytest.approx(2 / 3)
    certified = judged(6, 6, 2, 2, 2, optimal=5, bound=2)
    assert (certified.optimal_steps, certified.bound, certified.optimality_ratio) == (5, 2, 1.0)


def test_results_of_before_there_were_bounds_can_be_read() -> None:
    data = judged(2, 2, 2).to_dict()
    del data["bound"]
    found = TaskBenchmarkResult.from_dict(data)
    assert (found.bound, found.optimal_steps, found.against_bound) == (None, 3, False)


@pytest.mark.parametrize(
    ("metadata", "points"),
    [(None, 4.0), ({}, 4.0), ({"points": 2.5}, 2.5), ({"points": 0}, 0.0)],
)
def test_points_of_a_task_are_its_tier_or_what_its_author_says(metadata: dict[str, Any] | None, points: float) -> None:
    task = drawn("####\n#AG#\n####")
    task.difficulty_tier, task.metadata = 4, metadata
    assert available_points(task) == points


def test_a_benchmark_has_the_fields_of_the_page() -> None:
    results = [judged(2, 2, 2), judged(6, 6, 6, 2, 2, 2), judged(2)]
    benchmark = BenchmarkEvaluationResult.of("mine", "me", results)
    data = benchmark.to_dict()
    assert list(data) == FIELDS
    assert list(data["task_results"][0]) == OF_A_TASK
    assert (data["num_tasks"], data["num_success"], data["success_rate"]) == (3, 2, pytest.approx(2 / 3))
    assert (data["total_available_points"], data["total_points_earned"], data["point_rate"]) == (3.0, 1.5, 0.5)
    assert data["avg_optimality_ratio"] == 0.75
    assert "state" not in data["task_results"][0]["episode"]["trajectory"][0]
    empty = BenchmarkEvaluationResult.of("none", "me", [])
    assert (empty.success_rate, empty.point_rate, empty.avg_optimality_ratio) == (0.0, 0.0, 0.0)


def test_tiers_average_over_all_tasks() -> None:
    first = TierMetrics.of(1, [episode(2, 2, 2), episode(2)])
    second = TierMetrics.of(2, [episode(0, 0)])
    assert first.to_dict() == {
        "tier": 1,
        "num_tasks": 2,
        "num_success": 1,
        "success_rate": 0.5,
        "avg_steps": 2.0,
        "avg_reward": pytest.approx((1 - 0.9 * 3 / 20) / 2),
    }
    every = EvaluationResult.of("me", {1: first, 2: second})
    assert every.overall_success_rate == pytest.approx(1 / 3)
    assert every.overall_avg_steps == 2.0
    assert list(every.to_dict()) == [
        "model_name",
        "tier_metrics",
        "overall_success_rate",
        "overall_avg_steps",
        "overall_avg_reward",
    ]


@given(st.lists(st.lists(st.integers(0, 6), max_size=6), max_size=4))
def test_a_benchmark_survives_writing_and_reading(actions: list[list[int]]) -> None:
    benchmark = BenchmarkEvaluationResult.of("mine", "me", [judged(*each) for each in actions])
    data = json.loads(json.dumps(benchmark.to_dict()))
    assert BenchmarkEvaluationResult.from_dict(data).to_dict() == benchmark.to_dict()
    assert 0.0 <= benchmark.point_rate <= 1.0


def test_files_of_results_are_written_and_read(tmp_path: Path) -> None:
    benchmark = BenchmarkEvaluationResult.of("mine", "me", [judged(2, 2, 2)])
    path = tmp_path / "new" / "results.json"
    benchmark.save(str(path))
    found = BenchmarkEvaluationResult.load(path)
    assert (found.to_dict(), found.run) == (benchmark.to_dict(), {})
    assert list(json.loads(path.read_text(encoding="utf-8"))) == FIELDS
    EvaluationResult.of("me", {1: TierMetrics.of(1, [])}).save(str(path))
    assert json.loads(path.read_text(encoding="utf-8"))["tier_metrics"]["1"]["num_tasks"] == 0
    (tmp_path / "file").touch()
    with pytest.raises(EvaluationError, match="cannot be written"):
        benchmark.save(str(tmp_path / "file" / "results.json"))


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "3",
        '{"task_results": [{}]}',
        '{"benchmark_name": "a", "model_name": "b", "task_results": 4}',
        "[" * 99999,
        '{"benchmark_name": "a", "model_name": "b", "task_results": [], "run": 4}',
        '{"task_results": NaN',
    ],
)
def test_what_is_no_results_file_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(EvaluationError, match=r"results\.json: ") as caught:
        BenchmarkEvaluationResult.load(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(EvaluationError, match=r"missing\.json"):
        BenchmarkEvaluationResult.load(tmp_path / "missing.json")


def test_optima_are_those_of_the_tiling_and_none_where_there_is_no_way() -> None:
    assert (optimum_of(TASK).steps, optimum_of(TASK, "hex").steps) == (3, 3)
    bent = drawn("#####\n#A..#\n#..G#\n#####")
    assert optimum_of(bent).steps == 4
    assert optimum_of(bent, "hex").steps == 3
    none = optimum_of(drawn("#####\n#A#G#\n#####"))
    assert (none.known, none.steps, none.bound) == (True, None, None)
    renamed = drawn("######\n#A..G#\n######", max_steps=20)
    renamed.task_id, renamed.metadata, renamed.description = "other", {"x": 1}, "words"
    assert fingerprint(renamed) == fingerprint(TASK) != fingerprint(bent)
