"""The model's side of the decision loop: decide when to ask the model, ask it, and count the calls."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import Final

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Direction, ExecutionResult, NavGoalTarget, ObserveTarget, StopTarget, Tool, Trigger
from robot_bridge.control.state import View
from robot_bridge.decisions.exploration_memory import ExplorationMemory
from robot_bridge.decisions.sensor_snapshot import nearest_obstacle
from robot_bridge.decisions.triggers import EventTrigger
from robot_bridge.decisions.watchdog import NetworkMonitor
from robot_bridge.errors import BudgetSpent
from robot_bridge.exploration.conversation import Conversation, Decided, Heard
from robot_bridge.exploration.endings import Ending
from robot_bridge.exploration.links import Link
from robot_bridge.exploration.schedule import AskSettings, Choice, Situation, choose, is_text_enough, why_left_out
from robot_bridge.exploration.statistics import Note, Tally
from robot_bridge.protocols import DecisionModel
from robot_bridge.text import harmless

_LOG: Final = logging.getLogger(__name__)


class Asker:
    """One per exploration; see :mod:`robot_bridge.exploration.schedule` for the rules.

    Attributes:
        is_disturbed: something happened that the model does not know: a refusal, a block, a person at the controls.
    """

    def __init__(
        self,
        model: DecisionModel | None,
        link: Link,
        config: RobotConfig,
        settings: AskSettings,
        tally: Tally,
        monitor: NetworkMonitor,
        note: Note,
    ) -> None:
        self._talk = Conversation(model, link) if model is not None else None
        self._settings, self._tally, self._monitor, self._note = settings, tally, monitor, note
        self._events = EventTrigger(config)
        self._news = set[Trigger]()
        self._last_trigger: float | None = None
        self._scan_stamp = -math.inf
        self._asked_at: float | None = None
        self._is_skipped = self._chose_rest = False
        self.is_disturbed = False

    @property
    def is_alone(self) -> bool:
        """Return whether no model will answer any more."""
        return self._talk is None or bool(self._talk.ended)

    @property
    def fault(self) -> tuple[Ending, str] | None:
        """Return what is wrong with the model at the end, and why; None if it works or none is used."""
        talk, tally = self._talk, self._tally
        if talk is not None and talk.end is not None:
            return (Ending.BUDGET if isinstance(talk.end, BudgetSpent) else Ending.NO_MODEL), harmless(talk.end, 200)
        return (Ending.NO_MODEL, "the model never answered") if tally.calls and not tally.answers else None

    def owed_for(self, now: float) -> float:
        """Return the seconds for which the model has owed an answer, 0 if it owes none."""
        owed = None if self._talk is None or self._talk.ended else self._talk.owed_since
        return 0.0 if owed is None else now - owed

    def forget(self) -> None:
        """See :meth:`Conversation.forget`."""
        if self._talk is not None:
            self._talk.forget()

    def watch_events(self, view: View, memory: ExplorationMemory, now: float) -> None:
        """Look for triggers in a new scan."""
        if view.latest_scan is None or view.latest_scan.stamp == self._scan_stamp:
            return
        self._scan_stamp = view.latest_scan.stamp
        found = self._events.check_triggers(
            view.obstacle_distances, view.detected_gaps, view.current_position, self._last_trigger, now
        )
        if not found:
            return
        self._last_trigger = now
        self._news.update(found)
        self._tally.triggered(found)
        self._note("trigger", {"triggers": ", ".join(found)})
        if Trigger.DEAD_END in found:
            memory.record_dead_end(Direction.FORWARD, view.current_position, "everything ahead is near")

    def listen(self) -> Heard | None:
        """Return the model's answer once it has come, else None."""
        talk = self._talk
        heard = talk.poll() if talk is not None else None
        if heard is None or talk is None:
            return None
        self._tally.answered(heard.latency_s, not heard.failure)
        self._monitor.record_call(1000 * heard.latency_s, not heard.failure)
        if isinstance(heard, Decided) and heard.decision is not None:
            self._chose_rest = heard.decision.tool_name == Tool.STOP_ROBOT
        if talk.ended:
            _LOG.info("the model is asked no more: %s", talk.ended)
            self._note("model_ended", {"reason": talk.ended})
        elif heard.failure:
            self._note("model_failed", {"reason": heard.failure, "in_a_row": talk.failures})
        return heard

    def describe(self, view: View, focus: str) -> bool:
        """Ask for a description of the picture, dropping any pending question; return False without a model."""
        if self._talk is None or self._talk.ended:
            return False
        self._talk.forget()
        self._talk.describe(view, focus)
        self._tally.described()
        return True

    def consider(self, view: View, current: ExecutionResult | None, memory: ExplorationMemory, now: float) -> None:
        """Ask for a decision if it pays; not while ``current``, the action under way, is soon over (look, stop)."""
        talk = self._talk
        if talk is None or talk.ended or talk.is_pending or view.latest_scan is None:
            return
        if current is not None and isinstance(current.target, ObserveTarget | StopTarget):
            return
        situation = self._situation(talk, view, current, now)
        choice = choose(situation, self._settings)
        if choice is Choice.SKIP and not self._is_skipped:
            self._is_skipped = True
            self._tally.skips += 1
            why = "a goal is driven to" if situation.drives_to_goal else "the view is the same and clear"
            self._note("skip", {"why": why, "similarity": round(situation.similarity, 3)})
        if choice.is_call:
            self._ask(talk, choice, situation, view, current, memory, now)

    def _situation(self, talk: Conversation, view: View, current: ExecutionResult | None, now: float) -> Situation:
        found = Situation(
            None if self._asked_at is None else now - self._asked_at,
            frozenset(self._news),
            is_idle=current is None,
            rests=self._chose_rest,
            drives_to_goal=current is not None and isinstance(current.target, NavGoalTarget),
            was_disturbed=self.is_disturbed,
            failures=talk.failures,
        )
        if choose(found, self._settings) is Choice.WAIT:
            return found
        return replace(
            found,
            similarity=talk.shown.similarity(view) if talk.shown else 0.0,
            has_changed=talk.shown is None or talk.shown.has_changed(view),
            nearest_m=nearest_obstacle(view.obstacle_distances),
        )

    def _ask(
        self,
        talk: Conversation,
        choice: Choice,
        situation: Situation,
        view: View,
        current: ExecutionResult | None,
        memory: ExplorationMemory,
        now: float,
    ) -> None:
        memory.update_frontiers(view.frontiers, view.current_position)
        left_out = None
        if is_text_enough(choice, situation, self._settings):
            left_out = why_left_out(situation, self._settings, talk.shown.sameness(view) if talk.shown else None)
        talk.ask(view, memory, left_out, current)
        self._events.asked(view.current_position)
        self._tally.asked(choice)
        _LOG.debug("asks the model: %s", choice.value)
        self._note("asked", {"why": choice.value, "image": left_out is None and view.latest_image is not None})
        self._news, self._asked_at = set(), now
        self._is_skipped = self.is_disturbed = False
