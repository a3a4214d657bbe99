"""Exact search: lengths, proofs that there is no solution, limits, and the bounds that it searches with."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path

import numpy as np
import pytest

from gridworld.actions import Action
from gridworld.errors import SearchLimitError, TaskError
from gridworld.library import task_files
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.tilings import HEX
from gridworld.rules.transition import transition
from gridworld.search.relaxation.measuring import Edges, EndlessError, distances, layers
from gridworld.search.relaxation.numbering import Pattern
from gridworld.search.relaxation.relaxation import UNREACHABLE, Relaxation
from gridworld.search.solver import DEFAULT_LIMIT, Solver, solve
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn
from tests.support.gridworld.exhaustive import check_random_tasks, check_search
from tests.support.gridworld.families import blocks_in_the_open, keys_and_doors
from tests.support.tiers import few, long

OPTIMA = json.loads((Path(__file__).parents[1] / "optimal_steps.json").read_text(encoding="utf-8"))
SHIPPED = [*task_files("tiers"), *task_files("validation_10")]

TWO_ROOMS = """
    #########
    #A..#...#
    #.k.d..G#
    #...#...#
    #########
"""
KEY_FARTHER = """
    ########
    #Akd.dG#
    #k.#####
    ########
"""
HELD_GATE = """
    ########
    #A..#..#
    #.bsg.G#
    #...####
    ########
"""
PUSH = """
    #######
    #A....#
    #.b.x.#
    #..b..#
    #######
"""
EXHAUSTED = {
    "one key": drawn(TWO_ROOMS),
    "a key for each door": drawn(KEY_FARTHER, keys="red blue", doors="blue red"),
    "keys that stay in hand": drawn(KEY_FARTHER, keys="red blue", doors="blue red", rules={"key_consumption": False}),
    "one key for two doors": drawn(KEY_FARTHER, keys="red grey", rules={"key_consumption": False}),
    "two keys for two doors": drawn(KEY_FARTHER),
    "too few keys": drawn(KEY_FARTHER, keys="red grey"),
    "a block holds a gate open": drawn(HELD_GATE, more={"s0": {"switch_type": "hold"}}),
    "a switch": drawn(HELD_GATE),
    "a block to a mark": drawn(PUSH, goal={"type": "push_block_to", "target_ids": ["b0"]}),
    "a key kept": drawn(TWO_ROOMS, goal={"target": [7, 2], "auxiliary_conditions": ["not carrying:k0", "open:d0"]}),
    "a block over the place of a key in hand": drawn(
        """
        #######
        #A....#
        #.bkx.#
        #######
        """,
        goal={"type": "push_block_to", "target_ids": ["b0"], "auxiliary_conditions": ["carrying:k0"]},
    ),
    "a block has to go where a key of no use lies": drawn(
        """
        #########
        #A......#
        #.bkx####
        #########
        """,
        goal={"type": "push_block_to", "target_ids": ["b0"]},
    ),
    "a key of no use under the agent hides the one ahead": drawn(
        """
        ########
        #k.Ak###
        ####k###
        ####d.G#
        ########
        """,
        keys="grey grey red",
    ),
    "keys to collect, one of them used up": drawn(
        """
        ######
        #A.dk#
        #k.###
        ######
        """,
        goal={"type": "collect_all", "target_ids": ["k0", "k1"]},
    ),
}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_tasks_have_the_listed_lengths(path: Path) -> None:
    spec = TaskSpecification.from_json(path)
    before = spec.to_dict()
    solution = solve(spec)
    episode = Episode(Layout(spec))
    for action in solution.actions:
        episode.step(action)
    assert solution.steps == OPTIMA[path.stem]["optimal_steps"]
    assert episode.goal_reached
    assert spec.to_dict() == before


@pytest.mark.parametrize("tiling", ["square", long("hex")])
@pytest.mark.parametrize("spec", few(2, EXHAUSTED.values()), ids=EXHAUSTED)
def test_drawn_tasks_against_all_of_their_states(spec: TaskSpecification, tiling: str) -> None:
    assert check_search(spec, tiling, 12_000)


def test_a_tracked_key_may_be_used_up_at_a_door_that_is_not_tracked() -> None:
    layout = Layout(EXHAUSTED["keys to collect, one of them used up"])
    relaxation = Relaxation(layout, pattern=Pattern(keys=("k1",)))
    state, actions = layout.start(), solve(layout).actions
    assert Action.TOGGLE in actions
    for number, action in enumerate(actions):
        assert relaxation.distance(state) <= len(actions) - number
        state = transition(layout, state, action)
    assert relaxation.distance(state) == 0


def test_random_tasks_against_all_of_their_states() -> None:
    assert check_random_tasks(range(20), most=700) >= 3


def test_a_task_without_its_key_is_proven_unsolvable_without_search() -> None:
    spec = drawn("""
        #########
        #A..#...#
        #...d.kG#
        #...#...#
        #########
    """)
    solution = solve(spec)
    assert (solution.status, solution.actions, solution.expanded) == ("unsolvable", (), 0)


def test_several_keys_in_one_large_room_are_within_the_limit() -> None:
    """Keys that may be dropped anywhere: three of them are hopeless for a search that forgets where they lie."""
    spec = drawn(
        """
        ##################
        #Akk.#....#......#
        #k...#....#......#
        #....#....#......#
        #....d....d......d
        #....#....#......#
        #....#....#......#
        ##################
        """.replace("......d", ".....G#"),
        keys="red blue grey",
        doors="red blue",
    )
    assert solve(spec, limit=3000).solved


@pytest.mark.parametrize("consumption", few(1, [True, False]))
@pytest.mark.parametrize("tiling", ["square", long("hex")])
@pytest.mark.parametrize("seed", [0, long(1)])
def test_keys_in_one_room_against_all_of_their_states(seed: int, tiling: str, consumption: bool) -> None:
    assert check_search(keys_and_doors(seed, 1, 8, 4, consumption=consumption), tiling, 20_000)
    assert check_search(keys_and_doors(seed, 2, 8, 4, consumption=consumption), tiling, 60_000)


@pytest.mark.long
@pytest.mark.parametrize(("targets", "seed"), [(2, 1), *(long(*each) for each in ((1, 0), (2, 2)))])
def test_blocks_in_the_open_against_all_of_their_states(targets: int, seed: int) -> None:
    assert check_search(blocks_in_the_open(seed, 2, 6, targets), most=30_000)


@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "steps"),
    few(
        1,
        [
            (keys_and_doors(2, 3, 25, 25), 130),
            long(keys_and_doors(22, 4, 22, 7), 117),
            (keys_and_doors(22, 5, 22, 7), 147),
            (blocks_in_the_open(3, 3, 14), 23),
            long(blocks_in_the_open(3, 3, 14, 2), 36),
            (blocks_in_the_open(3, 3, 14, 3), 48),
        ],
    ),
    ids=lambda value: getattr(value, "task_id", ""),
)
def test_many_things_that_can_be_put_anywhere_are_far_within_the_limit(spec: TaskSpecification, steps: int) -> None:
    solution = solve(spec, limit=DEFAULT_LIMIT // 10)
    episode = Episode(Layout(spec))
    for action in solution.actions:
        episode.step(action)
    assert (solution.steps, episode.goal_reached) == (steps, True)


def test_worth_can_say_nothing_where_a_way_around_gains() -> None:
    """Edges round a triangle that cost less than nothing."""
    way = np.array([0, 4, 8])
    edges = Edges.build(way, np.roll(way, 1), 12, np.array([-1, -1, -1]))
    goals = np.arange(12) == 0
    with pytest.raises(EndlessError):
        distances(edges, goals, 4, np.zeros(12, dtype=np.int64))


def test_distances_do_not_depend_on_the_estimate() -> None:
    rng = np.random.default_rng(0)
    sources, targets = rng.integers(0, 40, (2, 90))
    edges = Edges.build(sources, targets, 40, rng.integers(1, 4, 90))
    goals = np.arange(40) == 7
    plain = distances(edges, goals, 4, np.zeros(40, dtype=np.int64))
    rough = distances(edges, goals, 4, np.repeat(rng.integers(0, 9, 10), 4))
    units = Edges.build(sources, targets, 40)
    assert plain.tolist() == rough.tolist()
    assert (
        layers(units, goals, 4).tolist()
        == distances(
            Edges.build(sources, targets, 40, np.ones(90, dtype=np.int64)), goals, 4, np.zeros(40, dtype=np.int64)
        ).tolist()
    )


def test_the_limit_counts_states_and_the_error_says_what_to_do() -> None:
    spec = drawn(PUSH, goal={"type": "push_block_to", "target_ids": ["b0"]})
    with pytest.raises(SearchLimitError, match=r"task 'drawn' is not decided after 3 states: raise the limit"):
        solve(spec, limit=3)


@pytest.mark.parametrize("limit", [0, 1, 3])
def test_a_search_that_gives_up_tells_a_bound(limit: int) -> None:
    spec = drawn(PUSH, goal={"type": "push_block_to", "target_ids": ["b0"]})
    steps = solve(spec).steps
    with pytest.raises(SearchLimitError) as told:
        solve(spec, limit=limit)
    again = pickle.loads(pickle.dumps(told.value))  # noqa: S301 - its own words
    assert 1 < told.value.bound <= steps
    assert (str(again), again.bound) == (str(told.value), told.value.bound)


def test_whoever_stands_on_the_goal_waits_one_step() -> None:
    spec = drawn("####\n#A.#\n#..#\n####", goal={"type": "survive_steps"}, max_steps=3)
    there = copy.deepcopy(spec)
    there.goal = type(spec.goal).from_dict({"type": "reach_position", "target": [1, 1]})
    assert solve(there).actions == (Action.DONE,)
    assert solve(spec).actions == (Action.DONE,) * 3


@pytest.mark.parametrize(("most", "status", "steps"), [(9, "solved", 9), (2, "solved", 2), (1, "unsolvable", 0)])
def test_surviving_with_a_condition_needs_the_time_for_it(most: int, status: str, steps: int) -> None:
    goal = {"type": "survive_steps", "auxiliary_conditions": ["not active:s0"]}
    spec = drawn("#####\n#As.#\n#####", goal=goal, max_steps=most, more={"s0": {"initial_state": "on"}})
    assert (solve(spec).status, solve(spec).steps) == (status, steps)


def test_a_solution_that_takes_more_than_max_steps_is_one() -> None:
    assert solve(drawn(TWO_ROOMS, max_steps=2)).steps == solve(drawn(TWO_ROOMS)).steps > 2


def test_from_a_later_state_the_rest_of_the_way_is_left() -> None:
    layout = Layout(drawn(KEY_FARTHER, keys="red blue", doors="blue red", rules={"hidden_mechanisms": ["d0"]}))
    solver, state = Solver(layout), layout.start()
    actions = solver.solve().actions
    for number, action in enumerate(actions):
        rest = solver.solve(state).steps
        assert rest == solve(layout, start=state).steps == len(actions) - number
        assert solver.distance(state) <= rest
        state = transition(layout, state, action)


def test_a_tiling_of_its_own_and_errors_of_the_task() -> None:
    spec = drawn(TWO_ROOMS)
    assert solve(spec, tiling=HEX).steps == solve(Layout(spec, HEX)).steps
    spec.max_steps = 0
    with pytest.raises(TaskError, match="max_steps"):
        solve(spec)


def test_the_same_task_has_the_same_solution_again() -> None:
    assert solve(drawn(KEY_FARTHER)).actions == solve(drawn(KEY_FARTHER)).actions


def test_dead_states_and_states_that_cannot_be_are_out_of_reach() -> None:
    layout = Layout(drawn(TWO_ROOMS, keys="grey", more={"d0": {"requires_key": "grey"}}))
    start = layout.start()
    relaxation = Relaxation(layout)
    assert relaxation.distance(start) < UNREACHABLE
    assert relaxation.distance(start._replace(dead=True)) == UNREACHABLE
    assert relaxation.distance(start._replace(carrying=None, key_cells=(None,))) == UNREACHABLE
