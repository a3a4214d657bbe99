"""Cells from an occupancy map, held against rooms that are known; windows against minigrid's own."""

from __future__ import annotations

from collections.abc import Iterable
from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_bridge.bridge_looking import shown
from robot_bridge.bridge_map import (
    Cell,
    Ground,
    Lattice,
    beyond,
    direction_of,
    heading_of,
    lit,
    terrain,
    window,
)
from robot_bridge.config import Lidar
from robot_bridge.contracts import Pose, Scan
from robot_bridge.mapping import OccupancyMap

LIDAR = Lidar()
LATTICE = Lattice(0.1, 0.0)
Box = tuple[float, float, float, float]


def boxes(picture: str) -> list[Box]:
    """x0, y0, x1, y1 of what a picture shows: # walls, o things, | and - shut doors; its S is cell (0, 0)."""
    rows = picture.split()
    start = next((r, line.index("S")) for r, line in enumerate(rows) if "S" in line)
    half = {"#": (0.5, 0.5), "o": (0.15, 0.15), "|": (0.03, 0.5), "-": (0.5, 0.03)}
    found = []
    for r, line in enumerate(rows):
        for c, sign in enumerate(line):
            if sign in half:
                x, y = LATTICE.middle((r - start[0], c - start[1]))
                dx, dy = half[sign]
                found.append((x - dx, y - dy, x + dx, y + dy))
    return found


def scan(world: Iterable[Box], pose: Pose, rng: np.random.Generator) -> Scan:
    """What a lidar with 1 cm noise would measure."""
    angles = pose.heading + LIDAR.angle_min + LIDAR.angle_increment * np.arange(LIDAR.beams)
    x, y = pose.ahead(LIDAR.x)
    dx, dy = np.cos(angles), np.sin(angles)
    nearest = np.full(LIDAR.beams, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        for x0, y0, x1, y1 in world:
            tx, ty = np.sort([(x0 - x) / dx, (x1 - x) / dx], axis=0), np.sort([(y0 - y) / dy, (y1 - y) / dy], axis=0)
            near, far = np.maximum(tx[0], ty[0]), np.minimum(tx[1], ty[1])
            hit = (near <= far) & (near > 0)
            nearest[hit] = np.minimum(nearest[hit], near[hit])
    ranges = (nearest + rng.normal(0, 0.01, LIDAR.beams)).astype(np.float32)
    return Scan(0.0, ranges, LIDAR.angle_min, LIDAR.angle_increment, LIDAR.range_min, LIDAR.range_max)


def seen(picture: str, cells: Iterable[Cell]) -> OccupancyMap:
    """The map after ten scans from the middle of each cell, looking north."""
    rng, world, chart = np.random.default_rng(1), boxes(picture), OccupancyMap()
    for cell in cells:
        x, y = LATTICE.middle(cell)
        pose = Pose(x, y - 0.1, pi / 2)
        for _ in range(10):
            chart.integrate(scan(world, pose, rng), LIDAR, pose)
    return chart


def drawn(picture: str, cells: Iterable[Cell] = ((0, 0),)) -> str:
    """The terrain in the picture's own frame."""
    rows = picture.split()
    start = next((r, line.index("S")) for r, line in enumerate(rows) if "S" in line)
    ground = terrain(seen(picture, cells), LATTICE)
    signs = {Ground.UNKNOWN: "?", Ground.FREE: ".", Ground.WALL: "#", Ground.THING: "o"}
    lines = [
        "".join(signs[ground.at((r - start[0], c - start[1]))] for c in range(len(rows[0]))) for r in range(len(rows))
    ]
    return "\n".join(lines)


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


def test_an_empty_map_is_unknown() -> None:
    assert terrain(OccupancyMap(), LATTICE).at((3, -2)) is Ground.UNKNOWN


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
    assert LATTICE.cell(*ahead) == beyond((0, 0), direction)


masks = st.lists(st.booleans(), min_size=49, max_size=49)


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
    assert (lit(clear) == theirs).all()


@given(st.integers(0, 3))
def test_the_window_begins_with_the_own_cell_and_ends_six_ahead(direction: int) -> None:
    cells = {(forward, across): cell for forward, across, cell in window((5, 5), direction)}
    assert cells[0, 3] == (5, 5)
    assert cells[1, 3] == beyond((5, 5), direction)
    assert cells[0, 4] == beyond((5, 5), (direction + 1) % 4)
    assert len(set(cells.values())) == 49


def test_nothing_is_shown_behind_what_is_not_known() -> None:
    words = {cell: "empty" for _, _, cell in window((0, 0), 0)}
    words |= {(row, 2): "unseen" for row in range(-3, 4)}
    assert {cell[1] for cell in shown(((0, 0), 0), words)} == {0, 1, 2}
