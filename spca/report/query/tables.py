"""Records of run folders, from which ``tables.sql`` makes the rows of the tables (reads run files only)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Final, TypeAlias

from spca.bodies.recorded import list_primitives
from spca.report.read import lenient
from spca.report.read.blame import blame, exception, plan_position
from spca.report.read.lenient import items, table
from spca.report.read.model import LevelRow, Run
from spca.report.read.run_files import RunFiles
from spca.report.read.runs import overview

Record: TypeAlias = Mapping[str, Any]

TABLES: Final = ("runs", "levels", "calls", "events", "attempts", "steps", "writers")
_OF_SUMMARY: Final = ("counters", "agent_file", "trajectory")
_OF_OVERVIEW: Final = frozenset({"runs", "levels", "writers"})


def records(files: RunFiles, names: Collection[str]) -> dict[str, Iterable[Record]]:
    """Return the records of a run for each of the tables ``names``, by name of the table."""
    by_table: dict[str, Iterable[Record]] = {}
    if _OF_OVERVIEW & {*names}:
        run = overview(files)
        summaries = files.summaries
        by_table["runs"] = [_run(run)]
        by_table["levels"] = [_level(row, run, summaries) for row in run.levels]
        by_table["writers"] = list(map(asdict, run.writers))

    by_table["calls"] = files.records
    by_table["events"] = files.events
    by_table["attempts"] = _attempts(files)
    by_table["steps"] = _steps(files)
    return {name: by_table[name] for name in names}


def _run(run: Run) -> Record:
    """Return the record of a run: its overview, counts of levels, and seconds of work.

    The rows of levels, categories and writers are left out of the overview.
    """
    seconds = round(math.fsum(row.seconds or 0.0 for row in run.levels), 3)
    sums = {"planned": run.planned, "finished": run.finished, "solved": run.solved, "seconds": seconds}
    return asdict(replace(run, levels=(), categories=(), writers=())) | sums


def _level(row: LevelRow, run: Run, summaries: Mapping[int, Mapping[str, Any]]) -> Record:
    """Return the record of a level: its row without spans, the start of the run, and a part of the summary."""
    summary = summaries.get(row.number, {})
    summary_part = {name: summary.get(name) for name in _OF_SUMMARY}
    return asdict(replace(row, spans=())) | {"run_started": run.started, "summary": summary_part}


def _iterate_attempts(files: RunFiles) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Yield, for every attempt of the finished levels, the pair (record of the level, attempt)."""
    for number, summary in files.summaries.items():
        trajectory = files.trajectory(summary) or {}
        place = {name: trajectory.get(name) for name in ("category", "env_id", "seed")}
        if name := lenient.text(table(summary.get("level")).get("level_name")):
            place["env_id"] = name  # as in the table of levels: with a suffix if the level has arguments or a seed
        for attempt in items(trajectory.get("attempts")):
            yield {**place, "level_index": number}, table(attempt)


def _attempts(files: RunFiles) -> Iterator[dict[str, Any]]:
    """Yield the record of every attempt: the recorded values, the level, the place where it ended, and the number of
    steps.
    """
    for place, attempt in _iterate_attempts(files):
        agent = lenient.text(attempt.get("agent"))
        position = plan_position(attempt)
        source = files.source(agent) if agent else None
        blamed = None if source is None else blame(attempt, source, "")
        record = {**attempt, **place}
        record["exception"] = exception(attempt)
        record["line"] = (blamed.line or None) if blamed else None
        record["method"] = (blamed.method or None) if blamed else None
        record["plan_position"] = position
        if position is not None:
            record |= _action(table(attempt["plan"][position]))
        record["steps"] = len(items(attempt.get("steps")))
        yield record


def _steps(files: RunFiles) -> Iterator[Record]:
    """Yield the record of every step of every attempt."""
    primitives = list_primitives(files.info)
    for place, attempt in _iterate_attempts(files):
        shared = place | {name: attempt.get(name) for name in ("round", "attempt", "status", "agent")}
        # Every step repeats the shared values, so that large values, which a damaged file may have, are left out.
        scalars = {name: value for name, value in shared.items() if not isinstance(value, dict | list)}
        plan = [_action(table(step)) for step in items(attempt.get("plan"))]
        for number, (code, position, line) in enumerate(lenient.steps(attempt), 1):
            primitive = primitives[code] if 0 <= code < len(primitives) else None
            action = plan[position] if 0 <= position < len(plan) else {}
            step = {"step": number, "primitive": primitive, "plan_position": position, "line": line}
            yield {**scalars, **action, **step}


def _action(step: Record) -> Record:
    """Return the action and the arguments of a step of a plan.

    An action that is not text becomes None; an argument that is not text is left out.
    """
    args = [word for word in items(step.get("args")) if isinstance(word, str)]
    return {"action": lenient.text(step.get("action")) or None, "args": args}
