"""The control loop: a tick observes, estimates, asks the action for a command, and sends the command through the chain.

::

    observe -> navigation.update -> action -> commands -> SafetyChain.step -> Robot.apply -> journal -> wait

The loop knows nothing about models. :meth:`Controller.begin` takes a decision as :class:`ExecutionResult`, and
:meth:`Controller.outcome` returns the measured result of every decision once. Only one thread may call ``tick``; any
thread may call the other methods. The lock is held while a tick computes, never while a tick waits.
"""

from __future__ import annotations

import contextlib
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import hypot, inf
from threading import RLock
from typing import Any, Final

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    REST,
    ActionResult,
    Applied,
    Command,
    ExecutionResult,
    Frontier,
    Observation,
    Odometry,
    Source,
    Twist,
)
from robot_bridge.control.actions import Finished, Verdict
from robot_bridge.control.performer import Performer
from robot_bridge.control.state import View
from robot_bridge.errors import RobotError
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.protocols import Clock, Journal, Robot
from robot_bridge.safety.chain import Interventions, SafetyChain
from robot_bridge.safety.doubt import BLOCKED_UNSEEN, Phase
from robot_bridge.safety.geometry import transform_from_frame, transform_to_frame

_LOG: Final = logging.getLogger(__name__)

MAP_PERIOD_S: Final = 5.0
FRONTIER_PERIOD_S: Final = 0.5
_VALID_PERIODS: Final = 2.5
"""Number of control periods for which a command is valid."""


class Controller:
    """Control loop that carries out decisions on a robot, 20 times a second.

    Args:
        robot: the robot, which its creator closes.
        clock: the robot's clock.
        navigation: the map, the estimate of the pose, and the planner of paths.
        chain: the safety chain, through which all commands pass.

    Attributes:
        view: the state of the last tick.
        journals: record all events, called in this order; empty at first.
        pace: fraction of the commanded speed that is driven, 0 to 1.
        interventions: counts of the safety chain's interventions so far.
    """

    def __init__(self, robot: Robot, clock: Clock, navigation: Navigation, chain: SafetyChain) -> None:
        self.robot = robot
        self.clock = clock
        self.navigation = navigation
        self.chain = chain
        self.journals: Sequence[Journal] = ()
        self.config: RobotConfig = robot.config
        self.pace = 1.0
        self.interventions = Interventions()
        self._lock = RLock()
        self._period = 1 / self.config.control_rate
        self._next_tick = self._began = clock.now()
        self._performer = Performer(self.config, navigation, self._deliver)
        self._finished = deque[Finished]()
        self._hold_reason = ""
        self._human: Command | None = None
        self._last_wanted: tuple[Twist, Source] | None = None
        self._unseen_at = -inf
        self._is_unusable = False
        self._odometry: Odometry | None = None
        self._travelled = 0.0
        self._frontiers: tuple[Frontier, ...] = ()
        self._frontiers_due = self._map_due = self._began
        self._last_result: ActionResult | None = None
        self.view = View(self._began, self.config, estimate=navigation.estimate)

    @property
    def state(self) -> View:
        """State of the last tick with the present time as ``now``, so that outdated measurements show their age."""
        return replace(self.view, now=self.clock.now())

    @property
    def is_idle(self) -> bool:
        """Whether no decision is being carried out."""
        return self.current is None

    @property
    def current(self) -> ExecutionResult | None:
        """Decision that is being carried out, or None."""
        return self._performer.current

    def tick(self) -> Applied:
        """Run one period of the control loop, wait for its end, and return the applied velocity.

        If an error occurs, the robot is stopped before the error is raised.

        Raises:
            DeviceError: the robot failed.
        """
        try:
            with self._lock:
                applied = self._tick()
            self._wait()
        except BaseException as error:  # no error may leave the robot driving
            _LOG.info("the robot is stopped: %s ends the control loop", type(error).__name__)
            with contextlib.suppress(RobotError, OSError):
                self.robot.stop()
            raise
        return applied

    def _wait(self) -> None:
        """Wait until the next period begins; skip periods that have already passed."""
        self._next_tick = max(self._next_tick + self._period, self.clock.now())
        self.clock.wait_until(self._next_tick)

    def _tick(self) -> Applied:
        """Observe, estimate, command, record and judge once; return the applied velocity."""
        now = self.clock.now()
        observation = self.robot.observe()
        estimate = self.navigation.update(observation)
        self._record_motion(observation.odometry)
        self._refresh(now)
        commands = self._choose_commands(now)
        # The computations above may have taken long, but the chain must judge by the time at which the robot drives.
        decided = self.clock.now()
        applied = self.chain.step(commands, observation, decided)
        self.robot.apply(applied.twist)
        # If an emergency stop in another thread reached the robot just before apply, the stop must be repeated.
        if applied.twist != REST and self.chain.state.stopped:
            self.robot.stop()
        self.interventions.count_result(applied)
        for journal in self.journals:
            journal.record_observation(observation)
            journal.record_estimate(estimate)
            journal.record_command(decided, commands, applied)
        self._handle_doubt(observation.odometry, applied)
        self.view = self._make_view(now, observation)
        self._judge(observation, commands, applied, now)
        return applied

    @property
    def sensor_fault(self) -> str:
        """Why a sensor is unusable until :meth:`release` is called, or "" if all sensors can be used."""
        doubt = self.chain.state.doubt
        return doubt.reason if doubt.phase is Phase.UNUSABLE else ""

    def _handle_doubt(self, odometry: Odometry | None, applied: Applied) -> None:
        """Act on the chain's comparison of commanded and measured motion.

        If a sensor has become unusable, end the action under way. If the chain has found an obstacle that the lidar
        does not see, mark the obstacle in the map and end the action under way.
        """
        doubt = self.chain.state.doubt
        fault = self.sensor_fault
        has_effect = not fault and applied.reason.startswith(doubt.reason)
        self._performer.doubt = doubt.reason if has_effect else ""
        if fault and not self._is_unusable:
            self._performer.end(Verdict(False, fault, is_blocked=True))
            self.note("sensor_unusable", {"reason": fault})
        self._is_unusable = bool(fault)

        newest = doubt.unseen[-1] if doubt.unseen else None
        if newest is None or newest.stamp <= self._unseen_at or odometry is None:
            return
        self._unseen_at = newest.stamp
        # From the odometry frame to the robot's frame to the map frame.
        robot_points = transform_to_frame(newest.points, odometry.pose)
        points = transform_from_frame(robot_points, self.navigation.estimate.pose)
        self.navigation.mark(points)
        place = [round(float(coordinate), 2) for coordinate in points.mean(axis=0)]
        self._performer.end(Verdict(False, BLOCKED_UNSEEN, is_blocked=True, data={"unseen": place}))
        self.note("unseen_obstacle", {"place": place})

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Record an event of a kind, with its data, in all journals."""
        now = self.clock.now()
        for journal in self.journals:
            journal.record_note(now, kind, data)

    def _make_view(self, now: float, observation: Observation) -> View:
        view = View(
            now=now,
            config=self.config,
            observation=observation,
            estimate=self.navigation.estimate,
            frontiers=self._frontiers,
            distance_traveled_m=self._travelled,
            explore_time_s=now - self._began,
        )
        return self._add_actions(view)

    def _add_actions(self, view: View) -> View:
        """Return the view with the action under way and the newest result.

        The newest result is the result so far of the action under way, unless another result arrived after the action
        began.
        """
        current = self._performer.current
        so_far = self._performer.so_far()
        previous = self._last_result if so_far is None or self._performer.is_overtaken else so_far
        return replace(view, previous_action_result=previous, current=current, so_far=so_far)

    def _record_motion(self, odometry: Odometry | None) -> None:
        """Add the motion since the previous odometry reading to the distance travelled and to the action under way."""
        last = self._odometry
        self._odometry = odometry or self._odometry
        if odometry is None or last is None or odometry.stamp == last.stamp:
            return
        moved = odometry.pose.relative_to(last.pose)
        distance = hypot(moved.x, moved.y)
        self._travelled += distance
        self._performer.record_motion(distance, moved.heading)

    def _refresh(self, now: float) -> None:
        """Update the frontiers and record the map, each only as often as its period requires."""
        if now >= self._frontiers_due:
            self._frontiers_due = now + FRONTIER_PERIOD_S
            self._frontiers = self.navigation.frontiers()
        if now >= self._map_due:
            self._map_due = now + MAP_PERIOD_S
            self._record_map(now)

    def _record_map(self, now: float) -> None:
        grid = self.navigation.map
        if not grid.codes.size:
            return
        for journal in self.journals:
            journal.record_map(now, grid.codes, grid.resolution, grid.x, grid.y)

    def _choose_commands(self, now: float) -> tuple[Command, ...]:
        """Return the commands for this period: one command, or none if there is no action under way.

        A person's command comes first. On hold, the command is zero velocity. Otherwise the action under way determines
        the command.
        """
        if self._human is not None and self._human.expires > now:
            self._performer.hold()
            return (self._human,)
        self._human = None
        expires = now + _VALID_PERIODS * self._period
        if self._hold_reason:
            self._performer.hold()
            return (Command(REST, Source.MODEL, expires),)
        wanted = self._performer.next_velocity(now)
        if wanted is None:
            return ()
        is_resting_in_doubt = wanted[0] == REST and bool(self._performer.doubt)
        if is_resting_in_doubt and self._performer.is_driving:
            # The chain can find the cause of the doubt only while a command asks for motion.
            wanted = self._last_wanted or wanted
        self._last_wanted = wanted
        twist, source = wanted
        paced = Twist(twist.linear * self.pace, twist.angular * self.pace)
        return (Command(paced, source, expires),)

    def _judge(self, observation: Observation, commands: tuple[Command, ...], applied: Applied, now: float) -> None:
        """If the action under way controlled the robot in this period, record the period and judge the action."""
        if commands and not self._hold_reason and self._human is None:
            self._performer.judge(commands[0].twist.linear, applied, observation, self._frontiers, now)

    def _deliver(self, finished: Finished) -> None:
        """Queue a result for :meth:`outcome`, show the result in the view, and record the result."""
        self._finished.append(finished)
        self.amend(finished.result)
        now = self.clock.now()
        for journal in self.journals:
            journal.record_action(now, finished.result)

    def amend(self, result: ActionResult) -> None:
        """Replace the previous result in the view, for example by a result with a description added.

        All views from now on show ``result``, until another decision begins. Views taken before do not change.
        """
        with self._lock:
            self._last_result = result
            self._performer.overtake()
            self.view = self._add_actions(self.view)

    def way_to(self, x: float, y: float) -> float | None:
        """Return the length of the path to a place in the map frame, in metres, or None if no path is known.

        The call takes about as long as a tick.
        """
        with self._lock:
            return self.navigation.way_to(x, y)

    def begin(self, execution: ExecutionResult) -> None:
        """Begin to carry out a decision that the executor has checked, and end the action under way.

        A decision that only asks or reports does not change the action under way. A decision for the current goal
        continues the drive. A refused decision stops the robot.
        """
        with self._lock:
            now = self.clock.now()
            for journal in self.journals:
                journal.record_decision(now, execution)
            self._performer.begin(execution)
            self.view = self._add_actions(self.view)

    def outcome(self) -> Finished | None:
        """Remove and return the oldest decision with its result, or return None if all results are collected."""
        with self._lock:
            return self._finished.popleft() if self._finished else None

    def current_view(self) -> View | None:
        """Return the current state, or None if results are still waiting to be collected with :meth:`outcome`."""
        with self._lock:
            return None if self._finished else self.view

    def cancel(self, reason: str) -> None:
        """End the action under way as failed and stop the robot."""
        with self._lock:
            self._performer.end(Verdict(False, reason))

    def run(
        self, execution: ExecutionResult, timeout: float, after_tick: Callable[[], None] = lambda: None
    ) -> ActionResult:
        """Carry out a decision: tick until the decision is over, and return its result.

        After ``timeout`` seconds of the robot's clock, the decision ends as failed. ``after_tick`` is called after
        every tick.
        """
        self.begin(execution)
        end = self.clock.now() + timeout
        while True:
            while (outcome := self.outcome()) is not None:
                if outcome.execution is execution:
                    return outcome.result
            if self.clock.now() >= end:
                self.cancel(f"not done within {timeout:.0f} s")
                continue
            self.tick()
            after_tick()

    def hold(self, reason: str) -> None:
        """Hold the robot still until ``hold`` is called with ""; the action under way then continues.

        A person's command is still obeyed on hold.
        """
        with self._lock:
            self._hold_reason = reason

    def override(self, twist: Twist | None, seconds: float = 0.5) -> None:
        """Drive at a person's velocity for ``seconds`` while the action under way waits.

        If ``twist`` is None, return control to the action.
        """
        with self._lock:
            self._human = None if twist is None else Command(twist, Source.HUMAN, self.clock.now() + seconds)

    @property
    def is_overridden(self) -> bool:
        """Whether a person drives the robot."""
        human = self._human
        return human is not None and human.expires > self.clock.now()

    def emergency_stop(self, reason: str) -> None:
        """Stop the robot at once and latch the stop until :meth:`release`; end the action under way as failed.

        Raises:
            DeviceError: the stop did not reach the robot; the chain is latched nevertheless.
        """
        self.chain.stop(reason)
        _LOG.info("emergency stop: %s", reason)
        try:
            self.robot.stop()
        finally:
            with self._lock:
                self._performer.end(Verdict(False, f"emergency stop: {reason}"))
                self.note("emergency_stop", {"reason": reason})

    def release(self) -> None:
        """Lift an emergency stop."""
        with self._lock:
            self.chain.release()
            self.note("release", {})

    def close(self) -> None:
        """Stop the robot, end the action under way as failed, and record the map for the last time.

        Raises:
            DeviceError: the stop did not reach the robot.
        """
        with self._lock:
            try:
                self.robot.stop()
            finally:
                self._performer.end(Verdict(False, "the controller was closed"))
                self._record_map(self.clock.now())
