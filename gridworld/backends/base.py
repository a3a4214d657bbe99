"""The interface of all backends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gridworld.errors import BackendError
from gridworld.rules.grid_state import GridState
from gridworld.rules.observation import Observation
from gridworld.task_spec import TaskSpecification

__all__ = ["AbstractGridBackend", "GridState", "check_render_mode"]


def check_render_mode(mode: object) -> None:
    """Check that a render mode is supported.

    Raises:
        BackendError: the mode is neither "rgb_array" nor None.
    """
    if mode not in (None, "rgb_array"):
        raise BackendError(f"unknown render_mode {mode!r:.80}; there are 'rgb_array' and None")


class AbstractGridBackend(ABC):
    """An environment in which tasks are played: call ``configure``, then ``reset``, then ``step`` for each action.

    ``reset`` and ``step`` return the observation and the :class:`GridState`. By default, the observation is the RGB
    image of :meth:`render`. With ``render_mode=None``, it is the much cheaper
    :class:`~gridworld.rules.observation.Observation`.

    An observation shows only what the observability of the task allows. The :class:`GridState` is the complete true
    state.

    Attributes:
        task_spec: the task; None before ``configure``.
        tiling: name of the tiling of the grid, "square" or "hex".
    """

    task_spec: TaskSpecification | None = None
    tiling: str = "square"

    @abstractmethod
    def configure(self, task_spec: TaskSpecification) -> None:
        """Set the task to play. The caller must not change the task later, and must call ``reset`` next.

        Raises:
            TaskError: the task is not valid; the backend keeps the previous task.
        """

    @abstractmethod
    def reset(self, seed: int | None = None) -> tuple[Any, GridState, dict[str, Any]]:
        """Begin an episode; return (observation, state, info).

        Args:
            seed: seed of the simulator; by default the task's seed. Tasks are deterministic, so no outcome depends on
                the seed.

        Raises:
            BackendError: no task was configured.
        """

    @abstractmethod
    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, GridState, dict[str, Any]]:
        """Do one action; return (observation, reward, terminated, truncated, state, info).

        Raises:
            ActionError: the number is not an action; the episode stays unchanged.
            BackendError: the episode has not begun or is over.
        """

    @abstractmethod
    def render(self) -> NDArray[np.uint8]:
        """Return the image that the model may see, shape (height, width, 3), RGB.

        Raises:
            BackendError: the episode has not begun.
        """

    @abstractmethod
    def observe(self) -> Observation:
        """Return what the model may see, as an observation with codes and text.

        Raises:
            BackendError: the episode has not begun.
        """

    @abstractmethod
    def get_state(self) -> GridState:
        """Return a copy of the present state.

        Raises:
            BackendError: the episode has not begun.
        """

    def get_mission_text(self) -> str:
        """Return the task in words.

        Raises:
            BackendError: no task was configured.
        """
        if self.task_spec is None:
            raise BackendError("there is no task: call configure(task_spec) first")
        return self.task_spec.get_mission_text()

    @property
    def is_configured(self) -> bool:
        """Whether a task was configured."""
        return self.task_spec is not None

    @property
    def action_space_size(self) -> int:
        """Number of actions."""
        return 7

    def close(self) -> None:  # noqa: B027 - most backends have nothing to release
        """Release everything; a closed backend can be configured again."""
