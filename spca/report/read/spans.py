"""The history of a level, read from its events: starts, pieces of work, and intervals of time (no input or output)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from spca.report.read.lenient import count, items, number, table, text, whole
from spca.report.read.model import Span

Event = Mapping[str, Any]

_CALLS: Final = ("planner_call", "coder_call")
_WORKS: Final = (*_CALLS, "level_summary", "writers_tried", "compiled_plan", "spca_rounds", "simulation_runs")
ENDED: Final = ("success", "fail")
"""Outcomes of finished levels. Levels with another outcome (aborted, running, pending) are not finished."""


class Work(NamedTuple):
    """A piece of work in a level, such as a call or an attempt.

    Attributes:
        kind: name of the event, or name of the counter that the event increased.
        event: the event at the start or the end of the work.
        round: number of the current round, from 1; 0 before the first round.
        attempt: number of the newest attempt in the round, from 1; 0 before the first attempt.
    """

    kind: str
    event: Event
    round: int
    attempt: int


@dataclass(frozen=True, slots=True)
class History:
    """The number of starts of a level, and the level's events since the last start."""

    begun: int
    events: Sequence[Event]

    @property
    def works(self) -> list[Work]:
        """The pieces of work in the order of the events."""
        works = []
        round_number = 0
        attempt = 0
        for event in self.events:
            is_counter = event.get("event") == "counter_inc"
            kind = event.get("name") if is_counter else event.get("event")
            if kind == "spca_rounds":
                round_number += 1
                attempt = 0
            elif kind == "simulation_runs":
                attempt += 1
            if kind in _WORKS:
                works.append(Work(text(kind), event, round_number, attempt))
        return works

    @property
    def started(self) -> float | None:
        """Time of the first event, in seconds since the epoch; None if no event has a time."""
        return next(_times(self.events), None)

    @property
    def ended(self) -> float | None:
        """Time of the last event, in seconds since the epoch; None if no event has a time."""
        return max(_times(self.events), default=None)

    def last(self, event: str) -> Event:
        """Return the newest event called ``event``, or {} if there is no such event."""
        for entry in reversed(self.events):
            if entry.get("event") == event:
                return entry
        return {}

    @property
    def counters(self) -> dict[str, object]:
        """The last value of each counter of the level, by name."""
        increments = (event for event in self.events if event.get("event") == "counter_inc")
        return {text(event.get("name")): event.get("value") for event in increments}


NO_HISTORY: Final = History(0, ())
"""The history of a level that was not begun."""


def histories(events: Iterable[Event]) -> dict[int, History]:
    """Return the history of each level that the log mentions, by number of the level."""
    begun = Counter[int]()
    level_events: dict[int, list[Event]] = {}
    for event in events:
        level = whole(event.get("level_index"))
        if level is None:
            continue
        if event.get("event") == "level_start":
            begun[level] += 1
            level_events[level] = []  # drops the events of an earlier, interrupted start
        level_events.setdefault(level, []).append(event)
    return {level: History(begun[level], since_begin) for level, since_begin in level_events.items()}


def ending(summary: Mapping[str, Any], begun: int, *, under_way: bool) -> tuple[str, str]:
    """Return the outcome of a level, and the reason in words.

    Args:
        summary: the level's summary; {} if there is no summary.
        begun: number of starts of the level.
        under_way: whether the run is working on the level now.
    """
    if summary:
        outcome = text(summary.get("outcome"))
        return outcome if outcome in ENDED else "aborted", text(summary.get("reason"))
    if not begun:
        return "pending", ""
    return ("running", "") if under_way else ("aborted", "the process ended during it")


def spans(
    history: History, began: float, statuses: Mapping[tuple[int, int], str], open_status: str, longest_act: float | None
) -> tuple[Span, ...]:
    """Return the intervals of calls, solving and attempts in order.

    The log has the end of each call and the start of each attempt. Therefore an attempt is assumed to last until the
    next work begins, but at most ``longest_act`` seconds.

    Args:
        began: the start of the run, in seconds since the epoch.
        statuses: status of each attempt ("" for a success), by round (0 for stored writers) and by number within the
            round from 1.
        open_status: status of the last attempt if its end is not in the log.
        longest_act: duration of the longest attempt of the level in seconds; None if not known.
    """
    found: list[Span] = []
    act: Span | None = None  # the attempt whose end is not known yet
    for work in history.works:
        time = number(work.event.get("time"))
        if time is None:
            continue
        event_at = round(max(0.0, time - began), 4)
        calls = _call_spans(work, event_at) if work.kind in _CALLS else []
        if act:
            until = calls[0].start if calls else event_at
            seconds = round(max(0.0, until - act.start), 4)
            if longest_act is not None:
                seconds = min(seconds, longest_act)
            found.append(replace(act, seconds=seconds))
            act = None
        found += calls
        if work.kind == "simulation_runs":
            status = statuses.get((work.round, work.attempt), "")
            act = Span("act", work.round, event_at, 0.0, status)
    if act:
        found.append(replace(act, status=act.status or open_status))
    return tuple(found)


def durations(summary: Mapping[str, Any], spent: Iterable[Span]) -> dict[str, float]:
    """Return the seconds of work by phase: as the level's summary records them, else summed over spans.

    Args:
        summary: the level's summary; {} if there is no summary.
        spent: spans of the level.
    """
    names = {"plan": "plan_s", "solve": "solve_s", "code": "code_s", "act": "sim_s"}
    measured = table(summary.get("durations"))
    if measured:
        return {phase: number(table(measured.get(name)).get("sum")) or 0.0 for phase, name in names.items()}

    sums = dict.fromkeys(names, 0.0)
    for span in spent:
        sums[span.phase] += span.seconds
    return {phase: round(seconds, 4) for phase, seconds in sums.items()}


def attempt_statuses(trajectory: Mapping[str, Any]) -> dict[tuple[int, int], str]:
    """Return the status of each attempt in a trajectory file ("" for a success).

    A key is (round, number of the attempt in the round, from 1).
    """
    statuses: dict[tuple[int, int], str] = {}
    attempts_of_round = Counter[int]()
    for attempt in map(table, items(trajectory.get("attempts"))):
        round_number = count(attempt.get("round"))
        attempts_of_round[round_number] += 1
        status = text(attempt.get("status"))
        key = (round_number, attempts_of_round[round_number])
        statuses[key] = "" if status == "success" else status
    return statuses


def _call_spans(work: Work, end: float) -> list[Span]:
    """Return the span of a call that was logged at ``end``; for a planner's call, also the span of solving.

    The event records two durations: ``seconds`` of the call, then ``solve_s`` of solving.
    """
    event = work.event
    phase = "plan" if work.kind == "planner_call" else "code"
    call_seconds = max(0.0, number(event.get("seconds")) or 0.0)
    solve_seconds = 0.0
    if phase == "plan":
        solve_seconds = max(0.0, number(event.get("solve_s")) or 0.0)
    status = "" if event.get("ok") is True else "error"
    start = round(max(0.0, end - call_seconds - solve_seconds), 4)
    if not solve_seconds:
        return [Span(phase, work.round, start, call_seconds, status)]

    solve_start = round(max(0.0, end - solve_seconds), 4)
    solve = Span("solve", work.round, solve_start, solve_seconds, status)
    return [Span(phase, work.round, start, call_seconds), solve]


def _times(events: Iterable[Event]) -> Iterator[float]:
    """Yield the times of the events that have a time, in seconds since the epoch."""
    for event in events:
        time = number(event.get("time"))
        if time is not None:
            yield time
