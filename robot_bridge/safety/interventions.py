"""How often the safety chain changed what was commanded, by reason."""

from __future__ import annotations

import re
from collections import Counter

from robot_bridge.contracts import Applied


def kind_of(reason: str) -> str:
    """A reason without its figures: what interventions are counted by."""
    return re.sub(r"-?\d+(\.\d+)?", "#", reason)


class Interventions:
    """Counts onsets: a reason that holds for many ticks is one."""

    def __init__(self) -> None:
        self.counts = Counter[str]()
        self._last = ""

    def applied(self, applied: Applied) -> None:
        """The chain has spoken."""
        kind = kind_of(applied.reason)
        if kind and kind != self._last:
            self.counts[kind] += 1
        self._last = kind
