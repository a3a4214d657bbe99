"""MultiGridBackend: tasks on our own engine, on square and hexagonal tilings."""

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
"""Native numbers by external ones."""


class MultiGridBackend(AbstractGridBackend):
    """A task in a :class:`~gridworld.multigrid.MultiGridWorld`; on the square tiling equal to MiniGridBackend.

    Args:
        tiling: "square" or "hex".
        render_mode: "rgb_array": observations are pictures; None: they are of type
            :class:`~gridworld.rules.observation.Observation`.
        tile_size: width of a cell in pictures, in pixels.

    Raises:
        BackendError: a tiling, mode or size that does not exist.
    """

    def __init__(
        self, tiling: str = "square", render_mode: str | None = "rgb_array", tile_size: int = TILE_SIZE
    ) -> None:
        check_render_mode(render_mode)
        self.tiling = find_tiling(tiling).name
        self.render_mode = render_mode
        self.tile_size = checked_tile_size(tile_size)
        self._configured: MultiGridWorld | None = None
        self._running: MultiGridWorld | None = None

    def configure(self, task_spec: TaskSpecification) -> None:
        self._configured = MultiGridWorld(task_spec, self.tiling)
        self.task_spec = task_spec
        self._running = None

    def reset(self, seed: int | None = None) -> tuple[Any, GridState, dict[str, Any]]:
        world = self._task_world()
        number = operator.index(world.spec.seed if seed is None else seed)
        self._running = world
        state = world.reset()
        return self._seen(), state, {"seed": number}

    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, GridState, dict[str, Any]]:
        state = self._world().step(NATIVE_ACTIONS[as_action(action)])
        return self._seen(), state.reward, state.terminated, state.truncated, state, {}

    def render(self) -> NDArray[np.uint8]:
        return picture(self.observe(), self.tile_size)

    def observe(self) -> Observation:
        return self._world().observe()

    def get_state(self) -> GridState:
        return self._world().state

    def close(self) -> None:
        self._configured = self._running = self.task_spec = None

    def _task_world(self) -> MultiGridWorld:
        if self._configured is None:
            raise BackendError("there is no task: call configure(task_spec) first")
        return self._configured

    def _world(self) -> MultiGridWorld:
        if self._task_world() is not self._running:
            raise BackendError("there is no episode: call reset() first")
        return self._running

    def _seen(self) -> NDArray[np.uint8] | Observation:
        return self.observe() if self.render_mode is None else self.render()
