"""What every backend can do."""

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
    """Refuse what nothing can be rendered in.

    Raises:
        BackendError: a mode other than "rgb_array" and None.
    """
    if mode not in (None, "rgb_array"):
        raise BackendError(f"unknown render_mode {mode!r:.80}; there are 'rgb_array' and None")


class AbstractGridBackend(ABC):
    """An environment for tasks: configured with one, then reset, stepped and shown.

    The observation that ``reset`` and ``step`` return is the RGB image that :meth:`render` gives, or, with
    ``render_mode=None``, the :class:`~gridworld.rules.observation.Observation`, which is far cheaper. Either shows what
    the observability of the task allows and no more; the :class:`GridState` beside it is the truth.

    Attributes:
        task_spec: the task; None before ``configure``.
        tiling: the name of the tiling that tasks are played on.
    """

    task_spec: TaskSpecification | None = None
    tiling: str = "square"

    @abstractmethod
    def configure(self, task_spec: TaskSpecification) -> None:
        """Take a task, which must not be changed afterwards; ``reset`` has to follow.

        Raises:
            TaskError: the task is not valid; the former one stays.
        """

    @abstractmethod
    def reset(self, seed: int | None = None) -> tuple[Any, GridState, dict[str, Any]]:
        """Begin an episode; return (observation, state, info).

        Args:
            seed: of the simulator; the task's own by default. Tasks are deterministic, so it decides nothing in them.

        Raises:
            BackendError: there is no task.
        """

    @abstractmethod
    def step(self, action: SupportsIndex) -> tuple[Any, float, bool, bool, GridState, dict[str, Any]]:
        """Do one action: (observation, reward, terminated, truncated, state, info).

        Raises:
            ActionError: there is no such action; nothing has happened.
            BackendError: before ``reset``, or after the end.
        """

    @abstractmethod
    def render(self) -> NDArray[np.uint8]:
        """Return the image that the model may see, shape (height, width, 3), RGB.

        Raises:
            BackendError: before ``reset``.
        """

    @abstractmethod
    def observe(self) -> Observation:
        """Return the same as codes and text.

        Raises:
            BackendError: before ``reset``.
        """

    @abstractmethod
    def get_state(self) -> GridState:
        """Return the present state, a copy.

        Raises:
            BackendError: before ``reset``.
        """

    def get_mission_text(self) -> str:
        """Return the task in words.

        Raises:
            BackendError: there is no task.
        """
        if self.task_spec is None:
            raise BackendError("there is no task: call configure(task_spec) first")
        return self.task_spec.get_mission_text()

    @property
    def is_configured(self) -> bool:
        """Whether there is a task."""
        return self.task_spec is not None

    @property
    def action_space_size(self) -> int:
        """Number of actions."""
        return 7

    def close(self) -> None:  # noqa: B027 - most have nothing to release
        """Release everything; a closed backend can be configured again."""
