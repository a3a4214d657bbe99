"""Following: how fast, in which direction and how far along a way, one period at a time."""

from __future__ import annotations

from math import atan, inf, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Pose
from robot_bridge.navigation.following import Follower
from robot_bridge.navigation.maneuvers import Step, stop_gap

CONFIG = RobotConfig()
BODY, LIMITS = CONFIG.body, CONFIG.limits
PERIOD = 0.05
NOTHING = np.zeros((0, 2))
GAP = {True: stop_gap(CONFIG, forward=True), False: stop_gap(CONFIG, forward=False)}


def following(*parts: tuple[float, float]) -> Follower:
    """One that has begun with arcs (curvature, distance) from the origin."""
    steps, pose = [], Pose()
    for curvature, distance in parts:
        steps.append(Step(pose, curvature, distance))
        pose = steps[-1].end
    follower = Follower(CONFIG)
    follower.start(steps)
    return follower


def test_without_steps_it_rests() -> None:
    follower = Follower(CONFIG)

    assert follower.is_done
    assert follower.twist(Pose(), NOTHING, PERIOD) == REST
    assert (follower.remaining, follower.direction, len(follower.ahead(1.0))) == (0.0, 0, 0)
    follower.start(())
    assert follower.is_done


@pytest.mark.parametrize(("distance", "speed"), [(2.0, LIMITS.speed), (-2.0, -LIMITS.reverse_speed)])
def test_a_free_straight_is_driven_at_the_limit_of_its_direction(distance: float, speed: float) -> None:
    twist = following((0.0, distance)).twist(Pose(), NOTHING, PERIOD)

    assert twist.linear == pytest.approx(speed)
    assert twist.angular == pytest.approx(0.0)


def test_before_the_end_and_before_a_change_of_direction_it_brakes() -> None:
    for parts in [((0.0, 1.0),), ((0.0, 1.0), (0.0, -0.5))]:
        follower = following(*parts)
        speeds = [follower.twist(Pose(0.01 * i, 0, 0), NOTHING, PERIOD).linear for i in range(98)]

        assert speeds[0] == LIMITS.speed
        assert speeds == sorted(speeds, reverse=True)
        for i, speed in enumerate(speeds):
            assert speed**2 / (2 * LIMITS.deceleration) <= max(1.0 - 0.01 * i, 0.001)


@pytest.mark.parametrize("forward", [True, False])
def test_what_stands_in_the_way_slows_and_at_the_emergency_zone_stops(forward: bool) -> None:
    sign, bumper = (1, BODY.front) if forward else (-1, BODY.rear)

    def speed(gap: float) -> float:
        post = np.array([[sign * (bumper + CONFIG.zones.padding + gap), 0.0]])
        return sign * following((0.0, sign * 2.0)).twist(Pose(), post, PERIOD).linear

    assert speed(GAP[forward] - 0.001) == 0.0
    speeds = [speed(GAP[forward] + each) for each in (0.01, 0.1, 0.2, 1.0)]
    assert 0.0 < speeds[0] < 0.05
    assert speeds == sorted(speeds)
    assert speeds[-1] == (LIMITS.speed if forward else LIMITS.reverse_speed)


def test_it_creeps_until_the_wheels_stand_as_the_way_wants() -> None:
    follower = following((2.5, 1.0))
    wanted = atan(2.5 * BODY.wheelbase)

    first = follower.twist(Pose(), NOTHING, PERIOD)
    assert 0 < first.linear < 0.01
    assert first.angular == pytest.approx(2.5 * first.linear), "the wheels turn meanwhile"
    assert follower.curvature == pytest.approx(np.tan(LIMITS.steering_rate * PERIOD) / BODY.wheelbase)
    for _ in range(int(wanted / (LIMITS.steering_rate * PERIOD)) + 1):
        last = follower.twist(Pose(), NOTHING, PERIOD)
    assert last.linear > 0.1
    assert follower.curvature == pytest.approx(2.5)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("aside", "turned"), [(0.03, 0.0), (-0.03, 0.0), (0.0, 0.1), (0.0, -0.1)])
def test_what_is_off_is_steered_against_in_both_directions(sign: int, aside: float, turned: float) -> None:
    twist = following((0.0, sign * 1.0)).twist(Pose(sign * 0.3, aside, turned), NOTHING, PERIOD)

    curvature = twist.angular / twist.linear
    if aside:
        assert curvature * aside < 0, "the nose comes back in front, the tail behind"
    else:
        assert curvature * sign * turned < 0


def test_a_change_of_direction_is_not_skipped_and_comes_when_it_is_reached() -> None:
    follower = following((0.0, 0.5), (0.0, -0.5))

    directions = []
    for x in [0.0, 0.12, 0.24, 0.36, 0.45, 0.48, 0.495, 0.48, 0.4]:
        follower.twist(Pose(x, 0.0, 0.0), NOTHING, PERIOD)
        directions.append(follower.direction)

    assert directions == [1, 1, 1, 1, 1, 1, -1, -1, -1]
    assert follower.remaining == pytest.approx(0.4, abs=0.03)


def test_the_way_back_that_lies_beside_the_way_there_is_not_taken_for_it() -> None:
    """A turn in three points passes where it has been: only what comes before the next change counts."""
    follower = following((0.0, 0.06), (2.0, -0.1))
    follower.twist(Pose(0.02, 0.01, 0.0), NOTHING, PERIOD)

    assert follower.direction == 1
    assert follower.remaining == pytest.approx(0.14, abs=0.011)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_way_ends_also_where_its_last_centimetre_is_overshot(sign: int) -> None:
    follower = following((0.0, sign * 0.5))
    for x in (0.1, 0.22, 0.34, 0.45):
        follower.twist(Pose(sign * x, 0.0, 0.0), NOTHING, PERIOD)
    follower.twist(Pose(sign * 0.47, 0.0, 0.0), NOTHING, PERIOD)
    assert not follower.is_done
    follower.twist(Pose(sign * 0.485, 0.0, 0.0), NOTHING, PERIOD)
    assert not follower.is_done, "1.5 cm are left"
    follower.twist(Pose(sign * 0.495, 0.0, 0.0), NOTHING, PERIOD)
    assert follower.is_done


def test_what_lies_ahead_is_told_at_its_spacing() -> None:
    follower = following((0.0, 1.0))
    follower.twist(Pose(0.1, 0, 0), NOTHING, PERIOD)

    np.testing.assert_allclose(follower.ahead(0.3, 0.1)[:, 0], [0.1, 0.2, 0.3, 0.4], atol=1e-9)
    assert len(follower.ahead(5.0, 0.1)) == 10
    assert follower.remaining == pytest.approx(0.9)


parts = st.lists(st.tuples(st.floats(-2.6, 2.6), st.sampled_from([-0.4, -0.08, 0.08, 0.4])), min_size=1, max_size=4)
poses = st.builds(Pose, st.floats(-1, 1), st.floats(-1, 1), st.floats(-pi, pi))


@given(parts, st.lists(poses, min_size=1, max_size=5), st.lists(st.tuples(*[st.floats(-2, 2)] * 2), max_size=5))
def test_whatever_the_pose_it_stays_within_the_limits(
    way: list[tuple[float, float]], places: list[Pose], found: list[tuple[float, float]]
) -> None:
    follower, left = following(*way), inf
    for pose in places:
        twist = follower.twist(pose, np.array(found).reshape(-1, 2), PERIOD)

        assert -LIMITS.reverse_speed <= twist.linear <= LIMITS.speed
        assert abs(twist.angular) <= abs(twist.linear) * BODY.curvature_limit * (1 + 1e-9)
        assert twist.linear * follower.direction >= 0
        assert follower.remaining <= left, "it never goes back along the way"
        left = follower.remaining
