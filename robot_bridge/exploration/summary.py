"""What an exploration came to, and how its model has done: counted while it runs, told every minute and at the end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final

from robot_bridge.contracts import Tier, Trigger
from robot_bridge.exploration.schedule import Choice

_ORDINARY: Final = ("speeding up", "braking before")
"""How reasons of limits on acceleration begin: every start and every turn of a maneuver has one."""
_PLAIN: Final = ((r" # m (ahead|behind)", r" \1"), (r" to # m/s", ""), (r" is # s old", " is too old"), ("#", "…"))
"""What becomes of a reason with "#" for its figures, to be read by people."""


def is_ordinary(reason: str) -> bool:
    """Whether a reason of the safety chain is part of any drive and no news."""
    return reason.startswith(_ORDINARY)


def stepped_in(counts: Mapping[str, int]) -> dict[str, int]:
    """How often the safety chain stepped in, by reason, the most frequent first; ordinary limits are left out.

    ``counts`` are by reasons with "#" for figures; here they have none: "obstacle ahead: stopped".
    """
    found = Counter[str]()
    for reason, count in counts.items():
        if not is_ordinary(reason):
            found[reduce(lambda text, change: re.sub(change[0], change[1], text), _PLAIN, reason)] += count
    return dict(found.most_common())


@dataclass(frozen=True, slots=True)
class Summary:
    """At the end. ``ended`` is the word of an :class:`robot_bridge.exploration.endings.Ending`, ``because`` says why;
    ``calls`` are all requests, ``descriptions`` those for words to a picture; ``asked_for`` counts the others by what
    caused them, ``interventions`` onsets of what the safety chain changed, by reason; ``tiers`` seconds in each."""

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
    """Counts; see :class:`Summary`.

    ``answers`` are the calls that were answered: a call may also be pending, or forgotten because a person took over.
    ``latency_s`` is that of all answers together.
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
        """Events have fired."""
        self.triggers.update(trigger.value for trigger in triggers)

    def asked(self, choice: Choice) -> None:
        """A call for a decision was made."""
        self.calls += 1
        self.asked_for[choice.value] += 1

    def described(self) -> None:
        """A call for a description was made."""
        self.calls += 1
        self.descriptions += 1

    def answered(self, latency_s: float, success: bool) -> None:
        """A call came back."""
        self.failed_calls += not success
        self.answers += success
        self.latency_s += latency_s if success else 0.0

    def spent(self, tier: Tier, seconds: float) -> None:
        self.tiers[tier.value] = self.tiers.get(tier.value, 0.0) + seconds

    @property
    def average_latency_ms(self) -> float:
        """Of the calls that were answered."""
        return 1000 * self.latency_s / self.answers if self.answers else 0.0

    def minute(self, seconds: float, tier: Tier, network_tier: int) -> dict[str, Any]:
        """Statistics since the last call of it, ``seconds`` ago."""
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
