"""The host of an exploration, which asks the model, carries out its decisions, and continues without answers.

::

    control loop, 20 Hz (Controller)      decision loop (Explorer.step)
    observe, estimate, drive, guard  <->  take orders, results, answers -> watch the model -> consider asking

While a model owes an answer (pending or failed, see :mod:`robot_bridge.decisions.watchdog`), the robot first continues
more slowly (CONTINUE) and then waits (STOP_WAIT). Later the robot explores the frontiers without the model (LOCAL_NAV),
while the model is still asked. After half a minute (RETURN_HOME), the robot drives home, once per outage, because a
lost network is most often found again there. Afterwards the robot continues with the frontiers.

A model that is gone for good, for example because its budget is spent, is not an outage. In this case, and without any
model, the robot explores frontiers at once, and drives home when no frontiers are left.

A model's ``exploration_complete`` ends the exploration if no frontiers are left, or if the model repeats the claim
immediately. Models often claim too early, but the decision is theirs. A person's ``exploration_complete`` ends the
exploration at once. The result is one of :class:`robot_bridge.exploration.endings.Ending`.

Within a step, results of decisions and the model's answers are handled first. The view from which the next message is
built is taken afterwards.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Final

from robot_bridge.contracts import (
    Direction,
    ExecutionResult,
    NavGoalTarget,
    NavigationDecision,
    ObserveTarget,
    StopReason,
    StopTarget,
    Tool,
)
from robot_bridge.control.actions import Finished
from robot_bridge.control.controller import Controller
from robot_bridge.control.realtime import Lockstep, Runner
from robot_bridge.control.state import View
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import SafetyExecutor
from robot_bridge.errors import DeviceError, RobotError, SetupError
from robot_bridge.exploration.asker import Asker, Link
from robot_bridge.exploration.endings import Closing, Ending, Summary
from robot_bridge.exploration.fallback import Fallback, LocalExploration, redirect_to_frontier
from robot_bridge.exploration.schedule import AskSettings, Choice
from robot_bridge.protocols import DecisionModel

FIRST_LOOK_S: Final = 1.0
"""The model is first asked after this time, in seconds. Earlier, the map consists of few scans, and its frontiers soon
vanish.
"""
_COMPLETE: Final = StopTarget(StopReason.EXPLORATION_COMPLETE.value)


@dataclass(frozen=True, slots=True)
class ExplorerSettings:
    """Settings of an exploration.

    Every ``report_s`` seconds, statistics are noted and the memory is saved to the file ``memory_path``. The memory is
    also saved at the end. If ``memory_path`` is None, the memory is not saved.
    """

    asking: AskSettings = field(default_factory=AskSettings)
    report_s: float = 60.0
    memory_path: Path | None = None


class Orders:
    """Thread-safe queue of a person's orders, in which a stop replaces all earlier orders."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting = deque[NavigationDecision]()

    def give(self, decision: NavigationDecision) -> None:
        """Add an order to the queue; a stop removes all earlier orders."""
        with self._lock:
            if decision.tool_name == Tool.STOP_ROBOT:
                self._waiting.clear()
            self._waiting.append(decision)

    def take(self, *, is_busy: bool) -> NavigationDecision | None:
        """Remove and return the next order, or return None; while busy, take only a stop."""
        with self._lock:
            if not self._waiting:
                return None
            is_stop = self._waiting[0].tool_name == Tool.STOP_ROBOT
            if is_busy and not is_stop:
                return None
            return self._waiting.popleft()


class Explorer:
    """Explorer of an unknown place, with a model or without.

    Args:
        controller: the robot's controller.
        model: the model; if None, the robot explores the frontiers.
        link: the link over which the model is asked.
        runner: runs the control loop; by default a single tick per step of the decision loop.
        settings: settings of the exploration.
        memory: an earlier memory to continue.

    Attributes:
        llm_nav_paused: while set, the model is not asked and the robot stands, unless a person drives it.
        llm_exploring: whether an exploration runs.
    """

    def __init__(
        self,
        controller: Controller,
        model: DecisionModel | None,
        link: Link,
        *,
        runner: Runner | None = None,
        settings: ExplorerSettings | None = None,
        memory: ExplorationMemory | None = None,
    ) -> None:
        self.controller = controller
        self.settings = settings or ExplorerSettings()
        self.memory = memory or ExplorationMemory()
        self.llm_nav_paused = threading.Event()
        self._clock = controller.clock
        self._model = model
        self._link = link
        self._home = controller.navigation.estimate.pose
        self.executor = SafetyExecutor(self._clock.now, controller.config, self._home)
        self._runner = runner or Lockstep(controller.tick)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._failure: Exception | None = None
        self._orders = Orders()
        controller.navigation.mark(self.memory.state.unseen)
        self._reset(math.inf)

    def _reset(self, minutes: float) -> None:
        """Reset the state of an exploration, but not the memory."""
        now = self._clock.now()
        self._counts = Summary()
        self._asker = Asker(
            self._model,
            self._link,
            self.controller.config,
            self.settings.asking,
            self._counts,
            self.executor.network_monitor,
            self.controller.note,
        )
        self._local = LocalExploration(self._home)
        self._fallback = Fallback(self.controller, self.executor.watchdog, self._local)
        self._closing = Closing(lambda: self._asker.fault)
        self._operator: ExecutionResult | None = None
        self._looking: Finished | None = None
        self._is_paused = False
        self._began = now
        self._end_at = now + 60 * minutes
        self._accounted_at = now
        self._reported_at = now
        self._reported = (0, 0, 0, 0)  # totals at the last report, see _note_statistics
        self._earlier_s = self.memory.state.exploration_duration_s

    @property
    def llm_exploring(self) -> bool:
        return bool(self._thread and self._thread.is_alive())

    def run(self, minutes: float = math.inf) -> Summary:
        """Explore until the time is up, the model ends the exploration, or, without a model, nothing is left to
        explore.

        Ctrl-C also ends the exploration. The robot is stopped and the memory is saved in any case.

        Raises:
            DeviceError: the robot failed.
        """
        self._reset(minutes)
        try:
            with self._runner:
                self.vlm_decision_loop()
        except KeyboardInterrupt:
            self._closing.break_off(Ending.INTERRUPTED)
        except DeviceError as error:
            self._closing.break_off(Ending.FAILED, str(error))
            raise
        finally:
            self._close_down()
        return self.summary()

    def vlm_decision_loop(self) -> None:
        """Run steps of the decision loop until the exploration ends."""
        while not self._closing.ended:
            self._runner.advance()
            self.step()

    def llm_control_loop(self) -> None:
        """Tick the controller until :meth:`stop_llm_exploration`, for hosts that bring their own threads."""
        while not self._stopping.is_set():
            self.controller.tick()

    def start_llm_exploration(self, minutes: float = math.inf) -> None:
        """Start :meth:`run` in a thread of its own.

        Raises:
            RuntimeError: an exploration is already running.
        """
        if self.llm_exploring:
            raise RuntimeError("an exploration runs already")
        self._stopping.clear()
        self._failure = None
        self._thread = threading.Thread(target=self._run_in_thread, args=(minutes,), name="exploration", daemon=True)
        self._thread.start()

    def _run_in_thread(self, minutes: float) -> None:
        try:
            self.run(minutes)
        except Exception as failure:  # stop_llm_exploration raises the error again in the caller's thread
            self._failure = failure

    def stop_llm_exploration(self, timeout: float = 5.0) -> None:
        """End the exploration, which stops the robot, and wait for its end for at most ``timeout`` seconds.

        Raises:
            Exception: the error that had already ended the exploration and stopped the robot.
        """
        self._stopping.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)
        failure = self._failure
        self._failure = None
        if failure is not None:
            raise failure

    def operate(self, decision: NavigationDecision) -> None:
        """Queue a person's decision; the model pauses while the decision is carried out. Callable from any thread.

        The decision's timestamp is ignored. Several decisions are carried out in order, but a stop is carried out at
        once.
        """
        self._orders.give(decision)

    def step(self) -> None:
        """Run a turn of the decision loop without waiting."""
        now = self._clock.now()
        self._take_order()
        self._take_results(now)
        self._asker.watch_events(self.controller.view, self.memory, now)
        if not self._check_pause():
            self._take_answer()
            self._watch_model(now)
            view = self._settle_view(now)
            has_first_scans = now - self._began >= FIRST_LOOK_S
            if self._looking is None and not self._closing.ended and has_first_scans:
                self._asker.consider(view, self.memory, now)
        self._count_time(now)
        self._check_end(now)

    def _take_order(self) -> None:
        """Take a person's next order from the queue and begin to carry out the order.

        Do nothing if there is no order, or if the next order must wait for the order that is being carried out.
        """
        decision = self._orders.take(is_busy=self._operator is not None)
        if decision is None:
            return
        self._forget_question()
        self._closing.claims = 0
        if decision.tool_name == Tool.STOP_ROBOT:
            self.controller.override(None)
        self._operator = self._carry_out(replace(decision, timestamp=self._clock.now()))

    def _check_pause(self) -> bool:
        """Return whether the model is paused because a person has control; pause or resume the model accordingly."""
        is_paused = self.llm_nav_paused.is_set() or self._operator is not None or self.controller.is_overridden
        if is_paused != self._is_paused:
            self._is_paused = is_paused
            self._asker.is_disturbed = True
            self._forget_question()
            self.controller.note("paused" if is_paused else "resumed", {})
        if is_paused:
            self._fallback.rest()
            self.controller.hold("paused" if self._operator is None else "")
        return is_paused

    def _forget_question(self) -> None:
        """Forget the pending question to the model; if a look waits for a description, end the look as failed."""
        self._asker.forget()
        self._end_look(None, "it was broken off")

    def _carry_out(self, decision: NavigationDecision, changed: str = "") -> ExecutionResult:
        """Check a decision and begin to carry it out; return the executor's result.

        ``changed`` says how the decision was already changed, and becomes a part of the result's reason.
        """
        execution = self.executor.execute_decision(decision, self.controller.state, self.memory)
        if changed and execution.is_valid:
            reason = "; ".join(filter(None, (changed, execution.reason)))
            execution = replace(execution, reason=reason)
        self._counts.refusals += not execution.is_valid
        # The model should soon read why its decision was refused, or whether the path is clear.
        has_news_for_model = not execution.is_valid or decision.tool_name == Tool.CHECK_PATH_CLEAR
        self._asker.is_disturbed |= has_news_for_model
        self.controller.begin(execution)
        return execution

    def _take_answer(self) -> None:
        """If the model has answered, carry out its decision, or end the look for which it gave a description."""
        answer = self._asker.listen()
        if answer is None:
            return
        if isinstance(answer.value, NavigationDecision):
            self._follow_model(answer.value)
        elif self._looking is not None:
            self._end_look(answer.value, answer.failure)

    def _follow_model(self, decision: NavigationDecision) -> None:
        """Carry out a model's decision, and count claims in a row that the exploration is complete."""
        redirected = redirect_to_frontier(decision, self.memory.state.frontiers, self.controller.state.frontiers)
        changed = ""
        if redirected is not decision:
            old_id = decision.parameters["frontier_id"]
            new_id = redirected.parameters["frontier_id"]
            changed = f"frontier {old_id} is gone, {new_id} is the nearest to where it was"
        execution = self._carry_out(redirected, changed)
        is_claim = execution.target == _COMPLETE
        self._closing.claims = self._closing.claims + 1 if is_claim else 0

    def _end_look(self, description: str | None, failure: str) -> None:
        """End a look that waits for a description; the next message shows the result, and the memory keeps the text.

        If ``description`` is None, the look has failed for the reason ``failure``.
        """
        looking = self._looking
        if looking is None:
            return
        self._looking = None
        self._asker.is_disturbed |= not self.controller.is_idle
        result = looking.result
        if description is None:
            result = replace(result, success=False, stopped_reason=f"no description came: {failure}")
        else:
            result = replace(result, data={**result.data, "description": description})
            focus = looking.execution.decision.parameters["focus"]
            self.memory.record_view(focus, description, self.controller.state.current_position)
        self.controller.amend(result)
        self._remember_outcome(replace(looking, result=result))

    def _settle_view(self, now: float) -> View:
        """Handle all results of decisions and return the state after the last result."""
        while (view := self.controller.current_view()) is None:
            self._take_results(now)
        return view

    def _take_results(self, now: float) -> None:
        """Handle the results of all decisions that are over."""
        while (outcome := self.controller.outcome()) is not None:
            is_order = outcome.execution is self._operator
            if is_order:
                self._operator = None
            if outcome.is_blocked:
                self._record_block(outcome, now)
            self._closing.record_result(outcome)
            is_claim = outcome.execution.target == _COMPLETE and (is_order or self._closing.claims > 0)
            if self._ask_description(outcome, now):
                self._looking = outcome
            elif is_claim:
                self._handle_claim(outcome, is_order=is_order)
            else:
                self._remember_outcome(outcome)

    def _ask_description(self, outcome: Finished, now: float) -> bool:
        """Ask the model for a description if the outcome is a successful look; return whether the model was asked."""
        target = outcome.execution.target
        if not isinstance(target, ObserveTarget) or not outcome.result.success:
            return False
        return self._asker.describe(self.controller.view, target.focus, now)

    def _handle_claim(self, outcome: Finished, *, is_order: bool) -> None:
        """End the exploration if the claim that it is complete is accepted; otherwise, tell the model why not."""
        left = self.controller.state.frontiers
        cut_off = self.controller.navigation.frontiers_cut_off
        if not self._closing.accept_claim(len(left), cut_off, by_person=is_order):
            ids = ", ".join(str(frontier.id) for frontier in left[:5])
            reason = f"{len(left)} frontiers are left ({ids}): say it again to end all the same"
            outcome = replace(outcome, result=replace(outcome.result, success=False, stopped_reason=reason))
            self.controller.amend(outcome.result)
        self._remember_outcome(outcome)

    def _remember_outcome(self, outcome: Finished) -> None:
        position = self.controller.state.current_position
        self.memory.update_after_action(outcome.execution.decision, outcome.result, position)

    def _record_block(self, outcome: Finished, now: float) -> None:
        """Record that a decision was blocked, in the executor, in local exploration and in the memory."""
        position = self.controller.state.current_position
        result = outcome.result
        decision = outcome.execution.decision
        target = outcome.execution.target
        self._asker.is_disturbed = True
        self.executor.blocked_actions.record_blocked(decision)
        if place := result.data.get("unseen"):
            # Not a failure of the goal: the map shows the obstacle now, and there may be a path around the obstacle.
            self.memory.record_unseen(place)
        elif isinstance(target, NavGoalTarget):
            self._local.record_failure(target.x, target.y, now)
            bearing = math.degrees(position.bearing_to(target.x, target.y))
            self.memory.record_dead_end(bearing, position, result.stopped_reason)
        elif decision.tool_name == Tool.MOVE_TOWARD:
            self.memory.record_dead_end(Direction(decision.parameters["direction"]), position, result.stopped_reason)

    def _watch_model(self, now: float) -> None:
        """If the model is gone or its answer is overdue, carry out the next decision without the model.

        If nothing is left to explore, end the exploration or repeat the drive home.
        """
        decision = self._fallback.watch(self._asker.seconds_owed(now), now, is_alone=self._asker.is_alone)
        if decision is not None:
            self._carry_out(decision)
        elif self._local.is_over:
            left = len(self.controller.state.frontiers) + self.controller.navigation.frontiers_cut_off
            if not self._closing.accept_nothing_left(has_given_up=left > 0):
                self._local.start_over()

    def _count_time(self, now: float) -> None:
        """Add the time since the last step to the present tier; regularly note statistics and save the memory."""
        tiers = self._counts.tiers
        tier = self._fallback.tier.value
        tiers[tier] = tiers.get(tier, 0.0) + now - self._accounted_at
        self._accounted_at = now
        self.memory.state.exploration_duration_s = round(self._earlier_s + now - self._began, 2)
        passed = now - self._reported_at
        if passed >= self.settings.report_s:
            self._reported_at = now
            self._note_statistics(passed)
            self._save_memory()

    def _note_statistics(self, seconds: float) -> None:
        """Note statistics of the last ``seconds``, the time since the last report."""
        counts = self._counts
        latencies = self._asker.latencies_s
        asked_by_trigger = counts.asked_for.get(Choice.TRIGGER, 0)
        totals = (counts.calls, asked_by_trigger, counts.skips, len(latencies))
        increases = [total - reported for total, reported in zip(totals, self._reported, strict=True)]
        calls, triggered, skips, answers = increases
        self._reported = totals
        calls_per_min = round(60 * calls / seconds, 1) if seconds else 0.0
        avg_latency_ms = round(1000 * fmean(latencies[-answers:])) if answers else 0
        statistics = {
            "calls_per_min": calls_per_min,
            "triggered": triggered,
            "skipped": skips,
            "avg_latency_ms": avg_latency_ms,
            "tier": self._fallback.tier.value,
            "network_tier": self.executor.network_monitor.current_tier,
        }
        self.controller.note("statistics", statistics)

    def _save_memory(self) -> None:
        """Save the memory with the current frontiers; if the file cannot be written, note the fault."""
        state = self.controller.state
        self.memory.update_frontiers(state.frontiers, state.current_position)
        if self.settings.memory_path is None:
            return
        try:
            self.memory.save_to_disk(self.settings.memory_path)
        except SetupError as error:
            self.controller.note("not_saved", {"reason": str(error)})

    def _check_end(self, now: float) -> None:
        if fault := self.controller.sensor_fault:
            self._closing.end(Ending.SENSOR, fault)
        if self._stopping.is_set():
            self._closing.end(Ending.STOPPED)
        elif now >= self._end_at:
            self._closing.end(Ending.TIME)

    def _close_down(self) -> None:
        """Stop the robot, end the exploration, remember all results and save the memory, also after an error."""
        try:
            self.controller.robot.stop()
        except RobotError as error:
            self.controller.note("not_stopped", {"reason": str(error)})
        self.controller.hold("")
        self._closing.end(Ending.FAILED)
        self.controller.cancel(f"the exploration ended: {self._closing.because}")
        self._forget_question()
        while (outcome := self.controller.outcome()) is not None:
            self._remember_outcome(outcome)
        self._save_memory()
        self.controller.note("ended", {"reason": str(self._closing.ended), "because": self._closing.because})

    def summary(self) -> Summary:
        """Return the statistics of the exploration so far."""
        state = self.controller.state
        memory = self.memory.state
        minutes = (self._clock.now() - self._began) / 60
        interventions = dict(self.controller.interventions.counts)
        rooms = tuple(room.name for room in memory.rooms)
        return replace(
            self._counts,
            minutes=minutes,
            ended=self._closing.ended or "",
            because=self._closing.because,
            explored_m2=self.controller.navigation.map.explored_m2,
            frontiers_left=len(state.frontiers),
            distance_m=state.distance_traveled_m,
            interventions=interventions,
            average_latency_ms=self._asker.average_latency_ms,
            rooms=rooms,
            discoveries=memory.total_discoveries,
        )
