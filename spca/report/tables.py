"""Run folders as rows: the tables that ``query`` asks, column by column (pure, but for reading trajectories)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from pydantic_core import to_json

from spca.contracts import PRIMITIVE_METHODS
from spca.report import lenient
from spca.report.blame import blame, exception, plan_position
from spca.report.lenient import items, table
from spca.report.model import LevelRow, Run, Usage
from spca.report.reading import RunFiles
from spca.report.runs import overview

Row: TypeAlias = tuple[object, ...]

_HALVES: Final = re.compile("[\ud800-\udfff]")
_EPOCH: Final = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its SQL type, and where it stands in a record of a file, by default under its name."""

    name: str
    type: str
    key: str = ""

    def of(self, record: Mapping[str, Any]) -> object:
        """Its value in a record; None where that has none, or one of another type."""
        return _READERS[self.type](record.get(self.key or self.name))


def _text(value: object) -> str | None:
    """UTF-8 has no place for half of a surrogate pair, JSON has: it is spelled out."""
    if not isinstance(value, str):
        return None
    return value if value.isascii() else _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", value)


def _texts(value: object) -> list[str] | None:
    if not isinstance(value, list | tuple):
        return None
    return [word for word in map(_text, value) if word is not None]


def _moment(value: object) -> datetime | None:
    seconds = lenient.number(value)
    try:
        return None if seconds is None else _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _json(value: object) -> str | None:
    if value is None:
        return None
    try:
        return to_json(value, inf_nan_mode="null").decode()
    except ValueError:  # half of a surrogate pair, or nested too deeply
        pass
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:  # writing takes more stack than reading took
        return None
    # DuckDB refuses halves of surrogate pairs in JSON even where they are escaped.
    return _HALVES.sub(lambda half: f"\\\\u{ord(half[0]):04x}", text)


_READERS: Final[Mapping[str, Callable[[object], object]]] = {
    "VARCHAR": _text,
    "BIGINT": lenient.whole,
    "DOUBLE": lenient.number,
    "BOOLEAN": lambda value: value if isinstance(value, bool) else None,
    "TIMESTAMP": _moment,
    "VARCHAR[]": _texts,
    "JSON": _json,
}
"""How a value of a file becomes one of a column's type."""


def _columns(**types: str) -> tuple[Column, ...]:
    """Columns by name; a type may be followed by the key that records have it under."""
    return tuple(Column(name, *words.split(" ")) for name, words in types.items())


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
        number="BIGINT",
        time="TIMESTAMP",
        event="VARCHAR",
        level_index="BIGINT",
        category="VARCHAR",
        env_id="VARCHAR level_name",
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
        data="JSON",
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


def rows(files: RunFiles, names: Collection[str]) -> dict[str, Iterable[Row]]:
    """What a run has for each of the tables ``names``."""
    found: dict[str, Iterable[Row]] = {}
    if "runs" in names or "levels" in names:
        run = overview(files)
        found |= {"runs": _of(files, "runs", [_run(run)]), "levels": _of(files, "levels", _levels(run, files))}
    found |= {
        "calls": _of(files, "calls", files.records),
        "events": _of(files, "events", _events(files)),
        "attempts": _of(files, "attempts", _attempts(files)),
        "steps": _steps(files),
    }
    return {name: found[name] for name in names}


def _of(files: RunFiles, name: str, records: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """Records as rows of a table; the first column is always the run."""
    columns = enumerate(TABLES[name][1:], 1)
    places = {column.key or column.name: (place, _READERS[column.type]) for place, column in columns}
    empty: list[object] = [_text(files.id), *[None] * len(places)]
    for record in records:  # has fewer fields than the table has columns
        row = empty.copy()
        for key, value in record.items():
            if key in places:
                place, read = places[key]
                row[place] = read(value)
        yield tuple(row)


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


def _events(files: RunFiles) -> Iterator[dict[str, Any]]:
    for number, event in enumerate(files.events, 1):
        place = table(event.get("level"))
        yield {**place, **event, "number": number, "data": event}


def _recorded(files: RunFiles) -> Iterator[tuple[dict[str, Any], Mapping[str, Any]]]:
    """Every attempt of the finished levels, after what says of which level it is."""
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


def _steps(files: RunFiles) -> Iterator[Row]:
    head = _text(files.id)
    for place, attempt in _recorded(files):
        yield from _attempt((head, *(column.of(place) for column in TABLES["steps"][1:5])), attempt)


def _attempt(head: Row, attempt: Mapping[str, Any]) -> Iterator[Row]:
    plan = [_action(table(step)) for step in items(attempt.get("plan"))]
    counts = (lenient.whole(attempt.get("round")), lenient.whole(attempt.get("attempt")))
    head = (*head, *counts, _text(attempt.get("status")), _text(attempt.get("agent")))
    for step, entry in enumerate(items(attempt.get("steps")), 1):
        code, position, line = map(lenient.whole, entry) if len(items(entry)) == 3 else (None,) * 3
        primitive = PRIMITIVE_METHODS[code] if code is not None and code < len(PRIMITIVE_METHODS) else None
        action = plan[position] if position is not None and position < len(plan) else (None, None)
        yield (*head, step, primitive, position, *action, line)


def _action(step: Mapping[str, Any]) -> tuple[object, object]:
    return _READERS["VARCHAR"](step.get("action")), _READERS["VARCHAR[]"](step.get("args"))


def schema(columns: Sequence[Column]) -> str:
    """Columns as ``CREATE TABLE`` wants them."""
    return ", ".join(f'"{column.name}" {column.type}' for column in columns)
