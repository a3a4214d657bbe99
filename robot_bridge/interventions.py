"""How often the safety chain changed what was commanded, by reason."""

from __future__ import annotations

import re
from collections import Counter

from robot_bridge.contracts import Applied


def kinds_of(reason: str) -> tuple[str, ...]:
    """The parts of a reason without their figures: what interventions are counted by."""
    return tuple(re.sub(r"-?\d+(\.\d+)?", "#", part.strip()) for part in reason.split(";") if part.strip())


class Interventions:
    """Counts onsets: a reason that holds for many ticks is one."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._last = frozenset[str]()

    def applied(self, applied: Applied) -> None:
        """The chain has spoken."""
        kinds = frozenset(kinds_of(applied.reason))
        self.counts.update(kinds - self._last)
        self._last = kinds
