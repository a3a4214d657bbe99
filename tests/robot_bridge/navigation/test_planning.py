"""Routes over the map, and the frontiers that can be reached."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import atan2, hypot
from random import Random

import numpy as np
import pyastar2d  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose
from robot_bridge.navigation.clearance import KeepOut
from robot_bridge.navigation.frontiers import FrontierFinder
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.navigation.planning import CostGrid, Place, cost_grid, length_of, open_start, point_along, route
from tests.support.robot_bridge.rooms import LIDAR, Box, scan
from tests.support.robot_bridge.trips import walls

CONFIG = RobotConfig()
NOTHING = np.zeros((0, 2))
TWO_ROOMS = [*walls(-2, -2, 4, 2), (1.0, -0.4, 1.2, 2.0), (1.0, -2.0, 1.2, -1.3)]
"""With a doorway of 0.9 m at (1.1, -0.85)."""


def charted(world: list[Box], places: list[tuple[float, float]]) -> OccupancyMap:
    rng, chart = np.random.default_rng(2), OccupancyMap()
    for x, y in places:
        for turn in range(5):
            pose = Pose(x, y, 0.3 * turn)
            chart.integrate(scan(world, pose, rng), LIDAR, pose)
    return chart


@pytest.fixture(scope="module")
def both() -> OccupancyMap:
    return charted(TWO_ROOMS, [(0, 0), (0, -1), (3, 0), (2.5, -1)])


def costs_of(chart: OccupancyMap, *areas: KeepOut, allow_unknown: bool = False) -> CostGrid:
    return cost_grid(chart, CONFIG, NOTHING, areas, allow_unknown=allow_unknown)


def test_the_way_to_the_other_room_leads_through_the_doorway(both: OccupancyMap) -> None:
    way = route(costs_of(both), (0, 1), (3, 1), 0.1)

    assert way is not None
    assert way[0] == pytest.approx((0, 1))
    assert hypot(way[-1][0] - 3, way[-1][1] - 1) < 0.1
    x, y, _ = min((point_along(way, d) for d in np.arange(0, length_of(way), 0.05)), key=lambda p: abs(p[0] - 1.1))
    assert abs(x - 1.1) < 0.05
    assert abs(y + 0.85) < 0.2, "through the middle of the doorway"


def test_a_way_over_open_ground_is_hardly_longer_than_the_straight_line(both: OccupancyMap) -> None:
    way = route(costs_of(both), (-1.4, -1.2), (0.3, 1.1), 0.1)

    assert way is not None
    assert length_of(way) < 1.03 * hypot(1.7, 2.3)
    assert len(way) < 8


def test_there_is_no_way_into_a_wall_through_one_or_where_nothing_is_known(both: OccupancyMap) -> None:
    half = charted([*TWO_ROOMS, (1.0, -1.5, 1.2, -0.3)], [(0, 0)])

    assert route(costs_of(both), (0, 1), (1.1, 1.0), 0.1) is None
    assert route(costs_of(half), (0, 1), (3, 1), 0.1) is None


def test_unknown_ground_is_crossed_only_where_that_is_allowed() -> None:
    chart = charted(TWO_ROOMS, [(-1, 0)])

    assert route(costs_of(chart), (-1, 0), (3.5, 1.5), 0.1) is None
    assert route(costs_of(chart, allow_unknown=True), (-1, 0), (3.5, 1.5), 0.1) is not None


def test_a_goal_beside_a_wall_is_approached_as_far_as_the_tolerance_allows(both: OccupancyMap) -> None:
    assert route(costs_of(both), (0, 0), (-1.95, 0), 0.05) is None
    way = route(costs_of(both), (0, 0), (-1.95, 0), 0.25)

    assert way is not None
    assert -1.95 < way[-1][0] < -1.65


def test_keep_outs_and_what_the_scan_shows_now_are_avoided(both: OccupancyMap) -> None:
    assert route(costs_of(both, KeepOut(1.1, -0.85, 0.4)), (0, 1), (3, 1), 0.1) is None
    someone = np.array([(1.1, y) for y in np.linspace(-1.2, -0.5, 15)])
    assert route(cost_grid(both, CONFIG, someone), (0, 1), (3, 1), 0.1) is None


def test_unknown_ground_is_dearer_than_known() -> None:
    chart = charted(TWO_ROOMS, [(-1, 0)])
    costs = costs_of(chart, allow_unknown=True)

    known, unknown = (costs.costs[costs.cell(place)] for place in [(-1, 0), (3, 0)])

    assert known == 1.0
    assert unknown > 2 * known
    assert np.isinf(costs_of(chart).costs[costs.cell((3, 0))])


def test_the_nearest_free_cell_counts_as_far_as_the_tolerance_and_a_cell() -> None:
    costs = np.full((20, 20), np.inf, np.float32)
    costs[13:, 13:] = 1.0
    goal, start = (1.05, 1.05), (1.85, 1.85)

    assert route(CostGrid(costs, 0.1, 0.0, 0.0), start, goal, 0.3) is None, "the corner is 0.42 m away"
    costs[13:, 12] = 1.0
    way = route(CostGrid(costs, 0.1, 0.0, 0.0), start, goal, 0.3)
    assert way is not None
    assert way[-1] == pytest.approx((1.25, 1.35))


def test_out_of_what_cannot_be_crossed_leads_a_dear_way_and_no_other_cost_changes() -> None:
    costs = np.full((40, 40), 2.0, np.float32)
    costs[:, 18:22] = np.inf
    grid = CostGrid(costs, 0.05, 0.0, 0.0)

    assert np.array_equal(open_start(grid, (0.5, 1.0)), costs)
    way_out = open_start(grid, (0.95, 1.0))
    changed = way_out != costs
    assert np.isinf(costs[changed]).all()
    assert (way_out[changed] > 20).all()
    rows, columns = np.nonzero(changed)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (14, 26, 18, 21)


@given(st.lists(st.tuples(*[st.integers(-3, 3)] * 2), min_size=1, max_size=6), st.floats(0, 12))
def test_a_point_along_a_way_lies_so_far_along_it(corners: list[tuple[int, int]], distance: float) -> None:
    x, y, direction = point_along(corners, distance)

    left = distance
    for a, b in pairwise(corners):
        step = hypot(b[0] - a[0], b[1] - a[1])
        if step > left:
            assert hypot(x - a[0], y - a[1]) == pytest.approx(left, abs=1e-9)
            assert direction == pytest.approx(atan2(b[1] - a[1], b[0] - a[0]))
            assert hypot(x - b[0], y - b[1]) == pytest.approx(step - left, abs=1e-9)
            return
        left -= step
    assert (x, y) == corners[-1]


def test_from_too_near_an_obstacle_there_is_still_a_way(both: OccupancyMap) -> None:
    assert route(costs_of(both), (0.95, 0.5), (-1, 0), 0.1) is not None


@given(st.integers(0, 10_000))
def test_no_way_touches_what_cannot_be_crossed(seed: int) -> None:
    rng = Random(seed)
    blocked = np.ones((30, 30), np.float32)
    for _ in range(40):
        blocked[rng.randrange(30), rng.randrange(30)] = np.inf
    blocked[0, 0] = blocked[29, 29] = 1.0
    grid = CostGrid(blocked, 0.1, 0.0, 0.0)

    way = route(grid, (0.05, 0.05), (2.95, 2.95), 0.05)

    if way is not None:
        for a, b in pairwise(way):
            assert np.isfinite(grid.between(a, b)) or hypot(b[0] - a[0], b[1] - a[1]) < 0.15


class Counted(CostGrid):
    """Counts the straight lines that are looked along."""

    lines = 0

    def between(self, start: Place, end: Place) -> float:
        Counted.lines += 1
        return super().between(start, end)


def test_a_long_way_is_straightened_by_few_looks() -> None:
    Counted.lines = 0
    winding = np.ones((300, 300), np.float32)
    for number, row in enumerate(range(10, 290, 20)):
        winding[row, 20 * (number % 2) : 280 + 20 * (number % 2)] = np.inf

    way = route(Counted(winding, 0.1, 0.0, 0.0), (15.0, 0.05), (15.0, 29.95), 0.1)

    assert way is not None
    assert length_of(way) > 300
    assert Counted.lines < 12 * len(way)


@given(st.integers(0, 10_000))
def test_cutting_corners_makes_a_way_no_dearer(seed: int) -> None:
    hills = np.random.default_rng(seed).random((6, 6))
    costs = (1 + 8 * np.kron(hills, np.ones((6, 6)))).astype(np.float32)
    costs[np.random.default_rng(seed).random((36, 36)) < 0.1] = np.inf
    grid, start, goal = CostGrid(costs, 0.1, -1.0, 2.0), (-0.95, 2.05), (2.55, 5.55)
    costs[0, 0] = costs[35, 35] = 1.0

    way = route(grid, start, goal, 0.05)

    if way is not None:
        cells = pyastar2d.astar_path(costs, (0, 0), (35, 35), allow_diagonal=True)
        each = costs[cells[:, 0], cells[:, 1]].astype(float)
        steps = np.hypot(*np.diff(cells, axis=0).T) * 0.1
        assert way[0] == start
        assert way[-1] == pytest.approx(goal)
        pulled = sum(grid.between(a, b) * hypot(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(way))
        assert pulled <= 1.05 * float((steps * (each[1:] + each[:-1]) / 2).sum()) + 0.5


@given(st.floats(0.05, 0.7))
def test_it_is_dearer_near_an_obstacle_however_wide_the_robot_is(half_width: float) -> None:
    chart = OccupancyMap()
    chart.cover(-2.0, -2.0, 2.0, 2.0)
    wide = replace(CONFIG, body=replace(CONFIG.body, half_width=half_width))

    costs = cost_grid(chart, wide, np.array([(0.0, 0.0)]), allow_unknown=True)

    row, column = costs.cell((0.0, 0.0))
    away = costs.costs[row, column:]
    assert np.isinf(away[: int(half_width / chart.resolution)]).all()
    finite = away[np.isfinite(away)]
    assert (np.diff(finite) <= 0).all()
    assert finite[0] > finite[-1] + 1


def test_a_doorway_to_the_unknown_is_a_frontier_and_keeps_its_id() -> None:
    chart, finder = charted(TWO_ROOMS, [(-1, 1)]), FrontierFinder()
    first = finder.find(chart, costs_of(chart), (-1, 1))
    for place in [(-1, 0.8), (-0.8, 0.6)]:
        pose = Pose(*place, 0.0)
        chart.integrate(scan(TWO_ROOMS, pose, np.random.default_rng(0)), LIDAR, pose)
    second = finder.find(chart, costs_of(chart), (-0.8, 0.6))

    assert first
    assert all(-2 < f.x < 4 and -2 < f.y < 2 for f in first)
    assert {f.id for f in second} & {f.id for f in first}
    assert [f.width_m for f in first] == sorted((f.width_m for f in first), reverse=True)


@pytest.mark.parametrize("start", [(-1.0, 1.0), (0.9, 0.5), (-1.9, -1.9)])
def test_a_way_leads_to_every_frontier_also_from_too_near_a_wall(start: tuple[float, float]) -> None:
    chart = charted(TWO_ROOMS, [(-1, 0.5)])
    costs = costs_of(chart)

    found = FrontierFinder().find(chart, costs, start)

    assert found
    for frontier in found:
        assert np.isfinite(costs.costs[costs.cell((frontier.x, frontier.y))]), "a free place"
        assert route(costs, start, (frontier.x, frontier.y), 0.05)


def test_explored_rooms_have_no_frontier() -> None:
    whole = charted(TWO_ROOMS, [(0, 0), (0, -1), (0.5, 1.5), (3, 0), (2.5, -1), (1.6, 1.7), (1.6, -1.7), (1.1, -0.85)])

    assert FrontierFinder().find(whole, costs_of(whole), (0, 0)) == ()


def test_a_frontier_behind_a_gap_that_is_too_narrow_is_left_out() -> None:
    slit = [*walls(-2, -2, 4, 2), (1.0, 0.1, 1.2, 2.0), (1.0, -2.0, 1.2, -0.1)]
    chart = charted(slit, [(0, 0), (0.3, 0.3), (0.3, -0.3)])

    assert FrontierFinder().find(chart, costs_of(chart), (0, 0)) == ()
