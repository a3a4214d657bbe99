"""A backend that plays tasks on this project's own engine, on square and hexagonal tilings."""

from __future__ import annotations

import operator
from typing import Any, Final, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gridworld.actions import as_action
from gridworld.backends.base import AbstractGridBackend, GridState, check_render_mode
from gridworld.drawing import TILE_SIZE, checked_tile_size, picture
from gridworld.errors import BackendError
from gridworld.multigrid.agent import NATIVE_ACTIONS
from gridworld.multigrid.world import MultiGridWorld, find_tiling
from gridworld.rules.observation import Observation
from gridworld.task_spec import TaskSpecification

ACTION_TRANSLATION: Final[dict[int, int]] = {
    external.value: native.value for external, native in NATIVE_ACTIONS.items()
}
"""Maps the action numbers of tasks and models to the action numbers of the engine."""


class MultiGridBackend(AbstractGridBackend):
    """A backend that plays a task in a :class:`~gridworld.multigrid.MultiGridWorld`.

    On the square tiling, states and rewards are the same as those of MiniGridBackend.

    Args:
        tiling: "square" or "hex".
        render_mode: "rgb_array" makes observations RGB images; None makes them
            :class:`~gridworld.rules.observation.Observation` objects.
        tile_size: width of a cell in pictures, in pixels.

    Raises:
        BackendError: the tiling, the mode or the size is not supported.
    """

    def __init__(
        self, tiling: str = "square", render_mode: str | None = "rgb_array", tile_size: int = TILE_SIZE
    ) -> None:
        check_render_mode(render_mode)
        self.tiling = find_tiling(tiling).name
        self.render_mode = render_mode
        self.tile_size = checked_tile_size(tile_size)
        self._configured: MultiGridWorld | None = None
        # The configured world after ``reset``; None before ``reset``.
        self._running: MultiGridWorld | None = None

    def configure(self, task_spec: TaskSpecification) -> None:
        self._configured = MultiGridWorld(task_spec, self.tiling)
        self.task_spec = task_spec
        self._running = None

    def reset(self, seed: int | None = None) -> tuple[Any, GridState, dict[str, Any]]:
        world = self._require_configured()
        seed = operator.index(world.spec.seed if seed is None else seed)
        self._running = world
        state = world.reset()
        return self._observation(), state, {"seed": seed}

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, GridState, dict[str, Any]]:
        state = self._require_running().step(NATIVE_ACTIONS[as_action(action)])
        return self._observation(), state.reward, state.terminated, state.truncated, state, {}

    def render(self) -> NDArray[np.uint8]:
        return picture(self.observe(), self.tile_size)

    def observe(self) -> Observation:
        return self._require_running().observe()

    def get_state(self) -> GridState:
        return self._require_running().state

    def close(self) -> None:
        self._configured = self._running = self.task_spec = None

    def _require_configured(self) -> MultiGridWorld:
        """Return the world of the configured task; raise a :class:`BackendError` before ``configure``."""
        if self._configured is None:
            raise BackendError("there is no task: call configure(task_spec) first")
        return self._configured

    def _require_running(self) -> MultiGridWorld:
        """Return the world of the running episode; raise a :class:`BackendError` before ``reset``."""
        if self._require_configured() is not self._running:
            raise BackendError("there is no episode: call reset() first")
        return self._running

    def _observation(self) -> NDArray[np.uint8] | Observation:
        return self.observe() if self.render_mode is None else self.render()
