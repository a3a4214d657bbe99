"""Things, doors and pictures of the simulated world."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from robot_bridge import tags
from robot_bridge.contracts import Frame, Pose, Scan, Twist
from robot_bridge.testing import drive_robot as drive
from robot_bridge.testing import wait_seconds as wait
from robot_bridge.twin.noise import NO_NOISE
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import Obstacle, Thing, TwinWorld, Wall

KEY, DOOR, GOAL, BALL = range(4)
THINGS = (
    Thing("key", "red", "", 1.5, 0.6),
    Thing("door", "green", "locked", 2.5, 0.0),
    Thing("goal", "green", "", 4.5, 0.0),
    Thing("ball", "blue", "", 0.0, 0.0, is_present=False),
)
WALLS = (Wall(2, 0.5, 3, 3), Wall(2, -3, 3, -0.5), Wall(6, -3, 6.1, 3), Wall(-1.1, -3, -1, 3))
WORLD = TwinWorld(WALLS, THINGS, (Obstacle.leg(0.5, -1.0),), Pose(0.0, 0.0, 0.0), "doors")


@pytest.fixture
def robot() -> Iterator[MujocoRobot]:
    robot = MujocoRobot(WORLD, noise=NO_NOISE)
    yield robot
    robot.close()


def looked(robot: MujocoRobot) -> tuple[Frame, Scan]:
    wait(robot.clock, 1.0)
    seen = robot.observe()
    assert seen.frame is not None
    assert seen.scan is not None
    return seen.frame, seen.scan


def named(robot: MujocoRobot) -> dict[tuple[str, str, str], tuple[float, float]]:
    frame, _ = looked(robot)
    found = tags.detect(frame, robot.config.camera)
    return {(s.kind, s.color, s.state): (round(s.forward, 1), round(s.left, 1)) for s in found}


@pytest.mark.long
@pytest.mark.usefixtures("drawing")
def test_things_are_seen_where_they_are_and_change(robot: MujocoRobot) -> None:
    assert named(robot) == {("key", "red", ""): (1.5, 0.6), ("door", "green", "locked"): (2.5, 0.0)}
    _, scan = looked(robot)
    ahead = 2.5 - 0.03 - robot.config.lidar.x
    assert scan.ranges[180] == pytest.approx(ahead, abs=0.01)

    robot.set_state(DOOR, "closed")
    robot.put(KEY, 1.5, -0.6)
    assert named(robot) == {("key", "red", ""): (1.5, -0.6), ("door", "green", "closed"): (2.5, 0.0)}

    robot.set_state(DOOR, "open")
    robot.remove(KEY)
    robot.put(BALL, 1.2, 0.5)
    seen = named(robot)
    assert seen.pop(("goal", "green", ""), (4.5, 0.0))[0] == pytest.approx(4.5, abs=0.2)
    assert seen == {("ball", "blue", ""): (1.2, 0.5), ("door", "green", "open"): (2.5, 0.0)}
    _, scan = looked(robot)
    assert scan.ranges[180] == pytest.approx(6 - robot.config.lidar.x, abs=0.01), (
        "a sign or the open door is in the way"
    )
    truth = robot.things
    assert [(t.state, t.is_present) for t in truth] == [("", False), ("open", True), ("", True), ("", True)]
    assert (truth[BALL].x, truth[BALL].y) == (1.2, 0.5)


@pytest.mark.long
@pytest.mark.usefixtures("drawing")
def test_depth_is_along_the_optical_axis(robot: MujocoRobot) -> None:
    frame, _ = looked(robot)
    camera = robot.config.camera
    row, column = 236, 620
    across = (column + 0.5 - camera.width / 2) / camera.focal
    face = frame.depth[row, column]
    assert face == pytest.approx(2.0 - camera.x, abs=0.01), "a flat wall has the same depth in the middle and aside"
    assert across > 0.5
    floor = frame.depth[camera.height - 1, camera.width // 2]
    assert floor == pytest.approx(camera.z / ((camera.height / 2 - 0.5) / camera.focal), rel=0.02)
    assert frame.depth[0, 0] == 0, "the sky has none"


def test_impossible_changes_are_refused() -> None:
    robot = MujocoRobot(WORLD, with_camera=False)
    with pytest.raises(ValueError, match="a key cannot be 'open'"):
        robot.set_state(KEY, "open")
    with pytest.raises(IndexError):
        robot.remove(9)
    assert robot.things == THINGS


@pytest.mark.long
@pytest.mark.usefixtures("drawing")
def test_the_view_from_above_shows_the_robot_where_it_is(robot: MujocoRobot) -> None:
    first = robot.top_view(200)
    x0, y0, x1, y1 = WORLD.bounds
    assert first.shape[1] == 200
    assert first.shape[0] / 200 == pytest.approx((y1 - y0) / (x1 - x0), rel=0.05)
    drive(robot, robot.clock, Twist(0.2), 2.0)
    changed = np.argwhere(np.abs(robot.top_view(200).astype(int) - first).sum(axis=2) > 60)
    rows, columns = changed.mean(axis=0)
    scale = 200 / (x1 - x0 + 0.3)
    assert columns == pytest.approx((0.3 - x0 + 0.15) * scale, abs=6)
    assert rows == pytest.approx(first.shape[0] / 2, abs=4)
