"""Detect when an agent is stuck, from the states that it passes through."""

from __future__ import annotations

from collections.abc import Hashable


class StuckDetector:
    """Detects from the states of one attempt when the agent is stuck.

    Standing still does not count as a cycle: a waiting agent is stuck only after ``patience`` primitives without a new
    state. An obstacle that moves in view makes new states, so waiting for the obstacle is allowed.

    Args:
        patience: number of successive primitives without a new state after which an attempt is stuck.
        repeats: how often in a row a cycle of at least two states must be seen before an attempt is stuck; 0 switches
            this rule off.
        progress: words for what counts as a new state, for the reason; "" for no such words.
    """

    def __init__(self, patience: int, repeats: int, progress: str = "") -> None:
        self._patience = patience
        self._repeats = repeats
        self._new_state = f"new state ({progress})" if progress else "new state"
        self._states: list[int] = []
        self._known: set[int] = set()
        self._since_new = 0

    def observe(self, state: Hashable) -> str | None:
        """Add a state; return the reason if the agent is now stuck, else None."""
        key = hash(state)
        self._states.append(key)
        if key not in self._known:
            self._known.add(key)
            self._since_new = 0
            return None
        self._since_new += 1
        if self._since_new >= self._patience:
            return f"no {self._new_state} for {self._patience} primitives"
        if not self._repeats:
            return None
        # Of a cycle that repeats, all rounds but the first consist of known states.
        for period in range(2, self._since_new // (self._repeats - 1) + 1):
            if self._states[-1 - period] == key and self._cycles(period):
                return f"the same cycle of {period} states repeated {self._repeats} times"
        return None

    def _cycles(self, period: int) -> bool:
        length = period * self._repeats
        span = self._states[-length:]
        if len(span) != length or span[:-period] != span[period:]:
            return False
        return len(set(span)) > 1
