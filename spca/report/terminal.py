"""Runs and comparisons as tables on a terminal; 80 columns are enough."""

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

_LISTED: Final = 30
"""Unsolved levels that are listed; the page has them all."""
_GROUPS: Final = 8
"""Kinds of failures that are counted."""
_REASON: Final = 160
"""Characters of a reason that are shown."""
_SLOWEST_SHOWN: Final = 3
_VERSIONS: Final = ("spca", "minigrid", "python")
_STYLES: Final = {"success": "green", "fail": "red", "aborted": "yellow", "running": "cyan"}
_WORDS: Final = {"success": "solved", "fail": "failed"}


def show_run(run: Run, console: Console) -> None:
    """Print what a run was, its categories, what was not solved and why."""
    _print_head(run, console)
    has_prices = _has_prices(run)
    print_table(console, [_make_category_row(row, has_prices) for row in run.categories])
    console.print(_make_facts(_describe_usage(run) | {"writers": _describe_writers(run.writers)}))
    _print_unsolved(run, console)
    for warning in run.warnings:
        print_line(console, f"warning: {warning}", "yellow")


def show_runs(runs: Sequence[Run], console: Console) -> None:
    """Print one row per run."""
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
    """Print levels that went differently, and sums over those that both runs have; ``everything``: every level."""
    console.print(_make_facts({"A and B": _join_lines(comparison.differences)}))
    for mark, run in (("A", a), ("B", b)):
        print_line(console, f"{mark}: {run.id}  {run.solved} of {run.planned} levels solved", "bold")
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
    versions = [f"{name} {run.versions[name]}" for name in _VERSIONS if name in run.versions]
    facts: dict[str, str | Text] = {
        "models": _describe_models(run),
        "sandbox": f"{sandbox}, seed {seed}{rules}",
        "made by": ", ".join(versions),
    }
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
        print_line(console, f"folder   {run.folder}")  # not folded: to be copied


def _make_facts(facts: Mapping[str, str | Text]) -> Table:
    """Return a table of names and facts; empty facts are left out."""
    table = Table.grid(padding=(0, 1))
    table.add_column(min_width=8, no_wrap=True)
    table.add_column(overflow="fold")
    for name, known in facts.items():
        if known:
            table.add_row(name, known if isinstance(known, Text) else make_text(known))
    return table


def _make_category_row(row: CategoryRow, has_prices: bool) -> dict[str, object]:
    style = ""
    if row.solved == row.planned:
        style = "green"
    elif row.finished > row.solved:
        style = "red"
    solved = Text(f"{row.solved}/{row.planned}", style)

    spent = spending.cells(asdict(row.usage)) if has_prices else {}
    return {
        "category": row.name,
        "solved": solved,
        "rounds": row.rounds,
        "calls": row.planner_calls + row.coder_calls,
        **spent,
        "time": _format_seconds(row.seconds),
    }


def _describe_usage(run: Run) -> dict[str, str | Text]:
    """Return what the whole run took."""
    phases: Counter[str] = Counter()
    for row in run.levels:
        phases.update(row.durations)
    times = [f"{name} {_format_seconds(seconds)}" for name, seconds in phases.items() if seconds]

    timed = [row for row in run.levels if row.seconds]
    timed.sort(key=lambda row: -(row.seconds or 0.0))
    slowest = [f"{_format_seconds(row.seconds)}  {row.number} {row.env_id}" for row in timed[:_SLOWEST_SHOWN]]

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
    """Return what each writer has planned, and the folder of their source; an empty text if there are no writers."""
    if not rows:
        return Text()
    return _join_lines([*map(_describe_writer, rows), f"source in {WRITERS}/ of the folder"])


def _describe_writer(row: WriterRow) -> str:
    failed = f", {row.failed} failed" if row.failed else ""
    left_out = f"; left out: {row.left_out}" if row.left_out else ""
    planned = f"planned {format_count(row.planned, 'level')} without a call"
    return f"{row.label}  of level {row.level}, {planned}{failed}{left_out}"


def _print_unsolved(run: Run, console: Console) -> None:
    rows = [row for row in run.levels if row.outcome in ("fail", "aborted", "running")]
    if not rows:
        return
    groups = Counter(row.group for row in rows if row.group)
    for group, number in groups.most_common(_GROUPS):
        if number > 1:
            print_line(console, f"{number:>4} x {beginning(group, _REASON)}")
    table = make_table("level", "environment", "what became of it", left=3)
    table.columns[0].justify = "right"
    for row in rows[:_LISTED]:
        table.add_row(make_cell(row.number), make_cell(row.env_id), _describe_outcome(row))
    console.print(table)
    if len(rows) > _LISTED:
        print_line(console, f"and {len(rows) - _LISTED} more; the page shows all of them")


def _describe_outcome(row: LevelRow) -> Text:
    first_line = (row.headline or row.reason).partition("\n")[0]
    reason = beginning(first_line, _REASON)
    outcome = _name_outcome(row.outcome)
    if not reason:
        description = outcome
    elif row.outcome == "fail":
        description = reason
    else:
        description = f"{outcome}: {reason}" if outcome else reason
    return make_text(description, _STYLES[row.outcome])


def _make_levels_table(levels: Sequence[ComparedLevel]) -> Table:
    """Return a row for each level; figures that are zero or unknown everywhere have no column."""
    sides = [side for level in levels for side in (level.a, level.b) if side]
    names = []
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
    cells = []
    for side in (level.a, level.b):
        value = None if side is None else getattr(side, name)
        cells.append("-" if value is None else _format_briefly(value))
    return "|".join(cells)


def _print_shared_totals(comparison: Comparison, console: Console) -> None:
    pairs = compare.pair_ended_levels(comparison)
    if not pairs:
        print_line(console, "no level has ended in both runs")
        return

    sums = [compare.totals([pair[side] for pair in pairs]) for side in (0, 1)]
    told = [name for name in compare.TOLD if any(total[name] for total in sums)]
    names = ("solved", *compare.KNOWN, *told)
    heading = f"{format_count(len(pairs), 'level')} ended in both"
    rows = []
    for mark, total in zip("AB", sums, strict=True):
        figures = {name: total[name] for name in names}
        rows.append({heading: mark} | figures | {"time": _format_seconds(total["seconds"])})
    print_table(console, rows)

    only_a, only_b = compare.count_exclusive(pairs)
    print_line(console, f"solved only by A: {only_a}; only by B: {only_b}")


def _join_lines(values: Iterable[str]) -> Text:
    return Text("\n").join(map(make_text, values))


def _describe_models(run: Run) -> str:
    """Return each model with the roles it has."""
    roles: dict[str, list[str]] = {}
    for role, name in run.models.items():
        roles.setdefault(name, []).append(role.replace("_", " "))
    models = [f"{name} ({', '.join(its_roles)})" for name, its_roles in roles.items()]
    return ", ".join(models) or "no models"


def _has_prices(run: Run) -> bool:
    """Return whether tokens and cost of its levels are worth a column."""
    return not run.published and bool(spending.spent(asdict(run.usage)))


def _name_outcome(outcome: str) -> str:
    return _WORDS.get(outcome, outcome)


def _format_briefly(value: int) -> str:
    """Return at most six characters up to ten thousand million."""
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
