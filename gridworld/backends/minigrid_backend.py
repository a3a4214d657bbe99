"""MiniGridBackend: tasks on Farama's MiniGrid."""

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
    """A task as a :class:`~gridworld.custom_env.CustomMiniGridEnv`.

    Args:
        render_mode: "rgb_array": observations are pictures; None: they are of type
            :class:`~gridworld.rules.observation.Observation`.
        tile_size: width of a cell in pictures, in pixels.

    Attributes:
        env: the environment, None before ``reset``.

    Raises:
        BackendError: a mode or size that does not exist.
    """

    def __init__(self, render_mode: str | None = "rgb_array", tile_size: int = TILE_PIXELS) -> None:
        self.render_mode = render_mode
        self.parser = TaskParser(render_mode=render_mode, tile_size=tile_size)
        self.env: CustomMiniGridEnv | None = None
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
        number = operator.index(spec.seed if seed is None else seed)
        env.reset(seed=number)
        self.env = env
        return self._seen(env), env.state, {"seed": number}

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, GridState, dict[str, Any]]:
        env = self._playing()
        _, reward, terminated, truncated, _ = env.step(action)
        return self._seen(env), reward, terminated, truncated, env.state, {}

    def render(self) -> NDArray[np.uint8]:
        env = self._playing()
        return env.get_full_render(False, env.tile_size)

    def observe(self) -> Observation:
        return self._playing().observe()

    def get_state(self) -> GridState:
        return self._playing().state

    def close(self) -> None:
        self.env = self._configured = self.task_spec = None

    def _playing(self) -> CustomMiniGridEnv:
        if self._configured is None:
            raise BackendError("there is no task: call configure(task_spec) first")
        if self.env is None:
            raise BackendError("there is no episode: call reset() first")
        return self.env

    def _seen(self, env: CustomMiniGridEnv) -> NDArray[np.uint8] | Observation:
        return env.observe() if self.render_mode is None else self.render()
