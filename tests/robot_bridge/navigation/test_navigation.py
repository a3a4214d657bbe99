"""Navigation in closed loop: it arrives, keeps its distance, gets around what is new, and says when it cannot."""

from __future__ import annotations

from math import cos, hypot, pi, radians, sin

import numpy as np
import pytest

from robot_bridge.contracts import REST, NavGoalTarget, Pose, wrap_angle
from robot_bridge.navigation.driving import NavStatus, count_free_poses
from robot_bridge.navigation.following import Follower
from robot_bridge.navigation.maneuvers import Step
from robot_bridge.safety.geometry import along, clamp_steering, curvature_of
from tests.support.robot_bridge.rooms import Box
from tests.support.robot_bridge.trips import CONFIG, PERIOD, Trip, walls
from tests.support.tiers import few

ROOM = walls(-2.5, -2, 2.5, 2)
CELL = [(-1.5, 0.5, 0.5, 1.5), (0.5, -1.5, 1.5, 1.5), (-1.5, -1.5, 0.5, -0.5), (-6, -2, -5, 2)]
"""A dead end around (0, 0), open to the west."""


def ready(world: list[Box], start: Pose) -> Trip:
    trip = Trip(world, start)
    for _ in range(4):
        trip.tick()
    return trip


def misses(trip: Trip, x: float, y: float, heading: float | None = None) -> tuple[float, float]:
    at = trip.truth.ahead(CONFIG.body.centre)
    turn = 0.0 if heading is None else abs(wrap_angle(trip.truth.heading - heading))
    return hypot(at[0] - x, at[1] - y), turn


@pytest.mark.long
def test_a_dead_end_is_entered_and_turned_around_in() -> None:
    trip = ready(CELL, Pose(-1.1, 0.0, 0.0))
    for heading in (0.0, pi):
        assert trip.navigation.go_to(NavGoalTarget(0.0, 0.0, heading, 0.1))
        assert trip.run(40) is NavStatus.ARRIVED
        metres, turn = misses(trip, 0.0, 0.0, heading)
        assert metres < 0.12
        assert turn < radians(8)
    assert trip.nearest > CONFIG.zones.padding
    assert trip.error[0] < 0.02
    assert trip.navigation.twist(trip.now) == REST


@pytest.mark.long
def test_it_goes_around_a_wall_and_through_a_doorway() -> None:
    trip = ready([*ROOM, (0.0, -0.5, 0.2, 2.0), (0.0, -2.0, 0.2, -1.4)], Pose(-1.0, 1.0, pi / 2))

    assert trip.navigation.go_to(NavGoalTarget(1.2, 1.0))
    assert trip.run(60) is NavStatus.ARRIVED
    assert misses(trip, 1.2, 1.0)[0] < 0.3
    assert trip.nearest > CONFIG.zones.padding


@pytest.mark.long
def test_what_is_put_in_its_way_is_driven_around() -> None:
    trip = ready(ROOM, Pose(-1.8, 0.0, 0.0))
    assert trip.navigation.go_to(NavGoalTarget(1.8, 0.0))
    trip.run(30, until=lambda: trip.truth.x > -0.9)
    trip.world = [*ROOM, (0.0, -0.3, 0.3, 0.35)]

    assert trip.run(40) is NavStatus.ARRIVED
    assert trip.nearest > CONFIG.zones.padding


def test_it_waits_for_what_walks_on_and_backs_away_from_what_does_not() -> None:
    trip = ready(ROOM, Pose(-1.8, 0.0, 0.0))
    assert trip.navigation.go_to(NavGoalTarget(1.8, 0.0))
    trip.run(30, until=lambda: trip.truth.x > -0.9)
    ahead = trip.truth.x + CONFIG.body.front + 0.12
    trip.world = [*ROOM, (ahead, -0.6, ahead + 0.3, 0.6)]
    farthest = trip.truth.x
    for _ in range(40):
        trip.tick()
        farthest = max(farthest, trip.truth.x)
    assert farthest < ahead - CONFIG.body.front

    assert trip.run(60) is NavStatus.ARRIVED
    assert trip.nearest > 0.0


def test_a_goal_that_gets_shut_off_is_given_up() -> None:
    door = (0.0, -1.4, 0.2, -0.5)
    trip = ready([*ROOM, (0.0, -0.5, 0.2, 2.0), (0.0, -2.0, 0.2, -1.4)], Pose(-1.0, 1.0, -pi / 2))
    assert trip.navigation.go_to(NavGoalTarget(1.2, 1.0))
    trip.world = [*trip.world, door, (2.4, -2, 2.5, 2)]

    status = trip.run(60)

    assert status is NavStatus.BLOCKED
    assert trip.navigation.twist(trip.now) == REST


@pytest.mark.parametrize("degrees", few(1, [90, -135]))
def test_it_turns_where_it_stands(degrees: int) -> None:
    trip = ready(ROOM, Pose(0.0, 0.0, 0.4))

    assert trip.navigation.turn(radians(degrees))
    assert trip.run(40) is NavStatus.ARRIVED
    metres, turn = misses(trip, 0.1 * cos(0.4), 0.1 * sin(0.4), 0.4 + radians(degrees))
    assert metres < 0.65
    assert turn < radians(8)


@pytest.mark.long
def test_a_goal_inside_a_wall_is_come_as_near_to_as_its_tolerance_says() -> None:
    trip = ready(ROOM, Pose(-1.0, 0.0, 0.0))

    assert trip.navigation.go_to(NavGoalTarget(2.53, 0.0, tolerance=0.25))
    assert trip.run(40) is NavStatus.ARRIVED
    assert misses(trip, 2.53, 0.0)[0] < 0.25 + 0.05 + 0.03, "the tolerance, a cell, and where it believes to be"


@pytest.mark.parametrize(
    ("way", "count"),
    [("fff", None), ("ffxf", 2), ("xxff", None), ("xffxx", 3), ("xxx", None), ("f", None), ("x", None)],
)
def test_only_what_is_blocked_after_something_free_is_in_the_way(way: str, count: int | None) -> None:
    assert count_free_poses(np.array([letter == "f" for letter in way])) == count


def test_without_room_it_does_not_begin() -> None:
    shut = walls(-0.2, -0.25, 0.4, 0.25)
    trip = ready(shut, Pose())

    assert not trip.navigation.turn(1.0)
    assert not trip.navigation.go_to(NavGoalTarget(0.9, 0.0, tolerance=0.1)), "that is inside the wall"
    assert trip.navigation.status is NavStatus.IDLE


def test_a_carried_robot_stops_until_it_knows_where_it_is() -> None:
    trip = ready([*ROOM, (0.5, 0.8, 1.0, 1.2)], Pose(-1.5, 0.0, 0.0))
    assert trip.navigation.go_to(NavGoalTarget(1.8, 0.0))
    for _ in range(40):
        trip.tick()
    trip.carry_to(Pose(trip.truth.x - 0.3, 0.5, 0.5))
    lost = 0
    for _ in range(40):
        trip.tick()
        lost += not trip.navigation.estimate.is_sure

    assert lost
    assert trip.error[0] < 0.05
    assert trip.run(40) is NavStatus.ARRIVED


def test_cancelling_is_rest_at_once() -> None:
    trip = ready(ROOM, Pose())
    trip.navigation.go_to(NavGoalTarget(1.8, 0.0))
    for _ in range(20):
        trip.tick()
    trip.navigation.cancel()

    assert trip.navigation.status is NavStatus.IDLE
    assert trip.navigation.twist(trip.now) == REST


@pytest.mark.long
def test_the_same_run_twice_is_the_same_to_the_bit() -> None:
    ends = []
    for _ in range(2):
        trip = ready(ROOM, Pose(-1.0, 0.5, 1.0))
        trip.navigation.go_to(NavGoalTarget(1.0, -0.5, 0.0, 0.1))
        trip.run(6)
        ends.append((trip.truth, trip.navigation.estimate, trip.navigation.map.codes.tobytes()))

    assert ends[0] == ends[1]


@pytest.mark.parametrize("offset", [Pose(0, 0.03, 0.1), Pose(0, -0.04, -0.1)])
def test_a_track_with_a_change_of_direction_is_followed_to_a_centimetre(offset: Pose) -> None:
    steps = []
    pose = Pose()
    for curvature, distance in ((1.5, 0.5), (-2.0, 0.3), (0.0, -0.2), (2.4, -0.4), (0.0, 0.3)):
        steps.append(Step(pose, curvature, distance))
        pose = steps[-1].end
    follower, robot = Follower(CONFIG), offset
    follower.start(steps)

    for _ in range(600):
        twist = clamp_steering(follower.twist(robot, np.zeros((0, 2)), PERIOD), CONFIG.body)
        robot = robot.compose(along(curvature_of(twist, CONFIG.body), twist.linear * PERIOD))

    assert follower.is_done
    assert robot.distance_to(pose.x, pose.y) < 0.02
    assert abs(wrap_angle(robot.heading - pose.heading)) < radians(3)
