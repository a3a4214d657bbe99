"""Cells from an occupancy map, held against rooms that are known; windows against minigrid's own."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_bridge.agent.cells import (
    Cell,
    Ground,
    is_bare,
    next_cell,
    spread_light,
    terrain,
    window,
)
from robot_bridge.contracts import Pose
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.twin.worlds.levels import direction_of, heading_of
from tests.support.robot_bridge.rooms import LATTICE, drawn, seen


def test_a_room_with_things_is_as_it_is() -> None:
    room = "#######\n#.....#\n#.S.o.#\n#..o..#\n#.....#\n#######"
    assert drawn(room, [(0, 0), (-1, 3), (2, 3)]).split() == [
        "#######",
        "#.....#",
        "#...o.#",
        "#..o..#",
        "#.....#",
        "#######",
    ]


def test_a_shut_door_is_a_thing_in_the_wall() -> None:
    rows = drawn("#########\n#...#...#\n#.S.|...#\n#...#...#\n#########").split()
    assert [row[:5] for row in rows] == ["#####", "#...#", "#...o", "#...#", "#####"]
    assert {sign for row in rows for sign in row[6:]} == {"?"}, "nothing is seen through a shut door"


def test_what_a_doorway_hides_is_unknown() -> None:
    rows = drawn("#########\n#...#...#\n#.......#\n#.S.#...#\n#########").split()
    assert rows[1][4] == "#"
    assert rows[3][5] == rows[3][6] == "?", "behind the wall beside the doorway"
    both = drawn("#########\n#...#...#\n#.......#\n#.S.#...#\n#########", [(0, 0), (-1, 2), (-1, 3)])
    assert both.split() == ["#########", "#...#...#", "#.......#", "#...#...#", "#########"]


rooms = st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=4).map(lambda s: s - {(2, 2)})


@settings(max_examples=10)
@given(rooms)
def test_no_thing_is_taken_for_free_ground_and_no_free_ground_for_a_thing(things: set[Cell]) -> None:
    inner = "\n".join(
        "#" + "".join("S" if (r, c) == (2, 2) else "o" if (r, c) in things else "." for c in range(5)) + "#"
        for r in range(5)
    )
    found = drawn(f"#######\n{inner}\n#######").split()
    for r in range(5):
        for c in range(5):
            assert found[r + 1][c + 1] in (("o", "?") if (r, c) in things else (".", "?"))


def test_the_corner_of_a_room_is_no_corner_of_walls() -> None:
    rows = drawn("######\n#...#\n#o..#\n#S..#\n######").split()
    assert rows[1][1] == "?", "hidden behind the thing"
    assert rows[0][4] == "#"
    assert rows[4][0] == rows[4][4] == "#"


def test_a_cell_is_bare_where_nothing_stands_in_it() -> None:
    chart = seen("#######\n#.....#\n#.S.o.#\n#..|..#\n#.....#\n#######", [(0, 0), (2, 3)])
    assert [is_bare(chart, LATTICE, cell) for cell in ((0, 1), (0, 2), (1, 1), (2, 0), (-1, 0))] == [
        True,
        False,
        False,
        True,
        True,
    ]


def test_an_empty_map_is_unknown() -> None:
    assert terrain(OccupancyMap(), LATTICE).ground_at((3, -2)) is Ground.UNKNOWN


@given(st.tuples(st.integers(-30, 30), st.integers(-30, 30)), st.floats(-0.49, 0.49), st.floats(-0.49, 0.49))
def test_points_lie_in_the_cell_whose_middle_is_near(cell: Cell, dx: float, dy: float) -> None:
    x, y = LATTICE.middle(cell)
    assert LATTICE.cell(x + dx, y + dy) == cell


@pytest.mark.parametrize(("direction", "heading"), [(0, 0.0), (1, -pi / 2), (2, -pi), (3, pi / 2)])
def test_directions_are_headings_to_the_next_cell(direction: int, heading: float) -> None:
    assert heading_of(direction) == heading
    assert direction_of(heading + 0.3) == direction_of(heading - 0.3) == direction
    x, y = LATTICE.middle((0, 0))
    ahead = Pose(x, y, heading).ahead(1.0)
    assert LATTICE.cell(*ahead) == next_cell((0, 0), direction)


masks = st.lists(st.booleans(), min_size=49, max_size=49)


@settings(max_examples=25)
@given(masks)
def test_light_spreads_as_in_minigrid(bits: list[bool]) -> None:
    from minigrid.core.grid import Grid
    from minigrid.core.world_object import Wall

    clear: NDArray[np.bool_] = np.array(bits).reshape(7, 7)
    clear[0, 3] = True
    grid = Grid(7, 7)
    for forward in range(7):
        for across in range(7):
            if not clear[forward, across]:
                grid.set(across, 6 - forward, Wall())
    theirs = grid.process_vis((3, 6)).T[::-1]
    assert (spread_light(clear) == theirs).all()


@given(st.integers(0, 3))
def test_the_window_begins_with_the_own_cell_and_ends_six_ahead(direction: int) -> None:
    cells = {(forward, across): cell for forward, across, cell in window((5, 5), direction)}
    assert cells[0, 3] == (5, 5)
    assert cells[1, 3] == next_cell((5, 5), direction)
    assert cells[0, 4] == next_cell((5, 5), (direction + 1) % 4)
    assert len(set(cells.values())) == 49
