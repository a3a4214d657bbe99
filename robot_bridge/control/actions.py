"""An action under way: its result so far, and whether it is over. Measured by odometry, never by commands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import degrees, hypot, radians
from typing import Any, Final

from robot_bridge.contracts import (
    ActionResult,
    Applied,
    Estimate,
    ExecutionResult,
    NavGoalTarget,
    Observation,
    ObserveTarget,
    StopTarget,
    Target,
    TurnTarget,
    VelocityTarget,
    wrap_angle,
)
from robot_bridge.navigation.driving import NavStatus

ENOUGH_OF_A_MOVE: Final = 0.6
"""Share of the commanded distance from which a ``move_toward`` is a success."""
TURN_TOLERANCE: Final = radians(15)
GOAL_SLACK: Final = 0.05
"""Metres by which a goal's tolerance may be missed: the estimate still moves after the robot has stopped."""
HELD_S: Final = 1.0
"""A move held up for this long counts as blocked."""
SETTLED_S: Final = 0.2
MAX_LOOK_S: Final = 3.0
MAX_STOP_S: Final = 2.0
UNDER_WAY: Final = "still under way"
_AT_REST: Final = 0.01
"""m/s."""


@dataclass(frozen=True, slots=True)
class Finished:
    """A decision and its result; ``is_blocked`` if something was in the way."""

    execution: ExecutionResult
    result: ActionResult
    is_blocked: bool = False


@dataclass(slots=True)
class Verdict:
    """The end of an action: whether it succeeded, and why it ended."""

    success: bool
    stopped_reason: str = ""
    is_blocked: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Action:
    """The measurements of a decision that is being carried out; ``target`` is what is really driven to.

    ``elapsed``: seconds in control of the robot; ``driven``: metres; ``turned``: rad; ``asked``: metres commanded;
    ``held``: seconds for which the chain has not let it move; ``is_overtaken``: another result arrived since it began,
    which is newer to a model than this one.
    """

    execution: ExecutionResult
    target: Target
    elapsed: float = 0.0
    driven: float = 0.0
    turned: float = 0.0
    asked: float = 0.0
    held: float = 0.0
    held_reason: str = ""
    goal_gone: float = 0.0
    rest_since: float | None = None
    is_overtaken: bool = False

    @property
    def is_navigated(self) -> bool:
        """Whether path planning moves the robot."""
        return isinstance(self.target, NavGoalTarget | TurnTarget)

    def is_same_goal(self, execution: ExecutionResult) -> bool:
        """Return whether another decision only confirms this one: the same frontier, or a place within tolerance."""
        mine = self.target
        other = execution.target
        if not isinstance(mine, NavGoalTarget) or not isinstance(other, NavGoalTarget):
            return False
        if mine.heading != other.heading:
            return False
        frontier = frontier_of(self.execution)
        if frontier is not None and frontier == frontier_of(execution):
            return True
        tolerance = min(mine.tolerance, other.tolerance)
        return hypot(mine.x - other.x, mine.y - other.y) <= tolerance

    def record_motion(self, distance: float, turned: float) -> None:
        """Take in what odometry says of one period: metres of the way, rad."""
        self.driven += distance
        self.turned += turned

    def record_command(self, linear: float, applied: Applied, speed: float, now: float, period: float) -> None:
        """Take in one period: the speed asked for, the safety chain's result, and the measured speed, m/s."""
        self.elapsed += period
        if abs(speed) > _AT_REST:
            self.rest_since = None
        elif self.rest_since is None:
            self.rest_since = now
        self.asked += abs(linear) * period
        if abs(linear) > _AT_REST and abs(applied.twist.linear) <= _AT_REST:
            self.held += period
            self.held_reason = applied.reason or "held"
        else:
            self.held = 0.0

    def result(self, verdict: Verdict) -> Finished:
        """Return the result, including what the executor changed."""
        execution = self.execution
        data = dict(execution.data)
        if execution.is_valid and execution.reason:
            data["override"] = execution.reason
        data.update(verdict.data)
        found = ActionResult(
            execution.decision.tool_name,
            verdict.success,
            round(self.driven, 3),
            round(degrees(self.turned), 1),
            verdict.stopped_reason,
            data,
        )
        return Finished(execution, found, verdict.is_blocked)


def frontier_of(execution: ExecutionResult) -> int | None:
    """Return the id of the frontier that a decision, as read by the executor, drives to, or None."""
    decision = execution.decision
    if not isinstance(execution.target, NavGoalTarget) or decision.parameters.get("goal_type") != "frontier":
        return None
    return int(decision.parameters["frontier_id"])


def verdict(
    action: Action, observation: Observation, estimate: Estimate, status: NavStatus, centre: float
) -> Verdict | None:
    """Return the verdict on an action that is over, or None.

    ``centre`` is how far ahead of the rear axle the middle of the footprint lies.
    """
    match action.target:
        case VelocityTarget(duration_s=duration):
            return _judge_move(action, duration)
        case TurnTarget(radians=wanted):
            return _judge_turn(action, wanted, status)
        case NavGoalTarget() as goal:
            return _judge_goal(action, goal, estimate, status, centre)
        case ObserveTarget():
            return _judge_look(action, observation)
        case StopTarget():
            return _judge_stop(action)


def _judge_move(action: Action, duration: float) -> Verdict | None:
    if action.held >= HELD_S:
        return Verdict(_is_enough(action), action.held_reason, True)
    if action.elapsed < duration - 1e-6:
        return None
    if _is_enough(action):
        return Verdict(True)
    reason = action.held_reason or f"only {action.driven:.2f} of {action.asked:.2f} m were driven"
    return Verdict(False, reason, True)


def _is_enough(action: Action) -> bool:
    return action.driven >= ENOUGH_OF_A_MOVE * action.asked


def _judge_turn(action: Action, wanted: float, status: NavStatus) -> Verdict | None:
    if status is NavStatus.DRIVING:
        return None
    if abs(action.turned - wanted) <= TURN_TOLERANCE:
        return Verdict(True)
    reason = f"only {degrees(action.turned):.0f} of {degrees(wanted):.0f} degrees were turned"
    return Verdict(False, reason, status is NavStatus.BLOCKED)


def _judge_goal(
    action: Action, goal: NavGoalTarget, estimate: Estimate, status: NavStatus, centre: float
) -> Verdict | None:
    if action.goal_gone >= SETTLED_S:
        return Verdict(True, data={"status": "the frontier has been seen"})
    if status is NavStatus.DRIVING:
        return None
    x, y = estimate.pose.ahead(centre)
    missing = hypot(goal.x - x, goal.y - y)
    if missing > goal.tolerance + GOAL_SLACK:
        return Verdict(False, f"the way is blocked {missing:.1f} m before the goal", True)
    off = 0.0 if goal.heading is None else abs(wrap_angle(goal.heading - estimate.pose.heading))
    if off > TURN_TOLERANCE:
        return Verdict(False, f"{degrees(off):.0f} degrees are left to turn", True)
    return Verdict(True)


def _judge_look(action: Action, observation: Observation) -> Verdict | None:
    frame = observation.frame
    still = action.rest_since
    if frame is not None and still is not None and frame.stamp >= still + SETTLED_S:
        return Verdict(True)
    if action.elapsed >= MAX_LOOK_S:
        return Verdict(False, "no picture came from the camera")
    return None


def _judge_stop(action: Action) -> Verdict | None:
    if action.rest_since is not None:
        return Verdict(True)
    if action.elapsed >= MAX_STOP_S:
        return Verdict(False, "the robot still moves")
    return None
