"""Measure the action under way and decide when the action is over; success comes from odometry, never from commands."""

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
"""A ``move_toward`` is a success if the robot drove at least this fraction of the commanded distance."""
TURN_TOLERANCE: Final = radians(15)
"""Greatest error of the heading after a turn, in radians."""
GOAL_SLACK: Final = 0.05
"""Metres that are added to a goal's tolerance, because the estimate still changes after the robot has stopped."""
HELD_S: Final = 1.0
"""If the safety chain holds up a move for this long, the move counts as blocked."""
SETTLED_S: Final = 0.2
"""Seconds for which the robot must stand still before a picture counts, and for which a frontier must be gone."""
MAX_LOOK_S: Final = 3.0
"""Longest wait for a picture."""
MAX_STOP_S: Final = 2.0
"""Longest wait until the robot stands still."""
UNDER_WAY: Final = "still under way"
_AT_REST: Final = 0.01
"""Up to this speed, in m/s, the robot counts as standing still."""


@dataclass(frozen=True, slots=True)
class Finished:
    """Decision with its result; ``is_blocked`` says whether an obstacle was in the way."""

    execution: ExecutionResult
    result: ActionResult
    is_blocked: bool = False


@dataclass(slots=True)
class Verdict:
    """End of an action: whether the action succeeded, and why the action ended ("" for the planned end)."""

    success: bool
    stopped_reason: str = ""
    is_blocked: bool = False
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Action:
    """Decision that is being carried out, with its measurements.

    Attributes:
        execution: the result of the executor's check of the decision.
        target: the target that the robot pursues, which may differ slightly from the decision's target.
        elapsed: seconds for which the action has controlled the robot.
        driven: metres driven.
        turned: radians turned, counter-clockwise.
        asked: metres commanded.
        held: seconds for which the safety chain has held up the motion without a break.
        held_reason: why the chain last held up the motion.
        goal_gone: if the goal is a frontier that does not exist any more, the seconds since it disappeared.
        rest_since: time at which the robot came to rest, or None while the robot moves.
        is_overtaken: whether a result of another decision arrived after this action began.
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
        """Whether the path planner moves the robot."""
        return isinstance(self.target, NavGoalTarget | TurnTarget)

    def is_same_goal(self, execution: ExecutionResult) -> bool:
        """Return whether another decision has this action's goal: the same frontier, or a place within tolerance."""
        target = self.target
        other = execution.target
        if not isinstance(target, NavGoalTarget) or not isinstance(other, NavGoalTarget):
            return False
        if target.heading != other.heading:
            return False
        frontier = frontier_of(self.execution)
        if frontier is not None and frontier == frontier_of(execution):
            return True
        tolerance = min(target.tolerance, other.tolerance)
        return hypot(target.x - other.x, target.y - other.y) <= tolerance

    def record_motion(self, distance: float, turned: float) -> None:
        """Add the motion of a control period, according to odometry: metres driven and radians turned."""
        self.driven += distance
        self.turned += turned

    def record_command(self, linear: float, applied: Applied, speed: float, now: float, period: float) -> None:
        """Add a control period in which this action controlled the robot.

        Args:
            linear: commanded speed, m/s.
            applied: velocity that the safety chain let through.
            speed: measured speed, m/s.
            now: time of the period.
            period: length of the period, s.
        """
        self.elapsed += period
        if abs(speed) > _AT_REST:
            self.rest_since = None
        elif self.rest_since is None:
            self.rest_since = now
        self.asked += abs(linear) * period
        is_held_up = abs(linear) > _AT_REST and abs(applied.twist.linear) <= _AT_REST
        if is_held_up:
            self.held += period
            self.held_reason = applied.reason or "held"
        else:
            self.held = 0.0

    def result(self, verdict: Verdict) -> Finished:
        """Return the decision with its result.

        If the executor changed the decision, the result's data says how, under the key "override".
        """
        execution = self.execution
        data = dict(execution.data)
        if execution.is_valid and execution.reason:
            data["override"] = execution.reason
        data.update(verdict.data)
        distance_m = round(self.driven, 3)
        turned_deg = round(degrees(self.turned), 1)
        tool = execution.decision.tool_name
        result = ActionResult(tool, verdict.success, distance_m, turned_deg, verdict.stopped_reason, data)
        return Finished(execution, result, verdict.is_blocked)


def frontier_of(execution: ExecutionResult) -> int | None:
    """Return the id of the frontier to which a decision drives the robot, or None if the goal is no frontier."""
    parameters = execution.decision.parameters
    if not isinstance(execution.target, NavGoalTarget) or parameters.get("goal_type") != "frontier":
        return None
    return int(parameters["frontier_id"])


def verdict(
    action: Action, observation: Observation, estimate: Estimate, status: NavStatus, centre: float
) -> Verdict | None:
    """Return the verdict on an action that is over, or None if the action is not over.

    ``centre`` is the distance from the rear axle forward to the middle of the footprint, in metres.
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
    """Return the verdict on a move that is over, else None.

    A move is over if the safety chain has held it up for ``HELD_S``, or if its duration is over.
    """
    if action.held >= HELD_S:
        return Verdict(_has_driven_enough(action), action.held_reason, is_blocked=True)
    if action.elapsed < duration - 1e-6:  # a sum of periods may fall short of the duration by a rounding error
        return None
    if _has_driven_enough(action):
        return Verdict(True)
    reason = action.held_reason or f"only {action.driven:.2f} of {action.asked:.2f} m were driven"
    return Verdict(False, reason, is_blocked=True)


def _has_driven_enough(action: Action) -> bool:
    return action.driven >= ENOUGH_OF_A_MOVE * action.asked


def _judge_turn(action: Action, wanted: float, status: NavStatus) -> Verdict | None:
    """Return the verdict on a turn by ``wanted`` radians, or None while navigation still drives."""
    if status is NavStatus.DRIVING:
        return None
    if abs(action.turned - wanted) <= TURN_TOLERANCE:
        return Verdict(True)
    reason = f"only {degrees(action.turned):.0f} of {degrees(wanted):.0f} degrees were turned"
    return Verdict(False, reason, is_blocked=status is NavStatus.BLOCKED)


def _judge_goal(
    action: Action, goal: NavGoalTarget, estimate: Estimate, status: NavStatus, centre: float
) -> Verdict | None:
    """Return the verdict on a drive to a goal that is over, else None.

    The drive is over if its frontier has disappeared, or if navigation has ended.
    """
    if action.goal_gone >= SETTLED_S:
        return Verdict(True, data={"status": "the frontier has been seen"})
    if status is NavStatus.DRIVING:
        return None
    x, y = estimate.pose.ahead(centre)
    distance = hypot(goal.x - x, goal.y - y)
    if distance > goal.tolerance + GOAL_SLACK:
        return Verdict(False, f"the way is blocked {distance:.1f} m before the goal", is_blocked=True)
    turn = 0.0
    if goal.heading is not None:
        turn = abs(wrap_angle(goal.heading - estimate.pose.heading))
    if turn > TURN_TOLERANCE:
        return Verdict(False, f"{degrees(turn):.0f} degrees are left to turn", is_blocked=True)
    return Verdict(True)


def _judge_look(action: Action, observation: Observation) -> Verdict | None:
    """Return the verdict on a look that is over, else None.

    The look succeeds if the camera has taken a picture while the robot stood still. It fails after ``MAX_LOOK_S``.
    """
    frame = observation.frame
    rest_since = action.rest_since
    if frame is not None and rest_since is not None:
        is_taken_at_rest = frame.stamp >= rest_since + SETTLED_S
        if is_taken_at_rest:
            return Verdict(True)
    if action.elapsed >= MAX_LOOK_S:
        return Verdict(False, "no picture came from the camera")
    return None


def _judge_stop(action: Action) -> Verdict | None:
    """Return success once the robot stands still, failure if the robot moves for too long, else None."""
    if action.rest_since is not None:
        return Verdict(True)
    if action.elapsed >= MAX_STOP_S:
        return Verdict(False, "the robot still moves")
    return None
