"""Ask the model: one question at a time, without stopping the control loop, and keep track of its answers.

A question goes over a link, and its answer is polled. With a simulated clock the question is answered at once and the
answer held back for its latency, so that runs are repeatable; in real time it is asked in a thread.
:mod:`robot_bridge.exploration.schedule` has the rules for when to ask.
"""

from __future__ import annotations

import copy
import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from queue import SimpleQueue
from statistics import fmean
from typing import Final

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    Direction,
    Frame,
    NavGoalTarget,
    NavigationDecision,
    ObserveTarget,
    Pose,
    StopTarget,
    Tool,
    Trigger,
    wrap_angle,
)
from robot_bridge.control.state import View
from robot_bridge.decisions.memory.exploration_memory import DESCRIPTION_LENGTH, ExplorationMemory
from robot_bridge.decisions.messages.message import LeftOut
from robot_bridge.decisions.messages.sensor_snapshot import (
    SensorSnapshotBuilder,
    compute_frame_similarity,
    has_local_change,
    nearest_obstacle,
)
from robot_bridge.decisions.navigators.llm_navigator import LLMNavigator
from robot_bridge.decisions.triggers import EventTrigger
from robot_bridge.decisions.watchdog import NetworkMonitor
from robot_bridge.errors import BudgetSpent, ModelEnded, ModelFailure
from robot_bridge.exploration.endings import Ending, Summary
from robot_bridge.exploration.schedule import AskSettings, Choice, Situation, choose, why_leave_out
from robot_bridge.protocols import Clock, DecisionModel, Note
from robot_bridge.text import harmless

_LOG: Final = logging.getLogger(__name__)

_MOVED_M: Final = 0.05
_MOVED_RADIANS: Final = math.radians(3)
"""Above these, the robot has really moved; below, its estimate only jitters."""
_INSTANT: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question.

    ``value`` is a decision or a description, None if there is none for the reason ``failure``, or because the question
    raised ``error``. ``latency_s`` is how long it takes on the robot's clock; a question that leaves it None takes the
    real time that passes.
    """

    value: NavigationDecision | str | None = None
    latency_s: float | None = None
    failure: str = ""
    error: Exception | None = None


Question = Callable[[], Answer]
"""May raise; the error is an answer too."""


def _answer(question: Question) -> Answer:
    try:
        return question()
    except Exception as error:  # the boundary to models: whoever polls decides what an error means
        _LOG.info("the model gave no answer", exc_info=error)
        return Answer(error=error)


class LockstepLink:
    """A link for clocks that stand still while a model thinks; see :data:`Link`.

    Args:
        clock: the robot's clock.
        latency_s: delay added to the latency that an answer states; None adds nothing, and an answer without a stated
            latency takes the real time that passed, which is not repeatable.
    """

    def __init__(self, clock: Clock, latency_s: float | None = 0.0) -> None:
        self._clock = clock
        self._latency = latency_s
        self._answer: Answer | None = None
        self._due = 0.0

    def ask(self, question: Question) -> None:
        began = time.perf_counter()
        answer = _answer(question)
        latency = answer.latency_s
        if latency is None:
            latency = time.perf_counter() - began if self._latency is None else 0.0
        latency += self._latency or 0.0
        self._answer = replace(answer, latency_s=latency)
        self._due = self._clock.now() + latency - _INSTANT

    def poll(self) -> Answer | None:
        if self._answer is None or self._clock.now() < self._due:
            return None
        answer = self._answer
        self._answer = None
        return answer

    def close(self) -> None:
        self._answer = None


class ThreadedLink:
    """A link for real time: every question runs in its own daemon thread, so that one that hangs blocks nobody.

    See :data:`Link`. It blocks only the next question: a forgotten question is still running, and neither a model nor
    its ledger support two at a time. The wait counts as the model's latency.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers = SimpleQueue[Answer]()
        self._thread: threading.Thread | None = None

    def ask(self, question: Question) -> None:
        asked_at = self._clock.now()
        answers = SimpleQueue[Answer]()
        earlier = self._thread

        def work() -> None:
            if earlier is not None:
                earlier.join()
            if self._answers is answers:  # else it was forgotten before it was asked
                answer = _answer(question)
                answers.put(replace(answer, latency_s=self._clock.now() - asked_at))

        self._answers = answers
        self._thread = threading.Thread(target=work, name="model", daemon=True)
        self._thread.start()

    def poll(self) -> Answer | None:
        return None if self._answers.empty() else self._answers.get()

    def close(self) -> None:
        self._answers = SimpleQueue()


Link = LockstepLink | ThreadedLink
"""Takes one question at a time to the model.

``ask`` returns at once. ``poll`` returns the answer once, when it has come, with its latency, else None. ``close``
forgets the pending question; its answer is thrown away when it comes.
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """A camera picture shown to the model, and the robot's pose at that time."""

    frame: Frame
    pose: Pose

    def compare_with(self, view: View) -> LeftOut:
        """Return the reason to leave out a picture that shows nothing new."""
        frame = view.observation.frame
        pose = view.current_position
        if frame is None or frame.stamp <= self.frame.stamp:
            return LeftOut.NO_NEWER
        has_turned = abs(wrap_angle(pose.heading - self.pose.heading)) > _MOVED_RADIANS
        has_moved = has_turned or pose.distance_to(self.pose.x, self.pose.y) > _MOVED_M
        return LeftOut.LOOKS_THE_SAME if has_moved else LeftOut.UNCHANGED


class Asker:
    """Decides when to ask the model, asks it, and counts the calls; one per exploration, not thread-safe.

    Attributes:
        is_disturbed: something happened that the model does not know: a refusal, a block, a person at the controls.
        latencies_s: of all calls that were answered.
    """

    def __init__(
        self,
        model: DecisionModel | None,
        link: Link,
        config: RobotConfig,
        settings: AskSettings,
        counts: Summary,
        monitor: NetworkMonitor,
        note: Note,
    ) -> None:
        self._navigator = LLMNavigator(model) if model else None
        self._link = link
        self._settings = settings
        self._counts = counts
        self._monitor = monitor
        self._note = note
        self._events = EventTrigger(config)
        self._news = set[Trigger]()
        self._last_trigger: float | None = None
        self._scan_stamp = -math.inf
        self._asked_at: float | None = None
        self._pending_since: float | None = None
        self._failing_since: float | None = None
        self._failures = 0
        self._showing: Shown | None = None
        self._shown: Shown | None = None
        self._is_skipped = False
        self._chose_rest = False
        self._end: ModelEnded | None = None
        self.is_disturbed = False
        self.latencies_s: list[float] = []

    @property
    def is_alone(self) -> bool:
        """Return whether no model will answer any more."""
        return self._navigator is None

    @property
    def average_latency_ms(self) -> float:
        """Return the mean latency of the answered calls."""
        return 1000 * fmean(self.latencies_s) if self.latencies_s else 0.0

    @property
    def fault(self) -> tuple[Ending, str] | None:
        """Return what is wrong with the model at the end, and why; None if it works or none is used."""
        if self._end is not None:
            return Ending.BUDGET if isinstance(self._end, BudgetSpent) else Ending.NO_MODEL, harmless(self._end, 200)
        if self._counts.calls and not self.latencies_s:
            return Ending.NO_MODEL, "the model never answered"
        return None

    def seconds_owed(self, now: float) -> float:
        """Return the seconds for which the model has owed an answer, 0 if it owes none.

        They count from the first of the failed requests in a row, or from the pending one.
        """
        since = self._pending_since if self._failing_since is None else self._failing_since
        return 0.0 if since is None or self.is_alone else now - since

    def forget(self) -> None:
        """Drop the pending question and the count of failures: somebody else controlled the robot meanwhile."""
        self._link.close()
        self._pending_since = self._failing_since = None
        self._failures = 0

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
        for trigger in found:
            _count(self._counts.triggers, trigger.value)
        self._note("trigger", {"triggers": ", ".join(found)})
        if Trigger.DEAD_END in found:
            memory.record_dead_end(Direction.FORWARD, view.current_position, "everything ahead is near")

    def listen(self) -> Answer | None:
        """Return the model's answer once it has come, else None.

        Raises:
            Exception: the model raised an error other than :class:`ModelFailure`: a defect, not a failed request.
        """
        answer = self._link.poll()
        if answer is None:
            return None
        if answer.error is not None:
            if not isinstance(answer.error, ModelFailure):
                raise answer.error
            answer = replace(answer, failure=harmless(answer.error, 200) or type(answer.error).__name__)
        latency = answer.latency_s or 0.0
        self._monitor.record_call(1000 * latency, not answer.failure)
        if answer.failure:
            self._count_failure(answer)
        else:
            self.latencies_s.append(latency)
            self._failures = 0
            self._failing_since = None
            self._shown = self._showing or self._shown
        self._pending_since = None
        if isinstance(answer.value, NavigationDecision):
            self._chose_rest = answer.value.tool_name == Tool.STOP_ROBOT
        return answer

    def _count_failure(self, answer: Answer) -> None:
        self._counts.failed_calls += 1
        self._failures += 1
        self._shown = None  # it is not certain what the model has seen
        if self._failing_since is None:
            self._failing_since = self._pending_since
        if isinstance(answer.error, ModelEnded):
            self._navigator = None
            _LOG.info("the model is asked no more: %s", answer.failure)
            self._note("model_ended", {"reason": answer.failure})
        else:
            self._note("model_failed", {"reason": answer.failure, "in_a_row": self._failures})

    def describe(self, view: View, focus: str, now: float) -> bool:
        """Ask for a description of the picture, dropping any pending question; return False without a model."""
        navigator = self._navigator
        if navigator is None:
            return False

        def question() -> Answer:
            text = navigator.describe(SensorSnapshotBuilder(view).capture(), focus)
            return Answer(harmless(text, DESCRIPTION_LENGTH), navigator.latency_s)

        self.forget()
        self._showing = None
        self._counts.descriptions += 1
        self._send_question(question, now)
        return True

    def consider(self, view: View, memory: ExplorationMemory, now: float) -> None:
        """Ask for a decision if it pays; not while the action under way is soon over (look, stop)."""
        navigator = self._navigator
        if navigator is None or self._pending_since is not None or view.latest_scan is None:
            return
        target = view.current.target if view.current else None
        if isinstance(target, ObserveTarget | StopTarget):
            return
        shown = self._shown
        situation = Situation(
            None if self._asked_at is None else now - self._asked_at,
            frozenset(self._news),
            is_idle=target is None,
            rests=self._chose_rest,
            drives_to_goal=isinstance(target, NavGoalTarget),
            was_disturbed=self.is_disturbed,
            failures=self._failures,
            similarity=compute_frame_similarity(shown.frame.rgb, view.latest_image) if shown else 0.0,
            has_changed=shown is None or has_local_change(shown.frame.rgb, view.latest_image),
            nearest_m=nearest_obstacle(view.obstacle_distances),
        )
        choice = choose(situation, self._settings)
        if choice is Choice.SKIP and not self._is_skipped:
            self._is_skipped = True
            self._counts.skips += 1
            why = "a goal is driven to" if situation.drives_to_goal else "the view is the same and clear"
            self._note("skip", {"why": why, "similarity": round(situation.similarity, 3)})
        if choice.is_call:
            left_out = why_leave_out(choice, situation, self._settings, shown.compare_with(view) if shown else None)
            self._ask_decision(navigator, choice, view, memory, left_out, now)

    def _ask_decision(
        self,
        navigator: LLMNavigator,
        choice: Choice,
        view: View,
        memory: ExplorationMemory,
        left_out: LeftOut | None,
        now: float,
    ) -> None:
        """Ask for a decision; the message shows the action under way as the last one, with its progress.

        ``left_out`` says why the message has no picture, or is None if it has one.
        """
        memory.update_frontiers(view.frontiers, view.current_position)
        remembered = copy.deepcopy(memory)
        if view.current is not None and view.so_far is not None:
            remembered.update_after_action(view.current.decision, view.so_far, view.current_position)

        def question() -> Answer:
            snapshot = SensorSnapshotBuilder(view).capture()
            decision = navigator.decide(snapshot, remembered, left_out is not None, left_out or "")
            return Answer(decision, navigator.latency_s, navigator.failure)

        frame = view.observation.frame
        self._showing = None if frame is None or left_out is not None else Shown(frame, view.current_position)
        self._send_question(question, now)
        self._events.note_asked(view.current_position)
        _count(self._counts.asked_for, choice.value)
        _LOG.debug("asks the model: %s", choice.value)
        self._note("asked", {"why": choice.value, "image": self._showing is not None})
        self._news = set()
        self._asked_at = now
        self._is_skipped = False
        self.is_disturbed = False

    def _send_question(self, question: Question, now: float) -> None:
        def ask() -> Answer:
            try:
                return question()
            except ModelEnded as error:  # kept at once: the exploration may end before the answer's latency has passed
                self._end = error
                raise

        self._counts.calls += 1
        self._pending_since = now
        self._link.ask(ask)


def _count(counts: dict[str, int], key: str) -> None:
    counts[key] = counts.get(key, 0) + 1
