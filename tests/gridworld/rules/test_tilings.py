"""Tilings: geometry, and view cones against MiniGrid's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.rules.tilings import HEX, SQUARE, TILINGS, Cell, Tiling

CELLS = st.tuples(st.integers(-20, 20), st.integers(-20, 20))
KINDS = pytest.mark.parametrize("tiling", TILINGS.values(), ids=TILINGS)


@KINDS
@given(cell=CELLS)
def test_whoever_turns_round_comes_back(tiling: Tiling, cell: Cell) -> None:
    for heading, neighbour in enumerate(tiling.neighbours(cell)):
        assert tiling.ahead(neighbour, (heading + tiling.headings // 2) % tiling.headings) == cell
    assert len(set(tiling.neighbours(cell))) == tiling.headings == len(tiling.heading_names)


@KINDS
@given(one=CELLS, other=CELLS)
def test_distance_counts_moves(tiling: Tiling, one: Cell, other: Cell) -> None:
    away = tiling.distance(one, other)
    assert away == tiling.distance(other, one)
    assert (away == 0) == (one == other)
    steps = [tiling.distance(neighbour, other) - away for neighbour in tiling.neighbours(one)]
    assert set(steps) <= {-1, 0, 1}
    assert away == 0 or -1 in steps


def test_hexagonal_neighbours_of_even_and_odd_rows() -> None:
    assert HEX.neighbours((3, 2)) == ((4, 2), (3, 3), (2, 3), (2, 2), (2, 1), (3, 1))
    assert HEX.neighbours((3, 3)) == ((4, 3), (4, 4), (3, 4), (2, 3), (3, 2), (4, 2))


@given(cell=CELLS)
def test_axial_coordinates_are_a_bijection(cell: Cell) -> None:
    assert HEX.from_axial(HEX.to_axial(cell)) == cell


@pytest.mark.long
@given(
    walls=st.sets(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=40),
    place=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    heading=st.integers(0, 3),
    size=st.sampled_from((3, 5, 7, 9)),
)
def test_square_cone_is_that_of_minigrid(walls: set[Cell], place: Cell, heading: int, size: int) -> None:
    walls -= {place}
    border = {(x, y) for x in range(11) for y in range(11) if {x, y} & {0, 10}}

    def opaque(cell: Cell) -> bool:
        return cell in walls or cell in border or not (0 <= cell[0] <= 10 and 0 <= cell[1] <= 10)

    cone = SQUARE.cone(place, heading, size, opaque)
    inside = {cell for cell in cone if 0 <= cell[0] <= 10 and 0 <= cell[1] <= 10}
    assert inside == _seen_by_minigrid(walls, place, heading, size)


def _seen_by_minigrid(walls: set[Cell], place: Cell, heading: int, size: int) -> set[Cell]:
    from minigrid.core.grid import Grid
    from minigrid.core.mission import MissionSpace
    from minigrid.core.world_object import Wall
    from minigrid.minigrid_env import MiniGridEnv

    class Room(MiniGridEnv):  # type: ignore[misc, unused-ignore]
        def _gen_grid(self, width: int, height: int) -> None:
            self.grid = Grid(width, height)
            self.grid.wall_rect(0, 0, width, height)
            for cell in walls:
                self.grid.set(*cell, Wall())
            self.agent_pos, self.agent_dir = place, heading

    room = Room(MissionSpace(lambda: ""), width=11, height=11, max_steps=1, agent_view_size=size)
    room.reset(seed=0)
    return {(x, y) for x in range(11) for y in range(11) if _lit(room, x, y)}


def _lit(room: object, x: int, y: int) -> bool:
    mask: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
    _, mask = room.gen_obs_grid()  # type: ignore[attr-defined]
    place = room.relative_coords(x, y)  # type: ignore[attr-defined]
    return place is not None and bool(mask[place])


def test_hexagonal_cone_is_a_wedge_that_walls_cut() -> None:
    place, heading = (5, 6), 0
    open_ground = HEX.cone(place, heading, 5, lambda _: False)
    assert len(open_ground) == 1 + sum(2 * ring + 1 for ring in range(1, 5))
    assert all(HEX.distance(place, cell) <= 4 for cell in open_ground)
    assert (4, 6) not in open_ground
    shut = HEX.cone(place, heading, 5, lambda cell: HEX.distance(place, cell) == 2)
    assert {cell for cell in open_ground if HEX.distance(place, cell) <= 2} == shut
