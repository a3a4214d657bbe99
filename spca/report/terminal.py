"""Terminal output of runs and comparisons, as tables of at most 80 columns."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spca.common.printing import make_cell, make_table, make_text, print_line, print_table
from spca.common.text import beginning, clock, format_count
from spca.llm import spending
from spca.report import compare
from spca.report.read.comparison import ComparedLevel, Comparison, Side
from spca.report.read.model import CategoryRow, LevelRow, Run
from spca.report.read.origin import describe_commit, describe_hashes
from spca.report.read.writers import WriterRow
from spca.runs.recording.writer_files import FOLDER as WRITERS

_MAX_LEVELS: Final = 30
"""Largest number of unsolved levels in the table; the page has all levels."""
_MAX_GROUPS: Final = 8
"""Largest number of kinds of failures that are shown with their counts."""
_MAX_REASON: Final = 160
"""Largest number of characters that are shown of a reason."""
_SLOWEST_SHOWN: Final = 3
_VERSIONS: Final = ("spca", "minigrid", "python")
_STYLES: Final = {"success": "green", "fail": "red", "aborted": "yellow", "running": "cyan"}
"""Colour of the text about a level, by outcome of the level."""
_WORDS: Final = {"success": "solved", "fail": "failed"}
"""Word for an outcome, where the word differs from the outcome."""


def show_run(run: Run, console: Console) -> None:
    """Print the settings and origin of a run, a table of its categories, its usage, and the unsolved levels."""
    _print_head(run, console)
    has_prices = _has_prices(run)
    print_table(console, [_make_category_row(row, has_prices) for row in run.categories])
    facts = _describe_usage(run)
    facts["writers"] = _describe_writers(run.writers)
    console.print(_make_facts(facts))
    _print_unsolved(run, console)
    for warning in run.warnings:
        print_line(console, f"warning: {warning}", "yellow")


def show_runs(runs: Sequence[Run], console: Console) -> None:
    """Print a table with a row for each run, then the warnings of all runs."""
    prices = ("tokens", "reasoning", "USD") if any(map(_has_prices, runs)) else ()
    table = make_table("run", "state", "solved", "calls", *prices, "time", "models", left=2)
    table.columns[0].no_wrap = True
    table.columns[-1].justify = "left"
    table.columns[-1].no_wrap = False
    for run in runs:
        seconds = sum(row.seconds or 0.0 for row in run.levels)
        calls = sum(row.planner_calls + row.coder_calls for row in run.levels)
        spent = spending.cells(asdict(run.usage)).values() if prices else ()
        solved = f"{run.solved}/{run.planned}"
        cells = (run.id, run.state, solved, calls, *spent, _format_seconds(seconds))
        models = _join_lines(dict.fromkeys(run.models.values()))
        table.add_row(*map(make_cell, cells), models)

    console.print(table)

    for run in runs:
        for warning in run.warnings:
            print_line(console, f"warning: {run.id}: {warning}", "yellow")


def show_comparison(comparison: Comparison, a: Run, b: Run, console: Console, *, everything: bool = False) -> None:
    """Print the differences of two runs, the levels with different figures, and sums over the shared levels.

    Args:
        everything: print all levels, not only levels with different figures.
    """
    console.print(_make_facts({"A and B": _join_lines(comparison.differences)}))
    for mark, run in (("A", a), ("B", b)):
        solved = f"{run.solved} of {run.planned} levels solved"
        print_line(console, f"{mark}: {run.id}  {solved}", "bold")
        console.print(_make_facts({"models": _describe_models(run)}))
    for note in comparison.notes:
        print_line(console, f"note: {note}", "yellow")
    shown = [level for level in comparison.levels if everything or compare.differs(level)]
    if shown:
        console.print(_make_levels_table(shown))
        print_line(console, "5|1: 5 in A, 1 in B; -: not known")
    else:
        print_line(console, "no level that both have went differently")
    _print_shared_totals(comparison, console)


def _print_head(run: Run, console: Console) -> None:
    """Print the outcome of a run, its settings and its origin."""
    outcomes = Counter(row.outcome for row in run.levels)
    unfinished = ""
    for outcome in ("running", "aborted", "pending"):
        if outcomes[outcome]:
            unfinished += f", {outcomes[outcome]} {outcome}"
    solved = f"{run.solved} of {run.planned} levels solved"
    print_line(console, f"{run.id}  {run.state}  {solved}{unfinished}", "bold")

    sandbox = run.sandbox or "unknown"
    seed = "unknown" if run.seed is None else run.seed
    has_upstream_rules = run.settings.get("upstream_rules") is True
    rules = ", judged by minigrid alone (--upstream-rules)" if has_upstream_rules else ""
    versions = []
    for name in _VERSIONS:
        if name in run.versions:
            versions.append(f"{name} {run.versions[name]}")
    facts: dict[str, str | Text] = {"models": _describe_models(run)}
    facts["sandbox"] = f"{sandbox}, seed {seed}{rules}"
    facts["made by"] = ", ".join(versions)
    if not run.published:
        commit = describe_commit(run.git_commit, run.git_dirty)
        facts["source"] = _join_lines([commit, describe_hashes(run.hashes)])
    if run.started is not None:
        begun = _format_date(run.started)
        if run.ended is not None:
            begun += f", last event after {_format_seconds(run.ended - run.started)}"
        facts["begun"] = begun
    console.print(_make_facts(facts))

    for line in run.continuations:
        print_line(console, f"note: {line}", "yellow")
    if run.folder:
        print_line(console, f"folder   {run.folder}")  # outside of the table, which would fold a path to be copied


def _make_facts(facts: Mapping[str, str | Text]) -> Table:
    """Return a table with a line for each fact: its name and its text. Empty facts are left out."""
    table = Table.grid(padding=(0, 1))
    table.add_column(min_width=8, no_wrap=True)
    table.add_column(overflow="fold")
    for name, fact in facts.items():
        if fact:
            table.add_row(name, fact if isinstance(fact, Text) else make_text(fact))
    return table


def _make_category_row(row: CategoryRow, has_prices: bool) -> dict[str, object]:
    """Return the cells of a category by column head.

    The number of solved levels is green if all levels are solved, and red if a level has failed.
    """
    style = ""
    if row.solved == row.planned:
        style = "green"
    elif row.finished > row.solved:
        style = "red"
    solved = Text(f"{row.solved}/{row.planned}", style)

    calls = row.planner_calls + row.coder_calls
    cells: dict[str, object] = {"category": row.name, "solved": solved, "rounds": row.rounds, "calls": calls}
    if has_prices:
        cells |= spending.cells(asdict(row.usage))
    cells["time"] = _format_seconds(row.seconds)
    return cells


def _describe_usage(run: Run) -> dict[str, str | Text]:
    """Return, in words, the usage, the time by phase, and the slowest levels of a run, by name of the fact."""
    phases: Counter[str] = Counter()
    for row in run.levels:
        phases.update(row.durations)
    times = [f"{name} {_format_seconds(seconds)}" for name, seconds in phases.items() if seconds]

    timed = [row for row in run.levels if row.seconds]
    timed.sort(key=lambda row: -(row.seconds or 0.0))
    slowest = []
    for row in timed[:_SLOWEST_SHOWN]:
        seconds_text = _format_seconds(row.seconds)
        slowest.append(f"{seconds_text}  {row.number} {row.env_id}")

    usage = asdict(run.usage)
    spent = f"{spending.usd(usage)} USD, tokens not known" if run.published else spending.spent(usage)
    if spent:
        spent = f"{format_count(run.usage.requests, 'request')}, {spent}"
    return {
        "spent": spent,
        "time": ", ".join(times),
        "slowest": _join_lines(slowest),
    }


def _describe_writers(rows: Sequence[WriterRow]) -> Text:
    """Return a line for each writer, and a line with the folder of the sources; "" if there are no writers."""
    if not rows:
        return Text()
    return _join_lines([*map(_describe_writer, rows), f"source in {WRITERS}/ of the folder"])


def _describe_writer(row: WriterRow) -> str:
    """Return in words how many levels a writer planned, how many plans failed, and why the writer is left out."""
    failed = f", {row.failed} failed" if row.failed else ""
    left_out = f"; left out: {row.left_out}" if row.left_out else ""
    planned = f"planned {format_count(row.planned, 'level')} without a call"
    return f"{row.label}  of level {row.level}, {planned}{failed}{left_out}"


def _print_unsolved(run: Run, console: Console) -> None:
    """Print the most frequent kinds of failures, and a table of the begun levels that were not solved."""
    rows = [row for row in run.levels if row.outcome in ("fail", "aborted", "running")]
    if not rows:
        return
    groups = Counter(row.group for row in rows if row.group)
    for group, number in groups.most_common(_MAX_GROUPS):
        if number > 1:
            print_line(console, f"{number:>4} x {beginning(group, _MAX_REASON)}")
    table = make_table("level", "environment", "what became of it", left=3)
    table.columns[0].justify = "right"
    for row in rows[:_MAX_LEVELS]:
        table.add_row(make_cell(row.number), make_cell(row.env_id), _describe_outcome(row))
    console.print(table)
    if len(rows) > _MAX_LEVELS:
        print_line(console, f"and {len(rows) - _MAX_LEVELS} more; the page shows all of them")


def _describe_outcome(row: LevelRow) -> Text:
    """Return outcome and reason of a level in words. For a failed level with a reason, return only the reason."""
    first_line, _, _ = (row.headline or row.reason).partition("\n")
    reason = beginning(first_line, _MAX_REASON)
    outcome = _name_outcome(row.outcome)
    if not reason:
        description = outcome
    elif row.outcome == "fail":
        description = reason
    else:
        description = f"{outcome}: {reason}"
    return make_text(description, _STYLES[row.outcome])


def _make_levels_table(levels: Sequence[ComparedLevel]) -> Table:
    """Return a table with a row for each level; a figure that is zero or unknown in all levels has no column."""
    sides = [side for level in levels for side in (level.a, level.b) if side]
    names = []  # of the figures with a column
    for name in (*compare.KNOWN, *compare.TOLD):
        if any(getattr(side, name) for side in sides):
            names.append(name)

    table = make_table("environment", "A", "B", *names, left=3)
    for level in levels:
        pairs = [_format_pair(level, name) for name in names]
        outcomes = (_make_outcome(level.a), _make_outcome(level.b))
        table.add_row(make_text(level.env_id), *outcomes, *pairs)
    return table


def _make_outcome(side: Side | None) -> Text:
    if side is None:
        return Text("-")
    return make_text(_name_outcome(side.outcome), _STYLES.get(side.outcome, ""))


def _format_pair(level: ComparedLevel, name: str) -> str:
    """Return a figure of a level in A and in B, such as ``5|1``; "-" for an unknown figure."""
    cells = []
    for side in (level.a, level.b):
        value = None if side is None else getattr(side, name)
        cells.append("-" if value is None else _format_briefly(value))
    return "|".join(cells)


def _print_shared_totals(comparison: Comparison, console: Console) -> None:
    """Print the sums of A and B over the levels that ended in both runs."""
    pairs = compare.pair_ended_levels(comparison)
    if not pairs:
        print_line(console, "no level has ended in both runs")
        return

    totals_a = compare.totals([side_a for side_a, _ in pairs])
    totals_b = compare.totals([side_b for _, side_b in pairs])
    recorded = [name for name in compare.TOLD if totals_a[name] or totals_b[name]]
    names = ("solved", *compare.KNOWN, *recorded)
    heading = f"{format_count(len(pairs), 'level')} ended in both"
    rows = []
    for mark, total in (("A", totals_a), ("B", totals_b)):
        cells = {heading: mark}
        cells |= {name: total[name] for name in names}
        cells["time"] = _format_seconds(total["seconds"])
        rows.append(cells)
    print_table(console, rows)

    only_a, only_b = compare.count_exclusive(pairs)
    print_line(console, f"solved only by A: {only_a}; only by B: {only_b}")


def _join_lines(values: Iterable[str]) -> Text:
    return Text("\n").join(map(make_text, values))


def _describe_models(run: Run) -> str:
    """Return each model with its roles in words, such as ``MODEL (planner, coder)``."""
    roles_of: dict[str, list[str]] = {}
    for role, name in run.models.items():
        roles_of.setdefault(name, []).append(role.replace("_", " "))
    models = [f"{name} ({', '.join(roles)})" for name, roles in roles_of.items()]
    return ", ".join(models) or "no models"


def _has_prices(run: Run) -> bool:
    """Return whether the tables need columns for tokens and cost of a run.

    Columns are needed if tokens were used or a cost is unknown, but not for the published run.
    """
    return not run.published and bool(spending.spent(asdict(run.usage)))


def _name_outcome(outcome: str) -> str:
    return _WORDS.get(outcome, outcome)


def _format_briefly(value: int) -> str:
    """Return a number in a short form, such as ``9999``, ``12k`` or ``34M``.

    The form has at most six characters if the number is below 10**11.
    """
    if value < 10_000:
        return str(value)
    if value < 10_000_000:
        return f"{value / 1e3:.0f}k"
    return f"{value / 1e6:.0f}M"


def _format_date(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    except (OverflowError, OSError, ValueError):
        return "at an invalid time"


def _format_seconds(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds:.1f} s" if seconds < 60 else clock(round(seconds))
