"""The overview of a run: its levels, what they took and how they ended (pure, but for reading trajectories)."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any, Final

from spca.report.read.lenient import count, counts, items, number, table, text, whole
from spca.report.read.model import CategoryRow, LevelRow, Run, Usage
from spca.report.read.origin import describe_continuations, read_commit, read_dirty, read_hashes
from spca.report.read.run_files import RunFiles
from spca.report.read.spans import ENDED, NO_HISTORY, History, attempt_statuses, durations, ending, spans
from spca.report.read.writers import find_planning_writer, writer_rows
from spca.runs.curriculum import Task

_CALLS: Final = ("planner_call", "coder_call")


def overview(files: RunFiles) -> Run:
    """Return the results of a run so far; nothing is re-simulated, so ``check`` of its levels is empty."""
    settings = table(files.info.get("settings"))
    history = History(0, files.events)
    tasks = {task.index + 1: task for task in files.tasks()}
    records = defaultdict[int, list[Mapping[str, Any]]](list)
    for record in files.records:
        index = count(record.get("index"))
        records[index].append(record)

    # Levels that are planned, and those that left something behind.
    numbers = sorted(tasks.keys() | files.histories.keys() | files.summaries.keys())
    began = history.started or 0.0
    levels = tuple(_row(files, index, tasks.get(index), records[index], began) for index in filter(None, numbers))
    done = sum(row.outcome in ENDED for row in levels)

    calls = [event for event in files.events if event.get("event") in _CALLS]
    answered = [event for event in calls if event.get("source")]
    replayed = bool(answered) and all(map(is_recorded, answered))
    recorded_usage = files.info.get("usage")
    usage = sum_usage(files.records) if files.records else usage_of(recorded_usage, replayed=replayed)

    state = "finished" if tasks and done >= len(tasks) else "stopped"
    if files.running:
        state = "running"
    simple_settings = {name: value for name, value in settings.items() if not isinstance(value, dict | list)}

    return Run(
        id=files.id,
        folder=str(files.path),
        state=state,
        settings=simple_settings,
        models=_words(files.info.get("models")),
        versions=_words(files.info.get("versions")),
        git_commit=read_commit(files.info),
        git_dirty=read_dirty(files.info),
        hashes=read_hashes(files.info),
        continuations=describe_continuations(files.info),
        sandbox=text(files.info.get("sandbox")),
        seed=files.seed,
        started=history.started,
        ended=None if files.running else history.ended,
        usage=usage,
        replayed=replayed,
        categories=categories(levels),
        levels=levels,
        writers=writer_rows(files.summaries.values(), files.writer),
        warnings=tuple(files.warnings),
    )


def categories(levels: Sequence[LevelRow]) -> tuple[CategoryRow, ...]:
    """Return sums per category, in the order in which the run comes to them."""
    rows_by_category = dict[str, list[LevelRow]]()
    for row in levels:
        rows_by_category.setdefault(row.category, []).append(row)
    return tuple(_category(name, rows) for name, rows in rows_by_category.items())


def _row(
    files: RunFiles, index: int, task: Task | None, records: Sequence[Mapping[str, Any]], began: float
) -> LevelRow:
    """Return the row of a level; ``records`` are its lines of the ledger."""
    history = files.histories.get(index, NO_HISTORY)
    summary = files.summaries.get(index) or history.last("level_summary")
    outcome, reason = ending(summary, history.begun, under_way=index == files.level_under_way)
    trajectory = files.trajectory(summary) or {}
    acting = table(table(summary.get("durations")).get("sim_s"))
    longest = number(acting.get("max"))
    statuses = attempt_statuses(trajectory)
    spent = spans(history, began, statuses, "" if outcome in ENDED else outcome, longest)
    counters = table(summary.get("counters")) or history.counters
    level = table(summary.get("level")) or history.last("level_start")
    seed = whole(level.get("seed"))
    started = history.started
    if started is not None:
        started = round(max(0.0, started - began), 3)
    recorded_library = table(summary.get("library"))
    library = {name: count(value) for name, value in recorded_library.items()}
    corrections = map(text, items(summary.get("corrections")))

    row = LevelRow(
        number=index,
        category=text(level.get("category"), task.category if task else ""),
        level=text(level.get("lvl_group"), task.level if task else ""),
        env_id=text(level.get("level_name"), task.env_id if task else ""),
        seed=(files.seed or 0) if seed is None else seed,
        outcome=outcome,
        reason=reason,
        started=started,
        begun=max(history.begun, bool(summary)),
        seconds=_seconds(summary, history),
        rounds=count(counters.get("spca_rounds")),
        attempts=count(counters.get("simulation_runs")),
        steps=whole(summary.get("steps")),
        steps_total=whole(summary.get("steps_total")),
        usage=sum_usage(records) if records else usage_of(summary.get("usage")),
        durations=durations(summary, spent),
        library=library or None,
        writer=find_planning_writer(summary),
        corrections=tuple(filter(None, corrections)),
        **counts(counters, "planner_calls", "coder_calls"),
    )

    # The spans come of the events, which only become more, and of what else is seen here: they may be many.
    seen = repr((row, statuses, longest, len(history.events), len(records)))
    version = hashlib.sha256(seen.encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return replace(row, spans=spent, version=version)


def _category(name: str, rows: Sequence[LevelRow]) -> CategoryRow:
    return CategoryRow(
        name=name,
        planned=len(rows),
        finished=sum(row.outcome in ENDED for row in rows),
        solved=sum(row.outcome == "success" for row in rows),
        rounds=sum(row.rounds for row in rows),
        planner_calls=sum(row.planner_calls for row in rows),
        coder_calls=sum(row.coder_calls for row in rows),
        steps=sum(row.steps or 0 for row in rows),
        seconds=round(math.fsum(row.seconds or 0.0 for row in rows), 3),
        usage=total(row.usage for row in rows),
    )


def _seconds(summary: Mapping[str, Any], history: History) -> float | None:
    """Return the seconds that a level took; for one that has not ended, until its newest event."""
    minutes = number(summary.get("elapsed_min"))
    if minutes is not None:
        return round(max(0.0, minutes) * 60, 3)
    if history.started is None or history.ended is None:
        return None
    return round(history.ended - history.started, 3)


def _words(entry: object) -> dict[str, str]:
    """Return the texts of a JSON object."""
    return {name: value for name, value in table(entry).items() if isinstance(value, str)}


_TOKENS: Final = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
_COUNTS: Final = (*_TOKENS, "cost_unknown", "estimated")


def is_recorded(call: Mapping[str, Any]) -> bool:
    """Return whether the answer to a call came from a recording, given its event or its line of the ledger.

    The cost of 0 that stands there is not what the answer cost.
    """
    if call.get("source") == "cache":
        return True
    return text(call.get("model")).startswith("replay/")


def usage_of(entry: object, *, replayed: bool = False) -> Usage:
    """Read the usage that a summary or ``run.json`` holds."""
    entry = table(entry)
    known = counts(entry, *_COUNTS, "requests", "answered")
    if replayed:
        return Usage(**known | {"cost_unknown": known["requests"]})
    cost = number(entry.get("cost_usd")) or 0.0
    return Usage(cost_usd=max(0.0, cost), **known)


def sum_usage(records: Iterable[Mapping[str, Any]]) -> Usage:
    """Sum over lines of the ledger, as :func:`spca.llm.calls.ledger.sums` does over whole ones.

    The cost of recorded answers is unknown here, not 0.
    """
    records = list(records)
    billed = [record for record in records if not is_recorded(record)]
    costs = [number(record.get("cost")) for record in billed]
    known = [cost for cost in costs if cost is not None and cost >= 0]
    tokens = {name: sum(count(record.get(name)) for record in records) for name in _TOKENS}

    return Usage(
        requests=len(records),
        answered=sum(record.get("outcome") == "answered" for record in records),
        cost_usd=math.fsum(known),
        cost_unknown=len(records) - len(known),
        estimated=sum(record.get("estimated") is True for record in records),
        **tokens,
    )


def total(usages: Iterable[Usage]) -> Usage:
    """Return the sum of several usages."""
    columns = zip(*map(astuple, usages), strict=True)
    return Usage(*map(sum, columns))
