"""When and how often messages come: stamps on the clock of this machine, arrivals, and their thinning.

The clocks of the robot and of this machine need not agree. A message cannot arrive before it was stamped, so that the
least difference between arrival and stamp that was ever seen is the offset of the clocks and the shortest way of a
message; whatever takes longer is as old as it is. A frozen sensor or a slow network hence cannot make old measurements
look fresh.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from typing import Final

_DRIFT: Final = 1e-4
"""Seconds a second by which two quartz clocks may run apart."""
_STEP: Final = 0.05
"""Seconds by which a topic's stamps fall back only where the robot's clock was set: each would be added to all ages."""


class StampTranslator:
    """Pure but for what it has seen."""

    def __init__(self) -> None:
        self._offset = float("inf")
        self._seen = float("-inf")
        self._last: dict[str, float] = {}

    def translate(self, topic: str, stamp: float, received: float) -> float:
        """Return when something was stamped, on the clock of ``received``; never later than that.

        An invalid stamp (0, not finite) counts as the time of its arrival.
        """
        if not isfinite(stamp) or stamp <= 0:
            return received
        if stamp < self._last.get(topic, stamp) - _STEP:
            self._offset = float("inf")
            self._last = {}
        self._last[topic] = stamp

        if isfinite(self._offset):
            self._offset += _DRIFT * max(0.0, received - self._seen)
        self._offset = min(self._offset, received - stamp)
        self._seen = received
        return stamp + self._offset


@dataclass(slots=True)
class Arrivals:
    """How many messages of a topic came.

    Attributes:
        count: how many came.
        refused: how many more could not be read.
    """

    count: int = 0
    refused: int = 0


class Pace:
    """Lets at most ``rate`` a second through, evenly; of what comes less often, all, however unevenly (pure but for
    its state)."""

    def __init__(self, rate: float) -> None:
        self._period = 1 / rate
        self._due = -inf

    def is_due(self, stamp: float) -> bool:
        """Return whether what was stamped then, seconds, is wanted."""
        return stamp >= self._due

    def count_taken(self, stamp: float) -> None:
        """Note that one was taken: the next is wanted a period later, half a period from now at the earliest."""
        self._due = max(self._due + self._period, stamp + self._period / 2)
