"""Statistics of an exploration and its model: counted while it runs, reported every minute and at the end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, Final

from robot_bridge.contracts import Tier, Trigger
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.exploration_memory import ExplorationMemory
from robot_bridge.decisions.watchdog import NetworkMonitor
from robot_bridge.errors import SetupError
from robot_bridge.exploration.schedule import Choice

Note = Callable[[str, Mapping[str, Any]], None]
"""Records a kind of event with its data in the journal."""
_ORDINARY: Final = ("speeding up", "braking before")
"""Prefixes of the reasons of acceleration limits: every start and every reversal in a maneuver has one."""
_PLAIN: Final = ((r" # m (ahead|behind)", r" \1"), (r" to # m/s", ""), (r" is # s old", " is too old"), ("#", "…"))
"""Replacements that make a reason with "#" for its figures readable."""


def is_ordinary(reason: str) -> bool:
    """Return whether a reason of the safety chain belongs to every drive and is no news."""
    return reason.startswith(_ORDINARY)


def stepped_in(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how often the safety chain stepped in, by reason, the most frequent first; ordinary limits are left out.

    Reasons in ``counts`` have "#" for figures; those in the result have no figures: "obstacle ahead: stopped".
    """
    found = Counter[str]()
    for reason, count in counts.items():
        if not is_ordinary(reason):
            found[reduce(lambda text, change: re.sub(change[0], change[1], text), _PLAIN, reason)] += count
    return dict(found.most_common())


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics at the end. ``ended`` is the word of an :class:`robot_bridge.exploration.endings.Ending`, ``because``
    the reason; ``calls`` counts all requests, ``descriptions`` those for a description of a picture; ``asked_for``
    counts the others by cause, ``interventions`` the onsets of the safety chain's changes by reason; ``tiers``: s."""

    minutes: float
    ended: str
    because: str
    explored_m2: float
    frontiers_left: int
    distance_m: float
    calls: int
    failed_calls: int
    descriptions: int
    skips: int
    asked_for: Mapping[str, int]
    triggers: Mapping[str, int]
    interventions: Mapping[str, int]
    refusals: int
    tiers: Mapping[str, float]
    average_latency_ms: float
    rooms: tuple[str, ...]
    discoveries: int


@dataclass(slots=True)
class Tally:
    """Counters; see :class:`Summary`.

    ``answers`` counts answered calls: a call may also be pending, or forgotten because a person took over.
    ``latency_s`` is the sum over all answers.
    """

    calls: int = 0
    failed_calls: int = 0
    answers: int = 0
    descriptions: int = 0
    skips: int = 0
    refusals: int = 0
    latency_s: float = 0.0
    asked_for: Counter[str] = field(default_factory=Counter)
    triggers: Counter[str] = field(default_factory=Counter)
    tiers: dict[str, float] = field(default_factory=dict)
    _minute: tuple[int, int, int, int, float] = (0, 0, 0, 0, 0.0)

    def triggered(self, triggers: Iterable[Trigger]) -> None:
        """Count events that have fired."""
        self.triggers.update(trigger.value for trigger in triggers)

    def asked(self, choice: Choice) -> None:
        """Count a call for a decision."""
        self.calls += 1
        self.asked_for[choice.value] += 1

    def described(self) -> None:
        """Count a call for a description."""
        self.calls += 1
        self.descriptions += 1

    def answered(self, latency_s: float, success: bool) -> None:
        """Count a call that came back."""
        self.failed_calls += not success
        self.answers += success
        self.latency_s += latency_s if success else 0.0

    def spent(self, tier: Tier, seconds: float) -> None:
        self.tiers[tier.value] = self.tiers.get(tier.value, 0.0) + seconds

    @property
    def average_latency_ms(self) -> float:
        """Return the mean latency of the answered calls."""
        return 1000 * self.latency_s / self.answers if self.answers else 0.0

    def minute(self, seconds: float, tier: Tier, network_tier: int) -> dict[str, Any]:
        """Return statistics since the last call of this method, ``seconds`` ago."""
        triggered = self.asked_for[Choice.TRIGGER.value]
        now = (self.calls, triggered, self.skips, self.answers, self.latency_s)
        calls, events, skips, answers, latency = (new - old for new, old in zip(now, self._minute, strict=True))
        self._minute = now
        scale = 60 / seconds if seconds else 0.0
        return {
            "calls_per_min": round(calls * scale, 1),
            "triggered": events,
            "skipped": skips,
            "avg_latency_ms": round(1000 * latency / answers) if answers else 0,
            "tier": tier.value,
            "network_tier": network_tier,
        }


class Statistics:
    """Notes statistics and saves the memory regularly, for the decision loop.

    Args:
        tally: the counters of the exploration.
        now: the start, seconds of the robot's clock.
        statistics_s: seconds between statistics.
        save_s: seconds between saves of the memory.
        memory_path: file for the memory; None to save nothing.
        note: records events in the journal.
    """

    def __init__(
        self,
        controller: Controller,
        memory: ExplorationMemory,
        tally: Tally,
        monitor: NetworkMonitor,
        note: Note,
        now: float,
        *,
        statistics_s: float,
        save_s: float,
        memory_path: Path | None,
    ) -> None:
        self._controller, self._memory, self._tally = controller, memory, tally
        self._monitor, self._note = monitor, note
        self._statistics_s, self._save_s, self._path = statistics_s, save_s, memory_path
        self._began = self._kept_at = self._statistics_at = self._saved_at = now
        self._earlier_s = memory.state.exploration_duration_s

    def keep(self, tier: Tier, now: float) -> None:
        """Update; call once per turn of the decision loop. ``tier`` is the tier since the last call."""
        self._tally.spent(tier, now - self._kept_at)
        self._kept_at = now
        self._memory.state.exploration_duration_s = round(self._earlier_s + now - self._began, 2)
        passed = now - self._statistics_at
        if passed >= self._statistics_s:
            self._statistics_at = now
            self._note("statistics", self._tally.minute(passed, tier, self._monitor.current_tier))
        if now - self._saved_at >= self._save_s:
            self._saved_at = now
            self.save()

    def save(self) -> None:
        """Save the memory with the current frontiers; note a failure to write it."""
        state = self._controller.state
        self._memory.update_frontiers(state.frontiers, state.current_position)
        if self._path is None:
            return
        try:
            self._memory.save_to_disk(self._path)
        except SetupError as error:
            self._note("not_saved", {"reason": str(error)})

    def summary(self, ended: str, because: str) -> Summary:
        """Return the statistics so far; ``ended`` and ``because`` say how it ended, or "" while it runs."""
        tally, state, memory = self._tally, self._controller.state, self._memory.state
        return Summary(
            minutes=(self._controller.clock.now() - self._began) / 60,
            ended=ended,
            because=because,
            explored_m2=self._controller.navigation.map.explored_m2,
            frontiers_left=len(state.frontiers),
            distance_m=state.distance_traveled_m,
            calls=tally.calls,
            failed_calls=tally.failed_calls,
            descriptions=tally.descriptions,
            skips=tally.skips,
            asked_for=dict(tally.asked_for),
            triggers=dict(tally.triggers),
            interventions=dict(self._controller.interventions.counts),
            refusals=tally.refusals,
            tiers=dict(tally.tiers),
            average_latency_ms=tally.average_latency_ms,
            rooms=tuple(room["name"] for room in memory.rooms),
            discoveries=memory.total_discoveries,
        )
