"""Some of what comes more often than it is wanted."""

from __future__ import annotations

from math import inf


class Pace:
    """Lets at most ``rate`` a second through, evenly; of what comes less often, all, however unevenly (pure but for
    its state)."""

    def __init__(self, rate: float) -> None:
        self._period = 1 / rate
        self._due = -inf

    def is_due(self, stamp: float) -> bool:
        """Whether what was stamped then, seconds, is wanted."""
        return stamp >= self._due

    def took(self, stamp: float) -> None:
        """The next is wanted a period after this one was: half a period from now at the earliest."""
        self._due = max(self._due + self._period, stamp + self._period / 2)
