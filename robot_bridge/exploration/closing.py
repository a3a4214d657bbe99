"""Decide when an exploration is over and how it ended; the first ending counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from robot_bridge.contracts import NavGoalTarget
from robot_bridge.control.actions import Finished
from robot_bridge.exploration.endings import Ending, judged

WAYS_HOME: Final = 3
"""Most attempts to drive home."""
_CLAIMS: Final = 2
"""While frontiers are left, the model must say this many times in a row that the exploration is complete."""


class Closing:
    """Whether an exploration is over.

    Args:
        fault: returns what is wrong with the model, and why, or None.

    Attributes:
        ended: how it ended; None while it runs.
        because: why it ended; "" while it runs.
        claims: how many times in a row the model has said that it is complete.
    """

    def __init__(self, fault: Callable[[], tuple[Ending, str] | None]) -> None:
        self._fault = fault
        self._has_missed_home = False
        self._ways_home = 0
        self.ended: Ending | None = None
        self.because = ""
        self.claims = 0

    def over(self, ending: Ending, because: str = "") -> None:
        """End the exploration; ``because`` replaces the ending's general sentence."""
        if self.ended is not None:
            return
        if self._has_missed_home and ending in {Ending.EXPLORED, Ending.GAVE_UP}:
            ending, because = Ending.NOT_HOME, ""
        because = because or ending.sentence
        model, fault = self._fault() or (None, "")
        self.ended = judged(ending, model)
        self.because = because if self.ended is ending else f"{fault}; without it: {because}"

    def broken_off(self, ending: Ending, because: str = "") -> None:
        """End the exploration this way, replacing an earlier ending."""
        self.ended = None
        self.over(ending, because)

    def settled(self, outcome: Finished) -> None:
        """Record the result of a decision: the robot is not home if its last goal was home and it missed it."""
        if isinstance(outcome.execution.target, NavGoalTarget):
            is_home = outcome.execution.decision.parameters.get("goal_type") == "retrace"
            self._has_missed_home = is_home and not outcome.result.success

    def claimed(self, left: int, cut_off: int, *, by_person: bool) -> bool:
        """Take a claim that the exploration is complete with ``left`` frontiers left; return whether it is over."""
        if by_person:
            self.over(Ending.STOPPED, "a person says that it is complete")
        elif left and self.claims < _CLAIMS:
            return False
        elif left:
            self.over(Ending.GAVE_UP, f"the model wants no more, {left} frontiers are left")
        else:
            self.over(Ending.GAVE_UP if cut_off else Ending.EXPLORED)
        return True

    def nothing_left(self, *, has_given_up: bool) -> bool:
        """Return whether it is over now that nothing is left to explore, or the way home is worth another try."""
        self._ways_home += 1
        if self._has_missed_home and self._ways_home < WAYS_HOME:
            return False
        self.over(Ending.GAVE_UP if has_given_up else Ending.EXPLORED)
        return True
