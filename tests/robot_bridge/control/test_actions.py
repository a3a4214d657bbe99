"""When an action is over, and whether it is a success: by what was measured."""

from __future__ import annotations

from math import radians

import pytest

from robot_bridge.contracts import Estimate, ExecutionResult, NavGoalTarget, Observation, Pose, Twist
from robot_bridge.control.actions import Action, Verdict, verdict
from robot_bridge.navigation.driving import NavStatus
from tests.support.robot_bridge.kinematic import decision

CENTRE = 0.1


def judged(goal: NavGoalTarget, pose: Pose, status: NavStatus) -> Verdict | None:
    action = Action(ExecutionResult(goal, decision("rotate", degrees=45), True), goal)
    return verdict(action, Observation(), Estimate(0.0, pose, Twist(), True), status, CENTRE)


@pytest.mark.parametrize("status", [NavStatus.ARRIVED, NavStatus.BLOCKED, NavStatus.IDLE])
def test_a_goal_with_a_heading_is_reached_when_that_is_faced(status: NavStatus) -> None:
    goal = NavGoalTarget(CENTRE, 0.0, radians(45), 0.08)
    assert judged(goal, Pose(), NavStatus.DRIVING) is None
    assert judged(goal, Pose(), status) == Verdict(False, "45 degrees are left to turn", True)
    assert judged(NavGoalTarget(CENTRE, 0.0, radians(10), 0.08), Pose(), status) == Verdict(True)
    behind = Pose(2 * CENTRE, 0.0, radians(170))
    assert judged(NavGoalTarget(CENTRE, 0.0, radians(-177), 0.08), behind, status) == Verdict(True)
    assert judged(NavGoalTarget(CENTRE, 0.0, None, 0.08), behind, status) == Verdict(True)


@pytest.mark.parametrize("heading", [None, 0.0])
def test_a_goal_is_reached_when_its_place_is(heading: float | None) -> None:
    near, far = (NavGoalTarget(CENTRE + ahead, 0.0, heading, 0.08) for ahead in (0.12, 0.5))
    assert judged(near, Pose(), NavStatus.BLOCKED) == Verdict(True)
    assert judged(far, Pose(), NavStatus.ARRIVED) == Verdict(False, "the way is blocked 0.5 m before the goal", True)
