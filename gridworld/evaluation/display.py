"""Tables that the user sees at the end of an evaluation or of a ranking."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from gridworld.evaluation.results.spending import Spending
from gridworld.evaluation.terminal import program
from spca.common.printing import open_console, print_line, print_table
from spca.common.text import format_count, one_line

if TYPE_CHECKING:
    from rich.console import Console

    from gridworld.evaluation.metrics import BenchmarkEvaluationResult, EvaluationResult, TaskBenchmarkResult
    from gridworld.evaluation.results.leaderboard import Group
    from gridworld.evaluation.running.evaluating import Evaluated


def show(evaluated: Evaluated, quiet: bool = False) -> None:
    """Print the tables, problems and summary of an evaluation on standard output. If ``quiet``, print no tables."""
    benchmark = evaluated.benchmark
    console = open_console()
    if not quiet:
        _print_tasks(console, benchmark.task_results)
    if not quiet and evaluated.tiers is not None:
        _print_tiers(console, evaluated.tiers)
    for result in benchmark.task_results:
        error = result.episode.info.get("model_error")
        if error is not None:
            print(one_line(f"model error in {result.task_id}: {error}"))
        doubt = result.episode.info.get("certificate")
        if doubt is not None:
            print(one_line(f"warning: the certificate of {result.task_id} {doubt}"))
    print(_summary(benchmark))
    print(one_line(f"results: {evaluated.output}"))
    if evaluated.earlier:
        ways = "to play again, add --overwrite, or --output FILE to keep both"
        print(one_line(f"nothing was played: these results were there {evaluated.earlier}; {ways}"))
    page = evaluated.output.with_suffix(".html")
    command = shlex.join(["leaderboard", str(evaluated.output), "--output", str(page)])
    print(one_line(f"look at it: {program()} {command}"))


def _summary(benchmark: BenchmarkEvaluationResult) -> str:
    """Return the metrics of a benchmark in one line; lower bounds are marked with "at least"."""
    bounded = benchmark.num_against_bound
    least = "at least " if bounded else ""
    against = f" ({bounded} of {benchmark.num_success} against a lower bound: optimum unknown)"
    return one_line(
        f"{benchmark.model_name} on {benchmark.benchmark_name}: {benchmark.num_success} of {benchmark.num_tasks} solved"
        f" ({benchmark.success_rate:.1%}), {least}{benchmark.total_points_earned:.2f} of"
        f" {benchmark.total_available_points:g} points ({benchmark.point_rate:.1%}),"
        f" optimality {least}{benchmark.avg_optimality_ratio:.3f}{against if bounded else ''}"
        f"{_format_spent(benchmark.spending)}"
    )


def _format_spent(spending: Spending | None) -> str:
    if spending is None:
        return ""
    return f", {format_count(spending.requests, 'request')}, {spending.tokens:,} tokens, {spending.usd} USD"


def _print_tasks(console: Console, results: Sequence[TaskBenchmarkResult]) -> None:
    spendings = [Spending.of([result.episode.info.get("details")]) for result in results]
    shows_prices = any(spendings)
    rows = []
    for result, spending in zip(results, spendings, strict=True):
        least = "at least " if result.against_bound else ""
        ratio = result.optimality_ratio
        row = {
            "": Text("pass", style="green") if result.success else Text("FAIL", style="red"),
            "task": result.task_id,
            "steps": result.steps_taken,
            "optimal": _format_optimal(result),
            "ratio": "" if ratio is None else f"{least}{ratio:.3f}",
            "points": f"{least}{result.points_earned:.2f} / {result.available_points:g}",
        }
        rows.append(row | (_format_prices(spending) if shows_prices else {}))
    print_table(console, rows, left=2)


def _format_prices(spending: Spending | None) -> dict[str, object]:
    return {"tokens": spending.tokens if spending else "", "USD": spending.usd if spending else ""}


def _format_optimal(result: TaskBenchmarkResult) -> str:
    if result.optimal_steps is not None:
        return str(result.optimal_steps)
    if result.bound is None:
        return "none"
    return f"at least {result.bound}"


def _print_tiers(console: Console, evaluation: EvaluationResult) -> None:
    rows = [
        {
            "tier": str(tier.tier),
            "tasks": tier.num_tasks,
            "solved": tier.num_success,
            "rate": f"{tier.success_rate:.1%}",
            "mean steps": f"{tier.avg_steps:.1f}",
            "mean reward": f"{tier.avg_reward:.3f}",
        }
        for tier in evaluation.tier_metrics.values()
    ]
    print_table(console, rows)


def show_ranking(groups: Sequence[Group]) -> None:
    """Print one table for each group of comparable results on standard output, the best result first."""
    console = open_console()
    for group in groups:
        rows = []
        for entry in group.entries:
            results = entry.results
            least = "at least " if results.num_against_bound else ""
            row = {
                "#": str(entry.rank),
                "model": entry.label,
                "points": f"{least}{results.point_rate:.1%}",
                "solved": f"{results.num_success} of {results.num_tasks}",
                "optimality": f"{least}{results.avg_optimality_ratio:.3f}" if results.num_success else "",
            }
            rows.append(row | _format_prices(results.spending))
        print_line(console, group.title, "bold")
        print_table(console, rows, left=2)
