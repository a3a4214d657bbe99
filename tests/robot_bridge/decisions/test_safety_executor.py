"""Decisions become targets, or refusals with a reason; a stop is never refused."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite, nan, pi
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.contracts import (
    REST,
    Frontier,
    NavGoalTarget,
    NavigationDecision,
    ObserveTarget,
    Pose,
    StopReason,
    StopTarget,
    Tool,
    TurnTarget,
    VelocityTarget,
)
from robot_bridge.control.state import View
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import NOTHING_TO_DRIVE, BlockedActionMemory, SafetyExecutor
from tests.support.robot_bridge.kinematic import decision, goal
from tests.support.robot_bridge.rays import CONFIG, Post, scan_of, seen

_HALL = 6.0


class Situated:
    """An executor in a place, at a time."""

    def __init__(self, *posts: Post, room: float = _HALL, frontiers: tuple[Frontier, ...] = ()) -> None:
        self.time = 0.0
        self.posts, self.room, self.frontiers = posts, room, frontiers
        self.executor = SafetyExecutor(lambda: self.time, CONFIG, Pose(1.0, 2.0, 0.0))
        self.memory = ExplorationMemory()

    def view(self, scan_age: float = 0.0) -> View:
        scan = scan_of(self.posts, stamp=self.time - scan_age, room=self.room)
        return View(self.time, CONFIG, seen(scan, now=self.time), frontiers=self.frontiers)

    def execute(self, made: NavigationDecision, scan_age: float = 0.0) -> Any:
        return self.executor.execute_decision(made, self.view(scan_age), self.memory)


def move(
    direction: str = "forward", speed: str = "fast", duration_s: float = 4.0, at: float = 0.0
) -> NavigationDecision:
    return decision("move_toward", at, direction=direction, speed=speed, duration_s=duration_s)


def test_a_move_in_the_open_is_taken_as_it_is() -> None:
    result = Situated().execute(move())
    assert result.is_valid
    assert result.reason == ""
    assert result.target == VelocityTarget(result.target.twist, 4.0)
    assert result.target.twist.linear == pytest.approx(0.18)


def test_nearer_than_half_a_metre_is_refused_with_the_distance() -> None:
    result = Situated((0.55, 0.0, 0.01)).execute(move())
    assert not result.is_valid
    assert isinstance(result.target, StopTarget)
    assert "0.4" in result.reason
    assert "forward" in result.reason


def test_a_pole_on_the_arc_but_not_in_the_direction_is_refused() -> None:
    pole = (0.42, 0.0, 0.01)
    assert not Situated(pole).execute(move("left")).is_valid


def test_nearer_than_a_metre_is_slow() -> None:
    result = Situated((0.95, 0.0, 0.01)).execute(move())
    assert result.is_valid
    assert result.decision.parameters["speed"] == "slow"
    assert result.target.twist.linear == pytest.approx(0.08)
    assert "slowed down" in result.reason


@pytest.mark.parametrize("age", [0.25, 5.0])
def test_a_stale_scan_refuses_to_move(age: float) -> None:
    result = Situated().execute(move(), scan_age=age)
    assert not result.is_valid
    assert "lidar" in result.reason


def test_what_is_blocked_may_be_tried_twice_more_within_fifteen_seconds() -> None:
    given = Situated((0.5, 0.0, 0.01))
    reasons = []
    for second in range(4):
        given.time = float(second)
        reasons.append(given.execute(move(at=given.time)).reason)
    assert all("blocked: obstacle" in reason for reason in reasons[:3])
    assert "choose something else" in reasons[3]
    given.time = 2.0 + 15.1
    assert "blocked: obstacle" in given.execute(move(at=given.time)).reason


def test_blocked_memory_is_by_tool_and_direction_or_degrees() -> None:
    blocked = BlockedActionMemory(lambda: 0.0)
    for _ in range(3):
        blocked.record_blocked(move("left"))
        blocked.record_blocked(decision("rotate", degrees=90))
    assert blocked.should_allow(move("left"))[0] is False
    assert blocked.should_allow(move("right")) == (True, "")
    assert blocked.should_allow(decision("rotate", degrees=90))[0] is False
    assert blocked.should_allow(decision("rotate", degrees=-90))[0] is True


def test_goals() -> None:
    given = Situated(frontiers=(Frontier(7, 3.0, -1.0, 1.2),))
    x, _ = Pose(1.0, 2.0).ahead(CONFIG.body.centre)
    assert given.execute(goal(goal_type="frontier", frontier_id=7)).target == NavGoalTarget(3.0, -1.0)
    assert given.execute(goal(goal_type="retrace")).target == NavGoalTarget(x, 2.0)
    assert given.execute(goal(x=4.0, y=-2.5)).target == NavGoalTarget(4.0, -2.5)


def test_a_frontier_that_is_gone_is_refused_with_those_that_are_there() -> None:
    result = Situated(frontiers=(Frontier(7, 3.0, -1.0, 1.2),)).execute(goal(goal_type="frontier", frontier_id=8))
    assert not result.is_valid
    assert "there are: 7" in result.reason


def test_null_coordinates_are_told_to_the_model() -> None:
    result = Situated().execute(goal())
    assert not result.is_valid
    assert "not null" in result.reason


def test_rotate_observe_and_stop() -> None:
    given = Situated()
    assert given.execute(decision("rotate", degrees=-90)).target == TurnTarget(-pi / 2)
    assert given.execute(decision("observe_scene", focus="doorways")).target == ObserveTarget("doorways")
    assert given.execute(decision("stop_robot", reason="uncertain")).target == StopTarget("uncertain")


def test_check_path_is_answered_at_once_and_moves_nothing() -> None:
    result = Situated((1.0, 0.0, 0.01)).execute(decision("check_path_clear", direction="forward", distance_m=3.0))
    assert result.target is NOTHING_TO_DRIVE
    assert result.data["clear"] is False
    assert result.data["obstacle_type"] == "thin"
    assert 0.5 < result.data["obstacle_distance_m"] < 1.0


def test_a_discovery_is_remembered_and_moves_nothing() -> None:
    given = Situated()
    made = decision("report_discovery", label="kitchen", notes=None, significance="room")
    assert given.execute(made).target is NOTHING_TO_DRIVE
    assert given.memory.state.current_room == "kitchen"


def test_an_old_decision_is_about_another_world() -> None:
    given = Situated()
    given.time = 20.0
    assert "expired" in given.execute(move(at=7.0)).reason
    assert given.execute(decision("stop_robot", at=0.0, reason="uncertain")).is_valid


@pytest.mark.parametrize("tool", ["stop_robot", "rotate"])
def test_arguments_that_are_no_object(tool: str) -> None:
    result = Situated().execute(NavigationDecision(tool, [1, 2], timestamp=0.0))  # type: ignore[arg-type]
    assert result.is_valid == (tool == "stop_robot")
    assert result.decision.parameters == {}


_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**12), 10**12),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(
        ["forward", "left", "fast", "frontier", "coordinates", "retrace", "exploration_complete", "general"]
    ),
    st.lists(st.integers(), max_size=2),
)
_NAMES = st.sampled_from(
    ["direction", "speed", "duration_s", "goal_type", "frontier_id", "x", "y", "degrees", "reason", "focus", "label"]
)


@given(parameters=st.dictionaries(st.one_of(_NAMES, st.text(max_size=5)), _VALUES, max_size=5), stamp=st.floats())
def test_a_stop_is_never_refused(parameters: Mapping[str, Any], stamp: float) -> None:
    result = Situated().execute(NavigationDecision(Tool.STOP_ROBOT, parameters, timestamp=stamp))
    assert result.is_valid
    assert isinstance(result.target, StopTarget)
    assert result.target.reason in set(StopReason)


@given(
    tool=st.one_of(st.sampled_from(Tool), st.text(max_size=10)),
    parameters=st.dictionaries(_NAMES, _VALUES, max_size=8),
    stamp=st.one_of(st.just(0.0), st.floats()),
)
def test_whatever_a_model_says_becomes_a_bounded_target(tool: str, parameters: Mapping[str, Any], stamp: float) -> None:
    result = Situated().execute(NavigationDecision(tool, parameters, timestamp=stamp))
    target = result.target
    assert result.is_valid or (isinstance(target, StopTarget) and result.reason)
    assert "\n" not in result.reason
    if isinstance(target, VelocityTarget):
        assert target.twist == REST or abs(target.twist.angular / target.twist.linear) <= CONFIG.body.curvature_limit
        assert 0 <= target.duration_s <= 8
    if isinstance(target, NavGoalTarget):
        assert isfinite(target.x)
        assert isfinite(target.y)


def test_a_pose_is_checked_as_a_decision_and_is_the_target() -> None:
    place = Situated()
    far, here = NavGoalTarget(1.0004, -2.0, 0.3, 0.08), NavGoalTarget(CONFIG.body.centre, 0.1, pi / 2, 0.08)
    assert place.executor.execute_pose(far, "why", place.view()).target is far
    turned = place.executor.execute_pose(here, "why", place.view())
    assert (turned.target, turned.decision.tool_name) == (here, "rotate")
    for _ in range(3):
        place.executor.blocked_actions.record_blocked(turned.decision)
    again = place.executor.execute_pose(here, "why", place.view())
    assert not again.is_valid
    assert "was blocked 3 times" in again.reason
    assert isinstance(again.target, StopTarget)


@pytest.mark.parametrize(
    "pose",
    [NavGoalTarget(nan, 0.0), NavGoalTarget(1e9, 0.0, 0.0), NavGoalTarget(0.0, inf), NavGoalTarget(0.0, 0.0, nan)],
)
def test_what_is_not_a_pose_is_refused(pose: NavGoalTarget) -> None:
    place = Situated()
    result = place.executor.execute_pose(pose, "why", place.view())
    assert not result.is_valid
    assert isinstance(result.target, StopTarget)
    assert result.reason
