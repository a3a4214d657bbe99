"""When a level was begun, and how its time was spent: read from its events (pure)."""

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
"""Outcomes after which a level counts: what it took is known. Others are not finished: aborted, running, pending."""


class Work(NamedTuple):
    """Something that takes time: the event that it began or ended with, and when it came.

    Attributes:
        kind: the event, or the counter that it increased.
        round: 0 before the first.
        attempt: number of the round's newest attempt, 0 before the first.
    """

    kind: str
    event: Event
    round: int
    attempt: int


@dataclass(frozen=True, slots=True)
class History:
    """How often a level was begun, and its events since it was begun the last time."""

    begun: int
    events: Sequence[Event]

    @property
    def works(self) -> list[Work]:
        """What takes time, in order."""
        found = []
        this = attempt = 0
        for event in self.events:
            kind = event.get("name" if event.get("event") == "counter_inc" else "event")
            if kind == "spca_rounds":
                this += 1
                attempt = 0
            elif kind == "simulation_runs":
                attempt += 1
            if kind in _WORKS:
                found.append(Work(text(kind), event, this, attempt))
        return found

    @property
    def started(self) -> float | None:
        """When the first event came; seconds since the epoch."""
        return next(_times(self.events), None)

    @property
    def ended(self) -> float | None:
        """When the last event came; seconds since the epoch."""
        return max(_times(self.events), default=None)

    def last(self, event: str) -> Event:
        """Return the newest event of that name, or {}."""
        for entry in reversed(self.events):
            if entry.get("event") == event:
                return entry
        return {}

    @property
    def counters(self) -> dict[str, object]:
        """What the counters of the level have come to."""
        increments = (event for event in self.events if event.get("event") == "counter_inc")
        return {text(event.get("name")): event.get("value") for event in increments}


NO_HISTORY: Final = History(0, ())
"""Of a level that was not begun."""


def histories(events: Iterable[Event]) -> dict[int, History]:
    """Return what the log tells of each level, by its number."""
    begun = Counter[int]()
    kept: dict[int, list[Event]] = {}
    for event in events:
        level = whole(event.get("level_index"))
        if level is None:
            continue
        if event.get("event") == "level_start":
            begun[level] += 1
            kept[level] = []
        kept.setdefault(level, []).append(event)
    return {level: History(begun[level], level_events) for level, level_events in kept.items()}


def ending(summary: Mapping[str, Any], begun: int, *, under_way: bool) -> tuple[str, str]:
    """Return a level's outcome, and why, given its summary ({} if it has none) and how often it was begun."""
    if summary:
        outcome = text(summary.get("outcome"))
        return outcome if outcome in ENDED else "aborted", text(summary.get("reason"))
    if not begun:
        return "pending", ""
    return ("running", "") if under_way else ("aborted", "the process ended during it")


def spans(
    history: History, began: float, statuses: Mapping[tuple[int, int], str], open_status: str, longest_act: float | None
) -> tuple[Span, ...]:
    """Return what was done when, in order.

    The log has the ends of calls and the beginnings of attempts: an attempt lasts until the next work begins, but not
    longer than ``longest_act`` seconds, where that is known.

    Args:
        began: the beginning of the run, in seconds since the epoch.
        statuses: how attempts ended, by round (0: stored writers) and by number within the round from 1.
        open_status: of an attempt whose end the log does not have.
    """
    found = list[Span]()
    act: Span | None = None
    for work in history.works:
        if (time := number(work.event.get("time"))) is None:
            continue
        at = round(max(0.0, time - began), 4)
        calls = _call_spans(work, at) if work.kind in _CALLS else []
        if act:
            until = calls[0].start if calls else at
            seconds = round(max(0.0, until - act.start), 4)
            found.append(replace(act, seconds=seconds if longest_act is None else min(seconds, longest_act)))
            act = None
        found += calls
        if work.kind == "simulation_runs":
            act = Span("act", work.round, at, 0.0, statuses.get((work.round, work.attempt), ""))
    if act:
        found.append(replace(act, status=act.status or open_status))
    return tuple(found)


def durations(summary: Mapping[str, Any], spent: Iterable[Span]) -> dict[str, float]:
    """Return the seconds by phase: as the level's summary sums them, else the sums of its spans."""
    names = {"plan": "plan_s", "solve": "solve_s", "code": "code_s", "act": "sim_s"}
    measured = table(summary.get("durations"))
    if measured:
        recorded = {phase: table(measured.get(name)) for phase, name in names.items()}
        recorded_sums = {phase: number(entry.get("sum")) for phase, entry in recorded.items()}
        return {phase: seconds or 0.0 for phase, seconds in recorded_sums.items()}

    sums = dict.fromkeys(names, 0.0)
    for span in spent:
        sums[span.phase] += span.seconds
    return {phase: round(seconds, 4) for phase, seconds in sums.items()}


def attempt_statuses(trajectory: Mapping[str, Any]) -> dict[tuple[int, int], str]:
    """Return how the attempts of a trajectory file ended, by round and by number within the round."""
    found: dict[tuple[int, int], str] = {}
    seen = Counter[int]()
    for attempt in map(table, items(trajectory.get("attempts"))):
        round_number = count(attempt.get("round"))
        seen[round_number] += 1
        status = text(attempt.get("status"))
        found[round_number, seen[round_number]] = "" if status == "success" else status
    return found


def _call_spans(work: Work, end: float) -> list[Span]:
    """Return the spans of a call, which is logged at its end.

    A planner's call took ``seconds``, then came ``solve_s`` of solving.
    """
    event = work.event
    phase = "plan" if work.kind == "planner_call" else "code"
    seconds = max(0.0, number(event.get("seconds")) or 0.0)
    solving = max(0.0, number(event.get("solve_s")) or 0.0) if phase == "plan" else 0.0
    status = "" if event.get("ok") is True else "error"
    start = round(max(0.0, end - seconds - solving), 4)
    if not solving:
        return [Span(phase, work.round, start, seconds, status)]

    solve_start = round(max(0.0, end - solving), 4)
    solved = Span("solve", work.round, solve_start, solving, status)
    return [Span(phase, work.round, start, seconds), solved]


def _times(events: Iterable[Event]) -> Iterator[float]:
    return (time for event in events if (time := number(event.get("time"))) is not None)
