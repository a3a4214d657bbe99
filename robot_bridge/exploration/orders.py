"""A person's orders: carried out one after the other, but a stop at once."""

from __future__ import annotations

from collections import deque
from queue import SimpleQueue

from robot_bridge.contracts import NavigationDecision, Tool


class Orders:
    """A queue of orders; any thread may give, one thread takes."""

    def __init__(self) -> None:
        self._given = SimpleQueue[NavigationDecision]()
        self._waiting = deque[NavigationDecision]()

    def give(self, decision: NavigationDecision) -> None:
        """Queue an order after earlier ones; a stop drops those."""
        self._given.put(decision)

    def take(self, *, is_busy: bool) -> NavigationDecision | None:
        """Return the next order, or None; while busy return only a stop."""
        while not self._given.empty():
            decision = self._given.get()
            if _is_stop(decision):
                self._waiting.clear()
            self._waiting.append(decision)
        if not self._waiting or (is_busy and not _is_stop(self._waiting[0])):
            return None
        return self._waiting.popleft()


def _is_stop(decision: NavigationDecision) -> bool:
    return decision.tool_name == Tool.STOP_ROBOT
