"""What the simulated robot runs into, and what it passes: its hull is the footprint that is configured."""

from __future__ import annotations

import pytest

from robot_bridge.config import Body, RobotConfig
from robot_bridge.contracts import Pose, Twist
from robot_bridge.testing import drive_robot as drive
from robot_bridge.twin.noise import NO_NOISE
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import Kind, Obstacle, Thing, TwinWorld, Wall
from tests.support.robot_bridge.collisions import watch_collisions

BODY = Body()
CLOSE = 0.005
"""Metres."""


def met(
    twist: Twist, *obstacles: Obstacle, things: tuple[Thing, ...] = (), walls: tuple[Wall, ...] = (), body: Body = BODY
) -> tuple[list[tuple[str, bool]], float]:
    """What a robot at the origin met in four seconds, with whose fault it was, and how far it came, metres ahead."""
    world = TwinWorld(walls, things, obstacles, Pose(), "test")
    robot = MujocoRobot(world, config=RobotConfig(body=body), noise=NO_NOISE, with_camera=False)
    touched = watch_collisions(robot)
    drive(robot, robot.clock, twist, 4.0)
    return [(each.other, each.caused_by_robot) for each in touched.collisions], robot.truth.x


@pytest.mark.parametrize("body", [BODY, Body(front=0.3, rear=0.08, half_width=0.13)])
@pytest.mark.parametrize("side", [-1, 1])
def test_it_is_as_wide_as_it_is_configured(body: Body, side: int) -> None:
    beside = body.half_width + 0.01
    assert met(Twist(0.2), Obstacle.pole(0.6, side * (beside + CLOSE)), body=body)[0] == []
    assert met(Twist(0.2), Obstacle.pole(0.6, side * (beside - CLOSE)), body=body)[0] == [("pole0", True)]


@pytest.mark.parametrize("body", [BODY, Body(front=0.3, rear=0.08, half_width=0.13)])
@pytest.mark.parametrize("speed", [0.2, -0.1])
def test_it_is_as_long_as_it_is_configured(body: Body, speed: float) -> None:
    end = body.front if speed > 0 else -body.rear
    wall = Wall(0.5, -1, 0.6, 1) if speed > 0 else Wall(-0.5, -1, -0.4, 1)
    found, came = met(Twist(speed), walls=(wall,), body=body)
    assert found == [("wall0", True)]
    assert came + end == pytest.approx(0.5 if speed > 0 else -0.4, abs=CLOSE)


@pytest.mark.parametrize("state", ["closed", "locked"])
def test_a_shut_door_is_met_once_with_all_that_it_is_made_of(state: str) -> None:
    found, came = met(Twist(0.2), things=(Thing("door", "red", state, 0.6, 0.0),))
    assert found == [("thing0", True)]
    assert came + BODY.front == pytest.approx(0.6 - 0.03, abs=CLOSE)


@pytest.mark.parametrize(
    "passed",
    [
        Thing("door", "red", "open", 0.6, 0.0),
        Thing("goal", "green", "", 0.6, 0.0),
        Thing("lava", "red", "", 0.6, 0.0),
        Thing("ball", "blue", "", 0.6, 0.0, is_present=False),
        Obstacle.seat(0.6, 0.0),
    ],
)
def test_what_is_open_flat_above_or_not_there_is_passed(passed: Thing | Obstacle) -> None:
    things, obstacles = ((passed,), ()) if isinstance(passed, Thing) else ((), (passed,))
    found, came = met(Twist(0.2), *obstacles, things=things)
    assert found == []
    assert came > 0.7


@pytest.mark.parametrize("kind", ["key", "ball", "box"])
def test_a_thing_is_met_by_its_cube(kind: Kind) -> None:
    found, came = met(Twist(0.2), things=(Thing(kind, "blue", "", 0.6, 0.0),))
    assert found == [("thing0", True)]
    assert came + BODY.front == pytest.approx(0.6 - 0.15, abs=CLOSE)
