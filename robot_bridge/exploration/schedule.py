"""Decide when to ask a model (pure): by events, or only by a timer as the baseline for comparison.

Adaptive: ask at once if an event fires, nothing is under way, or something went wrong; otherwise when the base timer
has run out. The timer is skipped while the view is the same as at the last call and nothing is near, and while the
robot drives to a goal on the map: the model chose it knowing all it was shown, and the path planner needs no advice on
the way. During such a drive only a new doorway counts as an event: moving, passing a crossing or facing a wall in a
bend is normal then. After ten seconds the model is always asked.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from robot_bridge.contracts import Trigger
from robot_bridge.decisions.messages.message import LeftOut

_NO_NEWS_ON_THE_WAY: Final = frozenset({Trigger.MOVED, Trigger.DEAD_END, Trigger.INTERSECTION})


@dataclass(frozen=True, slots=True)
class AskSettings:
    """Settings in seconds and metres; ``is_adaptive`` False asks whenever ``base_timer_s`` has passed, not before."""

    is_adaptive: bool = True
    base_timer_s: float = 5.0
    longest_silence_s: float = 10.0
    shortest_pause_s: float = 1.0
    similarity: float = 0.92
    clear_m: float = 2.0
    text_only_similarity: float = 0.95
    text_only_clear_m: float = 3.0
    longest_retry_s: float = 8.0


@dataclass(frozen=True, slots=True)
class Situation:
    """The inputs of the choice.

    ``since_asked``: seconds since the last call, None before the first; ``failures``: failed calls in a row;
    ``similarity``: of the picture to the last one the model saw; ``has_changed``: whether it shows anything
    new, however small; ``nearest_m``: distance of the nearest obstacle; ``rests``: idle because the model chose to be.
    """

    since_asked: float | None
    triggers: Collection[Trigger] = ()
    is_idle: bool = True
    drives_to_goal: bool = False
    was_disturbed: bool = False
    failures: int = 0
    similarity: float = 0.0
    nearest_m: float = 0.0
    rests: bool = False
    has_changed: bool = False


class Choice(StrEnum):
    """Whether to ask now, and why."""

    WAIT = "wait"
    SKIP = "skip"
    FIRST = "first"
    TIMER = "timer"
    TRIGGER = "trigger"
    IDLE = "idle"
    DISTURBED = "disturbed"
    RETRY = "retry"
    SILENCE = "silence"

    @property
    def is_call(self) -> bool:
        return self not in {Choice.WAIT, Choice.SKIP}


def choose(now: Situation, settings: AskSettings) -> Choice:
    """Choose whether to ask the model now."""
    passed = now.since_asked
    if passed is None:
        return Choice.FIRST
    if now.failures:
        pause = min(settings.longest_retry_s, settings.shortest_pause_s * 2 ** (now.failures - 1))
        return Choice.RETRY if passed >= pause else Choice.WAIT
    if not settings.is_adaptive:
        return Choice.TIMER if passed >= settings.base_timer_s else Choice.WAIT
    if event := _event(now, passed, settings):
        return event
    return _choose_by_timer(now, passed, settings)


def _choose_by_timer(now: Situation, passed: float, settings: AskSettings) -> Choice:
    if passed < settings.base_timer_s:
        return Choice.WAIT
    if passed >= settings.longest_silence_s:
        return Choice.SILENCE
    is_same_view = now.similarity > settings.similarity and now.nearest_m > settings.clear_m
    return Choice.SKIP if now.drives_to_goal or is_same_view else Choice.TIMER


def _event(now: Situation, passed: float, settings: AskSettings) -> Choice | None:
    news = set(now.triggers) - (_NO_NEWS_ON_THE_WAY if now.drives_to_goal else set())
    if news:
        return Choice.TRIGGER
    if passed < settings.shortest_pause_s:
        return None
    if now.was_disturbed:
        return Choice.DISTURBED
    return Choice.IDLE if now.is_idle and not now.rests else None


def why_leave_out(choice: Choice, now: Situation, settings: AskSettings, sameness: LeftOut | None) -> LeftOut | None:
    """Return the reason to leave the picture out of a call, or None if it has to be sent.

    It can be left out if nothing has changed and nothing is near; ``sameness`` says how it equals the last one seen, if
    any. It also can if the robot drives to a goal, has met nothing new, and the model is asked only because it has been
    silent for long. (With gpt-4o-mini a picture is two thirds of the cost of a call.)
    """
    if not settings.is_adaptive:
        return None
    is_alike = now.similarity > settings.text_only_similarity and not now.has_changed
    if is_alike and now.nearest_m > settings.text_only_clear_m:
        return sameness or LeftOut.ON_THE_WAY
    is_on_its_way = choice is Choice.SILENCE and now.drives_to_goal
    return LeftOut.ON_THE_WAY if is_on_its_way else None
