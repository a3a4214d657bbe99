"""Odometry that lies: what no robot can have done stops the chain, and spoils nothing for later."""

from __future__ import annotations

from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.contracts import REST, Command, Observation, Odometry, Pose, Source, Twist
from robot_bridge.safety.chain import SafetyChain
from robot_bridge.safety.odometry import jump, odometry_fault
from tests.support.robot_bridge.rays import CONFIG, scan_of

FASTEST = 2 * CONFIG.limits.speed
DRIVE = Command(Twist(0.02, 0.0), Source.MODEL, 99.0)
liars = st.builds(
    Odometry,
    st.just(0.0),
    st.builds(Pose, st.floats(), st.floats(), st.floats()),
    st.builds(Twist, st.floats(), st.floats()),
)


def at(time: float, x: float = 0.0, heading: float = 0.0) -> Odometry:
    return Odometry(time, Pose(x, 0.0, heading), REST)


@given(st.lists(liars, max_size=6))
def test_nothing_that_odometry_says_breaks_the_chain_or_hides_what_stands_before_the_robot(
    said: list[Odometry],
) -> None:
    chain = SafetyChain(CONFIG)
    for number, odometry in enumerate(said):
        now = number / 10
        told = Odometry(now - 0.05, odometry.pose, odometry.twist)
        command = Command(Twist(0.25, 0.0), Source.MODEL, 99.0)
        applied = chain.step([command], Observation(scan_of([(0.4, 0.0, 0.05)], stamp=now), None, told), now)
        assert applied.twist == REST


@pytest.mark.parametrize("twist", [Twist(8.0, 0.0), Twist(-0.51, 0.0), Twist(0.2, 30.0), Twist(0.0, -1e308)])
def test_what_this_robot_cannot_drive_is_not_believed(twist: Twist) -> None:
    assert "cannot drive so" in odometry_fault(Odometry(0.0, Pose(), twist), 0.0, CONFIG)


@pytest.mark.parametrize("pose", [Pose(1e16), Pose(0, -1e300), Pose(0, 0, 1e17)])
def test_a_pose_that_double_precision_cannot_hold_is_not_believed(pose: Pose) -> None:
    assert "beyond reason" in odometry_fault(Odometry(0.0, pose, REST), 0.0, CONFIG)
    assert odometry_fault(Odometry(0.0, Pose(5e5, -6e5, -40.0), Twist(0.25, 0.7)), 0.0, CONFIG) == ""


@pytest.mark.parametrize("value", [nan, inf])
def test_what_is_no_number_is_not_believed(value: float) -> None:
    assert odometry_fault(Odometry(0.0, Pose(0, value), REST), 0.0, CONFIG) != ""


@given(st.floats(0, 1), st.floats(-1, 1), st.floats(-1, 1))
def test_what_can_have_been_driven_is_no_jump(passed: float, linear: float, angular: float) -> None:
    last = at(3.0, 1.0, 3.1)
    now = at(3.0 + passed, 1.0 + linear * FASTEST * passed, 3.1 + angular * FASTEST * passed)
    assert jump(last, now, CONFIG) == ""
    assert jump(None, now, CONFIG) == ""


@pytest.mark.parametrize("other", [at(0.1, 0.2), at(0.1, 0.0, 0.5), at(-0.05, -3000.0)])
def test_a_jump_stops_the_robot_once_and_what_was_remembered_is_forgotten(other: Odometry) -> None:
    chain = SafetyChain(CONFIG)
    assert chain.step([DRIVE], Observation(scan_of([]), None, at(0.0)), 0.0).twist == DRIVE.twist
    memory = chain.state.memory
    jumped = chain.step([DRIVE], Observation(scan_of([], stamp=0.1), None, other), 0.1)
    assert jumped.twist == REST
    assert jumped.reason.startswith("odometry jumped")
    after = Odometry(0.15, other.pose, REST)
    assert chain.step([DRIVE], Observation(scan_of([], stamp=0.1), None, after), 0.15).twist == DRIVE.twist
    assert not set(memory) & set(chain.state.memory)


def test_two_publishers_of_odometry_keep_the_robot_where_it_is() -> None:
    chain = SafetyChain(CONFIG)
    for number in range(1, 20):
        now = number / 20
        odometry = at(now, 5.0 * (number % 2))
        applied = chain.step([DRIVE], Observation(scan_of([], stamp=now), None, odometry), now)
        assert applied.twist == REST or number == 1
