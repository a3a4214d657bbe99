"""Times of the robot's clock on the clock of this machine.

The two clocks need not agree. A message cannot arrive before it was stamped, so that the least difference between
arrival and stamp that was ever seen is the offset of the clocks and the shortest way of a message; whatever takes
longer is as old as it is. A frozen sensor or a slow network hence cannot make old measurements look fresh.
"""

from __future__ import annotations

from math import isfinite
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

    def translated(self, topic: str, stamp: float, received: float) -> float:
        """When something was stamped, on the clock of ``received``; never later than that.

        A stamp that is none (0, not finite) counts as the time of its arrival.
        """
        if not isfinite(stamp) or stamp <= 0:
            return received
        if stamp < self._last.get(topic, stamp) - _STEP:
            self._offset, self._last = float("inf"), {}
        self._last[topic] = stamp
        drifted = self._offset + _DRIFT * max(0.0, received - self._seen) if isfinite(self._offset) else self._offset
        self._offset, self._seen = min(drifted, received - stamp), received
        return stamp + self._offset
