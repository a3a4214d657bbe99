"""Maneuvers: every way is one that the steering and the safety chain allow, and narrow places are turned in."""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, radians, sin

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose, wrap_angle
from robot_bridge.navigation.clearance import Clearance, KeepOut, circles_of, clearance_around
from robot_bridge.navigation.maneuvers import COARSE, FINE, Aim, ManeuverPlanner, Step, stop_gap
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.safety.geometry import clearance, free_distance, transform_from_frame, transform_to_frame

CONFIG = RobotConfig()
BODY = CONFIG.body
PLANNER = ManeuverPlanner(CONFIG)
Points = NDArray[np.float64]


def line(x0: float, y0: float, x1: float, y1: float) -> Points:
    part = np.linspace(0, 1, 60)[:, None]
    return np.array([[x0, y0]]) * (1 - part) + np.array([[x1, y1]]) * part


def square(half: float, sides: str = "nesw") -> Points:
    ends = {
        "n": (-half, half, half, half),
        "s": (-half, -half, half, -half),
        "e": (half, -half, half, half),
        "w": (-half, -half, -half, half),
    }
    return np.concatenate([line(*ends[side]) for side in sides])


def around(points: Points, pose: Pose) -> Clearance:
    return clearance_around(pose, OccupancyMap(), points)


def in_the_middle(heading: float) -> Pose:
    return Pose(-BODY.centre * cos(heading), -BODY.centre * sin(heading), heading)


def searched(points: Points, start: Pose, aim: Aim, **options: object) -> tuple[Step, ...] | None:
    search = PLANNER.search(start, aim, around(points, start), effort=FINE, **options)  # type: ignore[arg-type]
    search.run(FINE.budget)
    return search.steps


def assert_drivable(steps: tuple[Step, ...], points: Points) -> None:
    """By exact geometry, every step is free of points as far as the emergency zone looks ahead of its end."""
    for step, following in pairwise(steps):
        assert step.end.distance_to(following.start.x, following.start.y) < 1e-9
    for step in steps:
        assert abs(step.curvature) <= BODY.curvature_limit
        forward = step.distance > 0
        wanted = step.length + stop_gap(CONFIG, forward=forward)
        seen = transform_to_frame(points, step.start)
        assert free_distance(seen, step.curvature, forward, BODY, CONFIG.zones.padding, 2.0) >= wanted


@pytest.mark.parametrize("heading", [0, 90])
@pytest.mark.parametrize("turn", [90, -90, 180])
def test_a_cell_with_walls_all_around_is_room_enough_to_turn_in(heading: int, turn: int) -> None:
    walls, aim = square(0.5), Aim(0, 0, 0.06, radians(heading + turn), 0.08)

    steps = searched(walls, in_the_middle(radians(heading)), aim)

    assert steps
    assert_drivable(steps, walls)
    assert aim.is_met(steps[-1].end, BODY)


@pytest.mark.parametrize("turn", [90, 180])
def test_out_of_a_dead_end_that_it_faces_the_robot_turns_around(turn: int) -> None:
    walls, aim = square(0.5, "nes"), Aim(0, 0, 0.06, radians(turn), 0.08)

    steps = searched(walls, in_the_middle(0), aim)

    assert steps
    assert_drivable(steps, walls)


def test_where_the_robot_cannot_move_there_is_no_way() -> None:
    assert searched(square(0.2), in_the_middle(0), Aim(0, 0, 0.05, pi, 0.1)) is None


def test_what_is_reached_already_takes_no_step() -> None:
    assert searched(square(0.5), in_the_middle(0), Aim(0.02, 0, 0.05, 0.02, 0.1)) == ()


def test_two_poles_ninety_centimetres_apart_are_driven_between() -> None:
    poles = np.array([(1.0, 0.45), (1.0, -0.45)])

    steps = searched(poles, Pose(0, 0.3, -0.3), Aim(1.8, 0, 0.2, 0.0, 0.5), margin=0.05)

    assert steps
    assert_drivable(steps, poles)
    assert all(step.distance > 0 for step in steps)


def test_a_banned_direction_is_not_the_first() -> None:
    steps = searched(square(2.0), Pose(), Aim(1.0, 0, 0.1), banned=1)

    assert steps
    assert steps[0].distance < 0


def test_from_too_near_a_wall_the_way_leads_away_from_it() -> None:
    wall = line(-1, 0.13, 1, 0.13)

    steps = searched(wall, Pose(), Aim(0.8, -0.6, 0.15), margin=0.05)

    assert steps
    room = [clearance(transform_to_frame(wall, step.end), BODY).min() for step in steps]
    assert min(room) >= 0.02
    assert room[-1] > 0.2


def test_keep_outs_are_driven_around() -> None:
    start, aim = Pose(), Aim(1.5, 0, 0.15)
    lava = KeepOut(0.8, 0.0, 0.2)
    search = PLANNER.search(start, aim, clearance_around(start, OccupancyMap(), np.zeros((0, 2)), [lava]))
    search.run(FINE.budget)

    assert search.steps
    for step in search.steps:
        x, y = step.end.ahead(BODY.centre)
        assert (x - lava.x) ** 2 + (y - lava.y) ** 2 > (lava.radius + BODY.half_width) ** 2


def test_a_search_in_portions_finds_what_a_search_at_once_finds() -> None:
    walls, start, aim = square(0.5), in_the_middle(0), Aim(0, 0, 0.06, pi, 0.08)
    at_once = PLANNER.search(start, aim, around(walls, start), effort=COARSE)
    at_once.run(COARSE.budget)
    portions = PLANNER.search(start, aim, around(walls, start), effort=COARSE)

    count = 1
    while not portions.run(48):
        count += 1

    assert count > 3
    assert portions.steps == at_once.steps


posts = st.lists(st.tuples(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5)), max_size=12)


@pytest.mark.long
@settings(max_examples=25)
@given(posts, st.floats(-pi, pi), st.tuples(st.floats(-1.2, 1.2), st.floats(-1.2, 1.2)), st.floats(-pi, pi))
def test_every_way_among_posts_is_drivable(
    found: list[tuple[float, float]], heading: float, place: tuple[float, float], wanted: float
) -> None:
    points = np.array(found).reshape(-1, 2)
    start = in_the_middle(heading)
    points = points[clearance(transform_to_frame(points, start), BODY) > 0.08] if len(points) else points
    aim = Aim(*place, 0.1, wanted, 0.15)
    search = PLANNER.search(start, aim, around(points, start), effort=COARSE)
    search.run(700)

    if search.steps:
        assert_drivable(search.steps, points)
        assert aim.is_met(search.steps[-1].end, BODY)


@given(st.floats(-pi, pi), st.floats(0.15, 2.0), st.floats(-pi, pi))
def test_the_circles_cover_the_footprint(bearing: float, distance: float, heading: float) -> None:
    pose = Pose(0.3, -0.2, heading)
    point = transform_from_frame(np.array([[distance * cos(bearing), distance * sin(bearing)]]), pose)

    room = around(point, pose).pose_clearance(pose, circles_of(BODY))

    exact = float(clearance(transform_to_frame(point, pose), BODY).min())
    assert room <= max(exact, 0.0) * 2**0.5 + 0.03


def test_turning_left_and_right_are_alike() -> None:
    left = searched(square(2.0), in_the_middle(0), Aim(0, 0, 0.3, radians(90), 0.1))
    right = searched(square(2.0), in_the_middle(0), Aim(0, 0, 0.3, radians(-90), 0.1))

    assert left is not None
    assert right is not None
    assert abs(wrap_angle(left[-1].end.heading - radians(90))) < 0.1
    assert abs(sum(s.length for s in left) - sum(s.length for s in right)) < 0.5
