"""Watch how long a model has owed an answer, and how the model's recent requests went.

Only pending or failed requests count, never mere silence. A model that is asked every five seconds and always answers
is healthy, although the model is silent for four seconds at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from robot_bridge.contracts import Tier

_RECENT: Final = 20
"""Number of calls whose latency and success are averaged."""


class LLMWatchdog:
    """Watchdog that decides what the robot does while a model owes an answer; the thresholds are in seconds."""

    def __init__(self, stop_wait_s: float = 3.0, local_nav_s: float = 10.0, return_home_s: float = 30.0) -> None:
        self._stop_wait = stop_wait_s
        self._local_nav = local_nav_s
        self._return_home = return_home_s

    def evaluate(self, elapsed_s: float) -> Tier:
        """Return the tier for a request that was made ``elapsed_s`` seconds ago and has no answer or has failed."""
        if elapsed_s < self._stop_wait:
            return Tier.CONTINUE
        if elapsed_s < self._local_nav:
            return Tier.STOP_WAIT
        return Tier.LOCAL_NAV if elapsed_s <= self._return_home else Tier.RETURN_HOME

    def pace(self, elapsed_s: float) -> float:
        """Return the fraction of the commanded speed to drive while an answer is owed.

        The fraction is 1 at first and falls to 0.5 until STOP_WAIT begins.
        """
        return 1.0 - 0.5 * min(1.0, max(0.0, elapsed_s / self._stop_wait))


class NetworkMonitor:
    """Record of success and latency of the last 20 calls; ``now`` returns the time of the robot's clock in seconds."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        # A failed call is None.
        self._latencies_ms = deque[float | None](maxlen=_RECENT)
        self._failing_since: float | None = None

    def record_call(self, latency_ms: float, success: bool) -> None:
        """Record a call that has just ended."""
        self._latencies_ms.append(latency_ms if success else None)
        if success:
            self._failing_since = None
        elif self._failing_since is None:
            self._failing_since = self._now() - latency_ms / 1000

    @property
    def average_latency_ms(self) -> float:
        """Mean latency of the recent calls that were answered, in ms; 0 if no call was answered."""
        answered = [latency for latency in self._latencies_ms if latency is not None]
        return sum(answered) / len(answered) if answered else 0.0

    @property
    def current_tier(self) -> int:
        """State of the connection: 0 normal, 1 slow, 2 degraded or 3 offline.

        Slow means an average latency above 3 s. Degraded means that all calls failed for 10 s, offline for 30 s.
        """
        if self._failing_since is not None:
            failing_s = self._now() - self._failing_since
            if failing_s >= 10:
                return 3 if failing_s >= 30 else 2
        return 1 if self.average_latency_ms > 3000 else 0
