"""The control loop over real navigation and the real chain: every decision comes back once, measured."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from robot_bridge.contracts import (
    REST,
    ActionResult,
    ExecutionResult,
    NavGoalTarget,
    Observation,
    ObserveTarget,
    StopTarget,
    Target,
    TurnTarget,
    Twist,
    VelocityTarget,
)
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import NOTHING_TO_DRIVE, SafetyExecutor
from robot_bridge.errors import DeviceError
from tests.support.robot_bridge.kinematic import Log, decision, goal, rig


def accepted(target: Target, tool: str = "move_toward", **parameters: Any) -> ExecutionResult:
    return ExecutionResult(target, decision(tool, **parameters), True)


AHEAD = accepted(VelocityTarget(Twist(0.12), 4.0))


def ticked(controller: Controller, seconds: float) -> None:
    for _ in range(round(seconds * 20)):
        controller.tick()


@pytest.mark.long
def test_a_move_is_measured_by_odometry() -> None:
    controller, robot, log = rig()
    result = controller.run(AHEAD, 10)
    assert (result.tool_name, result.success, result.stopped_reason) == ("move_toward", True, "")
    assert result.actual_distance_m == pytest.approx(robot.moved, abs=0.01)
    assert result.actual_distance_m == pytest.approx(0.48, abs=0.05)
    assert controller.state.distance_traveled_m == pytest.approx(result.actual_distance_m, abs=0.01)
    assert log.results == [result]


@pytest.mark.long
def test_what_the_executor_changed_is_told() -> None:
    controller, _, log = rig()
    slower = replace(AHEAD, reason="slowed down: obstacle 0.90 m forward")
    assert controller.run(slower, 10).data == {"override": "slowed down: obstacle 0.90 m forward"}
    controller.begin(replace(AHEAD, is_valid=False, reason="blocked"))
    assert (log.results[-1].stopped_reason, log.results[-1].data) == ("blocked", {})


def test_a_robot_that_does_not_move_has_not_succeeded_whatever_was_commanded() -> None:
    controller, robot, _ = rig()
    robot.is_stuck = True
    result = controller.run(AHEAD, 10)
    assert not result.success
    assert "odometry shows 0.00 m" in result.stopped_reason


@pytest.mark.long
def test_a_wall_ends_a_move_early_and_says_so() -> None:
    controller, robot, _ = rig(room=0.75)
    controller.begin(accepted(VelocityTarget(Twist(0.18), 8.0)))
    while (outcome := controller.outcome()) is None:
        controller.tick()
    assert outcome.is_blocked
    assert not outcome.result.success
    assert "obstacle" in outcome.result.stopped_reason
    assert robot.pose.x + 0.25 < 0.75


@pytest.mark.long
def test_a_turn_and_a_goal_and_a_look_and_a_stop() -> None:
    controller, robot, _ = rig()
    ticked(controller, 0.5)
    turn = controller.run(accepted(TurnTarget(1.57), "rotate"), 60)
    assert turn.success
    assert turn.turned_deg == pytest.approx(90, abs=15)
    there = controller.run(accepted(NavGoalTarget(1.5, 1.0), "navigate_to_goal"), 60)
    assert there.success
    x, y = robot.pose.ahead(controller.config.body.centre)
    assert abs(x - 1.5) + abs(y - 1.0) < 0.45
    look = controller.run(accepted(ObserveTarget("general"), "observe_scene"), 10)
    assert (look.success, look.stopped_reason) == (False, "no picture came from the camera")
    assert controller.run(accepted(StopTarget("uncertain"), "stop_robot"), 10).success
    assert robot.commanded == REST


def test_no_way_is_told_at_once() -> None:
    controller, _, _ = rig()
    ticked(controller, 0.5)
    result = controller.run(accepted(NavGoalTarget(50.0, 50.0), "navigate_to_goal"), 10)
    assert not result.success
    assert "no way" in result.stopped_reason


def test_what_only_asks_does_not_disturb_what_is_under_way() -> None:
    controller, _, log = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    question = ExecutionResult(NOTHING_TO_DRIVE, decision("check_path_clear"), True, data={"clear": True})
    controller.begin(question)
    outcome = controller.outcome()
    assert outcome is not None
    answer = outcome.result
    assert (answer.tool_name, answer.success, answer.data) == ("check_path_clear", True, {"clear": True})
    assert controller.current is AHEAD
    ticked(controller, 4)
    assert [result.success for result in log.results] == [True, True]


def test_a_new_decision_breaks_the_old_one_off_and_a_refusal_stops() -> None:
    controller, robot, log = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    controller.begin(accepted(VelocityTarget(Twist(-0.08), 2.0)))
    assert "broken off" in log.results[0].stopped_reason
    ticked(controller, 1)
    controller.begin(ExecutionResult(StopTarget("blocked"), decision("move_toward"), False, "blocked"))
    assert [result.stopped_reason for result in log.results[1:]] == ["broken off for move_toward", "blocked"]
    ticked(controller, 0.1)
    assert robot.commanded == REST
    assert controller.is_idle


@pytest.mark.long
def test_the_same_goal_is_driven_on_to() -> None:
    controller, _, log = rig()
    ticked(controller, 0.5)
    controller.begin(accepted(NavGoalTarget(2.0, 0.0), "navigate_to_goal"))
    ticked(controller, 2)
    second = accepted(NavGoalTarget(2.1, 0.0), "navigate_to_goal")
    controller.begin(second)
    assert controller.current is second
    assert (log.results[0].success, log.results[0].stopped_reason) == (True, "still under way")
    while controller.outcome() is None or not controller.is_idle:
        controller.tick()
    assert [result.success for result in log.results] == [True, True]


def test_a_model_is_told_what_is_under_way() -> None:
    controller, _, _ = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    told = controller.state.previous_action_result
    assert told is not None
    assert (told.tool_name, told.stopped_reason) == ("move_toward", "still under way")
    assert told.actual_distance_m > 0.05


@pytest.mark.long
def test_a_person_drives_and_what_was_under_way_goes_on() -> None:
    controller, robot, log = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    controller.override(Twist(-0.08), 1.0)
    ticked(controller, 0.5)
    assert robot.commanded.linear == pytest.approx(-0.08)
    assert log.applied[-1].source == "human"
    ticked(controller, 5)
    assert log.results[0].success


@pytest.mark.long
def test_hold_keeps_the_rest_of_a_move() -> None:
    controller, robot, log = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    controller.hold("waiting")
    ticked(controller, 4)
    assert robot.commanded == REST
    assert log.results == []
    controller.hold("")
    ticked(controller, 4)
    assert log.results[0].success


def test_an_emergency_stop_stays_until_it_is_released(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "robot_bridge.control.controller")
    controller, robot, log = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    controller.emergency_stop("a person said so")
    assert robot.commanded == REST
    assert "a person said so" in log.results[0].stopped_reason
    controller.begin(AHEAD)
    ticked(controller, 0.5)
    assert (robot.commanded, log.applied[-1].source) == (REST, "stop")
    controller.release()
    ticked(controller, 0.5)
    assert robot.commanded.linear > 0
    assert log.kinds() == ["emergency_stop", "release"]
    assert caplog.messages == ["emergency stop: a person said so"]


def test_a_broken_robot_is_told_to_stop_and_the_error_surfaces() -> None:
    controller, robot, _ = rig()
    controller.tick()
    robot.is_broken = True
    with pytest.raises(DeviceError):
        controller.tick()
    assert robot.stops == 1


def test_a_frontier_that_was_seen_through_is_reached() -> None:
    controller, _, log = rig()
    ticked(controller, 1)
    driven = accepted(NavGoalTarget(2.0, 0.0), "navigate_to_goal", goal_type="frontier", frontier_id=-7)
    controller.begin(driven)
    ticked(controller, 1)
    assert (log.results[0].success, log.results[0].data) == (True, {"status": "the frontier has been seen"})


def test_closing_stops_the_robot() -> None:
    controller, robot, log = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    controller.close()
    assert robot.commanded == REST
    assert not log.results[0].success


class FullDisk(Log):
    """Books that cannot be kept."""

    def record_action(self, now: float, result: ActionResult) -> None:
        raise OSError(f"{now}: no space left for {result}")


def test_closing_stops_the_robot_though_the_books_cannot_be_kept() -> None:
    controller, robot, _ = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    controller.journals = (FullDisk(),)
    with pytest.raises(OSError, match="no space"):
        controller.close()
    assert robot.commanded == REST


class Host(RuleBasedStateMachine):
    """Anything in any order: every decision comes back exactly once, and a stop stops."""

    def __init__(self) -> None:
        super().__init__()
        self.controller, self.robot, self.log = rig([(1.2, 0.3, 0.02), (-0.8, -0.4, 0.1)], room=2.0)
        self.executor = SafetyExecutor(self.controller.clock.now, self.controller.config)
        self.memory = ExplorationMemory()
        self.begun = 0
        self.controller.tick()

    @rule(
        tool=st.sampled_from(["move_toward", "rotate", "navigate_to_goal", "observe_scene", "check_path_clear", "x"]),
        direction=st.sampled_from(["forward", "left", "backward", "up"]),
        degrees=st.sampled_from([90, -45, 7]),
    )
    def decide(self, tool: str, direction: str, degrees: int) -> None:
        now = self.controller.clock.now()
        made = {
            "move_toward": decision(tool, now, direction=direction, speed="fast", duration_s=2.0),
            "rotate": decision(tool, now, degrees=degrees),
            "navigate_to_goal": goal(now, x=float(degrees) / 60, y=0.5),
            "observe_scene": decision(tool, now, focus="general"),
            "check_path_clear": decision(tool, now, direction=direction, distance_m=1.0),
        }.get(tool, decision(tool, now))
        self.controller.begin(self.executor.execute_decision(made, self.controller.state, self.memory))
        self.begun += 1

    @rule(ticks=st.integers(1, 15))
    def drive(self, ticks: int) -> None:
        ticked(self.controller, ticks / 20)

    @rule(linear=st.sampled_from([0.1, -0.1, 0.0]))
    def override(self, linear: float) -> None:
        self.controller.override(Twist(linear), 0.3)

    @rule(reason=st.sampled_from(["", "waiting"]))
    def hold(self, reason: str) -> None:
        self.controller.hold(reason)

    @rule()
    def stop(self) -> None:
        self.controller.emergency_stop("test")
        assert self.robot.commanded == REST
        self.controller.tick()
        assert self.robot.commanded == REST
        assert self.controller.is_idle
        self.controller.release()

    @invariant()
    def every_decision_comes_back_once(self) -> None:
        assert len(self.log.decisions) == self.begun
        assert len(self.log.results) == self.begun - (0 if self.controller.is_idle else 1)


TestHost = Host.TestCase
TestHost.settings = settings(max_examples=8, stateful_step_count=12, deadline=None)


def test_a_tick_that_takes_long_drives_on_nothing_that_is_old_by_then() -> None:
    controller, robot, _ = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    look = robot.observe

    def slow() -> Observation:
        found = look()
        robot.clock.time += 2.0
        return found

    robot.observe = slow  # type: ignore[method-assign]
    applied = controller.tick()
    assert applied.twist == REST == robot.commanded


def test_a_stop_that_comes_between_the_chain_and_the_wheels_is_not_overtaken() -> None:
    controller, robot, _ = rig()
    controller.begin(AHEAD)
    ticked(controller, 1)
    obey = robot.apply

    def pressed(twist: Twist) -> Twist:
        controller.chain.stop("pressed")
        robot.stop()
        return obey(twist)

    robot.apply = pressed  # type: ignore[method-assign]
    controller.tick()
    assert robot.commanded == REST


def test_what_is_under_way_is_broken_off_though_the_robot_cannot_be_told_to_stop() -> None:
    controller, robot, _ = rig()
    controller.begin(AHEAD)
    ticked(controller, 0.5)

    def lost() -> None:
        raise DeviceError("the cable is out")

    robot.stop = lost  # type: ignore[method-assign]
    with pytest.raises(DeviceError):
        controller.emergency_stop("operator")
    controller.release()
    assert controller.is_idle
