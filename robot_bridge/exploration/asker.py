"""Ask the model one question at a time, without stopping the control loop, and keep track of the answers.

A question goes over a link, and the answer is polled. With a simulated clock, the question is answered at once, and the
answer is held back for its latency, so that runs are repeatable. In real time, the question is asked in a thread.
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
"""A change of the estimate by at most ``_MOVED_M`` metres and ``_MOVED_RADIANS`` is jitter, not motion of the robot."""
_CLOCK_TOLERANCE_S: Final = 1e-6
"""Allowance for rounding errors in times of the robot's clock."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer to a question.

    ``value`` is a decision or a description. If ``value`` is None, ``failure`` says why, or ``error`` is the error that
    the question raised. ``latency_s`` is how long the answer took on the robot's clock; if None, the real time counts.
    """

    value: NavigationDecision | str | None = None
    latency_s: float | None = None
    failure: str = ""
    error: Exception | None = None


Question = Callable[[], Answer]
"""Function that asks the model and returns the answer; a raised error becomes an answer, too."""


def _ask(question: Question) -> Answer:
    """Return the answer to a question, or an answer with the error that the question raised."""
    try:
        return question()
    except Exception as error:  # the boundary to models: the caller of poll decides what an error means
        _LOG.info("the model gave no answer", exc_info=error)
        return Answer(error=error)


class LockstepLink:
    """Link for clocks that stand still while a model thinks; see :data:`Link`.

    Args:
        clock: the robot's clock.
        latency_s: delay added to the latency that an answer states. If None, no delay is added, and an answer without a
            stated latency takes the real time that passed, which is not repeatable.
    """

    def __init__(self, clock: Clock, latency_s: float | None = 0.0) -> None:
        self._clock = clock
        self._latency = latency_s
        self._answer: Answer | None = None
        self._due = 0.0

    def ask(self, question: Question) -> None:
        """Ask the model and keep the answer until its latency has passed on the robot's clock."""
        began = time.perf_counter()
        answer = _ask(question)
        real_latency = time.perf_counter() - began
        latency = answer.latency_s
        if latency is None:
            latency = real_latency if self._latency is None else 0.0
        latency += self._latency or 0.0
        self._answer = replace(answer, latency_s=latency)
        self._due = self._clock.now() + latency - _CLOCK_TOLERANCE_S

    def poll(self) -> Answer | None:
        if self._answer is None or self._clock.now() < self._due:
            return None
        answer = self._answer
        self._answer = None
        return answer

    def close(self) -> None:
        self._answer = None


class ThreadedLink:
    """Link for real time, which asks every question in a daemon thread of its own; see :data:`Link`.

    A question that hangs blocks only the next question. The next question must wait even if the hanging question was
    forgotten, because neither a model nor its ledger supports two questions at a time. The wait counts as latency.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers = SimpleQueue[Answer]()
        self._thread: threading.Thread | None = None

    def ask(self, question: Question) -> None:
        """Start a thread that waits for the thread of the earlier question and asks the model afterwards."""
        asked_at = self._clock.now()
        answers = SimpleQueue[Answer]()
        earlier = self._thread

        def work() -> None:
            if earlier is not None:
                earlier.join()
            is_forgotten = self._answers is not answers  # close() and the next ask() replace the queue
            if not is_forgotten:
                answer = _ask(question)
                answers.put(replace(answer, latency_s=self._clock.now() - asked_at))

        self._answers = answers
        self._thread = threading.Thread(target=work, name="model", daemon=True)
        self._thread.start()

    def poll(self) -> Answer | None:
        return None if self._answers.empty() else self._answers.get()

    def close(self) -> None:
        self._answers = SimpleQueue()


Link = LockstepLink | ThreadedLink
"""Connection to the model for a single question at a time.

``ask`` sends a question and returns at once. ``poll`` returns the answer with its latency, only once, after the answer
has come; otherwise it returns None. ``close`` forgets the pending question, so that its answer is thrown away.
"""


@dataclass(frozen=True, slots=True)
class Shown:
    """Camera picture that the model has seen, and the robot's pose at the time of the message."""

    frame: Frame
    pose: Pose

    def compare_with(self, view: View) -> LeftOut:
        """Return the reason to leave out the view's picture; the reason holds only if the picture shows nothing new."""
        frame = view.observation.frame
        pose = view.current_position
        if frame is None or frame.stamp <= self.frame.stamp:
            return LeftOut.NO_NEWER
        has_turned = abs(wrap_angle(pose.heading - self.pose.heading)) > _MOVED_RADIANS
        has_moved = has_turned or pose.distance_to(self.pose.x, self.pose.y) > _MOVED_M
        return LeftOut.LOOKS_THE_SAME if has_moved else LeftOut.UNCHANGED


class Asker:
    """Asker that decides when to ask the model, asks, and counts calls; made anew per exploration, not thread-safe.

    Attributes:
        is_disturbed: whether something happened that the model does not know, such as a refusal, a blocked action, or
            a person at the controls.
        latencies_s: latencies of all answered calls.
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
        self._new_triggers = set[Trigger]()
        self._last_trigger: float | None = None
        self._scan_stamp = -math.inf
        self._asked_at: float | None = None
        self._pending_since: float | None = None
        self._failing_since: float | None = None
        self._failures = 0
        self._pending_picture: Shown | None = None
        self._seen_picture: Shown | None = None
        self._has_noted_skip = False
        self._chose_rest = False
        self._end: ModelEnded | None = None
        self.is_disturbed = False
        self.latencies_s: list[float] = []

    @property
    def is_alone(self) -> bool:
        """Whether the robot must do without a model, because it has no model or the model will not answer any more."""
        return self._navigator is None

    @property
    def average_latency_ms(self) -> float:
        """Mean latency of the answered calls, in ms; 0 if no call was answered."""
        return 1000 * fmean(self.latencies_s) if self.latencies_s else 0.0

    @property
    def fault(self) -> tuple[Ending, str] | None:
        """Ending and reason that follow from a fault of the model; None if the model works or no model is used."""
        if self._end is not None:
            ending = Ending.BUDGET if isinstance(self._end, BudgetSpent) else Ending.NO_MODEL
            return ending, harmless(self._end, 200)
        if self._counts.calls and not self.latencies_s:
            return Ending.NO_MODEL, "the model never answered"
        return None

    def seconds_owed(self, now: float) -> float:
        """Return for how many seconds the model has owed an answer, 0 if no answer is owed.

        If requests have failed in a row, the time counts from the first failed request, else from the pending request.
        """
        since = self._pending_since if self._failing_since is None else self._failing_since
        return 0.0 if since is None or self.is_alone else now - since

    def forget(self) -> None:
        """Forget the pending question and the count of failures, because the model is not in control meanwhile."""
        self._link.close()
        self._pending_since = self._failing_since = None
        self._failures = 0

    def watch_events(self, view: View, memory: ExplorationMemory, now: float) -> None:
        """If there is a new scan, detect the triggers, count them and note them in the journal.

        A dead end is also recorded in the memory.
        """
        if view.latest_scan is None or view.latest_scan.stamp == self._scan_stamp:
            return
        self._scan_stamp = view.latest_scan.stamp
        triggers = self._events.check_triggers(
            view.obstacle_distances, view.detected_gaps, view.current_position, self._last_trigger, now
        )
        if not triggers:
            return
        self._last_trigger = now
        self._new_triggers.update(triggers)
        for trigger in triggers:
            _count(self._counts.triggers, trigger.value)
        self._note("trigger", {"triggers": ", ".join(triggers)})
        if Trigger.DEAD_END in triggers:
            memory.record_dead_end(Direction.FORWARD, view.current_position, "everything ahead is near")

    def listen(self) -> Answer | None:
        """Return the model's answer, only once, after the answer has come; otherwise return None.

        A returned answer is counted, and a failure is noted in the journal.

        Raises:
            Exception: the model raised an error other than :class:`ModelFailure`, which is a defect and not a failed
                request.
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
            self._seen_picture = self._pending_picture or self._seen_picture
        self._pending_since = None
        if isinstance(answer.value, NavigationDecision):
            self._chose_rest = answer.value.tool_name == Tool.STOP_ROBOT
        return answer

    def _count_failure(self, answer: Answer) -> None:
        """Count and note a failed call; if the model has ended, give up the model."""
        self._counts.failed_calls += 1
        self._failures += 1
        self._seen_picture = None  # it is not certain what the model has seen
        if self._failing_since is None:
            self._failing_since = self._pending_since
        if isinstance(answer.error, ModelEnded):
            self._navigator = None
            _LOG.info("the model is asked no more: %s", answer.failure)
            self._note("model_ended", {"reason": answer.failure})
        else:
            self._note("model_failed", {"reason": answer.failure, "in_a_row": self._failures})

    def describe(self, view: View, focus: str, now: float) -> bool:
        """Ask for a description of the view's picture; return whether the model was asked, which needs a model.

        The description replaces a pending question, whose answer is thrown away.
        """
        navigator = self._navigator
        if navigator is None:
            return False

        def question() -> Answer:
            text = navigator.describe(SensorSnapshotBuilder(view).capture(), focus)
            return Answer(harmless(text, DESCRIPTION_LENGTH), navigator.latency_s)

        self.forget()
        self._pending_picture = None
        self._counts.descriptions += 1
        self._send_question(question, now)
        return True

    def consider(self, view: View, memory: ExplorationMemory, now: float) -> None:
        """Ask for a decision if the schedule says that it is time to ask.

        Do not ask while a question is pending. Do not ask during a look or a stop either, because a look and a stop are
        soon over.
        """
        navigator = self._navigator
        if navigator is None or self._pending_since is not None or view.latest_scan is None:
            return
        if view.current is not None and isinstance(view.current.target, ObserveTarget | StopTarget):
            return
        situation = self._describe_situation(view, now)
        choice = choose(situation, self._settings)
        if choice is Choice.SKIP and not self._has_noted_skip:
            self._has_noted_skip = True
            self._counts.skips += 1
            why = "a goal is driven to" if situation.drives_to_goal else "the view is the same and clear"
            self._note("skip", {"why": why, "similarity": round(situation.similarity, 3)})
        if choice.is_call:
            sameness = self._seen_picture.compare_with(view) if self._seen_picture else None
            left_out = why_leave_out(choice, situation, self._settings, sameness)
            self._ask_decision(navigator, choice, view, memory, left_out, now)

    def _describe_situation(self, view: View, now: float) -> Situation:
        """Return the inputs of the choice whether to ask now."""
        target = view.current.target if view.current else None
        seen = self._seen_picture
        similarity = compute_frame_similarity(seen.frame.rgb, view.latest_image) if seen else 0.0
        has_changed = seen is None or has_local_change(seen.frame.rgb, view.latest_image)
        since_asked = None if self._asked_at is None else now - self._asked_at
        nearest_m = nearest_obstacle(view.obstacle_distances)
        return Situation(
            since_asked=since_asked,
            triggers=frozenset(self._new_triggers),
            is_idle=target is None,
            rests=self._chose_rest,
            drives_to_goal=isinstance(target, NavGoalTarget),
            was_disturbed=self.is_disturbed,
            failures=self._failures,
            similarity=similarity,
            has_changed=has_changed,
            nearest_m=nearest_m,
        )

    def _ask_decision(
        self,
        navigator: LLMNavigator,
        choice: Choice,
        view: View,
        memory: ExplorationMemory,
        left_out: LeftOut | None,
        now: float,
    ) -> None:
        """Ask for a decision; the message shows the action under way as the last action, with its progress.

        ``left_out`` is the reason to leave the picture out of the message, or None.
        """
        memory.update_frontiers(view.frontiers, view.current_position)
        # A copy, because the question may run in another thread, and the memory must not keep the action under way.
        remembered = copy.deepcopy(memory)
        if view.current is not None and view.so_far is not None:
            remembered.update_after_action(view.current.decision, view.so_far, view.current_position)

        def question() -> Answer:
            snapshot = SensorSnapshotBuilder(view).capture()
            decision = navigator.decide(snapshot, remembered, left_out is not None, left_out or "")
            return Answer(decision, navigator.latency_s, navigator.failure)

        frame = view.observation.frame
        self._pending_picture = None
        if frame is not None and left_out is None:
            self._pending_picture = Shown(frame, view.current_position)
        self._send_question(question, now)
        self._events.note_asked(view.current_position)
        _count(self._counts.asked_for, choice.value)
        _LOG.debug("asks the model: %s", choice.value)
        self._note("asked", {"why": choice.value, "image": self._pending_picture is not None})
        self._new_triggers = set()
        self._asked_at = now
        self._has_noted_skip = False
        self.is_disturbed = False

    def _send_question(self, question: Question, now: float) -> None:
        """Send a question over the link and count the call; if the model has ended, remember its error."""

        def ask() -> Answer:
            try:
                return question()
            except ModelEnded as error:
                # Kept at once, because the exploration may end before the latency of the answer has passed.
                self._end = error
                raise

        self._counts.calls += 1
        self._pending_since = now
        self._link.ask(ask)


def _count(counts: dict[str, int], key: str) -> None:
    counts[key] = counts.get(key, 0) + 1
