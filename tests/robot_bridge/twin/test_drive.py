"""Motors and steering, as set points."""

from __future__ import annotations

from math import hypot

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.config import Body, Limits
from robot_bridge.contracts import REST, Twist
from robot_bridge.twin.drive import RAMP, Drive, feasible

BODY, LIMITS, DT = Body(), Limits(), 0.005
ANY = st.builds(Twist, st.floats(), st.floats())


@given(ANY)
def test_what_is_feasible_stays_so(twist: Twist) -> None:
    once = feasible(twist, BODY, LIMITS)
    assert -LIMITS.reverse_speed <= once.linear <= LIMITS.speed
    assert abs(once.angular) <= abs(once.linear) * BODY.curvature_limit * (1 + 1e-9)
    again = feasible(once, BODY, LIMITS)
    assert (again.linear, again.angular) == pytest.approx((once.linear, once.angular))


@given(st.lists(ANY, min_size=1, max_size=20))
def test_set_points_never_leap_and_the_steering_stays_within_its_limit(twists: list[Twist]) -> None:
    drive = Drive()
    for twist in twists:
        after = drive.toward(feasible(twist, BODY, LIMITS), BODY, LIMITS, DT)
        assert abs(after.speed - drive.speed) <= RAMP * DT + 1e-12
        assert abs(after.steering - drive.steering) <= LIMITS.steering_rate * DT + 1e-12
        assert abs(after.steering) <= BODY.steering_limit + 1e-9
        drive = after


def test_a_stop_keeps_the_arc() -> None:
    drive = Drive(0.2, 0.3)
    for _ in range(100):
        drive = drive.toward(REST, BODY, LIMITS, DT)
    assert drive == Drive(0.0, 0.3)


def test_the_wheels_roll_about_one_centre() -> None:
    drive = Drive(0.2, 0.4)
    left, right, steer_left, steer_right = drive.actuators(BODY)
    assert left < right
    assert steer_left > 0.4 > steer_right
    assert (left + right) / 2 * BODY.wheel_radius == pytest.approx(0.2)


def test_the_ramp_stops_from_full_speed_within_a_few_centimetres() -> None:
    drive, way = Drive(LIMITS.speed, 0.0), 0.0
    while hypot(drive.speed, 0.0) > 0:
        drive = drive.toward(REST, BODY, LIMITS, DT)
        way += drive.speed * DT
    assert way < 0.02
