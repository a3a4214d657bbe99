"""What is shown of a world is what minigrid shows."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import closing
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from minigrid.core.world_object import Ball, Box, Door, Floor, Goal, Key, Lava, Wall
from minigrid.envs.empty import EmptyEnv

from minigridenv import MiniGridEnv
from spca.act.observing import observation, patch_fast_observation
from tests.support.contracts import truth

THINGS: tuple[Callable[[], Any], ...] = (
    *(lambda: None,) * 6,
    *(Wall,) * 3,
    *(Goal, Lava, Floor),
    *(lambda kind=kind: kind("red") for kind in (Ball, Box, Key)),
    *(lambda open_=open_: Door("blue", is_open=open_) for open_ in (True, False)),
    lambda: Door("green", is_locked=True),
)


def same(simulator: Any) -> bool:
    told, own = observation(simulator), type(simulator).gen_obs(simulator)
    assert told.keys() == own.keys()
    images = told["image"], own["image"]
    assert images[0].dtype == images[1].dtype
    assert images[0].flags.c_contiguous
    return np.array_equal(*images) and all(told[key] == own[key] for key in ("direction", "mission"))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from((3, 5, 7, 9)), st.booleans())
def test_any_view_of_any_world_is_minigrids(seed: int, size: int, through_walls: bool) -> None:
    rng = random.Random(seed)
    simulator: Any = EmptyEnv(size=rng.randint(4, 12), agent_view_size=size)
    simulator.reset(seed=0)
    simulator.see_through_walls = through_walls
    simulator.grid.grid = [rng.choice(THINGS)() for _ in simulator.grid.grid]
    simulator.agent_pos = rng.randrange(simulator.width), rng.randrange(simulator.height)
    simulator.agent_dir, simulator.carrying = rng.randrange(4), rng.choice(THINGS)()
    assert same(simulator)


@pytest.mark.parametrize("env_id", truth.REPLAYABLE[::9])
def test_worlds_are_shown_as_by_minigrid(env_id: str) -> None:
    rng = random.Random(2)
    with closing(MiniGridEnv(env_id, 6)) as world:
        simulator: Any = truth.simulator(world)
        assert simulator.gen_obs.func is observation
        for _ in range(20):
            assert same(simulator)
            if not world.over:
                world.step(rng.randrange(7))


class Foggy(EmptyEnv):
    """A simulator that shows its world in a way of its own."""

    def gen_obs_grid(self, agent_view_size: int | None = None) -> Any:
        grid, mask = super().gen_obs_grid(agent_view_size)  # type: ignore[no-untyped-call]
        return grid, mask & False


def test_a_world_that_is_shown_otherwise_stays_so() -> None:
    simulator: Any = Foggy()
    patch_fast_observation(simulator)
    assert "gen_obs" not in vars(simulator)
    other: Any = gymnasium.Env()
    patch_fast_observation(other)
    assert "gen_obs" not in vars(other)
