"""Decide when to ask a model (pure): by events, or only by a timer as the baseline for comparison.

With ``is_adaptive``, the model is asked at once if an event fires, no action is under way, or something went wrong.
Otherwise the model is asked when the base timer has run out, except in two situations:

- The view is the same as at the last call, and no obstacle is near.
- The robot drives to a goal on the map. The model chose the goal knowing everything in the message, and the path
  planner needs no advice.

During a drive to a goal, only a new doorway counts as an event. The other events are normal then: the robot moves,
passes intersections, and faces walls in bends. After ten seconds of silence, the model is always asked.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from robot_bridge.contracts import Trigger
from robot_bridge.decisions.messages.message import LeftOut

_IGNORED_ON_THE_WAY: Final = frozenset({Trigger.MOVED, Trigger.DEAD_END, Trigger.INTERSECTION})
"""Events that do not count during a drive to a goal."""


@dataclass(frozen=True, slots=True)
class AskSettings:
    """Settings in seconds and metres.

    Attributes:
        is_adaptive: if False, the model is asked exactly every ``base_timer_s``.
        base_timer_s: time between two calls without an event.
        longest_silence_s: time after which the model is always asked.
        shortest_pause_s: least time between two calls, except for events; also the first pause after a failure.
        similarity: above this similarity of two pictures, the view is the same.
        clear_m: above this distance, no obstacle is near.
        text_only_similarity: above this similarity, a picture may be left out.
        text_only_clear_m: above this distance of the nearest obstacle, a picture may be left out.
        longest_retry_s: longest pause after a failure; pauses double with every failure.
    """

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
    """Inputs of the choice.

    Attributes:
        since_asked: seconds since the last call, None before the first call.
        triggers: events since the last call.
        is_idle: whether no action is under way.
        drives_to_goal: whether the robot drives to a goal on the map.
        was_disturbed: whether something happened that the model does not know.
        failures: number of failed calls in a row.
        similarity: similarity of the picture to the last picture that the model saw, 0 to 1.
        nearest_m: distance of the nearest obstacle.
        rests: whether the robot is idle because the model stopped the robot.
        has_changed: whether any part of the picture differs from the last picture that the model saw.
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
    """Choice whether to ask the model now; every value but ``WAIT`` and ``SKIP`` is a reason to ask."""

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
    """Return the choice whether to ask the model in the situation ``now``."""
    passed = now.since_asked
    if passed is None:
        return Choice.FIRST
    if now.failures:
        pause = min(settings.longest_retry_s, settings.shortest_pause_s * 2 ** (now.failures - 1))
        return Choice.RETRY if passed >= pause else Choice.WAIT
    if not settings.is_adaptive:
        return Choice.TIMER if passed >= settings.base_timer_s else Choice.WAIT
    if choice := _choose_by_event(now, passed, settings):
        return choice
    return _choose_by_timer(now, passed, settings)


def _choose_by_timer(now: Situation, passed: float, settings: AskSettings) -> Choice:
    """Return the choice by the time ``passed`` since the last call, in seconds."""
    if passed < settings.base_timer_s:
        return Choice.WAIT
    if passed >= settings.longest_silence_s:
        return Choice.SILENCE
    is_same_view = now.similarity > settings.similarity and now.nearest_m > settings.clear_m
    return Choice.SKIP if now.drives_to_goal or is_same_view else Choice.TIMER


def _choose_by_event(now: Situation, passed: float, settings: AskSettings) -> Choice | None:
    """Return a reason to ask before the timer has run out, or None."""
    triggers = set(now.triggers)
    if now.drives_to_goal:
        triggers -= _IGNORED_ON_THE_WAY
    if triggers:
        return Choice.TRIGGER
    if passed < settings.shortest_pause_s:
        return None
    if now.was_disturbed:
        return Choice.DISTURBED
    return Choice.IDLE if now.is_idle and not now.rests else None


def why_leave_out(choice: Choice, now: Situation, settings: AskSettings, sameness: LeftOut | None) -> LeftOut | None:
    """Return the reason to leave the picture out of a call, or None if the picture must be sent.

    The picture is left out if the view has not changed and no obstacle is near. The picture is also left out if the
    robot drives to a goal and the only reason for the call is a long silence. ``sameness`` is the reason to give for an
    unchanged view, or None if the model has not seen a picture yet. (With gpt-4o-mini a picture is two thirds of the
    cost of a call.)
    """
    if not settings.is_adaptive:
        return None
    is_alike = now.similarity > settings.text_only_similarity and not now.has_changed
    if is_alike and now.nearest_m > settings.text_only_clear_m:
        return sameness or LeftOut.ON_THE_WAY
    is_on_its_way = choice is Choice.SILENCE and now.drives_to_goal
    return LeftOut.ON_THE_WAY if is_on_its_way else None
