"""Is the way free: every beam in the swept footprint counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.config import Body
from robot_bridge.contracts import Direction, Speed
from robot_bridge.safety.path_check import check_path, swept_clearance, twist_toward
from tests.support.robot_bridge.rays import CONFIG, scan_of


def test_a_thin_pole_ahead_is_found_and_named() -> None:
    found = check_path(scan_of([(1.0, 0.05, 0.01)], room=5), Direction.FORWARD, 2.0, CONFIG)
    assert not found.clear
    assert found.obstacle_type == "thin"
    assert found.obstacle_distance_m == pytest.approx(1.0 - CONFIG.body.front - CONFIG.zones.padding, abs=0.03)


def test_a_pole_beside_the_way_is_not_in_it() -> None:
    assert check_path(scan_of([(1.0, 0.3, 0.01)], room=5), Direction.FORWARD, 2.0, CONFIG).clear


def test_walls_and_things() -> None:
    wall = check_path(scan_of([], room=1.5), Direction.FORWARD, 3.0, CONFIG)
    thing = check_path(scan_of([(1.0, 0.0, 0.15)], room=5), Direction.FORWARD, 3.0, CONFIG)
    assert (wall.clear, wall.obstacle_type) == (False, "wall")
    assert (thing.clear, thing.obstacle_type) == (False, "object")


def test_behind_is_looked_at_backwards() -> None:
    scan = scan_of([(-1.0, 0.0, 0.01)], room=5)
    assert check_path(scan, Direction.FORWARD, 2.0, CONFIG).clear
    assert not check_path(scan, Direction.BACKWARD, 2.0, CONFIG).clear


def test_left_is_an_arc_and_then_straight_on() -> None:
    beside = scan_of([(0.35, 1.5, 0.05)], room=5)
    found = check_path(beside, Direction.LEFT, 3.0, CONFIG)
    assert not found.clear
    assert 1.0 < found.obstacle_distance_m < 2.0
    assert check_path(beside, Direction.RIGHT, 3.0, CONFIG).clear


@given(
    direction=st.sampled_from(Direction),
    speed=st.sampled_from(Speed),
    wheelbase=st.floats(0.1, 0.4),
    limit=st.floats(0.2, 0.8),
)
def test_every_move_can_be_steered(direction: Direction, speed: Speed, wheelbase: float, limit: float) -> None:
    body = Body(wheelbase=wheelbase, steering_limit=limit)
    twist = twist_toward(direction, speed, body)
    assert abs(twist.angular) <= abs(twist.linear) * body.curvature_limit * (1 + 1e-9)
    assert (twist.linear < 0) == (direction is Direction.BACKWARD)
    assert (twist.angular > 0) == ("left" in direction)
    assert (twist.angular < 0) == ("right" in direction)


def test_clearance_of_an_arc_is_from_the_lidar() -> None:
    scan = scan_of([(0.85, 0.0, 0.05)], room=5)
    straight = swept_clearance(
        scan, Direction.FORWARD, twist_toward(Direction.FORWARD, Speed.SLOW, CONFIG.body), CONFIG
    )
    assert straight == pytest.approx(0.8 - CONFIG.lidar.x - CONFIG.zones.padding, abs=0.03)
