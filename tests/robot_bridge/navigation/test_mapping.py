"""The occupancy map: what it calls free, occupied and unknown, and how it grows."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import inf, nextafter, pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_bridge.contracts import Pose, Scan
from robot_bridge.navigation.mapping import OccupancyMap
from tests.support.robot_bridge.rooms import LIDAR, Box, scan
from tests.support.robot_bridge.trips import walls

ROOM = walls(-2, -2, 2, 2)
POLE: Box = (0.99, -0.01, 1.01, 0.01)


def charted(world: list[Box], poses: list[Pose]) -> OccupancyMap:
    rng, chart = np.random.default_rng(3), OccupancyMap()
    for pose in poses:
        chart.integrate(scan(world, pose, rng), LIDAR, pose)
    return chart


def code(chart: OccupancyMap, x: float, y: float) -> int:
    row, column = chart.cell(x, y)
    return int(chart.codes[row, column]) if chart.contains(row, column) else -1


def test_a_room_is_free_its_walls_are_occupied_and_what_is_behind_them_is_unknown() -> None:
    chart = charted(ROOM, [Pose()] * 10)

    assert code(chart, 1.0, 1.0) < 35
    assert code(chart, 0.0, 0.0) < 35, "where the robot stands"
    assert code(chart, 2.01, 0.02) > 80 or code(chart, 1.99, 0.02) > 80
    assert code(chart, 2.3, 0.0) == -1
    assert abs(chart.explored_m2 - 16.0) < 1.0


def test_what_lies_in_the_shadow_of_a_post_is_unknown() -> None:
    chart = charted([*ROOM, (0.95, -0.05, 1.05, 0.05)], [Pose()] * 10)

    assert code(chart, 0.96, 0.0) > 80
    assert code(chart, 1.4, 0.0) == -1
    assert code(chart, 1.4, 0.4) < 35


def test_a_pole_that_was_seen_from_near_stays_when_beams_pass_it_from_afar() -> None:
    chart = charted([*ROOM, POLE], [Pose()] * 10 + [Pose(-1.8, 0.3 + 0.01 * i, 0.0) for i in range(60)])

    assert code(chart, 1.0, 0.0) > 50


def test_what_has_gone_is_forgotten_within_three_seconds() -> None:
    crate: Box = (0.8, -0.2, 1.2, 0.2)
    chart = charted([*ROOM, crate], [Pose()] * 40)
    assert code(chart, 0.82, 0.0) > 90

    rng = np.random.default_rng(4)
    for _ in range(30):
        chart.integrate(scan(ROOM, Pose(), rng), LIDAR, Pose())

    assert code(chart, 0.82, 0.0) < 50


def test_what_was_touched_stays_whatever_beams_pass_through_it_and_however_the_map_grows() -> None:
    chart = charted(ROOM, [Pose()])
    chart.fix(np.array([(0.82, 0.02), (0.82, 0.12), (-30.02, 0.02)]))
    rng = np.random.default_rng(4)
    for _ in range(60):
        chart.integrate(scan(ROOM, Pose(), rng), LIDAR, Pose())
    chart.cover(-40.0, -40.0, 40.0, 40.0)
    assert min(code(chart, 0.82, 0.02), code(chart, 0.82, 0.12), code(chart, -30.02, 0.02)) > 90
    assert code(chart, 0.6, 0.0) < 50


def test_what_was_touched_is_known_to_millimetres_and_is_nothing_that_the_lidar_measured() -> None:
    chart = charted(ROOM, [Pose()])
    marks, points = chart.find_measured()
    chart.fix(np.array([(0.812, 0.03), (0.814, 0.03)]))
    assert chart.obstacles_in(0.7, -0.1, 0.9, 0.1) == pytest.approx(np.array([(0.813, 0.03)]), abs=0.001)
    assert np.array_equal(chart.find_measured()[0], marks)
    assert np.array_equal(chart.find_measured()[1], points)


def test_a_lone_missing_return_frees_nothing_and_many_in_a_row_are_open_space() -> None:
    seen = scan(ROOM, Pose(), np.random.default_rng(0))
    lone, wide = seen.ranges.copy(), seen.ranges.copy()
    lone[180] = np.inf
    wide[160:201] = np.inf

    one, many = OccupancyMap(), OccupancyMap()
    one.integrate(replace(seen, ranges=lone), LIDAR, Pose())
    many.integrate(replace(seen, ranges=wide), LIDAR, Pose())

    assert code(one, 5.0, 0.0) == -1
    assert 0 <= code(many, 5.0, 0.0) < 50


def test_walls_are_known_more_finely_than_cells() -> None:
    chart = charted(ROOM, [Pose(0.01 * i, 0.0, 0.1 * i) for i in range(60)])

    points = chart.obstacles_in(1.8, -1.0, 2.2, 1.0)

    assert len(points) > 20
    assert abs(points[:, 0] - 2.0).mean() < 0.012


def test_a_scan_without_any_return_changes_nothing() -> None:
    chart = OccupancyMap()
    empty = Scan(0.0, np.full(360, np.nan, np.float32), LIDAR.angle_min, LIDAR.angle_increment, 0.05, 12.0)

    chart.integrate(empty, LIDAR, Pose())

    assert chart.explored_m2 == 0.0


@given(st.floats(-1.5, 1.5), st.floats(-1.5, 0.8), st.floats(-pi, pi))
def test_no_beam_of_a_scan_clears_what_lies_beside_one_of_its_returns(x: float, y: float, heading: float) -> None:
    chart = charted([*ROOM, (-0.4, 1.0, 0.4, 1.2)], [Pose(x, y, heading)])

    codes = chart.codes
    rows, columns = np.nonzero(codes > 50)
    for down, aside in product((-1, 0, 1), repeat=2):
        beside = codes[rows + down, columns + aside]
        assert not ((beside >= 0) & (beside < 50)).any()
    assert (codes[codes >= 0] < 50).any(), "what lies farther away is cleared"


@pytest.mark.long
def test_a_wall_far_from_the_corner_of_the_map_is_known_to_a_millimetre_however_often_it_is_seen() -> None:
    chart, rng = OccupancyMap(), np.random.default_rng(6)
    chart.cover(-300.0, -0.5, 0.5, 0.5)
    for _ in range(400):
        chart.integrate(scan(walls(-0.33, -0.33, 0.33, 0.33), Pose(), rng), LIDAR, Pose())

    points = chart.obstacles_in(0.30, -0.2, 0.34, 0.2)

    assert abs(points[:, 0].mean() - 0.33) < 0.001


@given(st.integers(-400, 400), st.integers(-3, 3), st.sampled_from([-inf, inf]), st.integers(0, 3))
def test_a_place_on_the_very_edge_gets_a_cell(cells: int, chunks: int, towards: float, steps: int) -> None:
    chart = OccupancyMap()
    chart.cover(cells * chart.resolution, 0.0, 1.0, 1.0)
    x = chart.x + 4.0 * chunks
    for _ in range(steps):
        x = nextafter(x, towards)

    chart.cover(x, 0.0, x, 0.0)

    assert chart.contains(*chart.cell(x, 0.0))


def test_how_far_a_place_lies_beyond_what_was_written() -> None:
    chart = OccupancyMap()
    assert chart.beyond(0.0, 0.0) == inf
    chart.cover(-50.0, -50.0, 50.0, 50.0)
    assert chart.beyond(0.0, 0.0) == inf, "room for a map is none"

    chart.integrate(scan(ROOM, Pose(), np.random.default_rng(0)), LIDAR, Pose())
    chart.integrate(scan(ROOM, Pose(0.5, 0.0, 1.0), np.random.default_rng(0)), LIDAR, Pose(0.5, 0.0, 1.0))

    assert chart.beyond(1.9, -1.9) == 0.0
    assert abs(chart.beyond(-5.0, 6.0) - 5.0) < 0.1
    assert abs(chart.beyond(5.0, -6.0) - 5.0) < 0.1


@settings(max_examples=20)
@given(st.lists(st.tuples(*[st.floats(-15, 15)] * 2), min_size=1, max_size=4))
def test_growing_moves_nothing(corners: list[tuple[float, float]]) -> None:
    chart = charted(ROOM, [Pose(0.3, 0.2, 0.5)])
    before = chart.obstacles_in(-3, -3, 3, 3), chart.explored_m2

    for x, y in corners:
        chart.cover(min(x, 0), min(y, 0), max(x, 0), max(y, 0))
        assert chart.contains(*chart.cell(x, y))

    np.testing.assert_allclose(chart.obstacles_in(-3, -3, 3, 3), before[0], atol=1e-4)
    assert chart.explored_m2 == before[1]
