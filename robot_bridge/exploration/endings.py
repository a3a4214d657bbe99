"""How an exploration ends, and what it came to (pure).

Each ending has a word, an exit code and a sentence, defined only here. The summary, the log and the terminal show the
word; scripts read it or the exit code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from robot_bridge.control.actions import Finished

WAYS_HOME: Final = 3
"""Most attempts to drive home."""
_CLAIMS: Final = 2
"""While frontiers are left, the model must say this many times in a row that the exploration is complete."""
_ORDINARY: Final = ("speeding up", "braking before")
"""Prefixes of the reasons of acceleration limits: every start and every reversal in a maneuver has one."""
_PLAIN: Final = ((r" # m (ahead|behind)", r" \1"), (r" to # m/s", ""), (r" is # s old", " is too old"), ("#", "…"))
"""Replacements that make a reason with "#" for its figures readable."""


class Ending(StrEnum):
    """Why an exploration is over; the value is the word.

    Attributes:
        exit_code: exit code of ``python -m robot_bridge explore``; 2 is reserved for users' errors.
        sentence: what it means, for people.
    """

    exit_code: int
    sentence: str

    def __new__(cls, word: str, exit_code: int = 0, sentence: str = "") -> Ending:
        made = str.__new__(cls, word)
        made._value_ = word
        made.exit_code = exit_code
        made.sentence = sentence
        return made

    EXPLORED = "explored", 0, "no frontiers are left"
    STOPPED = "stopped", 0, "a person or the program around it ended it"
    SENSOR = "sensor unusable", 1, "the robot cannot rely on a sensor"
    NO_MODEL = "no model", 1, "the model could not be asked, or never answered"
    FAILED = "failed", 1, "the robot or the program failed"
    BUDGET = "budget", 3, "the budget of the model is spent"
    GAVE_UP = "gave up", 4, "frontiers are left that were not reached"
    NOT_HOME = "not home", 5, "the robot did not get back to where it began"
    TIME = "time", 6, "the time is up"
    INTERRUPTED = "interrupted", 130, "it was interrupted"


_YIELDING: Final = frozenset({Ending.EXPLORED, Ending.GAVE_UP, Ending.TIME})
"""A robot that continued without its model still ends with the model's ending. Only these are less urgent."""


class Closing:
    """Decides when an exploration is over and how it ended; the first ending counts.

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

    def end(self, ending: Ending, because: str = "") -> None:
        """End the exploration; ``because`` replaces the ending's general sentence."""
        if self.ended is not None:
            return
        if self._has_missed_home and ending in {Ending.EXPLORED, Ending.GAVE_UP}:
            ending = Ending.NOT_HOME
            because = ""
        self.ended = ending
        self.because = because or ending.sentence
        fault = self._fault()
        if fault is not None and ending in _YIELDING:
            self.ended = fault[0]
            self.because = f"{fault[1]}; without it: {self.because}"

    def break_off(self, ending: Ending, because: str = "") -> None:
        """End the exploration this way, replacing an earlier ending."""
        self.ended = None
        self.end(ending, because)

    def record_result(self, outcome: Finished) -> None:
        """Record the result of a decision: the robot is not home if its last goal was home and it missed it."""
        from robot_bridge.contracts import NavGoalTarget  # loads numpy, for which --help need not wait

        if isinstance(outcome.execution.target, NavGoalTarget):
            is_home = outcome.execution.decision.parameters.get("goal_type") == "retrace"
            self._has_missed_home = is_home and not outcome.result.success

    def accept_claim(self, left: int, cut_off: int, *, by_person: bool) -> bool:
        """Take a claim that the exploration is complete with ``left`` frontiers left; return whether it is over."""
        if by_person:
            self.end(Ending.STOPPED, "a person says that it is complete")
        elif left and self.claims < _CLAIMS:
            return False
        elif left:
            self.end(Ending.GAVE_UP, f"the model wants no more, {left} frontiers are left")
        else:
            self.end(Ending.GAVE_UP if cut_off else Ending.EXPLORED)
        return True

    def accept_nothing_left(self, *, has_given_up: bool) -> bool:
        """Return whether it is over now that nothing is left to explore, or the way home is worth another try."""
        self._ways_home += 1
        if self._has_missed_home and self._ways_home < WAYS_HOME:
            return False
        self.end(Ending.GAVE_UP if has_given_up else Ending.EXPLORED)
        return True


@dataclass(slots=True)
class Summary:
    """The statistics of an exploration: its counts grow while it runs, the explorer completes the rest.

    ``ended`` is the word of an :class:`Ending`, "" while it runs; ``because`` is the reason. ``calls`` counts all
    requests, ``descriptions`` those for a description of a picture, ``asked_for`` the others by cause.
    ``interventions`` counts the onsets of the safety chain's changes by reason. ``tiers`` are seconds.
    """

    minutes: float = 0.0
    ended: str = ""
    because: str = ""
    explored_m2: float = 0.0
    frontiers_left: int = 0
    distance_m: float = 0.0
    calls: int = 0
    failed_calls: int = 0
    descriptions: int = 0
    skips: int = 0
    asked_for: dict[str, int] = field(default_factory=dict)
    triggers: dict[str, int] = field(default_factory=dict)
    interventions: Mapping[str, int] = field(default_factory=dict)
    refusals: int = 0
    tiers: dict[str, float] = field(default_factory=dict)
    average_latency_ms: float = 0.0
    rooms: tuple[str, ...] = ()
    discoveries: int = 0


def is_ordinary(reason: str) -> bool:
    """Return whether a reason of the safety chain belongs to every drive and is no news."""
    return reason.startswith(_ORDINARY)


def count_interventions(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how often the safety chain stepped in, by reason, the most frequent first; ordinary limits are left out.

    Reasons in ``counts`` have "#" for figures; those in the result have no figures: "obstacle ahead: stopped".
    """
    found = Counter[str]()
    for reason, count in counts.items():
        if is_ordinary(reason):
            continue
        text = reason
        for pattern, plain in _PLAIN:
            text = re.sub(pattern, plain, text)
        found[text] += count
    return dict(found.most_common())
