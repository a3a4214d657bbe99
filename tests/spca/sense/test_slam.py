"""The accumulated map holds what was last seen, where it was seen, and nothing else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from spca.sense import perception, slam

SIZE = 7
Move = tuple[int, int, int, NDArray[np.uint8]]


@st.composite
def views(draw: st.DrawFn) -> NDArray[np.uint8]:
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    view = rng.integers(1, len(perception.VOCABULARY), (SIZE, SIZE), dtype=np.uint8)
    view[rng.random((SIZE, SIZE)) < 0.4] = perception.UNSEEN
    return view


moves: st.SearchStrategy[list[Move]] = st.lists(
    st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(0, 3), views()), max_size=12
)


def agent_at(direction: int) -> tuple[int, int]:
    return perception.agent_cell(SIZE, direction)


@given(moves)
def test_the_map_equals_a_dictionary_of_what_was_last_seen(steps: list[Move]) -> None:
    grid, seen = slam.empty_map(), {(0, 0): perception.EMPTY}
    for row, column, direction, view in steps:
        own = agent_at(direction)
        grid = slam.integrate(grid, view, (row, column), own)
        for (r, c), code in np.ndenumerate(view):
            if code != perception.UNSEEN and (r, c) != own:
                seen[row + r - own[0], column + c - own[1]] = int(code)
        marked = grid.mark_agent((row, column))
        assert marked[grid.index((row, column))] == perception.AGENT
        assert (marked != grid.codes).sum() <= 1
    cells = {(r - grid.origin[0], c - grid.origin[1]): int(v) for (r, c), v in np.ndenumerate(grid.codes) if v}
    assert cells == seen


@given(moves)
def test_earlier_maps_are_never_changed(steps: list[Move]) -> None:
    grid = slam.empty_map()
    for row, column, direction, view in steps:
        before = grid.codes.copy()
        later = slam.integrate(grid, view, (row, column), agent_at(direction))
        assert np.array_equal(grid.codes, before)
        later.mark_agent((row, column))[:] = 0
        assert later.codes[later.origin] != perception.UNSEEN
        grid = later


def test_the_map_is_padded_on_the_side_that_is_left() -> None:
    """In each direction the view reaches six cells ahead and three to either side."""
    view = np.full((SIZE, SIZE), perception.EMPTY, dtype=np.uint8)
    expected = {0: ((3, 0), (7, 7)), 1: ((0, 3), (7, 7)), 2: ((3, 6), (7, 7)), 3: ((6, 3), (7, 7))}
    for direction, (origin, shape) in expected.items():
        grid = slam.integrate(slam.empty_map(), view, (0, 0), agent_at(direction))
        assert (grid.origin, grid.codes.shape) == (origin, shape)
        assert (grid.codes == perception.EMPTY).all()


def test_positions_stay_right_while_the_map_grows_on_all_sides() -> None:
    grid = slam.empty_map()
    view = np.full((SIZE, SIZE), perception.UNSEEN, dtype=np.uint8)
    for direction, position in enumerate([(0, 5), (5, 0), (0, -5), (-5, 0)]):
        grid = slam.integrate(grid, view, position, agent_at(direction))
        assert grid.index((0, 0)) == grid.origin
        assert grid.codes[grid.index((0, 0))] == perception.EMPTY
    assert (grid.codes != perception.UNSEEN).sum() == 1


def test_a_cell_that_is_seen_again_is_overwritten_and_an_unseen_one_is_kept() -> None:
    ball, empty = perception.VOCABULARY.index("ball red"), perception.EMPTY
    view = np.full((SIZE, SIZE), perception.UNSEEN, dtype=np.uint8)
    view[3, 2] = ball
    grid = slam.integrate(slam.empty_map(), view, (0, 0), agent_at(0))
    view[3, 2] = perception.UNSEEN
    grid = slam.integrate(grid, view, (0, 0), agent_at(0))
    assert grid.codes[grid.index((0, 2))] == ball
    view[3, 2] = empty
    grid = slam.integrate(grid, view, (0, 0), agent_at(0))
    assert grid.codes[grid.index((0, 2))] == empty


@given(moves)
def test_a_window_of_the_map_is_what_a_view_has_written(steps: list[Move]) -> None:
    grid = slam.empty_map()
    for row, column, direction, view in steps:
        own = agent_at(direction)
        unread = slam.read_window(grid, SIZE, (row, column), own)
        grid = slam.integrate(grid, view, (row, column), own)
        read = slam.read_window(grid, SIZE, (row, column), own)
        expected = np.where(view == perception.UNSEEN, unread, view)
        expected[own] = unread[own]
        assert np.array_equal(read, expected)
