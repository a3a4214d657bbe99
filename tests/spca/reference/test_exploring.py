"""Where the reference skills look next: in few steps, and whatever they expect of walls, nothing stays unseen."""

from __future__ import annotations

from importlib import import_module
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minigridenv import MiniGridEnv
from tests.support.reference.skill_runs import run


def _knowing(words: list[str], width: int) -> Any:
    """Return an agent that knows a map of these words and is asked for views only."""
    agent: Any = import_module("spca.reference.skills.moving").Agent()  # untyped, as models write
    agent.full_grid = np.array(words).reshape(-1, width)
    agent.start_position = (0, 0)
    agent._things = {}
    return agent


@settings(max_examples=100)
@given(words=st.lists(st.sampled_from(["unseen", "empty", "wall"]), min_size=30, max_size=30))
def test_a_view_that_may_show_something_is_never_given_up(words: list[str]) -> None:
    """Walls that may be none hide what is behind them, yet are to be seen themselves."""
    agent = _knowing(words, 6)
    poses = list(product(range(5), range(6), range(4)))
    assert ((agent._gains(poses, straight=True) > 0) == (agent._gains(poses) > 0)).all()


def test_walls_run_on_in_unseen_ground_alone() -> None:
    agent = _knowing(["wall", "wall", "unseen", "empty", "unseen", "unseen"], 6)
    unseen, opaque = agent._layers()
    assert agent._run_on(opaque, unseen)[7, 7:-7].tolist() == [True, True, True, False, False, False]


@pytest.mark.long
def test_a_maze_is_explored_without_looking_into_every_corner() -> None:
    """Where all that is unseen is taken to be open, these take 532 primitives."""
    primitives = 0
    for seed in range(12):
        world = MiniGridEnv("BabyAI-GoToObjMazeS7-v0", seed)
        colour, kind = world.mission.split()[-2:]
        outcome = run(world, f"go_to_object(a1, {kind}_{colour})")
        assert outcome.solved
        primitives += len(outcome.primitives)
    assert primitives <= 440
