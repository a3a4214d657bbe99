"""The overview of a run: outcome, time and usage of each level, each category and the run (reads run files only)."""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any, Final

from spca.bodies.recorded import list_primitives
from spca.report.read.lenient import count, counts, items, number, table, text, whole
from spca.report.read.model import CategoryRow, LevelRow, Run, Usage
from spca.report.read.origin import describe_continuations, read_commit, read_dirty, read_hashes
from spca.report.read.run_files import RunFiles
from spca.report.read.spans import ENDED, NO_HISTORY, History, attempt_statuses, durations, ending, spans
from spca.report.read.writers import find_planning_writer, writer_rows
from spca.runs.curriculum import Task

_CALLS: Final = ("planner_call", "coder_call")


def overview(files: RunFiles) -> Run:
    """Return the overview of a run. The ``check`` of each level is "", because this function re-simulates no level."""
    info = files.info
    history = History(0, files.events)
    tasks = {task.index + 1: task for task in files.tasks()}
    levels = _read_levels(files, tasks, history.started or 0.0)
    replayed = _is_replayed(files.events)
    usage = sum_usage(files.records) if files.records else usage_of(info.get("usage"), replayed=replayed)

    finished = sum(row.outcome in ENDED for row in levels)
    state = "finished" if tasks and finished >= len(tasks) else "stopped"
    if files.running:
        state = "running"

    settings = {}
    for name, value in table(info.get("settings")).items():
        if not isinstance(value, dict | list):
            settings[name] = value

    writers = writer_rows(files.summaries.values(), files.writer)
    ended = None if files.running else history.ended
    return Run(
        id=files.id,
        folder=str(files.path),
        state=state,
        settings=settings,
        models=_select_strings(info.get("models")),
        versions=_select_strings(info.get("versions")),
        git_commit=read_commit(info),
        git_dirty=read_dirty(info),
        hashes=read_hashes(info),
        continuations=describe_continuations(info),
        sandbox=text(info.get("sandbox")),
        seed=files.seed,
        started=history.started,
        ended=ended,
        usage=usage,
        replayed=replayed,
        categories=categories(levels),
        levels=levels,
        writers=writers,
        primitives=list_primitives(info),
        warnings=tuple(files.warnings),  # complete only now, after all files have been read
    )


def _read_levels(files: RunFiles, tasks: Mapping[int, Task], began: float) -> tuple[LevelRow, ...]:
    """Return a row for each level that is planned, was begun or has a summary, by number of the level.

    Args:
        tasks: the planned levels, by number.
        began: the start of the run, in seconds since the epoch.
    """
    records = defaultdict[int, list[Mapping[str, Any]]](list)
    for record in files.records:
        index = count(record.get("index"))
        records[index].append(record)

    rows = []
    for index in sorted(tasks.keys() | files.histories.keys() | files.summaries.keys()):
        if index:  # 0 in a damaged file is no number of a level
            rows.append(_row(files, index, tasks.get(index), records[index], began))
    return tuple(rows)


def _is_replayed(events: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether models have answered, and all answers came from recordings."""
    calls = (event for event in events if event.get("event") in _CALLS)
    answered = [event for event in calls if event.get("source")]
    return bool(answered) and all(map(is_recorded, answered))


def categories(levels: Sequence[LevelRow]) -> tuple[CategoryRow, ...]:
    """Return the sums over the levels of each category, in the order of the categories' first levels."""
    rows_by_category: dict[str, list[LevelRow]] = {}
    for row in levels:
        rows_by_category.setdefault(row.category, []).append(row)
    return tuple(_category(name, rows) for name, rows in rows_by_category.items())


def _row(
    files: RunFiles, index: int, task: Task | None, records: Sequence[Mapping[str, Any]], began: float
) -> LevelRow:
    """Return the row of a level.

    Args:
        index: number of the level, from 1.
        task: the planned level; None if the curriculum cannot be read.
        records: lines of the ledger that belong to the level.
        began: the start of the run, in seconds since the epoch.
    """
    history = files.histories.get(index, NO_HISTORY)
    summary = files.summaries.get(index) or history.last("level_summary")
    outcome, reason = ending(summary, history.begun, under_way=index == files.level_under_way)
    started = history.started
    if started is not None:
        started = round(max(0.0, started - began), 3)

    trajectory = files.trajectory(summary) or {}
    acting = table(table(summary.get("durations")).get("sim_s"))
    longest = number(acting.get("max"))
    statuses = attempt_statuses(trajectory)
    open_status = "" if outcome in ENDED else outcome
    spent = spans(history, began, statuses, open_status, longest)

    counters = table(summary.get("counters")) or history.counters
    usage = sum_usage(records) if records else usage_of(summary.get("usage"))
    recorded_library = table(summary.get("library"))
    library = {name: count(value) for name, value in recorded_library.items()}
    corrections = map(text, items(summary.get("corrections")))

    row = LevelRow(
        **_name_level(files, task, summary, history),
        number=index,
        outcome=outcome,
        reason=reason,
        started=started,
        begun=max(history.begun, bool(summary)),
        seconds=_seconds(summary, history),
        rounds=count(counters.get("spca_rounds")),
        attempts=count(counters.get("simulation_runs")),
        steps=whole(summary.get("steps")),
        steps_total=whole(summary.get("steps_total")),
        usage=usage,
        durations=durations(summary, spent),
        library=library or None,
        writer=find_planning_writer(summary),
        corrections=tuple(filter(None, corrections)),
        **counts(counters, "planner_calls", "coder_calls"),
    )

    # The version ignores the spans, which may be many. The spans change only if one of the other values changes:
    # events are only appended, so that their number stands for the events.
    content = repr((row, statuses, longest, len(history.events), len(records)))
    version = hashlib.sha256(content.encode("utf-8", "backslashreplace")).hexdigest()[:12]
    return replace(row, spans=spent, version=version)


def _name_level(files: RunFiles, task: Task | None, summary: Mapping[str, Any], history: History) -> dict[str, Any]:
    """Return ``category``, ``level``, ``env_id`` and ``seed`` of a level: as recorded, else as planned."""
    level = table(summary.get("level")) or history.last("level_start")
    category = text(level.get("category"), task.category if task else "")
    name = text(level.get("lvl_group"), task.level if task else "")
    env_id = text(level.get("level_name"), task.name if task else "")
    seed = whole(level.get("seed"))
    if seed is None and task is not None:
        seed = task.seed
    if seed is None:
        seed = files.seed or 0
    return {"category": category, "level": name, "env_id": env_id, "seed": seed}


def _category(name: str, rows: Sequence[LevelRow]) -> CategoryRow:
    """Return the sums over the levels of a category."""
    seconds = math.fsum(row.seconds or 0.0 for row in rows)
    return CategoryRow(
        name=name,
        planned=len(rows),
        finished=sum(row.outcome in ENDED for row in rows),
        solved=sum(row.outcome == "success" for row in rows),
        rounds=sum(row.rounds for row in rows),
        planner_calls=sum(row.planner_calls for row in rows),
        coder_calls=sum(row.coder_calls for row in rows),
        steps=sum(row.steps or 0 for row in rows),
        seconds=round(seconds, 3),
        usage=total(row.usage for row in rows),
    )


def _seconds(summary: Mapping[str, Any], history: History) -> float | None:
    """Return the duration of a level in seconds; for an unfinished level, the time until the newest event."""
    minutes = number(summary.get("elapsed_min"))
    if minutes is not None:
        return round(max(0.0, minutes) * 60, 3)
    if history.started is None or history.ended is None:
        return None
    return round(history.ended - history.started, 3)


def _select_strings(entry: object) -> dict[str, str]:
    """Return the entries of a JSON object that are strings; {} if ``entry`` is no object."""
    return {name: value for name, value in table(entry).items() if isinstance(value, str)}


_TOKENS: Final = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")
_COUNTS: Final = (*_TOKENS, "cost_unknown", "estimated")


def is_recorded(call: Mapping[str, Any]) -> bool:
    """Return whether the answer to a call came from a recording, so that the recorded cost of 0 is not the true cost.

    Args:
        call: the event of the call, or its line of the ledger.
    """
    if call.get("source") == "cache":
        return True
    return text(call.get("model")).startswith("replay/")


def usage_of(entry: object, *, replayed: bool = False) -> Usage:
    """Return the usage that a summary or ``run.json`` records.

    Args:
        entry: the recorded usage; may be any JSON value.
        replayed: whether all answers came from recordings, so that no cost is known.
    """
    recorded = table(entry)
    numbers = counts(recorded, *_COUNTS, "requests", "answered")
    if replayed:
        return Usage(**numbers | {"cost_unknown": numbers["requests"]})
    cost = number(recorded.get("cost_usd")) or 0.0
    return Usage(cost_usd=max(0.0, cost), **numbers)


def sum_usage(records: Iterable[Mapping[str, Any]]) -> Usage:
    """Return the usage summed over lines of the ledger, which may be damaged.

    :func:`spca.llm.calls.ledger.sums` sums undamaged lines. In contrast to that function, the cost of an answer from a
    recording counts as unknown, not as 0.
    """
    records = list(records)
    billed = [record for record in records if not is_recorded(record)]
    costs = [number(record.get("cost")) for record in billed]
    known_costs = [cost for cost in costs if cost is not None and cost >= 0]
    tokens = {}
    for name in _TOKENS:
        tokens[name] = sum(count(record.get(name)) for record in records)
    answered = sum(record.get("outcome") == "answered" for record in records)
    estimated = sum(record.get("estimated") is True for record in records)
    return Usage(
        requests=len(records),
        answered=answered,
        cost_usd=math.fsum(known_costs),
        cost_unknown=len(records) - len(known_costs),
        estimated=estimated,
        **tokens,
    )


def total(usages: Iterable[Usage]) -> Usage:
    """Return the sum of usages, field by field."""
    columns = zip(*map(astuple, usages), strict=True)
    return Usage(*map(sum, columns))
