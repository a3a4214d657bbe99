"""Endings of an exploration, the rules for ending, and the statistics (pure).

Each ending has a word, an exit code and a sentence, defined only here. The summary, the log and the terminal show the
word. Scripts read the word or the exit code.
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
"""Greatest number of attempts to drive home."""
_CLAIMS_NEEDED: Final = 2
"""While frontiers are left, the model must say this many times in a row that the exploration is complete."""
_ORDINARY: Final = ("speeding up", "braking before")
"""Prefixes of reasons that stand for limits on acceleration, which act at every start and every change of direction."""
_REPLACEMENTS: Final = (
    (r" # m (ahead|behind)", r" \1"),
    (r" to # m/s", ""),
    (r" is # s old", " is too old"),
    ("#", "…"),
)
"""Patterns and replacements, applied in this order, that make a reason with "#" in place of figures readable."""


class Ending(StrEnum):
    """Reason why an exploration is over; the value is the word.

    Attributes:
        exit_code: exit code of ``python -m robot_bridge explore``; 2 is reserved for users' errors.
        sentence: meaning of the ending, for people.
    """

    exit_code: int
    sentence: str

    def __new__(cls, word: str, exit_code: int = 0, sentence: str = "") -> Ending:
        ending = str.__new__(cls, word)
        ending._value_ = word
        ending.exit_code = exit_code
        ending.sentence = sentence
        return ending

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
"""Endings that are replaced if the model has a fault, because the robot went on without its model."""


class Closing:
    """Judge that decides when an exploration is over and keeps the ending; the first ending counts.

    Args:
        fault: returns the ending and the reason that follow from a fault of the model, or None if there is no fault.

    Attributes:
        ended: how the exploration ended; None while it runs.
        because: why the exploration ended; "" while it runs.
        claims: how many times in a row the model has said that the exploration is complete.
    """

    def __init__(self, fault: Callable[[], tuple[Ending, str] | None]) -> None:
        self._fault = fault
        self._has_missed_home = False
        self._homings = 0
        self.ended: Ending | None = None
        self.because = ""
        self.claims = 0

    def end(self, ending: Ending, because: str = "") -> None:
        """Set the ending, unless the exploration has already ended.

        ``because`` replaces the ending's general sentence. If the robot has missed home, EXPLORED and GAVE_UP become
        NOT_HOME. If the model has a fault, the fault's ending replaces EXPLORED, GAVE_UP and TIME.
        """
        if self.ended is not None:
            return
        if self._has_missed_home and ending in {Ending.EXPLORED, Ending.GAVE_UP}:
            ending = Ending.NOT_HOME
            because = ""
        self.ended = ending
        self.because = because or ending.sentence
        fault = self._fault()
        if fault is not None and ending in _YIELDING:
            self.ended, model_reason = fault
            self.because = f"{model_reason}; without it: {self.because}"

    def break_off(self, ending: Ending, because: str = "") -> None:
        """End the exploration and replace an earlier ending."""
        self.ended = None
        self.end(ending, because)

    def record_result(self, outcome: Finished) -> None:
        """If the decision was a drive to a goal, record whether it was a drive home that failed."""
        from robot_bridge.contracts import NavGoalTarget  # here, because it loads numpy, which would delay --help

        if isinstance(outcome.execution.target, NavGoalTarget):
            is_homing = outcome.execution.decision.parameters.get("goal_type") == "retrace"
            self._has_missed_home = is_homing and not outcome.result.success

    def accept_claim(self, left: int, cut_off: int, *, by_person: bool) -> bool:
        """Handle a claim that the exploration is complete; return whether the exploration is over now.

        The claim comes from the model, or from a person if ``by_person``. ``left`` is the number of reachable
        frontiers, ``cut_off`` the number of unreachable frontiers.
        """
        if by_person:
            self.end(Ending.STOPPED, "a person says that it is complete")
        elif left and self.claims < _CLAIMS_NEEDED:
            return False
        elif left:
            self.end(Ending.GAVE_UP, f"the model wants no more, {left} frontiers are left")
        else:
            self.end(Ending.GAVE_UP if cut_off else Ending.EXPLORED)
        return True

    def accept_nothing_left(self, *, has_given_up: bool) -> bool:
        """End the exploration because nothing is left to explore, and return True.

        If the robot has missed home and may try again, return False instead.
        """
        self._homings += 1
        if self._has_missed_home and self._homings < WAYS_HOME:
            return False
        self.end(Ending.GAVE_UP if has_given_up else Ending.EXPLORED)
        return True


@dataclass(slots=True)
class Summary:
    """Statistics of an exploration; counts grow while it runs, and the explorer fills in the other fields at the end.

    ``ended`` is the word of an :class:`Ending`, "" while the exploration runs, and ``because`` is the reason. ``calls``
    counts all requests. ``descriptions`` counts the requests for a description of a picture, ``asked_for`` the requests
    for a decision by :class:`~robot_bridge.exploration.schedule.Choice`. ``interventions`` counts by reason how often
    the safety chain began to change a command. ``tiers`` holds the seconds in each tier of the watchdog.
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
    """Return whether a reason of the safety chain stands for a limit on acceleration, which acts in every drive."""
    return reason.startswith(_ORDINARY)


def count_interventions(counts: Mapping[str, int]) -> dict[str, int]:
    """Return how often the safety chain intervened, by reason, the most frequent first.

    Limits on acceleration are left out. Reasons in ``counts`` have "#" in place of figures. Reasons in the result have
    no figures, such as "obstacle ahead: stopped".
    """
    readable = Counter[str]()
    for reason, count in counts.items():
        if is_ordinary(reason):
            continue
        text = reason
        for pattern, replacement in _REPLACEMENTS:
            text = re.sub(pattern, replacement, text)
        readable[text] += count
    return dict(readable.most_common())
