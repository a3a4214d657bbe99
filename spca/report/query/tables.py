"""Run folders as records: the tables that ``query`` asks, column by column (pure, but for reading trajectories)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from spca.contracts import PRIMITIVE_METHODS
from spca.report.read import lenient
from spca.report.read.blame import blame, exception, plan_position
from spca.report.read.lenient import items, table
from spca.report.read.model import LevelRow, Run, Usage
from spca.report.read.run_files import RunFiles
from spca.report.read.runs import overview

Record: TypeAlias = Mapping[str, Any]

RUN: Final = "run_id"
POSITION: Final = "#"
"""Stands for the position of a record in its file, from 1."""
WHOLE: Final = "$"
"""Stands for the whole record."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its SQL type, and under which keys a record may have it ("a.b": ``b`` of the object ``a``).

    The first key that a record has counts.
    """

    name: str
    type: str
    keys: tuple[str, ...]


def _columns(**types: str) -> tuple[Column, ...]:
    """Columns by name; a type may be followed by the keys that records have it under, by default the name."""
    return tuple(Column(name, *_split(name, *words.split(" "))) for name, words in types.items())


def _split(name: str, type_: str, *keys: str) -> tuple[str, tuple[str, ...]]:
    return type_, keys or (name,)


_TOKENS: Final = dict.fromkeys(
    ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens"), "BIGINT"
)
_USAGE: Final = {
    "requests": "BIGINT",
    "answered": "BIGINT",
    **_TOKENS,
    "cost_usd": "DOUBLE",
    "cost_unknown": "BIGINT",
    "estimated": "BIGINT",
}
_MODES: Final = (
    "planner_fresh",
    "planner_reuse",
    "planner_replan",
    "planner_syntax",
    "coder_first",
    "coder_semantic",
    "coder_syntax",
)
_PHASES: Final = ("plan", "solve", "code", "act")

TABLES: Final[Mapping[str, tuple[Column, ...]]] = {
    "runs": _columns(
        run_id="VARCHAR",
        state="VARCHAR",
        seed="BIGINT",
        sandbox="VARCHAR",
        planner="VARCHAR",
        planner_small="VARCHAR",
        coder="VARCHAR",
        upstream_rules="BOOLEAN",
        cache="BOOLEAN",
        engine="VARCHAR",
        started="TIMESTAMP",
        ended="TIMESTAMP",
        seconds="DOUBLE",
        planned="BIGINT",
        finished="BIGINT",
        solved="BIGINT",
        **_USAGE,
        git_commit="VARCHAR",
        spca="VARCHAR",
        minigrid="VARCHAR",
        python="VARCHAR",
        settings="JSON",
    ),
    "levels": _columns(
        run_id="VARCHAR",
        level_index="BIGINT",
        category="VARCHAR",
        level="VARCHAR",
        env_id="VARCHAR",
        seed="BIGINT",
        outcome="VARCHAR",
        reason="VARCHAR",
        begun="BIGINT",
        started="TIMESTAMP",
        seconds="DOUBLE",
        rounds="BIGINT",
        attempts="BIGINT",
        planner_calls="BIGINT",
        coder_calls="BIGINT",
        **dict.fromkeys(_MODES, "BIGINT"),
        **{f"{phase}_s": "DOUBLE" for phase in _PHASES},
        steps="BIGINT",
        steps_total="BIGINT",
        **_USAGE,
        library_actions="BIGINT",
        library_methods="BIGINT",
        library_bytes="BIGINT",
        corrections="VARCHAR[]",
        agent_file="VARCHAR",
        trajectory="VARCHAR",
    ),
    "calls": _columns(
        run_id="VARCHAR",
        number="BIGINT",
        level_index="BIGINT index",
        category="VARCHAR",
        env_id="VARCHAR level",
        seed="BIGINT",
        round="BIGINT",
        phase="VARCHAR",
        mode="VARCHAR",
        attempt="BIGINT",
        model="VARCHAR",
        form="VARCHAR",
        key="VARCHAR",
        started="TIMESTAMP",
        latency_s="DOUBLE",
        asked_tokens="BIGINT",
        **_TOKENS,
        estimated="BOOLEAN",
        cost_usd="DOUBLE cost",
        outcome="VARCHAR",
        status="BIGINT",
        error="VARCHAR",
        transcript="VARCHAR",
    ),
    "events": _columns(
        run_id="VARCHAR",
        number=f"BIGINT {POSITION}",
        time="TIMESTAMP",
        event="VARCHAR",
        level_index="BIGINT",
        category="VARCHAR category level.category",
        env_id="VARCHAR level_name level.level_name",
        name="VARCHAR",
        value="BIGINT",
        mode="VARCHAR",
        model="VARCHAR",
        seconds="DOUBLE",
        solve_s="DOUBLE",
        **_TOKENS,
        requests="BIGINT",
        cost_usd="DOUBLE cost",
        source="VARCHAR",
        ok="BOOLEAN",
        error="VARCHAR",
        transcript="VARCHAR",
        outcome="VARCHAR",
        reason="VARCHAR",
        data=f"JSON {WHOLE}",
    ),
    "attempts": _columns(
        run_id="VARCHAR",
        level_index="BIGINT",
        category="VARCHAR",
        env_id="VARCHAR",
        seed="BIGINT",
        round="BIGINT",
        attempt="BIGINT",
        status="VARCHAR",
        message="VARCHAR",
        exception="VARCHAR",
        line="BIGINT",
        method="VARCHAR",
        plan_position="BIGINT",
        action="VARCHAR",
        args="VARCHAR[]",
        steps="BIGINT",
        reward="DOUBLE",
        agent="VARCHAR",
    ),
    "steps": _columns(
        run_id="VARCHAR",
        level_index="BIGINT",
        category="VARCHAR",
        env_id="VARCHAR",
        seed="BIGINT",
        round="BIGINT",
        attempt="BIGINT",
        status="VARCHAR",
        agent="VARCHAR",
        step="BIGINT",
        primitive="VARCHAR",
        plan_position="BIGINT",
        action="VARCHAR",
        args="VARCHAR[]",
        line="BIGINT",
    ),
}
"""Columns by table; times are in UTC, ``docs/queries.md`` tells what each holds."""


def records(files: RunFiles, names: Collection[str]) -> dict[str, Iterable[Record]]:
    """Return what a run has for each of the tables ``names``."""
    found: dict[str, Iterable[Record]] = {}
    if "runs" in names or "levels" in names:
        run = overview(files)
        found |= {"runs": [_run(run)], "levels": _levels(run, files)}
    found |= {"calls": files.records, "events": files.events, "attempts": _attempts(files), "steps": _steps(files)}
    return {name: found[name] for name in names}


def _run(run: Run) -> dict[str, Any]:
    return {
        **run.settings,
        **run.versions,
        **run.models,
        **_shared(run, "runs"),
        **_shared(run.usage, "runs"),
        "seconds": round(math.fsum(row.seconds or 0.0 for row in run.levels), 3),
        "settings": dict(run.settings),
    }


def _levels(run: Run, files: RunFiles) -> Iterator[dict[str, Any]]:
    summaries = files.summaries()
    began = run.started or 0.0
    return (_level(row, began, summaries.get(row.number, {})) for row in run.levels)


def _level(row: LevelRow, began: float, summary: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_shared(row, "levels"),
        **_shared(row.usage, "levels"),
        "level_index": row.number,
        "started": None if row.started is None else began + row.started,
        **{name: table(summary.get("counters")).get(name) for name in _MODES},
        **{f"{phase}_s": row.durations.get(phase) for phase in _PHASES},
        **{f"library_{name}": value for name, value in (row.library or {}).items()},
        "agent_file": summary.get("agent_file"),
        "trajectory": summary.get("trajectory"),
    }


def _shared(value: Run | LevelRow | Usage, name: str) -> dict[str, object]:
    """What a value of the report has under the names of a table's columns."""
    return {column.name: getattr(value, column.name) for column in TABLES[name] if hasattr(value, column.name)}


def _recorded(files: RunFiles) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Yield every attempt of the finished levels with the level that it belongs to."""
    for number, summary in files.summaries().items():
        trajectory = files.trajectory(summary) or {}
        place = {name: trajectory.get(name) for name in ("category", "env_id", "seed")}
        for attempt in items(trajectory.get("attempts")):
            yield {**place, "level_index": number}, table(attempt)


def _attempts(files: RunFiles) -> Iterator[dict[str, Any]]:
    for place, attempt in _recorded(files):
        agent, position = lenient.text(attempt.get("agent")), plan_position(attempt)
        source = files.source(agent) if agent else None
        blamed = None if source is None else blame(attempt, source, "")
        step = {} if position is None else table(attempt["plan"][position])
        yield {
            **attempt,
            **place,
            "exception": exception(attempt),
            "line": (blamed.line or None) if blamed else None,
            "method": (blamed.method or None) if blamed else None,
            "plan_position": position,
            "action": step.get("action"),
            "args": step.get("args"),
            "steps": len(items(attempt.get("steps"))),
        }


def _steps(files: RunFiles) -> Iterator[Record]:
    for place, attempt in _recorded(files):
        shared = place | {name: attempt.get(name) for name in ("round", "attempt", "status", "agent")}
        # Every step repeats what it shares with others: what is no value of a column must not be among it.
        plain = {name: value for name, value in shared.items() if not isinstance(value, dict | list)}
        plan = [_action(table(step)) for step in items(attempt.get("plan"))]
        for step, entry in enumerate(items(attempt.get("steps")), 1):
            code, position, line = map(lenient.whole, entry) if len(items(entry)) == 3 else (None,) * 3
            primitive = PRIMITIVE_METHODS[code] if code is not None and code < len(PRIMITIVE_METHODS) else None
            action = plan[position] if position is not None and position < len(plan) else {}
            yield {**plain, **action, "step": step, "primitive": primitive, "plan_position": position, "line": line}


def _action(step: Record) -> Record:
    """Return the texts of a plan's step."""
    args = [word for word in items(step.get("args")) if isinstance(word, str)]
    return {"action": lenient.text(step.get("action")) or None, "args": args}
