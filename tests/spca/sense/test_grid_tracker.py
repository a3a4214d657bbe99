"""Pose and map from observations alone."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
import pytest
from minigrid.envs.empty import EmptyEnv

from minigridenv import MiniGridEnv
from spca.sense.grid_tracker import GridTracker
from tests.support.contracts import truth
from tests.support.contracts.tracking import RESTLESS, Figures, follow_bot, track_episode, walk_carefully, walk_randomly
from tests.support.tiers import few

MIX = (0, 1, 2, 2, 2, 3, 5, 4, 2)
OBSTACLES = [name for name in truth.REPLAYABLE if RESTLESS in name]
SETTLED = [name for name in truth.REPLAYABLE if RESTLESS not in name]


def play(env_id: str, seed: int, *, steps: int) -> Figures:
    found = Figures()
    for choose in (walk_randomly(seed), walk_carefully(seed), follow_bot):
        found.add(track_episode(env_id, seed, choose, steps=steps))
    for view_size in (3, 9):
        found.add(track_episode(env_id, seed, walk_randomly(seed), steps=steps, view_size=view_size))
    return found


@pytest.mark.parametrize("env_id", few(20, SETTLED))
def test_every_step_is_known_where_nothing_moves_by_itself(env_id: str) -> None:
    found = Figures()
    for seed in range(3, 8):  # lava ends most episodes after a step or two
        if found.forwards <= 10:
            found.add(play(env_id, seed, steps=60))
    assert found.wrong == []
    assert found.misguessed == 0
    assert found.forwards > 10


@pytest.mark.parametrize("env_id", [name for name in SETTLED if "Carrying" in name])
def test_a_first_observation_that_shows_what_is_gone_is_no_harm(env_id: str) -> None:
    """These levels put a thing in hand after their first observation, which still shows it on the ground."""
    for seed in range(6):
        found = play(env_id, seed, steps=60)
        assert found.wrong == []
        assert found.misguessed == 0


@pytest.mark.parametrize("env_id", OBSTACLES)
def test_among_moving_obstacles_what_the_views_decide_is_right(env_id: str) -> None:
    found = Figures()
    for seed in range(12):
        found.add(track_episode(env_id, seed, walk_randomly(seed), steps=60))
        found.add(track_episode(env_id, seed, walk_carefully(seed), steps=60))
    assert found.wrong == []
    assert found.misguessed <= found.open < 0.1 * found.forwards
    if "16x16" not in env_id:  # their walls are in view from everywhere
        assert found.misguessed == 0


@pytest.mark.parametrize("env_id", ["MiniGrid-Dynamic-Obstacles-16x16-v0", "BabyAI-PutNextS7N4Carrying-v0"])
def test_a_world_asks_its_simulator_where_the_views_leave_it_open(env_id: str) -> None:
    left_open = 0
    for seed in range(6):
        with closing(MiniGridEnv(env_id, seed)) as world:
            sim = truth.simulator(world)
            start_column, start_row = sim.agent_pos
            rng = random.Random(seed)
            for _ in range(200):
                world.step(rng.choice(MIX))
                column, row = sim.agent_pos
                assert world._position == (row - start_row, column - start_column)
                if world.over:
                    break
            left_open += world._tracker.doubts
    assert left_open > 0


def test_the_tracker_knows_what_the_world_knows() -> None:
    with closing(MiniGridEnv("MiniGrid-DoorKey-8x8-v0", 3)) as world:
        sim = truth.simulator(world)
        tracker = GridTracker()
        tracker.reset(sim.gen_obs())
        for code in MIX * 4:
            world.step(code)
            tracker.update(code, sim.gen_obs())
        assert tracker.position == world._position
        assert tracker.map.origin == world._map.origin
        assert np.array_equal(tracker.map.codes, world._map.codes)
        assert np.array_equal(tracker.view, world._view)
        assert (tracker.direction, tracker.inventory) == (world._direction, world.inventory)
        assert tracker.start_direction == world._start_direction
        tracker.reset(sim.gen_obs())
        assert (tracker.position, tracker.map.codes.size) == ((0, 0), tracker.view.size)


class Portals(EmptyEnv):
    """Every third step forward leads back to the first cell, which no rule of MiniGrid says."""

    def __init__(self, **given: Any) -> None:
        super().__init__(size=8, **given)

    def step(self, action: Any) -> Any:
        if action == 2 and self.step_count % 3 == 2:
            self.agent_pos = (1, 1)
        return super().step(action)


def test_a_strangers_simulator_may_have_rules_of_its_own() -> None:
    gymnasium.register("TestPortals-v0", Portals, disable_env_checker=True)
    try:
        with closing(MiniGridEnv("TestPortals-v0", 1)) as world:
            for _ in range(8):
                world.step(2)
                column, row = truth.simulator(world).agent_pos
                assert world._position == (row - 1, column - 1)
    finally:
        del gymnasium.registry["TestPortals-v0"]


@pytest.mark.parametrize(
    "image", [np.zeros((6, 6, 3), np.uint8), np.zeros((1, 1, 3), np.uint8), np.zeros((7, 7, 3)), np.zeros((7, 7))]
)
def test_an_image_that_is_no_view_is_refused(image: Any) -> None:
    with pytest.raises(ValueError, match="an image of"):
        GridTracker().reset({"image": image, "direction": 0})


def test_the_tracker_never_imports_the_simulator() -> None:
    program = "import sys, spca.sense.grid_tracker; print(sorted({'minigrid', 'gymnasium'} & set(sys.modules)))"
    shown = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert shown.stdout.strip() == "[]"
