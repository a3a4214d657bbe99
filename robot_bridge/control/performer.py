"""Carry out decisions one at a time: begin, command, judge, and report when they are over.

This module has no lock and no thread: :class:`robot_bridge.control.controller.Controller` has both.
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
"""After a longer hold the way is planned again: a robot that waited must not count as stuck."""
_MOVED_M: Final = 1.0
"""If a frontier has moved less than this, the robot drives to its old place and sees it from there."""


class Performer:
    """Carries out the executor's results.

    Args:
        config: the robot's configuration.
        navigation: drives to goals and turns.
        deliver: called once with every decision when it is over.

    Attributes:
        doubt: why the chain does not trust the measurements, or "". Nothing is judged while in doubt.
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
        """Return its result so far; None before it has controlled the robot for a period."""
        action = self._action
        if action is None or action.elapsed == 0.0:
            return None
        return action.result(self._make_interim_verdict()).result

    @property
    def is_driving(self) -> bool:
        """Return whether the action under way moves the robot."""
        return self._action is not None and isinstance(self._action.target, VelocityTarget | NavGoalTarget | TurnTarget)

    def _make_interim_verdict(self) -> Verdict:
        return Verdict(not self.doubt, self.doubt or UNDER_WAY)

    @property
    def is_overtaken(self) -> bool:
        """Return whether another result arrived since the action under way began."""
        return self._action is not None and self._action.is_overtaken

    def overtake(self) -> None:
        """Note that another result arrived."""
        if self._action:
            self._action.is_overtaken = True

    def begin(self, execution: ExecutionResult) -> None:
        """Carry out a new decision; see :meth:`robot_bridge.control.controller.Controller.begin`."""
        target = execution.target
        old = self._action
        if execution.is_valid and isinstance(target, VelocityTarget) and target.duration_s == 0:
            self._deliver(_finish_at_once(execution, Verdict(True)))
        elif execution.is_valid and old is not None and old.is_same_goal(execution):
            self._go_on(old, execution)
        else:
            self.end(Verdict(False, f"broken off for {execution.decision.tool_name}"))
            self._start(execution)

    def end(self, found: Verdict) -> None:
        """End the action under way and deliver its result."""
        action = self._action
        self._action = None
        if action is None:
            return
        if action.is_navigated:
            self._navigation.cancel()
        self._deliver(action.result(found))

    def record_motion(self, distance: float, turned: float) -> None:
        """Take in what odometry says of one period: metres of the way, rad."""
        if self._action and not self.doubt:
            self._action.record_motion(distance, turned)

    def hold(self) -> None:
        """Count a period in which somebody else controls the robot."""
        self._held_s += self._period

    def next_velocity(self, now: float) -> tuple[Twist, Source] | None:
        """Return the velocity wanted in this period and its source; None if nothing is under way."""
        action = self._action
        if action is None:
            return None
        self._take_up_again(action)
        if isinstance(action.target, VelocityTarget):
            return action.target.twist, Source.MODEL
        if action.is_navigated:
            return self._navigation.twist(now), Source.PLANNER
        return REST, Source.MODEL

    def judge(
        self, asked: float, applied: Applied, observation: Observation, frontiers: Iterable[Frontier], now: float
    ) -> None:
        """End the action if it is over. In this period it asked for ``asked`` m/s and the chain made it ``applied``."""
        action = self._action
        if action is None or self.doubt:
            return
        speed = observation.odometry.twist.linear if observation.odometry else 0.0
        action.record_command(asked, applied, speed, now, self._period)
        wanted = frontier_of(action.execution)
        is_gone = wanted is not None and all(frontier.id != wanted for frontier in frontiers)
        action.goal_gone = action.goal_gone + self._period if is_gone else 0.0
        found = verdict(action, observation, self._navigation.estimate, self._navigation.status, self._centre)
        if found is not None:
            self.end(found)

    def _take_up_again(self, action: Action) -> None:
        held = self._held_s
        self._held_s = 0.0
        if held <= RESUMED_AFTER_S:
            return
        match action.target:
            case NavGoalTarget() as goal:
                self._navigation.go_to(goal)
            case TurnTarget(radians=wanted):
                self._navigation.turn(wanted - action.turned)
            case _:
                pass

    def _go_on(self, action: Action, execution: ExecutionResult) -> None:
        """Continue to the current goal for a new decision; a frontier may have moved as more of it was seen.

        The way is planned again only if the goal has moved far: a maneuver restarted again and again leads nowhere.
        """
        self._deliver(action.result(self._make_interim_verdict()))
        old = action.target
        new = execution.target
        has_moved = (
            isinstance(old, NavGoalTarget)
            and isinstance(new, NavGoalTarget)
            and hypot(new.x - old.x, new.y - old.y) > _MOVED_M
            and self._navigation.go_to(new)
        )
        self._action = Action(execution, new if has_moved else old)

    def _start(self, execution: ExecutionResult) -> None:
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


def _finish_at_once(execution: ExecutionResult, found: Verdict) -> Finished:
    return Action(execution, execution.target).result(found)
