"""How far a robot travels until it stands, and how fast it may therefore drive."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.safety.stop_distance import RESERVE_M, max_speed_at, reaction, stop_distance
from tests.support.robot_bridge.rays import CONFIG

LIMITS, ZONES = CONFIG.limits, CONFIG.zones
OVERHANG = CONFIG.body.front - CONFIG.lidar.x
"""From the lidar to the front of the body, metres."""


@given(st.floats(-1, 1))
def test_a_robot_drives_on_before_it_brakes(speed: float) -> None:
    assert stop_distance(speed, CONFIG) >= abs(speed) * reaction(CONFIG)
    assert stop_distance(speed, CONFIG) == stop_distance(-speed, CONFIG)


@given(st.floats(0, 3))
def test_what_may_be_driven_can_be_stopped_in_the_room_that_is_left(distance: float) -> None:
    speed = max_speed_at(distance, True, CONFIG)
    assert stop_distance(speed, CONFIG) <= max(0.0, distance - OVERHANG - RESERVE_M) + 1e-9


@given(st.floats(0, 3), st.floats(0, 3), st.booleans())
def test_speed_falls_with_distance_to_nothing_in_the_emergency_zone(a: float, b: float, forward: bool) -> None:
    near, far = sorted((a, b))
    assert max_speed_at(near, forward, CONFIG) <= max_speed_at(far, forward, CONFIG) + 1e-12
    if near <= ZONES.emergency_stop:
        assert max_speed_at(near, forward, CONFIG) == 0.0
    if far >= ZONES.avoidance:
        assert max_speed_at(far, forward, CONFIG) == (LIMITS.speed if forward else LIMITS.reverse_speed)
    middle = max_speed_at((ZONES.emergency_stop + ZONES.avoidance) / 2, forward, CONFIG)
    assert middle == pytest.approx((LIMITS.speed if forward else LIMITS.reverse_speed) / 2)


@given(st.floats(0.3, 3), st.floats(0.2, 2), st.floats(0, 4))
def test_a_fast_robot_with_weak_brakes_can_always_stop_in_what_is_left(
    speed: float, deceleration: float, distance: float
) -> None:
    config = replace(CONFIG, limits=replace(LIMITS, speed=speed, deceleration=deceleration))
    v = max_speed_at(distance, True, config)
    assert v * 0.15 + v * v / (2 * deceleration) <= max(0.0, distance - OVERHANG) + 1e-9
