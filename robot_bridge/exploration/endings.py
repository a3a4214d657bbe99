"""Endings of an exploration: each has a word, an exit code and a sentence, defined only here (pure).

The summary, the log and the terminal show the word; scripts read it or the exit code.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


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
        made._value_, made.exit_code, made.sentence = word, exit_code, sentence
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


def judged(ending: Ending, model: Ending | None) -> Ending:
    """Return the ending to report if the robot's own is ``ending`` and the model's, if it failed, is ``model``.

    A robot that continued without its model still ends with ``budget`` or ``no model``. If it is not home or a sensor
    is unusable, that is reported instead, because it is more urgent.
    """
    return model if model is not None and ending in _YIELDING else ending
