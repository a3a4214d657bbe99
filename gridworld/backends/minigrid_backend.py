"""A backend that plays tasks on Farama's MiniGrid."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex

import numpy as np
from minigrid.core.constants import TILE_PIXELS
from numpy.typing import NDArray

from gridworld.backends.base import AbstractGridBackend, GridState
from gridworld.custom_env import CustomMiniGridEnv
from gridworld.errors import BackendError
from gridworld.rules.observation import Observation
from gridworld.task_parser import TaskParser
from gridworld.task_spec import TaskSpecification


class MiniGridBackend(AbstractGridBackend):
    """A backend that plays a task as a :class:`~gridworld.custom_env.CustomMiniGridEnv`.

    Args:
        render_mode: "rgb_array" makes observations RGB images; None makes them
            :class:`~gridworld.rules.observation.Observation` objects.
        tile_size: width of a cell in pictures, in pixels.

    Attributes:
        env: the environment; None before ``reset``.

    Raises:
        BackendError: the mode or the size is not supported.
    """

    def __init__(self, render_mode: str | None = "rgb_array", tile_size: int = TILE_PIXELS) -> None:
        self.render_mode = render_mode
        self.parser = TaskParser(render_mode=render_mode, tile_size=tile_size)
        self.env: CustomMiniGridEnv | None = None
        # The environment of the configured task; ``env`` is None until ``reset``.
        self._configured: CustomMiniGridEnv | None = None

    def configure(self, task_spec: TaskSpecification) -> None:
        env = self.parser.parse(task_spec)
        self.task_spec = task_spec
        self._configured = env
        self.env = None

    def reset(self, seed: int | None = None) -> tuple[Any, GridState, dict[str, Any]]:
        env = self._configured
        spec = self.task_spec
        if env is None or spec is None:
            raise BackendError("there is no task: call configure(task_spec) first")
        seed = operator.index(spec.seed if seed is None else seed)
        env.reset(seed=seed)
        self.env = env
        return self._observation_of(env), env.state, {"seed": seed}

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, GridState, dict[str, Any]]:
        env = self._require_env()
        _, reward, terminated, truncated, _ = env.step(action)
        return self._observation_of(env), reward, terminated, truncated, env.state, {}

    def render(self) -> NDArray[np.uint8]:
        env = self._require_env()
        return env.get_full_render(False, env.tile_size)

    def observe(self) -> Observation:
        return self._require_env().observe()

    def get_state(self) -> GridState:
        return self._require_env().state

    def close(self) -> None:
        self.env = self._configured = self.task_spec = None

    def _require_env(self) -> CustomMiniGridEnv:
        """Return the environment of the running episode; raise a :class:`BackendError` before ``reset``."""
        if self._configured is None:
            raise BackendError("there is no task: call configure(task_spec) first")
        if self.env is None:
            raise BackendError("there is no episode: call reset() first")
        return self.env

    def _observation_of(self, env: CustomMiniGridEnv) -> NDArray[np.uint8] | Observation:
        return env.observe() if self.render_mode is None else self.render()
