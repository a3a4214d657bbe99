"""The state of an episode as a value, and what every backend can do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from gridworld.errors import BackendError
from gridworld.rules.observation import Observation
from gridworld.rules.tilings import Cell
from gridworld.task_spec import TaskSpecification


@dataclass
class GridState:
    """Everything about a moment of an episode; the same on every backend.

    Attributes:
        agent_position: (column, row).
        agent_direction: heading: 0 right, 1 down, 2 left, 3 up on the square tiling.
        agent_carrying: id of the key in hand.
        reward: of the last step.
        teleporter_cooldowns: steps left, by end: "<id>_a" and "<id>_b".
        visible_cells: seen now; every cell under full observability, as are ``explored_cells``.
    """

    agent_position: Cell
    agent_direction: int
    agent_carrying: str | None = None
    step_count: int = 0
    max_steps: int = 100
    terminated: bool = False
    truncated: bool = False
    reward: float = 0.0
    open_doors: set[str] = field(default_factory=set)
    collected_keys: set[str] = field(default_factory=set)
    active_switches: set[str] = field(default_factory=set)
    open_gates: set[str] = field(default_factory=set)
    block_positions: dict[str, Cell] = field(default_factory=dict)
    teleporter_cooldowns: dict[str, int] = field(default_factory=dict)
    goal_reached: bool = False
    observability_mode: str = "full"
    visible_cells: set[Cell] = field(default_factory=set)
    explored_cells: set[Cell] = field(default_factory=set)

    def to_dict(self) -> dict[str, Any]:
        """JSON-able; sets become sorted lists, cells lists of two."""
        data: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        data["agent_position"] = list(self.agent_position)
        for name in ("open_doors", "collected_keys", "active_switches", "open_gates"):
            data[name] = sorted(data[name])
        for name in ("visible_cells", "explored_cells"):
            data[name] = [list(cell) for cell in sorted(data[name])]
        data["block_positions"] = {name: list(cell) for name, cell in self.block_positions.items()}
        data["teleporter_cooldowns"] = dict(self.teleporter_cooldowns)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> GridState:
        """The inverse of :meth:`to_dict`; fields that are missing have their defaults.

        Raises:
            KeyError: no ``agent_position`` or ``agent_direction``.
            TypeError: a field that does not exist.
        """
        values = {"agent_position": data["agent_position"], "agent_direction": data["agent_direction"]} | dict(data)
        values["agent_position"] = _cell(values["agent_position"])
        for name in ("open_doors", "collected_keys", "active_switches", "open_gates"):
            values[name] = set(values.get(name, ()))
        for name in ("visible_cells", "explored_cells"):
            values[name] = {_cell(cell) for cell in values.get(name, ())}
        blocks: Mapping[str, Any] = values.get("block_positions", {})
        values["block_positions"] = {name: _cell(cell) for name, cell in blocks.items()}
        values["teleporter_cooldowns"] = dict(values.get("teleporter_cooldowns", {}))
        return cls(**values)


def _cell(pair: Any) -> Cell:
    column, row = pair
    return int(column), int(row)


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
        """Begin an episode: (observation, state, info).

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
        """What the model may see, shape (height, width, 3), RGB.

        Raises:
            BackendError: before ``reset``.
        """

    @abstractmethod
    def observe(self) -> Observation:
        """The same as codes and text.

        Raises:
            BackendError: before ``reset``.
        """

    @abstractmethod
    def get_state(self) -> GridState:
        """The present state, a copy.

        Raises:
            BackendError: before ``reset``.
        """

    def get_mission_text(self) -> str:
        """The task in words.

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
