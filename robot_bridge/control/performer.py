"""Carry out decisions one at a time: begin the decision, command velocities, judge, and deliver the result.

This module has no lock and no thread; :class:`robot_bridge.control.controller.Controller` has a lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import hypot
from typing import Final

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    REST,
    ActionResult,
    Applied,
    ExecutionResult,
    Frontier,
    NavGoalTarget,
    Observation,
    Source,
    TurnTarget,
    Twist,
    VelocityTarget,
)
from robot_bridge.control.actions import UNDER_WAY, Action, Finished, Verdict, frontier_of, verdict
from robot_bridge.navigation.navigation import Navigation

RESUMED_AFTER_S: Final = 0.5
"""If a hold lasts longer than this, in seconds, the path is planned again. Otherwise a robot that waited would count as
stuck.
"""
_MOVED_M: Final = 1.0
"""If a frontier has moved at most this far, in metres, the robot still drives to the old place, from where it sees the
frontier.
"""


class Performer:
    """Performer that carries out decisions checked by the executor, one action at a time.

    Args:
        config: the robot's configuration.
        navigation: drives to goals and turns.
        deliver: called once for every decision, with its result, when the decision is over.

    Attributes:
        doubt: why the chain does not trust the measurements, or "". While in doubt, no action is judged.
    """

    def __init__(self, config: RobotConfig, navigation: Navigation, deliver: Callable[[Finished], None]) -> None:
        self._navigation = navigation
        self._deliver = deliver
        self._centre = config.body.centre
        self._period = 1 / config.control_rate
        self._action: Action | None = None
        self._held_s = 0.0
        self.doubt = ""

    @property
    def current(self) -> ExecutionResult | None:
        """Decision that is being carried out, or None."""
        action = self._action
        return action.execution if action else None

    def so_far(self) -> ActionResult | None:
        """Return the result so far of the action under way.

        Return None if there is no action, or if the action has not controlled the robot for a period yet.
        """
        action = self._action
        if action is None or action.elapsed == 0.0:
            return None
        return action.result(self._make_interim_verdict()).result

    @property
    def is_driving(self) -> bool:
        """Whether the action under way moves the robot."""
        return self._action is not None and isinstance(self._action.target, VelocityTarget | NavGoalTarget | TurnTarget)

    def _make_interim_verdict(self) -> Verdict:
        return Verdict(not self.doubt, self.doubt or UNDER_WAY)

    @property
    def is_overtaken(self) -> bool:
        """Whether a result of another decision arrived after the action under way began."""
        return self._action is not None and self._action.is_overtaken

    def overtake(self) -> None:
        """Record that a result of another decision arrived."""
        if self._action:
            self._action.is_overtaken = True

    def begin(self, execution: ExecutionResult) -> None:
        """Carry out a new decision; see :meth:`robot_bridge.control.controller.Controller.begin`."""
        target = execution.target
        old = self._action
        # The executor marks a decision that only asks or reports by a duration of 0.
        needs_no_motion = isinstance(target, VelocityTarget) and target.duration_s == 0
        if execution.is_valid and needs_no_motion:
            self._deliver(_finish_at_once(execution, Verdict(True)))
        elif execution.is_valid and old is not None and old.is_same_goal(execution):
            self._continue_drive(old, execution)
        else:
            self.end(Verdict(False, f"broken off for {execution.decision.tool_name}"))
            self._start(execution)

    def end(self, judgement: Verdict) -> None:
        """End the action under way with a verdict and deliver the result."""
        action = self._action
        self._action = None
        if action is None:
            return
        if action.is_navigated:
            self._navigation.cancel()
        self._deliver(action.result(judgement))

    def record_motion(self, distance: float, turned: float) -> None:
        """Add the motion of a period to the action: metres driven and radians turned, according to odometry."""
        if self._action and not self.doubt:
            self._action.record_motion(distance, turned)

    def hold(self) -> None:
        """Count a period in which the action under way does not control the robot."""
        self._held_s += self._period

    def next_velocity(self, now: float) -> tuple[Twist, Source] | None:
        """Return the velocity that the action wants in this period and its source, or None if there is no action."""
        action = self._action
        if action is None:
            return None
        self._resume_after_hold(action)
        if isinstance(action.target, VelocityTarget):
            return action.target.twist, Source.MODEL
        if action.is_navigated:
            return self._navigation.twist(now), Source.PLANNER
        return REST, Source.MODEL

    def judge(
        self, asked: float, applied: Applied, observation: Observation, frontiers: Iterable[Frontier], now: float
    ) -> None:
        """Add a control period to the action's measurements, and end the action if the action is over.

        Args:
            asked: speed that the action commanded in this period, m/s.
            applied: velocity that the safety chain let through.
            observation: newest readings of the sensors.
            frontiers: all frontiers that exist now.
            now: time of the period.
        """
        action = self._action
        if action is None or self.doubt:
            return
        speed = observation.odometry.twist.linear if observation.odometry else 0.0
        action.record_command(asked, applied, speed, now, self._period)
        wanted = frontier_of(action.execution)
        is_gone = wanted is not None and all(frontier.id != wanted for frontier in frontiers)
        action.goal_gone = action.goal_gone + self._period if is_gone else 0.0
        judgement = verdict(action, observation, self._navigation.estimate, self._navigation.status, self._centre)
        if judgement is not None:
            self.end(judgement)

    def _resume_after_hold(self, action: Action) -> None:
        """If the action was on hold for longer than ``RESUMED_AFTER_S``, plan the remaining motion again."""
        held_s = self._held_s
        self._held_s = 0.0
        if held_s <= RESUMED_AFTER_S:
            return
        match action.target:
            case NavGoalTarget() as goal:
                self._navigation.go_to(goal)
            case TurnTarget(radians=wanted):
                self._navigation.turn(wanted - action.turned)
            case _:
                pass

    def _continue_drive(self, action: Action, execution: ExecutionResult) -> None:
        """Deliver the old decision's result so far and continue the drive for a new decision with the same goal.

        The goal may have moved, because a frontier moves as more of it is seen. The path is planned again only if the
        goal has moved far, because a maneuver that is restarted again and again makes no progress.
        """
        self._deliver(action.result(self._make_interim_verdict()))
        target = action.target
        new = execution.target
        if isinstance(target, NavGoalTarget) and isinstance(new, NavGoalTarget):
            has_moved = hypot(new.x - target.x, new.y - target.y) > _MOVED_M
            if has_moved and self._navigation.go_to(new):
                target = new
        self._action = Action(execution, target)

    def _start(self, execution: ExecutionResult) -> None:
        """Make a decision the action under way; a decision that is refused or impossible is delivered as failed."""
        if not execution.is_valid:
            self._deliver(_finish_at_once(execution, Verdict(False, execution.reason)))
            return
        self._held_s = 0.0
        match execution.target:
            case NavGoalTarget(x=x, y=y) as goal if not self._navigation.go_to(goal):
                problem = f"no way to ({x:.2f}, {y:.2f}) in the map so far"
            case TurnTarget(radians=wanted) if not self._navigation.turn(wanted):
                problem = "no room to turn here"
            case _:
                self._action = Action(execution, execution.target)
                return
        self._deliver(_finish_at_once(execution, Verdict(False, problem, is_blocked=True)))


def _finish_at_once(execution: ExecutionResult, judgement: Verdict) -> Finished:
    """Return a decision that needs no motion, with its result."""
    return Action(execution, execution.target).result(judgement)
