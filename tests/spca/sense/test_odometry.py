"""Whether a step forward succeeded, from two views."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from minigrid.core.constants import COLOR_TO_IDX
from minigrid.core.world_object import Ball, Box, Door, Floor, Goal, Key, Lava, Wall, WorldObj
from numpy.typing import NDArray

from spca.sense import odometry, perception
from spca.sense.perception import EMPTY, UNSEEN, VOCABULARY

SIZE = 7
MIDDLE = SIZE // 2
WALL = VOCABULARY.index("wall")
BALL = VOCABULARY.index("ball blue")
GOAL = VOCABULARY.index("goal green")
THING = VOCABULARY.index("thing other")

Codes = NDArray[np.uint8]
static_cells = arrays.arrays(np.uint8, (SIZE + 1, SIZE), elements=st.sampled_from([EMPTY, WALL, GOAL, BALL]))
"""Ground that a view covers before a step forward or after it: the row at the top comes into view by the step."""


def list_objects() -> list[WorldObj]:
    coloured = [make(colour) for make in (Goal, Floor, Wall, Key, Ball, Box) for colour in COLOR_TO_IDX]
    doors = [
        Door(colour, *state) for colour in COLOR_TO_IDX for state in ((True, False), (False, False), (False, True))
    ]
    return [*coloured, *doors, Lava()]  # type: ignore[no-untyped-call]


def code_of(thing: WorldObj) -> int:
    image = np.array(thing.encode(), dtype=np.uint8).reshape(1, 1, 3)
    return int(perception.encode_view(image)[0, 0])


def test_the_agent_enters_what_minigrid_lets_it_enter() -> None:
    kinds = odometry.cell_kinds()
    for thing in list_objects():
        code = code_of(thing)
        assert (code in kinds.enterable) == thing.can_overlap(), VOCABULARY[code]
        assert (code in kinds.movable) == thing.can_pickup(), VOCABULARY[code]
    assert EMPTY in kinds.enterable
    assert not kinds.enterable & (kinds.barriers | kinds.movable)


@pytest.mark.parametrize(
    ("before", "after", "has_moved"),
    [
        ("empty", "empty", True),
        ("door red open", "wall", True),
        ("lava", "lava", True),
        ("wall", "wall", False),
        ("door red locked", "door red locked", False),
        ("ball blue", "empty", True),  # it rolled away before the agent moved
        ("empty", "ball blue", None),  # it rolled in the way, or was there already
        ("ball blue", "ball blue", None),
        ("wall", "empty", None),
        ("thing red", "empty", None),
        ("unseen", "empty", None),
    ],
)
def test_the_cells_in_front_decide(before: str, after: str, has_moved: bool | None) -> None:
    assert odometry.decide_move(VOCABULARY.index(before), VOCABULARY.index(after)) is has_moved


def views_of(ground: Codes, *, has_moved: bool) -> tuple[Codes, Codes]:
    before = ground[1:].copy()
    after = (ground[:-1] if has_moved else ground[1:]).copy()
    for view in (before, after):
        view[-1, MIDDLE] = EMPTY  # the agent's own cell shows what it carries
    return before, after


@given(static_cells, st.booleans())
def test_scenery_never_says_the_wrong_thing(ground: Codes, has_moved: bool) -> None:
    assert odometry.compare_scenery(*views_of(ground, has_moved=has_moved)) in (has_moved, None)


@given(static_cells, st.booleans())
def test_where_nothing_moves_by_itself_every_guess_is_right(ground: Codes, has_moved: bool) -> None:
    ground[-2, MIDDLE] = EMPTY if has_moved else BALL
    ground[-3, MIDDLE] = BALL
    before, after = views_of(ground, has_moved=has_moved)
    assert odometry.guess_move(before, after, is_restless=False) == has_moved


def test_scenery_decides_where_a_wall_comes_nearer() -> None:
    ground = np.full((SIZE + 1, SIZE), EMPTY, dtype=np.uint8)
    ground[2] = WALL
    for has_moved in (False, True):
        before, after = views_of(ground, has_moved=has_moved)
        after[-2, MIDDLE] = BALL
        assert odometry.compare_scenery(before, after) is has_moved
    after[0, 0] = GOAL
    assert odometry.compare_scenery(before, after) is True


def test_scenery_that_fits_neither_or_both_decides_nothing() -> None:
    plain = np.full((SIZE, SIZE), EMPTY, dtype=np.uint8)
    assert odometry.compare_scenery(plain, plain) is None
    odd = plain.copy()
    odd[3, 1] = WALL
    assert odometry.compare_scenery(odd, plain) is None
    hidden = np.full((SIZE, SIZE), UNSEEN, dtype=np.uint8)
    assert odometry.compare_scenery(odd, hidden) is None


def test_among_moving_things_a_guess_is_what_their_steps_explain() -> None:
    """The ball that stopped the agent was beside its way; another ball moved by one cell."""
    before = np.full((SIZE, SIZE), EMPTY, dtype=np.uint8)
    after = before.copy()
    before[SIZE - 2, MIDDLE - 1] = BALL
    before[2, 2] = BALL
    after[SIZE - 2, MIDDLE] = BALL
    after[1, 2] = BALL
    assert not odometry.guess_move(before, after, is_restless=True)

    before = np.full((SIZE, SIZE), EMPTY, dtype=np.uint8)
    before[SIZE - 4, MIDDLE] = BALL  # two cells ahead of where it would have stopped the agent
    before[2, 2] = BALL
    after[1, 2] = EMPTY
    after[3, 1] = BALL
    assert odometry.guess_move(before, after, is_restless=True)


def test_a_thing_on_ground_that_was_empty_has_moved() -> None:
    known = np.full((SIZE, SIZE), EMPTY, dtype=np.uint8)
    view = known.copy()
    view[1, 1] = BALL
    assert odometry.shows_motion(known, view, ())
    assert not odometry.shows_motion(known, view, [(1, 1)])
    assert not odometry.shows_motion(view, known, ())  # it may have been picked up before the first view was made
    known[1, 1] = UNSEEN
    assert not odometry.shows_motion(known, view, ())


def test_each_direction_leads_where_minigrid_leads() -> None:
    from minigrid.core.constants import DIR_TO_VEC

    for (south, east), (x, y) in itertools.zip_longest(odometry.AHEAD, DIR_TO_VEC):
        assert (east, south) == (x, y)
