"""Gridworld tasks as worlds: what every world keeps, and what the agent may know of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gridworldenv
from gridworld.rules.layout import Layout
from gridworld.rules.observation import LOOKS
from gridworld.rules.tilings import HEX
from gridworld.task_spec import TaskSpecification
from gridworldenv import GridTaskWorld
from spca.errors import WorldError
from spca.protocols import World
from spca.reference.mechanisms.errands import Errand, read_errands
from spca.sandbox.executor import default_executor
from spca.sense import perception
from tests.support.bodies.grid import planner_state, seen, words_of
from tests.support.contracts.grid_world_suite import GridWorldSuite
from tests.support.inprocess import InProcessExecutor

START = [1, 1]


def spec(**changes: Any) -> TaskSpecification:
    """A task of 7 x 5 cells with a switch, a gate and a key; changes replace whole fields."""
    data: dict[str, Any] = {
        "task_id": "t",
        "seed": 1,
        "difficulty_tier": 1,
        "description": "Two  words",
        "maze": {"dimensions": [7, 5], "walls": [[4, 1], [4, 2]], "start": START, "goal": [5, 1]},
        "mechanisms": {
            "keys": [{"id": "k", "position": [2, 1], "color": "blue"}],
            "switches": [{"id": "s", "position": [1, 3], "controls": ["g"]}],
            "gates": [{"id": "g", "position": [4, 3]}],
        },
        "goal": {"type": "reach_position", "target": [5, 1]},
        "max_steps": 200,
    }
    return TaskSpecification.from_dict(data | changes)


def world(task: TaskSpecification | None = None) -> GridTaskWorld:
    return GridTaskWorld(Layout(task or spec()), InProcessExecutor())


class TestContract(GridWorldSuite):
    @pytest.fixture
    def make(self) -> Callable[[], World]:
        return lambda: GridTaskWorld(Layout(spec()), default_executor())


class TestContractUnderPartialView(GridWorldSuite):
    @pytest.fixture
    def make(self) -> Callable[[], World]:
        task = spec(rules={"observability": "view_cone", "view_size": 3})
        return lambda: GridTaskWorld(Layout(task), default_executor())


def test_every_look_has_a_word_of_its_own_kind() -> None:
    words = [perception.VOCABULARY[code] for code in gridworldenv._CODES]
    assert len(set(words)) == len(LOOKS)
    assert {"unseen", "empty", "wall", "lava", "goal green", "exit red", "switch yellow on"} <= set(words)


def test_under_full_observability_the_map_is_the_grid_and_always_fresh() -> None:
    task = world()
    assert words_of(task)[3] == (
        "wall",
        "switch yellow off",
        "empty",
        "empty",
        "gate grey closed",
        "empty",
        "wall",
    )
    for code in (1, 2, 2, 5):
        task.step(code)
    assert words_of(task)[3][4] == "gate grey open"
    assert planner_state(task.sense())["visible_objects"][0] == "switch yellow on: here"


@pytest.mark.parametrize("mode", ["view_cone", "fog_of_war"])
def test_what_was_not_in_view_changes_nothing(mode: str) -> None:
    rules = {"observability": mode, "view_size": 3}
    one = world(spec(rules=rules))
    mechanisms = {"switches": [{"id": "s", "position": [5, 3], "controls": ["g"]}]}
    mechanisms |= {
        "gates": [{"id": "g", "position": [4, 3]}],
        "keys": [{"id": "k", "position": [2, 1], "color": "blue"}],
    }
    other = world(spec(rules=rules, mechanisms=mechanisms, max_steps=150))
    assert one.sense() == other.sense()
    assert seen(one._agent_view(), "full_grid").shape == seen(other._agent_view(), "full_grid").shape
    for task in (one, other):
        task.step(0)
    assert one.sense() == other.sense()


def test_a_small_view_is_padded_and_remembered() -> None:
    task = world(spec(rules={"observability": "view_cone", "view_size": 3}))
    view = perception.word_array()[seen(task._agent_view(), "current_observation")]
    assert view.shape == (7, 7)
    assert view[3, 0] == "agent"
    assert view[3, 1] == "key blue"
    assert (view[:, 3:] == "unseen").all()
    task.step(1)
    assert "key blue" in {word for row in words_of(task) for word in row}


def test_a_hidden_thing_is_ground_until_it_is_touched() -> None:
    task = world(spec(rules={"hidden_mechanisms": ["s"]}))
    assert words_of(task)[3][1] == "empty"
    for code in (1, 2, 2, 3):
        task.step(code)
    assert planner_state(task.sense())["visible_objects"][0] == "switch yellow off: here"


def test_nothing_is_told_of_seed_name_or_solution() -> None:
    plain, named = spec(), spec(task_id="easy", seed=9, dependency_chain={"depth": 0, "sequence": []})
    assert world(plain).sense() == world(named).sense()
    assert gridworldenv.skill(plain) == gridworldenv.skill(named)
    assert gridworldenv.skill(plain).startswith("Two words How things work here")
    assert gridworldenv.skill(plain).isprintable()


def test_the_hexagonal_tiling_is_refused() -> None:
    with pytest.raises(WorldError, match="choose the square tiling, not hex"):
        GridTaskWorld(Layout(spec(), HEX), InProcessExecutor())


@pytest.mark.parametrize(
    ("goal", "sentence", "errands"),
    [
        ({"type": "reach_position", "target": [5, 1]}, "get to the green goal square", [Errand("get", "", 1)]),
        ({"type": "survive_steps"}, "survive 200 steps", [Errand("survive", "", 1)]),
        (
            {"type": "collect_all", "target_ids": ["k", "s", "g"]},
            "pick up the blue key and turn on the yellow switch and open the grey gate",
            [Errand("pick up", "key_blue", 1), Errand("turn on", "switch_yellow", 1), Errand("open", "gate_grey", 1)],
        ),
        (
            {
                "type": "reach_position",
                "target": [5, 1],
                "auxiliary_conditions": ["not carrying:k", "active:s", "not active:s", "not open:g"],
            },
            "get to the green goal square and do not carry the blue key and turn on the yellow switch"
            " and have the yellow switch off and have the grey gate closed",
            [
                Errand("get", "", 1),
                Errand("carry", "key_blue", 1, forbidden=True),
                Errand("turn on", "switch_yellow", 1),
                Errand("turn on", "switch_yellow", 1, forbidden=True),
                Errand("open", "gate_grey", 1, forbidden=True),
            ],
        ),
    ],
)
def test_goals_become_sentences_that_the_reference_planner_reads(
    goal: dict[str, Any], sentence: str, errands: list[Errand]
) -> None:
    assert gridworldenv.mission(spec(goal=goal)) == sentence
    assert list(read_errands(sentence)) == errands


def test_blocks_and_targets_alike_are_numbered_row_by_row() -> None:
    blocks = [{"id": "b", "position": [3, 3]}, {"id": "a", "position": [3, 2]}]
    goal = {"type": "push_block_to", "target_ids": ["b", "a"], "target_positions": [[1, 2], [2, 1]]}
    task = spec(mechanisms={"blocks": blocks}, goal={**goal, "auxiliary_conditions": ["at:a:2,1"]})
    assert gridworldenv.mission(task) == (
        "push the 2nd grey block onto the 2nd target and push the 1st grey block onto the 1st target"
        " and push the 1st grey block to row 1, column 2"
    )
    assert read_errands(gridworldenv.mission(task))[2] == Errand("push", "block_grey", 0, (1, 2))
    fixed = {"id": "c", "position": [3, 1], "pushable": False}
    task = spec(mechanisms={"blocks": [*blocks, fixed]}, goal=goal)
    assert "push the 3rd grey block" in gridworldenv.mission(task), "the reference planner counts fixed blocks too"


def test_under_a_partial_view_a_place_is_told_from_the_start() -> None:
    goal = {"type": "reach_position", "target": [5, 1], "auxiliary_conditions": ["not at:b:1,3"]}
    rules = {"observability": "view_cone", "view_size": 3}
    maze = {"dimensions": [7, 5], "start": [2, 1], "goal": [5, 1]}
    task = spec(maze=maze, mechanisms={"blocks": [{"id": "b", "position": [3, 3]}]}, goal=goal, rules=rules)
    assert gridworldenv.mission(task).endswith("do not push the grey block to the cell 2 south, 1 west of the start")
    errand = read_errands(gridworldenv.mission(task))[1]
    assert errand == Errand("push", "block_grey", 0, forbidden=True, offset=(2, -1))
    assert errand.from_start((0, 5)) == Errand("push", "block_grey", 0, (2, 4), forbidden=True)


def test_death_and_the_step_limit_are_told_apart() -> None:
    task = world(spec(mechanisms={"hazards": [{"id": "h", "position": [2, 1]}]}))
    task.step(2)
    assert task.over
    assert task._why_over() == "the agent stepped onto a hazard"
    short = world(spec(max_steps=1))
    short.step(6)
    assert short._why_over() == "the step limit was reached"
