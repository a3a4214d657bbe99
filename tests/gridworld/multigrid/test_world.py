"""The MultiGrid world: native actions, tilings, an episode of its own."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.errors import ActionError, BackendError, TaskError
from gridworld.multigrid import Action, MultiGridWorld
from gridworld.multigrid.agent import to_external
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.tilings import TILINGS
from gridworld.task_spec import TaskSpecification
from tests.support.gridworld.drawn import drawn
from tests.support.gridworld.random_tasks import tasks

CORRIDOR = "######\n#A..G#\n######"
ROOM = "#######\n#.....#\n#.....#\n#..A.G#\n#.....#\n#.....#\n#######"
NATIVE = {2: 0, 3: 1, 0: 2, 4: 3, 5: 4, 6: 5, 8: 6}
"""External actions by native ones, from the contract."""


def test_native_actions_have_their_numbers() -> None:
    assert {action.name: action.value for action in Action} == {
        "FORWARD": 0,
        "TURN_LEFT": 2,
        "TURN_RIGHT": 3,
        "PICKUP": 4,
        "DROP": 5,
        "TOGGLE": 6,
        "WAIT": 8,
    }
    assert {native: int(to_external(native)) for native in NATIVE} == NATIVE


@pytest.mark.parametrize("action", [1, 7, 9, -1, "0", 0.0, None, False, np.float64(0)])
def test_an_unknown_native_action_is_refused_and_nothing_happens(action: Any) -> None:
    world = MultiGridWorld(drawn(CORRIDOR))
    before = world.state
    with pytest.raises(ActionError, match="8 WAIT"):
        world.step(action)
    assert world.state == before


@pytest.mark.long
@given(tasks, st.sampled_from(sorted(TILINGS)), st.integers(0, 2**32))
def test_a_world_is_the_episode_of_its_task(data: dict[str, Any], tiling: str, seed: int) -> None:
    spec = TaskSpecification.from_dict(data)
    world, episode = MultiGridWorld(spec, tiling), Episode(Layout(spec, TILINGS[tiling]))
    draw = random.Random(seed)
    assert world.state == episode.grid_state()
    while not episode.over and episode.step_count < 30:
        native = draw.choice(list(NATIVE))
        episode.step(NATIVE[native])
        assert world.step(np.int64(native)) == world.state == episode.grid_state()
        assert world.observe().text() == episode.observe().text()
    assert world.over == episode.over


@pytest.mark.parametrize("tiling", TILINGS)
def test_a_full_turn_of_steps_leads_around_and_back(tiling: str) -> None:
    world = MultiGridWorld(drawn(ROOM), tiling)
    passed = set()
    for _ in range(TILINGS[tiling].headings):
        before = world.state.agent_position
        after = world.step(Action.FORWARD).agent_position
        assert TILINGS[tiling].distance(before, after) == 1
        passed.add(after)
        world.step(Action.TURN_RIGHT)
    assert world.state.agent_position == (3, 3)
    assert world.state.agent_direction == 0
    assert len(passed) == TILINGS[tiling].headings


def test_a_world_ends_and_begins_again() -> None:
    world = MultiGridWorld(drawn(CORRIDOR))
    start = world.state
    for _ in range(3):
        state = world.step(Action.FORWARD)
    assert state.goal_reached
    assert world.over
    with pytest.raises(BackendError, match="reset"):
        world.step(Action.WAIT)
    assert world.reset() == start
    assert not world.over


def test_mistakes_are_named() -> None:
    with pytest.raises(BackendError, match="unknown tiling 'triangle'; there are square, hex"):
        MultiGridWorld(drawn(CORRIDOR), "triangle")
    wrong = drawn(CORRIDOR)
    wrong.max_steps = 0
    with pytest.raises(TaskError, match="max_steps"):
        MultiGridWorld(wrong)
