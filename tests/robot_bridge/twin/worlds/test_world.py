"""Worlds as values."""

from __future__ import annotations

from math import hypot

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_bridge.contracts import Pose
from robot_bridge.twin.worlds.world import Obstacle, Thing, TwinWorld, Wall, merge_walls

CELLS = st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30)
POINTS = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=2, max_size=5)


def cell(column: int, row: int) -> Wall:
    return Wall(column, row, column + 1, row + 1)


@given(CELLS)
def test_merged_walls_cover_the_same_ground_once(cells: set[tuple[int, int]]) -> None:
    walls = merge_walls(cell(*c) for c in cells)
    covered = [
        (x, y)
        for wall in walls
        for x in range(round(wall.x0), round(wall.x1))
        for y in range(round(wall.y0), round(wall.y1))
    ]
    assert sorted(covered) == sorted(cells)
    assert len(walls) <= len(cells)


def test_the_walls_around_a_room_are_four_boxes() -> None:
    border = [cell(c, r) for c in range(19) for r in range(19) if c in (0, 18) or r in (0, 18)]
    assert len(merge_walls(border)) == 4


@given(POINTS, st.floats(0, 100), st.floats(0, 0.5))
def test_a_mover_makes_no_leaps_and_comes_back(path: list[tuple[int, int]], way: float, step: float) -> None:
    mover = Obstacle.mover(path, 0.5)
    (ax, ay), (bx, by) = mover.position_at(way), mover.position_at(way + step)
    assert hypot(bx - ax, by - ay) <= step + 1e-6
    assert mover.position_at(2 * mover.length) == pytest.approx(mover.position_at(0.0), abs=1e-9)
    assert mover.position_at(0.0) == pytest.approx((mover.x, mover.y))
    assert mover.position_at(mover.length) == pytest.approx(path[-1])


@pytest.mark.parametrize(
    ("thing", "is_solid"),
    [
        (Thing("door", "red", "open", 0, 0), False),
        (Thing("door", "red", "closed", 0, 0), True),
        (Thing("key", "red", "", 0, 0), True),
        (Thing("key", "red", "", 0, 0, is_present=False), False),
        (Thing("goal", "green", "", 0, 0), False),
    ],
)
def test_what_the_robot_would_run_into(thing: Thing, is_solid: bool) -> None:
    assert thing.is_solid is is_solid


def test_bounds_hold_everything() -> None:
    world = TwinWorld((Wall(0, 0, 3, 1),), (Thing("key", "red", "", 5, 0.5),), (Obstacle.pole(1, 4),), Pose(-1, 0), "w")
    assert world.bounds == (-1, 0, 5, 4)
