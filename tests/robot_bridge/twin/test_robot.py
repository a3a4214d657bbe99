"""The simulated robot as a Robot, and how well its body follows what it is told."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from math import cos, pi, sin

import numpy as np
import pytest

from robot_bridge.config import Camera, Lidar, RobotConfig
from robot_bridge.contracts import Pose, Twist
from robot_bridge.errors import DeviceError
from robot_bridge.protocols import Clock
from robot_bridge.testing import RobotSuite
from robot_bridge.testing import drive_robot as drive
from robot_bridge.testing import wait_seconds as wait
from robot_bridge.twin.noise import NO_NOISE, Noise
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.world import Obstacle, Thing, TwinWorld, Wall
from tests.support.robot_bridge.collisions import watch_collisions

ROOM = (Wall(-3, -3, 5, -2.9), Wall(-3, 2.9, 5, 3), Wall(-3.1, -3, -3, 3), Wall(5, -3, 5.1, 3))
SMALL = RobotConfig(camera=Camera(width=64, height=48, rate=10.0))


def room(*obstacles: Obstacle, things: tuple[Thing, ...] = (), start: Pose | None = None) -> TwinWorld:
    return TwinWorld(ROOM, things, obstacles, start or Pose(0.0, 0.0, 0.0), "room")


def blind(world: TwinWorld, *, noise: Noise = NO_NOISE, seed: int = 0) -> MujocoRobot:
    return MujocoRobot(world, noise=noise, seed=seed, with_camera=False)


@pytest.fixture(scope="module")
def one_for_all() -> Iterator[MujocoRobot]:
    robot = MujocoRobot(room(), config=SMALL)
    assert not robot.camera_fault
    yield robot
    robot.close()


@pytest.mark.usefixtures("drawing")
class TestAsARobot(RobotSuite):
    @pytest.fixture
    def robot(self, one_for_all: MujocoRobot) -> MujocoRobot:
        return one_for_all

    @pytest.fixture
    def clock(self, robot: MujocoRobot) -> Clock:
        return robot.clock

    @pytest.fixture
    def closable(self) -> MujocoRobot:
        return MujocoRobot(room(), config=SMALL)


@pytest.mark.parametrize(
    "twist",
    [Twist(0.25), Twist(0.02), Twist(-0.12), Twist(0.25, 0.25 / 0.35), Twist(0.1, -0.2), Twist(-0.1, 0.25)],
    ids=str,
)
def test_the_body_follows_within_three_per_cent_and_neither_hops_nor_slips(twist: Twist) -> None:
    robot = blind(room())
    drive(robot, robot.clock, twist, 1.0)
    before = robot.truth
    drive(robot, robot.clock, twist, 2.0)
    way, turned = robot.truth.relative_to(before), twist.angular * 2
    radius = twist.linear / twist.angular if turned else 0.0
    x, y = (radius * sin(turned), radius * (1 - cos(turned))) if turned else (twist.linear * 2, 0.0)
    assert way.distance_to(x, y) < 0.03 * abs(twist.linear * 2)
    assert way.heading == pytest.approx(turned, rel=0.03, abs=1e-3)


def test_it_stands_within_five_centimetres_of_where_it_was_told_to_stop() -> None:
    robot = blind(room())
    drive(robot, robot.clock, Twist(0.25), 1.5)
    before = robot.truth
    robot.stop()
    wait(robot.clock, 0.35)
    assert not robot.is_moving
    assert 0.01 < before.distance_to(robot.truth.x, robot.truth.y) < 0.05
    at_rest = robot.truth
    wait(robot.clock, 5.0)
    assert at_rest.distance_to(robot.truth.x, robot.truth.y) < 1e-3


def test_the_map_begins_where_it_starts_with_the_heading_it_has_there() -> None:
    robot = blind(room(start=Pose(1.0, -1.0, pi / 2)))
    assert (robot.truth.x, robot.truth.y, robot.truth.heading) == pytest.approx((0, 0, pi / 2), abs=1e-3)
    drive(robot, robot.clock, Twist(0.2), 2.0)
    assert robot.truth.x == pytest.approx(0.0, abs=1e-3)
    assert 0.3 < robot.truth.y < 0.4
    odometry = robot.observe().odometry
    assert odometry is not None
    assert odometry.pose.distance_to(robot.truth.x, robot.truth.y) < 0.01


def test_the_lidar_measures_from_where_it_is_mounted() -> None:
    robot = blind(room(Obstacle.pole(1.1, 0.0), Obstacle.box(0.1, -1.5, 0.2, 0.2)))
    scan = robot.observe().scan
    assert scan is not None
    ranges = dict(zip(range(-180, 180), scan.ranges.tolist(), strict=True))
    assert ranges[0] == pytest.approx(1.1 - 0.10 - 0.01, abs=1e-3)
    assert ranges[-90] == pytest.approx(1.3, abs=1e-3)
    assert ranges[90] == pytest.approx(2.9, abs=1e-3)
    assert ranges[-180] == pytest.approx(3.1, abs=1e-3)
    assert min(ranges.values()) > 0.5, "it saw the robot itself"


def test_out_of_range_is_infinite_and_noise_is_as_configured() -> None:
    config = RobotConfig(lidar=Lidar(range_max=3.0))
    robot = MujocoRobot(room(), config=config, with_camera=False, noise=NO_NOISE)
    scan = robot.observe().scan
    assert scan is not None
    assert np.isinf(scan.ranges[180])
    clean, noisy = blind(room()), blind(room(), noise=Noise(lidar=0.01, dropouts=0.05), seed=3)
    errors, lost = [], 0
    for _ in range(10):
        for robot in (clean, noisy):
            wait(robot.clock, 0.1)
        truth, measured = clean.observe().scan, noisy.observe().scan
        assert truth is not None
        assert measured is not None
        lost += int(np.isinf(measured.ranges).sum())
        errors.append((measured.ranges - truth.ranges)[np.isfinite(measured.ranges)])
    assert np.concatenate(errors).std() == pytest.approx(0.01, rel=0.1)
    assert lost / 3600 == pytest.approx(0.05, rel=0.3)


@pytest.mark.long
def test_odometry_drifts_differently_with_every_seed_and_not_without_noise() -> None:
    ends = []
    for seed in range(3):
        robot = blind(room(), noise=Noise(), seed=seed)
        drive(robot, robot.clock, Twist(0.25, 0.5), 6.0)
        seen = robot.observe().odometry
        assert seen is not None
        ends.append(seen.pose.relative_to(robot.truth))
    assert len({round(end.heading, 6) for end in ends}) == 3
    assert all(0.001 < abs(end.heading) < 0.3 for end in ends)


@pytest.mark.long
@pytest.mark.usefixtures("drawing")
def test_the_same_seed_is_the_same_run_bit_for_bit() -> None:
    def run(looks_from_above: bool) -> tuple[object, ...]:
        world = room(Obstacle.mover([(1.0, -1.0), (1.0, 1.0)], 0.5), things=(Thing("key", "red", "", 2.0, 0.3),))
        robot = MujocoRobot(world, config=SMALL, seed=7)
        touched = watch_collisions(robot)
        drive(robot, robot.clock, Twist(0.2, 0.2), 1.0)
        if looks_from_above:
            robot.top_view(40)
        drive(robot, robot.clock, Twist(0.25, -0.2), 2.5)
        seen = robot.observe()
        assert seen.scan is not None
        assert seen.frame is not None
        frame = (seen.frame.rgb.tobytes(), seen.frame.depth.tobytes())
        result = (robot.truth, seen.odometry, seen.scan.ranges.tobytes(), touched.collisions, seen.battery, *frame)
        robot.close()
        return result

    assert run(False) == run(True)


def test_running_into_something_is_its_own_doing_and_counts_once() -> None:
    robot = blind(room(Obstacle.pole(0.6, 0.0)))
    touched = watch_collisions(robot)
    drive(robot, robot.clock, Twist(0.25), 4.0)
    assert [(c.other, c.caused_by_robot) for c in touched.collisions] == [("pole0", True)]
    assert robot.truth.x < 0.6 - 0.25 + 0.01


def test_being_run_into_is_not() -> None:
    robot = blind(room(Obstacle.mover([(0.1, 1.0), (0.1, -1.0)], 0.5)))
    touched = watch_collisions(robot)
    wait(robot.clock, 4.0)
    assert [(c.other, c.caused_by_robot) for c in touched.collisions] == [("mover0", False)]
    assert abs(robot.truth.y) < 0.02, "it was pushed away"


@pytest.mark.long
def test_a_mover_that_is_met_turns_back_and_goes_on_for_ever() -> None:
    robot = blind(room(Obstacle.mover([(-1.0, 0.0), (0.0, 0.0)], 0.4)))
    nearest = []
    for _ in range(60):
        wait(robot.clock, 0.2)
        scan = robot.observe().scan
        assert scan is not None
        nearest.append(float(scan.ranges[0]))
    assert min(nearest) < 0.2
    assert max(nearest) > 0.8
    turns = sum(a < 0.3 <= b for a, b in pairwise(nearest))
    assert turns >= 2


def test_without_a_way_to_draw_it_drives_by_lidar_and_says_why() -> None:
    code = (
        "from robot_bridge.contracts import Pose, Twist\n"
        "from robot_bridge.twin.robot import MujocoRobot\n"
        "from robot_bridge.twin.worlds.world import TwinWorld\n"
        "robot = MujocoRobot(TwinWorld((), (), (), Pose(), 'empty'))\n"
        "robot.apply(Twist(0.1)); robot.clock.wait_until(1.0)\n"
        "assert robot.observe().scan is not None and robot.observe().frame is None\n"
        "print(robot.camera_fault); robot.close()\n"
    )
    env = {**os.environ, "MUJOCO_GL": "disable"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert "apt install libosmesa6" in done.stdout
    assert done.stderr == ""


@pytest.mark.usefixtures("drawing")
def test_other_threads_may_command_look_and_change_things_while_time_goes_on() -> None:
    robot = MujocoRobot(room(things=(Thing("key", "red", "", 2.0, 0.3),)), config=SMALL)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(robot.clock.wait_until, 3.0)
        while not running.done():
            robot.apply(Twist(0.1))
            robot.put(0, 2.0, -0.3)
            assert robot.top_view(40).shape[1] == 40
        running.result()
        seen = robot.observe().frame
        assert seen is not None
        assert seen.stamp == 3.0
        endless = pool.submit(robot.clock.wait_until, 1e9)
        robot.close()
        with pytest.raises(DeviceError, match="closed"):
            endless.result(timeout=10)


def test_a_robot_without_a_camera_has_no_view_from_above() -> None:
    robot = blind(room())
    assert robot.observe().frame is None
    assert robot.camera_fault
    with pytest.raises(DeviceError, match="not asked for"):
        robot.top_view(100)
