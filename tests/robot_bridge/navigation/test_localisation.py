"""Localisation: scans correct a drifting odometry, say when they do not fit, and say nothing where they cannot."""

from __future__ import annotations

from dataclasses import replace
from math import pi, radians

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_bridge.contracts import REST, Odometry, Pose, Scan, Twist, wrap_angle
from robot_bridge.navigation.localisation import Localisation, Walls, align, search_pose, walls_of
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.safety.scans import returns
from tests.support.robot_bridge.rooms import LIDAR, Box, scan
from tests.support.robot_bridge.trips import Trip, walls

ROOM = [*walls(-3, -2, 3, 2), (1.0, 0.9, 1.4, 1.3), (-2.0, -1.5, -1.6, -1.2)]


class Eyes:
    """A localisation with its map, shown scans of a world from true poses while odometry says something else."""

    def __init__(self, world: list[Box], start: Pose) -> None:
        self.world, self.chart, self.where = world, OccupancyMap(), Localisation(LIDAR, start)
        self._rng, self._time = np.random.default_rng(1), 0.0

    def look(self, truth: Pose, odometry: Pose) -> Pose:
        self._time += 0.1
        self.where.update_odometry(Odometry(self._time, odometry, REST))
        seen: Scan = replace(scan(self.world, truth, self._rng), stamp=self._time)
        pose = self.where.update_scan(seen, self.chart)
        if not self.where.is_doubtful:
            self.chart.integrate(seen, LIDAR, pose)
        return pose


@pytest.mark.long
def test_six_metres_in_circles_with_a_bad_odometry_end_within_two_centimetres() -> None:
    trip = Trip(ROOM, Pose(0, -0.5, 0.3), scale=1.05, drift=0.03)

    for _ in range(480):
        trip.tick(Twist(0.25, 0.4))

    metres, angle = trip.error
    assert metres < 0.02
    assert angle < radians(0.5)


@pytest.mark.long
def test_marks_of_single_beams_on_far_walls_do_not_hold_the_robot_back() -> None:
    trip = Trip(walls(-4.5, -3.9, 4.3, 4.1), Pose(), scale=1.0, drift=0.0)

    for _ in range(60):
        trip.tick(Twist(0.12, 0.0))

    metres, angle = trip.error
    assert metres < 0.01
    assert angle < radians(0.15)


def test_along_a_corridor_odometry_is_believed_and_across_it_the_walls() -> None:
    eyes = Eyes([(-40, 0.5, 40, 1.5), (-40, -1.5, 40, -0.5)], Pose())
    for _ in range(10):
        eyes.look(Pose(), Pose())

    for step in range(1, 41):
        pose = eyes.look(Pose(0.02 * step, 0.0, 0.0), Pose(0.022 * step, 0.004 * step, 0.0))

    assert abs(pose.y) < 0.025, "the walls say where across"
    assert abs(pose.x - 0.88) < 0.03, "only odometry says how far along"
    assert eyes.where.is_sure


@pytest.mark.long
def test_things_that_move_do_not_take_the_robot_with_them() -> None:
    eyes = Eyes(ROOM, Pose())
    for step in range(60):
        walker = -0.8 + 0.04 * step
        eyes.world = [*ROOM, (walker, -0.9, walker + 0.4, -0.5)]
        pose = eyes.look(Pose(), Pose())

    assert abs(pose.x) < 0.01
    assert abs(pose.y) < 0.01
    assert eyes.where.is_sure


def test_a_robot_that_was_carried_away_is_not_sure_and_finds_itself_again() -> None:
    eyes = Eyes(ROOM, Pose())
    for _ in range(15):
        eyes.look(Pose(), Pose())

    there, sure = Pose(-0.7, 0.5, radians(35)), []
    for _ in range(30):
        pose = eyes.look(there, Pose())
        sure.append(eyes.where.is_sure)

    assert not all(sure[:8]), "lost: within 0.8 s"
    assert sure[-1]
    assert pose.distance_to(there.x, there.y) < 0.03
    assert not len(eyes.chart.obstacles_in(-1.4, -1.1, 0.9, 1.9)), "nothing was written from a wrong place"


def returns_at(world: list[Box], pose: Pose) -> NDArray[np.float64]:
    return returns(scan(world, pose, np.random.default_rng(7)), LIDAR)


@pytest.fixture(scope="module")
def landmarks() -> Walls:
    eyes = Eyes(ROOM, Pose())
    for _ in range(15):
        eyes.look(Pose(), Pose())
    found = walls_of(eyes.chart)
    assert found is not None
    return found


@pytest.mark.long
@settings(max_examples=20)
@given(st.tuples(*[st.floats(-0.9, 0.9)] * 2), st.floats(-0.95, 0.95), st.floats(-pi, pi))
def test_the_search_around_a_lost_pose_finds_the_true_one(
    landmarks: Walls, off: tuple[float, float], turn: float, heading: float
) -> None:
    truth = Pose(0.2, -0.3, heading)
    lost = Pose(truth.x + off[0], truth.y + off[1], truth.heading + turn)

    found = search_pose(landmarks, returns_at(ROOM, truth), lost)

    assert found is not None
    assert found.distance_to(truth.x, truth.y) < 0.15
    assert abs(wrap_angle(found.heading - truth.heading)) < radians(4)


def test_the_search_at_the_edge_of_the_map_looks_beyond_it_and_finds_nothing_there(landmarks: Walls) -> None:
    elsewhere = returns_at(walls(-1.2, -6.0, 0.9, 0.8), Pose())
    for corner in [Pose(landmarks.x, landmarks.y, 0.3), Pose(60.0, -60.0, 0.0)]:
        assert search_pose(landmarks, elsewhere, corner) is None


@settings(max_examples=30)
@given(st.floats(-0.12, 0.12), st.floats(-0.12, 0.12), st.floats(-0.12, 0.12), st.floats(-pi, pi))
def test_a_scan_puts_the_pose_right(landmarks: Walls, x: float, y: float, turn: float, heading: float) -> None:
    truth = Pose(0.2, -0.3, heading)
    prior = Pose(truth.x + x, truth.y + y, truth.heading + turn)

    pose, covariance = align(landmarks, returns_at(ROOM, truth), prior, np.diag([0.02, 0.02, 0.02]))

    assert pose.distance_to(truth.x, truth.y) < 0.015
    assert abs(wrap_angle(pose.heading - truth.heading)) < radians(0.5)
    assert (np.linalg.eigvalsh(covariance) > 0).all()
    assert covariance.trace() < 0.01


def test_what_is_sure_already_is_hardly_moved_by_a_scan(landmarks: Walls) -> None:
    seen = returns_at(ROOM, Pose(0.2, -0.3, 0.0))

    pose, _ = align(landmarks, seen, Pose(0.3, -0.3, 0.0), np.diag([1e-9, 1e-9, 1e-9]))

    assert pose.distance_to(0.3, -0.3) < 1e-3


def test_a_robot_in_another_house_stays_unsure() -> None:
    eyes = Eyes(ROOM, Pose())
    for _ in range(15):
        eyes.look(Pose(), Pose())

    eyes.world = walls(-1.2, -6.0, 0.9, 0.8)
    for _ in range(12):
        eyes.look(Pose(), Pose())

    assert not eyes.where.is_sure


def test_the_pose_of_a_scan_lies_between_the_odometry_around_it() -> None:
    where = Localisation(LIDAR, Pose(1, 1, 0))
    where.update_odometry(Odometry(1.0, Pose(5, 5, 0), REST))
    where.update_odometry(Odometry(1.1, Pose(5.1, 5, 0), REST))

    assert where.pose_at(1.05).distance_to(1.05, 1) < 1e-9
    assert where.pose_at(2.0).distance_to(1.1, 1) < 1e-9
    assert where.pose.distance_to(1.1, 1) < 1e-9
