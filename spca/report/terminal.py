"""Runs and comparisons as tables on a terminal; 80 columns are enough."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spca.common.text import counted, visible
from spca.llm import spending
from spca.report import compare
from spca.report.read.comparison import ComparedLevel, Comparison, Side
from spca.report.read.model import CategoryRow, LevelRow, Run, Usage
from spca.report.read.origin import describe_commit, describe_hashes
from spca.report.read.writers import WriterRow
from spca.runs.writer_files import FOLDER as WRITERS

_LISTED: Final = 30
"""Unsolved levels that are listed; the page has them all."""
_REASON: Final = 160
"""Characters of a reason that are shown."""
_SLOWEST: Final = 3
_WIDE: Final = 120
"""Columns from which on no name is folded."""
_VERSIONS: Final = ("spca", "minigrid", "python")
_SPENT: Final = ("tokens", "reasoning", "USD")
_STYLES: Final = {"success": "green", "fail": "red", "aborted": "yellow", "running": "cyan"}
_WORDS: Final = {"success": "solved", "fail": "failed"}


def show_run(run: Run, console: Console) -> None:
    """What a run was, its categories, what was not solved and why."""
    _head(run, console)
    console.print(_categories(run))
    console.print(_facts(_taken(run) | {"writers": _writers(run.writers)}))
    _unsolved(run, console)
    for warning in run.warnings:
        _say(console, f"warning: {warning}", "yellow")


def show_runs(runs: Sequence[Run], console: Console) -> None:
    """One row per run."""
    paid = any(map(_paid, runs))
    table = _table("run", "state", "solved", "calls", *_SPENT * paid, "time")
    table.columns[0].no_wrap = True
    table.columns[1].justify = "left"
    table.add_column("models", overflow="fold")
    for run in runs:
        seconds = sum(row.seconds or 0.0 for row in run.levels)
        numbers = [f"{run.solved}/{run.planned}", _calls(run.levels)]
        cells = [run.id, run.state, *numbers, *_spent(run.usage) * paid, _clock(seconds)]
        table.add_row(*map(_text, cells), _lines(dict.fromkeys(run.models.values())))
    console.print(table)
    for run in runs:
        for warning in run.warnings:
            _say(console, f"warning: {run.id}: {warning}", "yellow")


def show_comparison(comparison: Comparison, a: Run, b: Run, console: Console, *, everything: bool = False) -> None:
    """Levels that went differently, and sums over those that both runs have; ``everything``: every level."""
    console.print(_facts({"A and B": _lines(comparison.differences)}))
    for mark, run in (("A", a), ("B", b)):
        _say(console, f"{mark}: {run.id}  {run.solved} of {run.planned} levels solved", "bold")
        console.print(_facts({"models": _models(run)}))
    for note in comparison.notes:
        _say(console, f"note: {note}", "yellow")
    shown = [level for level in comparison.levels if everything or compare.differs(level)]
    if shown:
        console.print(_levels_table(shown))
        _say(console, "5|1: 5 in A, 1 in B; -: not known")
    else:
        _say(console, "no level that both have went differently")
    _shared_totals(comparison, console)


def _head(run: Run, console: Console) -> None:
    left = {name: sum(row.outcome == name for row in run.levels) for name in ("running", "aborted", "pending")}
    others = "".join(f", {count} {name}" for name, count in left.items() if count)
    _say(console, f"{run.id}  {run.state}  {run.solved} of {run.planned} levels solved{others}", "bold")
    seed = "unknown" if run.seed is None else run.seed
    rules = ", judged by minigrid alone (--upstream-rules)" if run.settings.get("upstream_rules") is True else ""
    facts: dict[str, str | Text] = {
        "models": _models(run),
        "sandbox": f"{run.sandbox or 'unknown'}, seed {seed}{rules}",
    }
    versions = [f"{name} {run.versions[name]}" for name in _VERSIONS if name in run.versions]
    facts["made by"] = ", ".join(versions)
    if not run.published:
        facts["source"] = _lines([describe_commit(run.git_commit, run.git_dirty), describe_hashes(run.hashes)])
    if run.started is not None:
        ended = "" if run.ended is None else f", last event after {_clock(run.ended - run.started)}"
        facts["begun"] = f"{_date(run.started)}{ended}"
    console.print(_facts(facts))
    for line in run.continuations:
        _say(console, f"note: {line}", "yellow")
    if run.folder:
        _say(console, f"folder   {run.folder}")  # not folded: to be copied


def _facts(facts: Mapping[str, str | Text]) -> Table:
    """Names and what is known of them; nothing is said of what is not."""
    table = Table.grid(padding=(0, 1))
    table.add_column(min_width=8, no_wrap=True)
    table.add_column(overflow="fold")
    for name, known in facts.items():
        if known:
            table.add_row(name, known if isinstance(known, Text) else _text(known))
    return table


def _categories(run: Run) -> Table:
    paid = _paid(run)
    table = _table("category", "solved", "rounds", "calls", *_SPENT * paid, "time")
    for row in run.categories:
        cells = [str(row.rounds), str(row.planner_calls + row.coder_calls), *_spent(row.usage) * paid]
        table.add_row(_text(row.name), _solved(row), *map(_text, [*cells, _clock(row.seconds)]))
    return table


def _solved(row: CategoryRow) -> Text:
    style = "green" if row.solved == row.planned else "red" if row.finished > row.solved else ""
    return Text(f"{row.solved}/{row.planned}", style)


def _taken(run: Run) -> dict[str, str | Text]:
    """What the whole run took."""
    phases: dict[str, float] = {}
    for row in run.levels:
        for phase, seconds in row.durations.items():
            phases[phase] = phases.get(phase, 0.0) + seconds
    slow = sorted((row for row in run.levels if row.seconds), key=lambda row: -(row.seconds or 0.0))[:_SLOWEST]
    usage = asdict(run.usage)
    spent = f"{spending.usd(usage)} USD, tokens not known" if run.published else spending.spent(usage)
    return {
        "spent": spent and f"{counted(run.usage.requests, 'request')}, {spent}",
        "time": ", ".join(f"{name} {_clock(spent)}" for name, spent in phases.items() if spent),
        "slowest": _lines(f"{_clock(row.seconds)}  {row.number} {row.env_id}" for row in slow),
    }


def _writers(rows: Sequence[WriterRow]) -> Text:
    """What each has planned, and where all of them lie; nothing where a run has none."""
    return _lines([*map(_writer, rows), f"source in {WRITERS}/ of the folder"]) if rows else Text()


def _writer(row: WriterRow) -> str:
    failed = f", {row.failed} failed" if row.failed else ""
    left_out = f"; left out: {row.left_out}" if row.left_out else ""
    return (
        f"{row.label}  of level {row.level}, planned {counted(row.planned, 'level')} without a call{failed}{left_out}"
    )


def _unsolved(run: Run, console: Console) -> None:
    rows = [row for row in run.levels if row.outcome in ("fail", "aborted", "running")]
    if not rows:
        return
    table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("level", justify="right", no_wrap=True)
    table.add_column("environment", overflow="fold", max_width=34 if console.width < _WIDE else None)
    table.add_column("what became of it", overflow="fold")
    for row in rows[:_LISTED]:
        table.add_row(_text(row.number), _text(row.env_id), _became(row))
    console.print(table)
    if len(rows) > _LISTED:
        _say(console, f"and {len(rows) - _LISTED} more; the page shows all of them")


def _became(row: LevelRow) -> Text:
    reason = row.reason.partition("\n")[0]
    cut = reason if len(reason) <= _REASON else f"{reason[:_REASON]}..."
    said = cut if row.outcome == "fail" and cut else ": ".join(filter(None, (_word(row.outcome), cut)))
    return _text(said, _STYLES[row.outcome])


def _levels_table(levels: Iterable[ComparedLevel]) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column("environment", overflow="fold")
    table.add_column("A", no_wrap=True)
    table.add_column("B", no_wrap=True)
    names = ("rounds", "calls", "tokens", "reasoning", "steps")
    pairs = [(level, [_pair(level, name) for name in names]) for level in levels]
    told = [position for position in range(len(names)) if any(set(cells[position]) - set("-|0") for _, cells in pairs)]
    for position in told:
        table.add_column(names[position], justify="right", no_wrap=True)
    for level, cells in pairs:
        table.add_row(_text(level.env_id), _outcome(level.a), _outcome(level.b), *(cells[at] for at in told))
    return table


def _outcome(side: Side | None) -> Text:
    return Text("-") if side is None else _text(_word(side.outcome), _STYLES.get(side.outcome, ""))


def _pair(level: ComparedLevel, name: str) -> str:
    values = [None if side is None else getattr(side, name) for side in (level.a, level.b)]
    return "|".join("-" if value is None else _short(value) for value in values)


def _shared_totals(comparison: Comparison, console: Console) -> None:
    pairs = compare.shared(comparison)
    if not pairs:
        _say(console, "no level has ended in both runs")
        return
    sums = [compare.totals([pair[side] for pair in pairs]) for side in (0, 1)]
    told = [name for name in ("tokens", "reasoning", "steps") if any(getattr(total, name) for total in sums)]
    table = _table(f"{counted(len(pairs), 'level')} ended in both", "solved", "rounds", "calls", *told, "time")
    for mark, total in zip("AB", sums, strict=True):
        cells = [str(total.solved), str(total.rounds), str(total.calls)]
        cells += [_known(getattr(total, name)) for name in told]
        table.add_row(mark, *cells, _clock(total.seconds))
    console.print(table)
    alone = [sum(one.outcome == "success" != other.outcome for one, other in _both_ways(pairs, way)) for way in (0, 1)]
    _say(console, f"solved only by A: {alone[0]}; only by B: {alone[1]}")


def _both_ways(pairs: Sequence[tuple[Side, Side]], way: int) -> list[tuple[Side, Side]]:
    return [(pair[way], pair[1 - way]) for pair in pairs]


def _table(first: str, *numbers: str) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=0, show_edge=False)
    table.add_column(first, overflow="fold")
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _say(console: Console, words: str, style: str = "") -> None:
    console.print(_text(words, style), soft_wrap=True)


def _text(value: object, style: str = "") -> Text:
    """One line of what may come from anywhere: nothing in it is markup, or controls the terminal."""
    return Text(" ".join(visible(str(value)).split("\n")), style)


def _lines(values: Iterable[str]) -> Text:
    return Text("\n").join(map(_text, values))


def _models(run: Run) -> str:
    """Each model with the roles it has."""
    roles: dict[str, list[str]] = {}
    for role, name in run.models.items():
        roles.setdefault(name, []).append(role.replace("_", " "))
    return ", ".join(f"{name} ({', '.join(those)})" for name, those in roles.items()) or "no models"


def _paid(run: Run) -> bool:
    """Whether tokens and cost of its levels are worth a column."""
    return not run.published and bool(spending.spent(asdict(run.usage)))


def _spent(usage: Usage) -> list[str]:
    told = asdict(usage)
    return [spending.tokens(told), spending.reasoning(told), spending.usd(told)]


def _calls(rows: Iterable[LevelRow]) -> str:
    return str(sum(row.planner_calls + row.coder_calls for row in rows))


def _word(outcome: str) -> str:
    return _WORDS.get(outcome, outcome)


def _known(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _short(value: int) -> str:
    """At most six characters up to ten thousand million."""
    if value < 10_000:
        return str(value)
    return f"{value / 1e3:.0f}k" if value < 10_000_000 else f"{value / 1e6:.0f}M"


def _date(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    except (OverflowError, OSError, ValueError):
        return "at an invalid time"


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
