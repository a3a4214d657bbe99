"""A stranger's own loop over a plain Gymnasium environment."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import gymnasium
import minigrid  # noqa: F401 - registers the ids

import spca


def play_episode(
    policy: spca.LearnedPolicy, env_id: str, seed: int, level: str | None = None
) -> tuple[float, list[int], list[Any]]:
    """Return the reward of an episode, its primitives, and the observations before each of them."""
    env: Any = gymnasium.make(env_id)
    with closing(env):
        observation, info = env.reset(seed=seed)
        policy.reset(observation, info, level=level)
        primitives: list[int] = []
        seen: list[Any] = []
        while True:
            seen.append(observation)
            primitives.append(policy.act(observation, info))
            observation, reward, terminated, truncated, info = env.step(primitives[-1])
            if terminated or truncated:
                return float(reward), primitives, seen
