"""What generated tasks are built of: floors, cells that separate, chains of locks, pushes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.generating.decoys import DECOYS, dead_end
from gridworld.generating.draft import Draft, UnfitError
from gridworld.generating.floor import Floor
from gridworld.generating.locks import LOCKS, lay_chain
from gridworld.generating.plans import MAX_SIZE, MIN_SIZE, PLANS, draw_floor
from gridworld.generating.pushing import push_line
from gridworld.rules.tilings import HEX, SQUARE, TILINGS, Cell

tilings = st.sampled_from(sorted(TILINGS)).map(TILINGS.__getitem__)
floors = st.builds(
    lambda rng, tiling, plan: draw_floor(rng, tiling, plan, MIN_SIZE, MAX_SIZE),
    st.randoms(use_true_random=False),
    tilings,
    st.sampled_from(sorted(PLANS)),
)


@given(floors)
def test_floors_are_connected_and_inside(floor: Floor) -> None:
    assert floor.cells
    assert MIN_SIZE <= min(floor.width, floor.height)
    assert max(floor.width, floor.height) <= MAX_SIZE
    assert set(floor.distances(floor.cells[0])) == set(floor.cells)
    assert all(0 < x < floor.width - 1 and 0 < y < floor.height - 1 for x, y in floor.cells)
    assert not set(floor.walls) & set(floor.cells)


@given(floors, st.randoms(use_true_random=False))
def test_cuts_are_the_narrow_cells_that_every_way_passes(floor: Floor, rng: random.Random) -> None:
    start, end = rng.choice(floor.cells), rng.choice(floor.cells)
    cuts = floor.cuts(start, end)
    for cell in floor.narrow - {start, end}:
        assert (end not in floor.distances(start, {cell})) == (cell in cuts)


@given(floors, st.randoms(use_true_random=False))
def test_paths_are_shortest_ways(floor: Floor, rng: random.Random) -> None:
    start, end = rng.choice(floor.cells), rng.choice(floor.cells)
    path = floor.path(start, end)
    assert path[0] == start
    assert path[-1] == end
    assert len(path) == floor.distances(start)[end] + 1
    assert all(after in floor.neighbours[before] for before, after in pairwise(path))


def test_a_maze_has_no_loops() -> None:
    for seed in range(20):
        floor = draw_floor(random.Random(seed), SQUARE, "maze", 7, 15)
        assert sum(map(len, floor.neighbours.values())) == 2 * (len(floor.cells) - 1)


def test_doorways_are_narrow_corners_are_not() -> None:
    room = {(x, y) for x in range(1, 4) for y in range(1, 4)}
    floor = Floor(SQUARE, 9, 5, room | {(4, 2)} | {(x + 4, y) for x, y in room})
    assert floor.narrow == {(4, 2)}
    assert floor.cuts((1, 1), (7, 3)) == [(4, 2)]
    corner = Floor(SQUARE, 6, 6, {(1, 1), (2, 1), (3, 1), (3, 2), (3, 3)})
    assert corner.narrow == {(2, 1), (3, 2)}
    hexes = Floor(HEX, 9, 5, room | {(4, 2)} | {(x + 4, y) for x, y in room})
    assert hexes.cuts((1, 1), (7, 3)) == [(4, 2), (5, 2)]


def _drafts(kinds: list[str], seed: int) -> Draft:
    rng = random.Random(seed)
    tiling = TILINGS[rng.choice(sorted(TILINGS))]
    for _ in range(300):
        draft = Draft.begin(rng, draw_floor(rng, tiling, rng.choice(("rooms", "vaults", "maze")), 9, 16))
        try:
            lay_chain(draft, kinds)
        except UnfitError:
            continue
        return draft
    raise AssertionError(f"no draft with {kinds}")


def _opening(draft: Draft) -> Iterator[tuple[set[Cell], str, Cell, Cell]]:
    """For every lock, from the first: what is in reach before it opens, its opener, where that is, and the lock."""
    made = draft.mechanisms
    where = {key.id: key.position.to_tuple() for key in made.keys} | {d.id: d.position.to_tuple() for d in made.doors}
    where |= {s.id: s.position.to_tuple() for s in made.switches} | {g.id: g.position.to_tuple() for g in made.gates}
    closed = set(draft.closed)
    for link in draft.links:
        yield set(draft.floor.distances(draft.start, closed)), link.element, where[link.element], where[link.unlocks]
        closed.discard(where[link.unlocks])
    assert draft.goal in draft.floor.distances(draft.start, closed)


@given(st.lists(st.sampled_from(("key_door", "toggle_gate", "one_shot_gate")), min_size=1, max_size=4), st.integers())
def test_a_chain_opens_only_in_its_order(kinds: list[str], seed: int) -> None:
    draft = _drafts(kinds, seed)
    later = [element for _, element, _, _ in _opening(draft)]
    assert len(later) == len(kinds)
    places = {element: cell for _, element, cell, _ in _opening(draft)}
    for number, (reach, element, cell, lock) in enumerate(_opening(draft)):
        assert cell in reach, f"{element} is out of reach"
        assert lock not in reach
        assert draft.goal not in reach
        assert all(places[name] not in reach for name in later[number + 1 :]), "a step can be taken too early"


@pytest.mark.parametrize("kind", sorted(LOCKS))
def test_every_lock_bars_the_way(kind: str) -> None:
    draft = _drafts([kind], 1)
    assert draft.goal not in draft.near
    assert {draft.links[0].element, draft.links[-1].unlocks} <= set(draft.list_ids())


@given(st.randoms(use_true_random=False), tilings, st.integers(0, 2))
def test_pushing_leads_to_the_target(rng: random.Random, tiling_: object, turns: int) -> None:
    tiling = SQUARE if tiling_ is SQUARE else HEX
    draft = Draft.begin(rng, draw_floor(rng, tiling, "hall", 9, 12))
    before = set(draft.taken)
    line = push_line(draft, draft.floor.cells, turns)
    assert line.agent in draft.floor.neighbours[line.block]
    assert line.target != line.block
    assert not {line.agent, line.block, line.target} & before
    assert {line.agent, line.block, line.target} <= draft.taken


@pytest.mark.parametrize("name", sorted(DECOYS))
def test_decoys_cut_nothing_off_and_take_free_cells(name: str) -> None:
    made = 0
    for seed in range(60):
        draft = _drafts(["key_door"], seed)
        before = set(draft.taken)
        try:
            DECOYS[name](draft)
        except UnfitError:
            continue
        made += 1
        passable = set(draft.floor.distances(draft.start, draft.barred))
        assert passable == set(draft.floor.cells) - draft.barred
        assert not draft.barred & before
        valid, problems = draft.build_specification("t", 0, 5).validate()
        assert valid, problems
        if made == 5:
            return
    raise AssertionError(f"{name} found a place {made} times in 60")


def test_dead_ends_hold_nothing() -> None:
    for seed in range(20):
        draft = _drafts(["key_door", "toggle_gate"], seed)
        try:
            cut, behind = dead_end(draft)
        except UnfitError:
            continue
        assert not {cut, *behind} & draft.taken
        assert not set(behind) & draft.floor.distances(draft.start, {cut}).keys()
