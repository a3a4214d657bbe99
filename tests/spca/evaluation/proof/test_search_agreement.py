"""Small random mazes: what is proven fast agrees with a search of all states."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.evaluation.proof.dynamics import NOWHERE, Door, DoorState, End, Ground, Item, Maze, MazeState
from spca.evaluation.proof.goals import Goal, GoToGoal, OpenGoal, PickUpGoal, PutNextGoal, SquareGoal
from spca.evaluation.proof.missions import Mission
from spca.evaluation.proof.relaxation import Relaxed
from spca.evaluation.proof.searching import carry_out, find_plan, visit_all

SIDE = 5
INNER = [row * SIDE + column for row in range(1, SIDE - 1) for column in range(1, SIDE - 1)]
LIMIT = 12
ENOUGH = 60_000


@st.composite
def mazes(draw: st.DrawFn) -> tuple[Maze, MazeState, Mission]:
    """Three by three cells with walls, a door, a goal square, one or two items and one or two goals."""
    cells = draw(st.permutations(INNER))
    start, door, square, *rest = cells
    kinds = draw(st.lists(st.sampled_from([("key", "red"), ("ball", "red"), ("box", "blue")]), min_size=1, max_size=2))
    places, walls = rest[: len(kinds)], rest[len(kinds) : len(kinds) + draw(st.integers(1, 4))]
    ground = [Ground.FREE if cell in INNER and cell not in walls else Ground.WALL for cell in range(SIDE * SIDE)]
    ground[door], ground[square] = Ground.DOOR, draw(st.sampled_from([Ground.GOAL, Ground.LAVA, Ground.FREE]))
    to_square = ground[square] == Ground.GOAL
    items = [Item(*kind) for kind in kinds]
    if draw(st.booleans()) and items[0].kind == "box":
        items.append(Item("key", "red"))
        items[0] = Item("box", "blue", len(items) - 1)
        places.append(NOWHERE)
    maze = Maze(SIDE, tuple(ground), tuple(items), (Door(door, "red"),), {door: 0}, LIMIT)
    number = st.integers(0, len(items) - 1)
    possible: list[st.SearchStrategy[Goal]] = [
        st.just(OpenGoal((0,), strict=False)),
        st.builds(lambda n: GoToGoal((n,), ()), number),
        st.builds(lambda n: PickUpGoal((n,), strict=False), number),
        st.builds(lambda n: PutNextGoal((n,), (), (door,), strict=False), number),
        st.builds(lambda n, m: PutNextGoal((n,), (m,), (), strict=False), number, number),
        st.just(OpenGoal((0,), strict=True)),
    ]
    goals = (SquareGoal(),) if to_square else tuple(draw(st.lists(st.one_of(possible), min_size=1, max_size=2)))
    groups = ((0,),) if len(goals) == 1 else draw(st.sampled_from([((0,), (1,)), ((0, 1),), ((1,), (0,))]))
    mission = Mission(goals, groups, forgiving=draw(st.booleans()))
    held = draw(st.sampled_from([NOWHERE, 0]))
    listed, doors = tuple(places), (draw(st.sampled_from(DoorState)),)
    if held != NOWHERE:
        places[held] = NOWHERE
    return maze, MazeState(start, draw(st.integers(0, 3)), held, tuple(places), doors, listed, mission.begin), mission


@pytest.mark.long
@given(mazes())
def test_proofs_and_plans_agree_with_all_states(given_maze: tuple[Maze, MazeState, Mission]) -> None:
    maze, start, mission = given_maze
    least = mission.cost(Relaxed(maze, start, bound=True))
    shortest = visit_all(maze, mission, start, ENOUGH)
    found = find_plan(maze, mission, start, 300).plan
    if shortest.plan is None:
        assert shortest.exhausted
        assert found is None
        return
    assert least <= len(shortest.plan) <= LIMIT
    assert math.isfinite(mission.cost(Relaxed(maze, start, bound=False)))
    for plan in filter(None, (shortest.plan, found)):
        assert len(shortest.plan) <= len(plan) <= LIMIT
        done, _, end = carry_out(maze, mission, start, plan)
        assert end == End.SUCCESS
        assert done == plan
