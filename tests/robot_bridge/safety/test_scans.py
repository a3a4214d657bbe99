"""Faults, distances and doorways of scans."""

from __future__ import annotations

from dataclasses import replace
from math import cos, inf, nan, pi, sin

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_bridge.contracts import Direction, Pose, Scan
from robot_bridge.safety.scans import fault, gaps, obstacle_distances, returns, unseen
from tests.support.robot_bridge.rays import CONFIG, as_scan, scan_of

BEAMS = CONFIG.lidar.beams
GOOD = scan_of([(0.8, 0.0, 0.01)])
odd = st.sampled_from([nan, inf, -inf, -1.0, 0.0, 0.01, 99.0])


def changed(share: float, value: float, seed: int = 0) -> Scan:
    """The good scan, a share of its beams, chosen at random, replaced."""
    ranges = GOOD.ranges.copy()
    ranges[np.random.default_rng(seed).permutation(BEAMS)[: round(share * BEAMS)]] = value
    return replace(GOOD, ranges=ranges)


def test_a_scan_is_good_until_it_is_too_old() -> None:
    assert fault(GOOD, 0.2, CONFIG) == ""
    assert fault(GOOD, 0.21, CONFIG) == "the last scan is 0.21 s old"
    assert "clocks differ" in fault(GOOD, -0.2, CONFIG)
    assert fault(None, 0.0, CONFIG) == "no scan has come yet"
    assert fault(replace(GOOD, stamp=nan), 0.0, CONFIG) != ""
    assert fault(GOOD, nan, CONFIG) != ""


@given(odd)
def test_a_scan_of_nothing_but_one_odd_number_is_faulty(value: float) -> None:
    assert fault(as_scan(np.full(BEAMS, value)), 0.0, CONFIG) != ""


@given(st.lists(odd, min_size=1, max_size=7), st.integers(0, 99))
def test_a_scan_without_any_return_is_faulty(values: list[float], seed: int) -> None:
    mixed = np.random.default_rng(seed).choice(np.array(values), BEAMS)
    assert fault(as_scan(mixed), 0.0, CONFIG) != ""


@given(st.integers(0, 720).filter(lambda n: n != BEAMS))
def test_a_scan_of_another_length_is_faulty(count: int) -> None:
    assert "beams" in fault(as_scan(np.ones(count)), 0.0, CONFIG)


@pytest.mark.parametrize("value", [nan, inf, -inf, -1.0, 0.0, 99.0])
@pytest.mark.parametrize("seed", range(5))
def test_scattered_losses_of_40_percent_are_a_broken_lidar_and_of_10_are_not(value: float, seed: int) -> None:
    assert fault(changed(0.4, value, seed), 0.0, CONFIG) != ""
    assert fault(changed(0.1, value, seed), 0.0, CONFIG) == ""


@given(st.integers(0, BEAMS - 1), st.integers(0, int(0.75 * BEAMS)))
def test_one_sector_that_looks_down_a_long_hall_is_not(first: int, width: int) -> None:
    ranges = GOOD.ranges.copy()
    ranges[np.arange(first, first + width) % BEAMS] = inf
    assert fault(replace(GOOD, ranges=ranges), 0.0, CONFIG) == ""


def test_half_a_turn_is_not_a_scan() -> None:
    half = replace(GOOD, angle_increment=GOOD.angle_increment / 2)
    assert fault(half, 0.0, CONFIG) == "the scan covers 180 degrees"
    assert fault(replace(GOOD, angle_increment=nan), 0.0, CONFIG) != ""


@pytest.mark.parametrize("angle", [nan, inf, -inf, 1e300])
def test_a_scan_that_begins_nowhere_is_faulty(angle: float) -> None:
    assert "begins at" in fault(replace(GOOD, angle_min=angle), 0.0, CONFIG)
    assert fault(replace(GOOD, angle_min=0.0), 0.0, CONFIG) == ""


def test_a_lidar_that_sees_nothing_near_is_not_believed() -> None:
    for nearest in (0.6, nan, inf):
        assert "nothing nearer" in fault(replace(GOOD, range_min=nearest), 0.0, CONFIG)
    assert fault(replace(GOOD, range_min=0.12), 0.0, CONFIG) == ""


@pytest.mark.parametrize("value", [nan, -inf, -1.0, 0.0, 0.04])
def test_where_dead_beams_hide_something_it_is_as_if_there_were_something(value: float) -> None:
    ranges = GOOD.ranges.copy()
    ranges[[*range(355, 360), *range(4)]] = value  # behind, across the seam
    ranges[100:105] = value  # too few to hide anything
    blind = unseen(replace(GOOD, ranges=ranges), CONFIG) - (CONFIG.lidar.x, 0.0)
    np.testing.assert_allclose(np.hypot(*blind.T), CONFIG.zones.emergency_stop)
    bearings = np.degrees(np.arctan2(blind[:, 1], blind[:, 0])) % 360
    np.testing.assert_allclose(np.sort(bearings), np.arange(175, 184), atol=1e-9)


@pytest.mark.parametrize("value", [inf, 99.0])
def test_what_is_too_far_to_be_seen_hides_nothing(value: float) -> None:
    ranges = GOOD.ranges.copy()
    ranges[100:160] = value
    assert len(unseen(replace(GOOD, ranges=ranges), CONFIG)) == 0


def test_returns_are_in_the_base_frame() -> None:
    ranges = np.full(BEAMS, inf)
    ranges[BEAMS // 2], ranges[BEAMS * 3 // 4] = 0.5, 1.0
    expected = [[0.5 + CONFIG.lidar.x, 0.0], [CONFIG.lidar.x, 1.0]]
    np.testing.assert_allclose(returns(as_scan(ranges), CONFIG.lidar), expected, atol=1e-6)


@given(st.integers(0, BEAMS - 1), st.floats(0.06, 2.0))
def test_the_single_nearest_beam_is_the_distance_of_its_direction_and_of_no_other(beam: int, near: float) -> None:
    ranges = np.full(BEAMS, 3.0)
    ranges[beam] = near
    found = obstacle_distances(as_scan(ranges), CONFIG)
    assert set(found) == set(Direction)
    assert sorted(found.values())[0] == pytest.approx(near)
    assert sorted(found.values())[1:] == [3.0] * 5
    degrees = beam - 180
    expected = Direction.FORWARD if abs(degrees) < 22 else Direction.BACKWARD if abs(degrees) > 136 else None
    if expected is not None:
        assert found[expected] == pytest.approx(near)
    if 24 < abs(degrees) < 134:
        side = {d for d in Direction if ("left" if degrees > 0 else "right") in d}
        assert min(found[d] for d in side) == pytest.approx(near)


def test_directions_without_a_return_say_the_farthest_that_could_be_seen() -> None:
    ranges = np.full(BEAMS, inf)
    ranges[BEAMS // 2] = 1.0
    found = obstacle_distances(as_scan(ranges), CONFIG)
    assert found == dict.fromkeys(Direction, CONFIG.lidar.range_max) | {Direction.FORWARD: 1.0}


def walled(ahead: float, door: tuple[float, float], pose: Pose, noise: float = 0.0) -> Scan:
    """A room of 6 x 6 m with a wall across at x = ``ahead``; the wall is open between the two values of y."""
    scan = scan_of([], pose=pose)
    x, y = pose.ahead(CONFIG.lidar.x)
    ranges: NDArray[np.float64] = scan.ranges.astype(np.float64)
    for i in range(BEAMS):
        angle = pose.heading + scan.angle_min + i * scan.angle_increment
        if cos(angle) > 1e-6:
            distance = (ahead - x) / cos(angle)
            if not door[0] < y + distance * sin(angle) < door[1] and distance > 0:
                ranges[i] = min(ranges[i], distance)
    return as_scan(ranges + np.random.default_rng(0).normal(0, noise, BEAMS))


@given(st.floats(0.6, 1.8), st.floats(-1.2, 1.2), st.floats(0.8, 1.2), st.floats(-pi, pi), st.sampled_from([0.0, 0.01]))
def test_a_doorway_is_found_where_it_is(
    ahead: float, middle: float, width: float, heading: float, noise: float
) -> None:
    pose = Pose(-CONFIG.lidar.x * cos(heading), -CONFIG.lidar.x * sin(heading), heading)
    found = gaps(walled(ahead, (middle - width / 2, middle + width / 2), pose, noise), CONFIG)
    assert len(found) == 1
    [gap] = found
    assert gap.width_m == pytest.approx(width, abs=0.25)
    assert gap.distance_m == pytest.approx(np.hypot(ahead, middle), abs=0.25)
    error = gap.direction_deg - np.degrees(np.arctan2(middle, ahead) - heading)
    assert abs((error + 180) % 360 - 180) < 8


@pytest.mark.parametrize("width", [0.0, 0.3, 0.6])
def test_what_is_too_narrow_is_no_doorway(width: float) -> None:
    assert gaps(walled(1.0, (-width / 2, width / 2), Pose()), CONFIG) == ()


def test_a_room_and_a_pole_have_no_doorway() -> None:
    assert gaps(GOOD, CONFIG) == ()
    assert gaps(as_scan(np.full(BEAMS, inf)), CONFIG) == ()
