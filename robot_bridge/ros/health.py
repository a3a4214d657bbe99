"""How often something comes, and when it came last."""

from __future__ import annotations

from collections import deque
from typing import Final

_COUNTED: Final = 40


class Rate:
    """Of one topic; times are those of the receiving machine's monotonic clock.

    Attributes:
        count: how many came.
        refused: how many more could not be read.
    """

    def __init__(self) -> None:
        self._times = deque[float](maxlen=_COUNTED)
        self.count = self.refused = 0

    def came(self, now: float) -> None:
        """Count one."""
        self._times.append(now)
        self.count += 1

    @property
    def hertz(self) -> float:
        """Over the last few; 0 before there are two."""
        passed = self._times[-1] - self._times[0] if self._times else 0.0
        return (len(self._times) - 1) / passed if passed > 0 else 0.0

    def age(self, now: float) -> float:
        """Seconds since the last one, infinite before the first."""
        return now - self._times[-1] if self._times else float("inf")
