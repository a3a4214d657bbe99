"""When a level was begun, and how its time was spent: read from its events (pure)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spca.report.read.lenient import count, items, number, table, text, whole
from spca.report.read.model import Span

Event = Mapping[str, Any]

_CALLS: Final = ("planner_call", "coder_call")
_WORK_EVENTS: Final = (*_CALLS, "level_summary", "writers_tried", "compiled_plan")
_WORKS: Final = ("spca_rounds", "simulation_runs")
_ENDED: Final = ("success", "fail")


@dataclass(frozen=True, slots=True)
class History:
    """How often a level was begun, and its events since it was begun the last time."""

    begun: int
    events: Sequence[Event]

    @property
    def works(self) -> list[tuple[str, Event]]:
        """The names of what takes time, each with the event that it began or ended with."""
        found = []
        for event in self.events:
            kind = event.get("event")
            name = event.get("name") if kind == "counter_inc" else kind
            if name in (_WORKS if kind == "counter_inc" else _WORK_EVENTS):
                found.append((text(name), event))
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
        return next((e for e in reversed(self.events) if e.get("event") == event), {})

    def counted(self, name: str) -> int:
        """What a counter of the level has come to."""
        values = (e.get("value") for e in self.events if e.get("event") == "counter_inc" and e.get("name") == name)
        return max(map(count, values), default=0)


NO_HISTORY: Final = History(0, ())
"""Of a level that was not begun."""


def histories(events: Iterable[Event]) -> dict[int, History]:
    """What the log tells of each level, by its number."""
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
    return {level: History(begun[level], those) for level, those in kept.items()}


def ending(summary: Mapping[str, Any], begun: int, *, under_way: bool) -> tuple[str, str]:
    """A level's outcome, and why, given its summary ({} if there is no summary) and how often it was begun."""
    if summary:
        outcome = text(summary.get("outcome"))
        return outcome if outcome in _ENDED else "aborted", text(summary.get("reason"))
    if not begun:
        return "pending", ""
    return ("running", "") if under_way else ("aborted", "the process ended during it")


def spans(
    history: History, began: float, statuses: Mapping[tuple[int, int], str], open_status: str, longest_act: float | None
) -> tuple[Span, ...]:
    """What was done when, in order.

    The log has the ends of calls and the beginnings of attempts: an attempt lasts until the next work begins, but not
    longer than ``longest_act`` seconds, where that is known.

    Args:
        began: the beginning of the run, in seconds since the epoch.
        statuses: how attempts ended, by round (0: stored writers) and by number within the round from 1.
        open_status: of an attempt whose end the log does not have.
    """
    found = list[Span]()
    act: tuple[float, tuple[int, int]] | None = None
    this = attempts = 0
    for work, event in history.works:
        if (time := number(event.get("time"))) is None:
            continue
        at = round(max(0.0, time - began), 4)
        calls = _call_spans(event, this, at) if work in _CALLS else []
        if act:
            until = calls[0].start if calls else at
            found.append(_act(act, until, longest_act, statuses.get(act[1], "")))
            act = None
        found += calls
        if work == "spca_rounds":
            this, attempts = this + 1, 0
        elif work == "simulation_runs":
            attempts += 1
            act = (at, (this, attempts))
    if act:
        found.append(Span("act", act[1][0], act[0], 0.0, statuses.get(act[1], open_status)))
    return tuple(found)


def durations(summary: Mapping[str, Any], spent: Iterable[Span]) -> dict[str, float]:
    """Seconds by phase: as the level's summary sums them, else the sums of its spans."""
    names = {"plan": "plan_s", "solve": "solve_s", "code": "code_s", "act": "sim_s"}
    measured = table(summary.get("durations"))
    if measured:
        return {phase: number(table(measured.get(name)).get("sum")) or 0.0 for phase, name in names.items()}
    sums = dict.fromkeys(names, 0.0)
    for span in spent:
        sums[span.phase] += span.seconds
    return {phase: round(seconds, 4) for phase, seconds in sums.items()}


def attempt_statuses(trajectory: Mapping[str, Any]) -> dict[tuple[int, int], str]:
    """How the attempts of a trajectory file ended, by round and by number within the round."""
    found: dict[tuple[int, int], str] = {}
    seen = Counter[int]()
    for attempt in map(table, items(trajectory.get("attempts"))):
        this = count(attempt.get("round"))
        seen[this] += 1
        status = text(attempt.get("status"))
        found[this, seen[this]] = "" if status == "success" else status
    return found


def _call_spans(event: Event, this: int, end: float) -> list[Span]:
    """A call is logged at its end; a planner's took ``seconds``, then came ``solve_s`` of solving."""
    kind = event.get("event")
    seconds = max(0.0, number(event.get("seconds")) or 0.0)
    solving = max(0.0, number(event.get("solve_s")) or 0.0) if kind == "planner_call" else 0.0
    status = "" if event.get("ok") is True else "error"
    start = round(max(0.0, end - seconds - solving), 4)
    if not solving:
        return [Span("plan" if kind == "planner_call" else "code", this, start, seconds, status)]
    return [Span("plan", this, start, seconds), Span("solve", this, round(max(0.0, end - solving), 4), solving, status)]


def _act(act: tuple[float, tuple[int, int]], until: float, longest: float | None, status: str) -> Span:
    start, (this, _) = act
    seconds = round(max(0.0, until - start), 4)
    return Span("act", this, start, seconds if longest is None else min(seconds, longest), status)


def _times(events: Iterable[Event]) -> Iterator[float]:
    return (time for event in events if (time := number(event.get("time"))) is not None)
