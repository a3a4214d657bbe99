"""What the lidar does not see, from the wheels to what the model reads: a pane across a room of pure geometry."""

from __future__ import annotations

import numpy as np
import pytest

from robot_bridge.agent.pilot import Pilot
from robot_bridge.contracts import REST, NavGoalTarget, Observation, Pose, StopTarget, Twist, VelocityTarget
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import SafetyExecutor
from robot_bridge.exploration.endings import Ending
from robot_bridge.safety.doubt import BLOCKED_UNSEEN, Phase
from robot_bridge.safety.geometry import transform_from_frame
from robot_bridge.twin.noise import NO_NOISE
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import TwinWorld, Wall
from tests.robot_bridge.control.test_controller import accepted
from tests.support.frozen_sensors import Disguise, FrozenSensors
from tests.support.robot_bridge.collisions import make_pane, make_step, make_table, touched_now, watch_collisions
from tests.support.robot_bridge.kinematic import KinematicRobot, Log, rig
from tests.support.robot_bridge.rays import CONFIG
from tests.support.robot_bridge.scripted import FORWARD, SHADOW, Scripted, explorer
from tests.support.tiers import few

PANE_X, PANE_Y = 0.9, 0.5
"""It stands across x, and reaches as far to either side."""


def behind_glass(robot: KinematicRobot) -> None:
    """Put a pane before a robot: its front comes no farther than that."""
    free = robot.drive

    def drive(seconds: float) -> None:
        before = robot.pose
        free(seconds)
        body = CONFIG.body
        corners = [robot.pose.ahead(body.front, side) for side in (-body.half_width, body.half_width)]
        is_through = any(x > PANE_X and abs(y) < PANE_Y for x, y in corners)
        if is_through and robot.pose.x < PANE_X:
            robot.pose = before

    robot.drive = drive  # type: ignore[method-assign]


def glazed() -> tuple[Controller, KinematicRobot, Log]:
    controller, robot, log = rig([(2.0, 1.5, 0.2), (-1.5, 1.0, 0.3)])
    behind_glass(robot)
    for _ in range(10):
        controller.tick()
    return controller, robot, log


def test_driving_against_glass_is_told_as_that_and_marked_for_good() -> None:
    controller, robot, log = glazed()
    controller.begin(accepted(VelocityTarget(Twist(0.18), 8.0)))
    so_far = []
    while (outcome := controller.outcome()) is None:
        controller.tick()
        result = controller.state.previous_action_result
        if controller.chain.state.doubt.phase is not Phase.TRUSTED and result is not None:
            so_far.append((result.success, result.stopped_reason))
    assert so_far
    assert all(not success and "backing to find out why" in reason for success, reason in so_far)
    assert (outcome.result.success, outcome.result.stopped_reason) == (False, BLOCKED_UNSEEN)
    assert outcome.is_blocked
    assert outcome.result.data["unseen"] == pytest.approx([PANE_X, 0.0], abs=0.03)
    assert log.kinds() == ["unseen_obstacle"]
    chart = controller.navigation.map
    for _ in range(60):
        controller.tick()
        assert chart.occupied[chart.cell(*outcome.result.data["unseen"])]
    assert robot.pose.x + CONFIG.body.front > PANE_X - CONFIG.witness.backing - 0.02


def test_who_says_stop_meanwhile_is_obeyed() -> None:
    controller, _, _ = glazed()
    controller.begin(accepted(VelocityTarget(Twist(0.18), 8.0)))
    while controller.chain.state.doubt.phase is not Phase.BACKING:
        controller.tick()
    controller.begin(accepted(StopTarget("stop"), "stop_robot"))
    assert all(controller.tick().twist == REST for _ in range(40))
    assert controller.is_idle
    assert controller.chain.state.doubt.phase is Phase.BACKING


@pytest.mark.long
def test_a_goal_behind_glass_is_reached_around_it() -> None:
    controller, robot, _ = glazed()
    reasons = []
    for _ in range(8):
        result = controller.run(accepted(NavGoalTarget(1.8, 0.0), "navigate_to_goal"), 90)
        if result.success:
            break
        reasons.append(result.stopped_reason)
    assert result.success
    assert reasons
    assert set(reasons) == {BLOCKED_UNSEEN}
    assert robot.pose.x > PANE_X


def beside_glass(robot: KinematicRobot, beside: Pose) -> None:
    """Put a pane 1.8 m long, across the y axis of a frame in which the robot stands at ``beside``: its outline comes no
    farther along x than 0."""
    free, (length, half) = robot.drive, (CONFIG.body.front + CONFIG.body.rear, CONFIG.body.half_width)
    along, across = (each.ravel() for each in np.meshgrid(np.linspace(0, length, 13), (-half, half)))
    outline = np.column_stack((along - CONFIG.body.rear, across))

    def drive(seconds: float) -> None:
        before = robot.pose
        free(seconds)
        x, y = transform_from_frame(transform_from_frame(outline, robot.pose), beside).T
        if ((x > 0) & (x < 0.2) & (y > -1.16) & (y < 0.64)).any():
            robot.pose = before

    robot.drive = drive  # type: ignore[method-assign]


@pytest.mark.long
def test_a_robot_that_has_touched_a_pane_beside_it_on_both_ways_is_not_shut_in() -> None:
    controller, robot, _ = rig([(2.0, 1.5, 0.2), (-1.5, 1.0, 0.3)])
    beside_glass(robot, Pose(-0.25, -0.837, 2.16))
    reasons = []
    for curvature, metres in ((0.8, -0.12), (2.4, -0.22), (-2.88, 0.15), (2.88, -0.15)):
        speed = 0.1 if metres > 0 else -0.1
        target = VelocityTarget(Twist(speed, speed * curvature), abs(metres / speed))
        reasons.append(controller.run(accepted(target), 20).stopped_reason)
    assert reasons == ["", "", BLOCKED_UNSEEN, BLOCKED_UNSEEN]
    result = controller.run(accepted(NavGoalTarget(0.9, -0.3), "navigate_to_goal"), 60)
    assert (result.success, result.stopped_reason) == (True, "")


def test_a_robot_that_has_just_turned_round_leaves_what_it_touches_as_it_has_come() -> None:
    controller, robot, _ = rig([(2.0, 1.5, 0.2), (-1.5, 1.0, 0.3)])
    beside_glass(robot, Pose(-0.235, -0.837, 2.16))
    for curvature, metres in ((0.8, -0.12), (2.4, -0.22)):
        target = VelocityTarget(Twist(-0.1, -0.1 * curvature), abs(metres / 0.1))
        assert controller.run(accepted(target), 20).success
    turned = robot.pose
    result = controller.run(accepted(VelocityTarget(Twist(0.1, -0.288), 1.5)), 20)
    assert result.stopped_reason == BLOCKED_UNSEEN
    assert 0.05 < robot.pose.relative_to(turned).x < 0.15


def test_the_agent_is_not_told_that_it_stands_where_it_could_not_drive() -> None:
    controller, robot, _ = glazed()
    executor = SafetyExecutor(robot.clock.now, CONFIG, Pose())
    pilot = Pilot(controller, executor, ExplorationMemory(), lambda: None)
    result = pilot._carry_out(accepted(VelocityTarget(Twist(0.18), 8.0)))
    assert (result.success, result.stopped_reason) == (False, BLOCKED_UNSEEN)


def test_what_is_unseen_is_in_the_memory_and_in_the_next_message_and_in_a_later_map() -> None:
    model = Scripted(FORWARD, FORWARD, FORWARD, FORWARD, FORWARD)
    host, robot, _ = explorer(model)
    behind_glass(robot)
    host.run(0.5)
    assert host.memory.state.unseen[0] == pytest.approx([PANE_X, 0.0], abs=0.05)
    assert any(f'stopped: "{BLOCKED_UNSEEN}"' in message for message in model.messages)
    places = [line for message in model.messages for line in message.split("\n") if "  Unseen obstacles: (" in line]
    assert places
    later, *_ = rig()
    later.navigation.mark(host.memory.state.unseen)
    chart = later.navigation.map
    assert chart.occupied[chart.cell(*host.memory.state.unseen[0])]


@pytest.mark.parametrize("disguise", few(1, [Disguise.DITHER, Disguise.ODOMETRY]))
def test_an_exploration_with_a_frozen_lidar_ends_with_an_unusable_sensor(disguise: Disguise) -> None:
    host, robot, log = explorer(None, SHADOW)
    sensors, see = FrozenSensors(disguise, 4.0, np.random.default_rng(1)), robot.observe

    def observe() -> Observation:
        return sensors.spoilt(see())

    robot.observe = observe  # type: ignore[method-assign]
    summary = host.run(1)
    assert summary.ended is Ending.SENSOR
    assert summary.ended.exit_code == 1
    assert "a sensor is unusable" in summary.because
    assert log.kinds().count("sensor_unusable") == 1
    host.controller.release()
    assert host.controller.sensor_fault == ""


def test_the_twin_has_what_its_lidar_does_not_see_and_its_body_touches() -> None:
    walls = (Wall(-3.1, -3, -3, 3), Wall(3, -3, 3.1, 3), Wall(-3, -3.1, 3, -3), Wall(-3, 3, 3, 3.1))
    for hidden in (make_pane(0.5, 0, 0.01, 1), make_table(0.6, 0, 0.1, 1), make_step(0.6, 0, 0.1, 1)):
        robot = MujocoRobot(TwinWorld(walls, (), (hidden,), Pose(), "x"), noise=NO_NOISE, with_camera=False)
        log = watch_collisions(robot)
        scan = robot.observe().scan
        assert scan is not None
        assert scan.ranges[180] == pytest.approx(3.0 - CONFIG.lidar.x, abs=0.01)
        while robot.time < 2.5:
            robot.apply(Twist(0.18))
            robot.wait_until(robot.time + 0.05)
        assert robot.truth.x == pytest.approx(0.24, abs=0.02)
        assert touched_now(robot, log)[0].startswith(hidden.name)
