"""The control loop: a tick observes, estimates, asks the current action for a command, and lets the chain decide.

::

    observe -> navigation.update -> action -> commands -> SafetyChain.step -> Robot.apply -> journal -> wait

The loop knows nothing about models. :meth:`Controller.begin` takes a decision as :class:`ExecutionResult`, and
:meth:`Controller.outcome` returns the measured result of each once. Only one thread may call ``tick``; any thread may
call the rest. The lock is held while a tick computes, never while it waits.
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
_LASTS: Final = 2.5
"""Number of periods for which a command is valid."""


class Controller:
    """Carries out decisions on a robot, 20 times a second.

    Args:
        robot: the body; its creator closes it.
        clock: the robot's clock.
        navigation: map, estimate and ways.
        chain: the only path to the wheels.

    Attributes:
        view: the state of the last tick.
        journals: record everything, in this order; none at first.
        pace: share of the commanded speed that is driven, 0 to 1.
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
        self._next = self._began = clock.now()
        self._performer = Performer(self.config, navigation, self._deliver)
        self._finished = deque[Finished]()
        self._hold = ""
        self._human: Command | None = None
        self._wanted: tuple[Twist, Source] | None = None
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
        """State of the last tick with the current time, so that its age shows if it is outdated."""
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
        """Run one period of the control loop; return at its end.

        Raises:
            DeviceError: the robot failed. This, like any other error, stops the robot first.
        """
        try:
            with self._lock:
                applied = self._tick()
            self._wait()
        except BaseException as error:  # never leave the robot driving, whatever went wrong
            _LOG.info("the robot is stopped: %s ends the control loop", type(error).__name__)
            with contextlib.suppress(RobotError, OSError):
                self.robot.stop()
            raise
        return applied

    def _wait(self) -> None:
        """Wait until the next period begins; skip periods that have already passed."""
        self._next = max(self._next + self._period, self.clock.now())
        self.clock.wait_until(self._next)

    def _tick(self) -> Applied:
        now = self.clock.now()
        observation = self.robot.observe()
        estimate = self.navigation.update(observation)
        self._measure(observation.odometry)
        self._refresh(now)
        commands = self._commands(now)
        # All this may have taken long: the chain must judge by the time at which the robot drives.
        decided = self.clock.now()
        applied = self.chain.step(commands, observation, decided)
        self.robot.apply(applied.twist)
        if applied.twist != REST and self.chain.state.stopped:  # pressed meanwhile: apply has overtaken its stop
            self.robot.stop()
        self.interventions.count_result(applied)
        for journal in self.journals:
            journal.record_observation(observation)
            journal.record_estimate(estimate)
            journal.record_command(decided, commands, applied)
        self._heed(observation.odometry, applied)
        self.view = self._make_view(now, observation)
        self._judge(observation, commands, applied, now)
        return applied

    @property
    def sensor_fault(self) -> str:
        """Return why a sensor is unusable until :meth:`release`, or ""."""
        doubt = self.chain.state.doubt
        return doubt.reason if doubt.phase is Phase.UNUSABLE else ""

    def _heed(self, odometry: Odometry | None, applied: Applied) -> None:
        """Act on the chain's findings: an obstacle that the lidar does not see, or an unusable sensor."""
        doubt = self.chain.state.doubt
        fault = self.sensor_fault
        is_acted_on = not fault and applied.reason.startswith(doubt.reason)
        self._performer.doubt = doubt.reason if is_acted_on else ""
        if fault and not self._is_unusable:
            self._performer.end(Verdict(False, fault, True))
            self.note("sensor_unusable", {"reason": fault})
        self._is_unusable = bool(fault)
        newest = doubt.unseen[-1] if doubt.unseen else None
        if newest is None or newest.stamp <= self._unseen_at or odometry is None:
            return
        self._unseen_at = newest.stamp
        points = transform_from_frame(transform_to_frame(newest.points, odometry.pose), self.navigation.estimate.pose)
        self.navigation.mark(points)
        place = [round(float(each), 2) for each in points.mean(axis=0)]
        self._performer.end(Verdict(False, BLOCKED_UNSEEN, True, {"unseen": place}))
        self.note("unseen_obstacle", {"place": place})

    def note(self, kind: str, data: Mapping[str, Any]) -> None:
        """Note a kind of event with its data in the journal."""
        now = self.clock.now()
        for journal in self.journals:
            journal.record_note(now, kind, data)

    def _make_view(self, now: float, observation: Observation) -> View:
        view = View(
            now,
            self.config,
            observation,
            self.navigation.estimate,
            self._frontiers,
            self._travelled,
            now - self._began,
        )
        return self._add_actions(view)

    def _add_actions(self, view: View) -> View:
        """Return the view with the action under way and the result of the previous one."""
        current = self._performer.current
        so_far = self._performer.so_far()
        previous = self._last_result if so_far is None or self._performer.is_overtaken else so_far
        return replace(view, previous_action_result=previous, current=current, so_far=so_far)

    def _measure(self, odometry: Odometry | None) -> None:
        last = self._odometry
        self._odometry = odometry or self._odometry
        if odometry is None or last is None or odometry.stamp == last.stamp:
            return
        moved = odometry.pose.relative_to(last.pose)
        distance = hypot(moved.x, moved.y)
        self._travelled += distance
        self._performer.record_motion(distance, moved.heading)

    def _refresh(self, now: float) -> None:
        """Update what need not be updated on every tick: frontiers and the journal's map."""
        if now >= self._frontiers_due:
            self._frontiers_due = now + FRONTIER_PERIOD_S
            self._frontiers = self.navigation.frontiers()
        if now >= self._map_due:
            self._map_due = now + MAP_PERIOD_S
            self._tell_map(now)

    def _tell_map(self, now: float) -> None:
        grid = self.navigation.map
        for journal in self.journals if grid.codes.size else ():
            journal.record_map(now, grid.codes, grid.resolution, grid.x, grid.y)

    def _commands(self, now: float) -> tuple[Command, ...]:
        """Return the commands of whoever controls the robot now."""
        if self._human is not None and self._human.expires > now:
            self._performer.hold()
            return (self._human,)
        self._human = None
        expires = now + _LASTS * self._period
        if self._hold:
            self._performer.hold()
            return (Command(REST, Source.MODEL, expires),)
        wanted = self._performer.next_velocity(now)
        if wanted is None:
            return ()
        if wanted[0] == REST and self._performer.doubt and self._performer.is_driving:
            wanted = self._wanted or wanted  # the chain can find the cause only while a command asks for motion
        twist, source = self._wanted = wanted
        paced = Twist(twist.linear * self.pace, twist.angular * self.pace)
        return (Command(paced, source, expires),)

    def _judge(self, observation: Observation, commands: tuple[Command, ...], applied: Applied, now: float) -> None:
        if commands and not self._hold and self._human is None:
            self._performer.judge(commands[0].twist.linear, applied, observation, self._frontiers, now)

    def _deliver(self, finished: Finished) -> None:
        self._finished.append(finished)
        self.amend(finished.result)
        now = self.clock.now()
        for journal in self.journals:
            journal.record_action(now, finished.result)

    def amend(self, result: ActionResult) -> None:
        """Make this the result that the next snapshot shows, for example with a description added.

        Every view from now on has it, until another decision begins; views taken before do not.
        """
        with self._lock:
            self._last_result = result
            self._performer.overtake()
            self.view = self._add_actions(self.view)

    def way_to(self, x: float, y: float) -> float | None:
        """Return the length of the way over the map to a place, metres, or None; takes about as long as a tick."""
        with self._lock:
            return self.navigation.way_to(x, y)

    def begin(self, execution: ExecutionResult) -> None:
        """Carry out the executor's result of a decision, instead of the action under way.

        A decision that only asks or reports leaves the action under way unchanged; one for the current goal continues
        the drive; a refused one stops the robot.
        """
        with self._lock:
            now = self.clock.now()
            for journal in self.journals:
                journal.record_decision(now, execution)
            self._performer.begin(execution)
            self.view = self._add_actions(self.view)

    def outcome(self) -> Finished | None:
        """Return the oldest result not yet collected, with its decision, or None."""
        with self._lock:
            return self._finished.popleft() if self._finished else None

    def current_view(self) -> View | None:
        """Return the current state, or None while :meth:`outcome` still has earlier results."""
        with self._lock:
            return None if self._finished else self.view

    def cancel(self, reason: str) -> None:
        """Break off the action under way; the robot stops."""
        with self._lock:
            self._performer.end(Verdict(False, reason))

    def run(
        self, execution: ExecutionResult, timeout: float, after_tick: Callable[[], None] = lambda: None
    ) -> ActionResult:
        """Tick until a decision is over and return its result; break it off after ``timeout`` s (robot clock)."""
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
        """Stand still until called with "", then continue the action under way. A human's command is still obeyed."""
        with self._lock:
            self._hold = reason

    def override(self, twist: Twist | None, seconds: float = 0.5) -> None:
        """Let a person drive at this velocity for ``seconds``; None returns control. The action under way waits."""
        with self._lock:
            self._human = None if twist is None else Command(twist, Source.HUMAN, self.clock.now() + seconds)

    @property
    def is_overridden(self) -> bool:
        """Whether a person drives."""
        human = self._human
        return human is not None and human.expires > self.clock.now()

    def emergency_stop(self, reason: str) -> None:
        """Stop now, until :meth:`release`, and break off the action under way.

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
        """Stop the robot, break off the action under way, and record the map for the last time.

        Raises:
            DeviceError: the stop did not reach the robot.
        """
        with self._lock:
            try:
                self.robot.stop()
            finally:
                self._performer.end(Verdict(False, "the controller was closed"))
                self._tell_map(self.clock.now())
