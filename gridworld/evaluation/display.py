"""What a user sees at the end of an evaluation: tables."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gridworld.evaluation.results.spending import Spending
from gridworld.evaluation.terminal import program
from spca.common.text import counted, one_line

if TYPE_CHECKING:
    from rich.table import Table

    from gridworld.evaluation.metrics import BenchmarkEvaluationResult, EvaluationResult, TaskBenchmarkResult
    from gridworld.evaluation.results.leaderboard import Group
    from gridworld.evaluation.running.evaluating import Evaluated

_WIDE: Final = 200
"""Columns where standard output is no terminal: nothing is cut."""


def prepare(quiet: bool = False) -> None:
    """Import what :func:`show` needs, so that it is not missed after everything was played."""
    if not quiet:
        import rich.table  # noqa: F401


def show(evaluated: Evaluated, quiet: bool = False) -> None:
    """Print the tables of an evaluation on standard output; only the summary if ``quiet``."""
    benchmark = evaluated.benchmark
    if not quiet:
        _show_tables(evaluated)
    for result in benchmark.task_results:
        error = result.episode.info.get("model_error")
        if error is not None:
            print(one_line(f"model error in {result.task_id}: {error}"))
        if (doubt := result.episode.info.get("certificate")) is not None:
            print(one_line(f"warning: the certificate of {result.task_id} {doubt}"))
    print(_summary(benchmark))
    print(one_line(f"results: {evaluated.output}"))
    if evaluated.earlier:
        ways = "to play again, add --overwrite, or --output FILE to keep both"
        print(one_line(f"nothing was played: these results were there {evaluated.earlier}; {ways}"))
    page = evaluated.output.with_suffix(".html")
    command = shlex.join(["leaderboard", str(evaluated.output), "--out", str(page)])
    print(one_line(f"look at it: {program()} {command}"))


def _summary(benchmark: BenchmarkEvaluationResult) -> str:
    bounded = benchmark.num_against_bound
    least = "at least " if bounded else ""
    against = f" ({bounded} of {benchmark.num_success} against a lower bound: optimum unknown)"
    return one_line(
        f"{benchmark.model_name} on {benchmark.benchmark_name}: {benchmark.num_success} of {benchmark.num_tasks} solved"
        f" ({benchmark.success_rate:.1%}), {least}{benchmark.total_points_earned:.2f} of"
        f" {benchmark.total_available_points:g} points ({benchmark.point_rate:.1%}),"
        f" optimality {least}{benchmark.avg_optimality_ratio:.3f}{against if bounded else ''}"
        f"{_spent(benchmark.spending)}"
    )


def _spent(spending: Spending | None) -> str:
    if spending is None:
        return ""
    return f", {counted(spending.requests, 'request')}, {spending.tokens:,} tokens, {spending.usd} USD"


def _show_tables(evaluated: Evaluated) -> None:
    from rich.console import Console

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)
    console.print(_task_table(evaluated.benchmark.task_results))
    if evaluated.tiers is not None:
        console.print(_tier_table(evaluated.tiers))


def _task_table(results: list[TaskBenchmarkResult]) -> Table:
    from rich.text import Text

    spent = [Spending.of([result.episode.info.get("details")]) for result in results]
    more = ("tokens", "USD") if any(spent) else ()
    table = _table("", "task", "steps", "optimal", "ratio", "points", *more, left=2)
    for result, spending in zip(results, spent, strict=True):
        least = "at least " if result.against_bound else ""
        ratio = "" if result.optimality_ratio is None else f"{least}{result.optimality_ratio:.3f}"
        table.add_row(
            Text("pass", style="green") if result.success else Text("FAIL", style="red"),
            Text(one_line(result.task_id)),
            str(result.steps_taken),
            _optimal(result),
            ratio,
            f"{least}{result.points_earned:.2f} / {result.available_points:g}",
            *((f"{spending.tokens:,}", spending.usd) if spending else ("", "") if more else ()),
        )
    return table


def _optimal(result: TaskBenchmarkResult) -> str:
    if result.optimal_steps is not None:
        return str(result.optimal_steps)
    return "none" if result.bound is None else f"at least {result.bound}"


def _tier_table(evaluation: EvaluationResult) -> Table:
    table = _table("tier", "tasks", "solved", "rate", "mean steps", "mean reward", left=0)
    for tier in evaluation.tier_metrics.values():
        table.add_row(
            str(tier.tier),
            str(tier.num_tasks),
            str(tier.num_success),
            f"{tier.success_rate:.1%}",
            f"{tier.avg_steps:.1f}",
            f"{tier.avg_reward:.3f}",
        )
    return table


def show_ranking(groups: Sequence[Group]) -> None:
    """Print a table of each group of comparable results on standard output, the best result first."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDE)
    for group in groups:
        table = _table("#", "model", "points", "solved", "optimality", "tokens", "USD", left=2)
        table.title = one_line(group.title)
        for place, entry in enumerate(group.entries, 1):
            least, spending = "at least " if entry.bounded else "", entry.spending
            table.add_row(
                str(place),
                Text(entry.label),
                f"{least}{entry.point_rate:.1%}",
                f"{entry.solved} of {entry.tasks}",
                "" if entry.optimality is None else f"{least}{entry.optimality:.3f}",
                *((f"{spending.tokens:,}", spending.usd) if spending else ("", "")),
            )
        console.print(table)


def _table(*columns: str, left: int) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right", overflow="fold")
    return table
