"""Run folders as records, the rows of the views in ``tables.sql`` (pure, but for reading trajectories)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any, Final, TypeAlias

from spca.contracts import PRIMITIVE_METHODS
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
    """Return what a run has for each of the tables ``names``."""
    found: dict[str, Iterable[Record]] = {}
    if _OF_OVERVIEW & {*names}:
        run = overview(files)
        summaries = files.summaries
        found["runs"] = [_run(run)]
        found["levels"] = [_level(row, run, summaries) for row in run.levels]
        found["writers"] = list(map(asdict, run.writers))

    found["calls"] = files.records
    found["events"] = files.events
    found["attempts"] = _attempts(files)
    found["steps"] = _steps(files)
    return {name: found[name] for name in names}


def _run(run: Run) -> Record:
    seconds = round(math.fsum(row.seconds or 0.0 for row in run.levels), 3)
    counts = {"planned": run.planned, "finished": run.finished, "solved": run.solved}
    return asdict(replace(run, levels=(), categories=(), writers=())) | counts | {"seconds": seconds}


def _level(row: LevelRow, run: Run, summaries: Mapping[int, Mapping[str, Any]]) -> Record:
    summary = summaries.get(row.number, {})
    summary_part = {name: summary.get(name) for name in _OF_SUMMARY}
    return asdict(replace(row, spans=())) | {"run_started": run.started, "summary": summary_part}


def _iterate_attempts(files: RunFiles) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Yield every attempt of the finished levels with the level that it belongs to."""
    for number, summary in files.summaries.items():
        trajectory = files.trajectory(summary) or {}
        place = {name: trajectory.get(name) for name in ("category", "env_id", "seed")}
        for attempt in items(trajectory.get("attempts")):
            yield {**place, "level_index": number}, table(attempt)


def _attempts(files: RunFiles) -> Iterator[dict[str, Any]]:
    for place, attempt in _iterate_attempts(files):
        agent = lenient.text(attempt.get("agent"))
        position = plan_position(attempt)
        source = files.source(agent) if agent else None
        blamed = None if source is None else blame(attempt, source, "")
        action = {} if position is None else _action(table(attempt["plan"][position]))
        line = blamed.line if blamed else None
        method = blamed.method if blamed else None

        yield {
            **attempt,
            **place,
            "exception": exception(attempt),
            "line": line or None,
            "method": method or None,
            "plan_position": position,
            **action,
            "steps": len(items(attempt.get("steps"))),
        }


def _steps(files: RunFiles) -> Iterator[Record]:
    for place, attempt in _iterate_attempts(files):
        shared = place | {name: attempt.get(name) for name in ("round", "attempt", "status", "agent")}
        # Every step repeats what it shares with others: what is no value of a column must not be among it.
        plain = {name: value for name, value in shared.items() if not isinstance(value, dict | list)}
        plan = [_action(table(step)) for step in items(attempt.get("plan"))]
        for step, (code, position, line) in enumerate(lenient.steps(attempt), 1):
            primitive = PRIMITIVE_METHODS[code] if 0 <= code < len(PRIMITIVE_METHODS) else None
            action = plan[position] if 0 <= position < len(plan) else {}
            yield {**plain, **action, "step": step, "primitive": primitive, "plan_position": position, "line": line}


def _action(step: Record) -> Record:
    """Return the texts of a plan's step."""
    args = [word for word in items(step.get("args")) if isinstance(word, str)]
    return {"action": lenient.text(step.get("action")) or None, "args": args}
