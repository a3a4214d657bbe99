"""What happened in an episode, as values that can be written and read again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

from gridworld.actions import ACTION_NAMES
from gridworld.backends.base import GridState
from gridworld.runner.encoding import json_text, read_saved
from spca.common.files import replace_file

_MAX_BYTES: Final = 64 << 20
"""Of a file of one episode: more than thousands of steps with their states need."""


@dataclass
class Trajectory:
    """One step: what was seen, what was done, what it paid.

    Attributes:
        step: number of the step; the first is 1.
        observation: what the backend showed **before** the action: an RGB image, uint8, (height, width, 3), or an
            :class:`~gridworld.rules.observation.Observation`; None if it was not kept. Never written.
        action, action_name: what was done.
        reward: what it paid.
        state: the state before the action; None if it was not kept.
        info: what the backend and the policy said about the step.
    """

    step: int
    observation: Any
    action: int
    action_name: str
    reward: float
    state: GridState | None
    info: dict[str, Any] = field(default_factory=dict)

    def to_dict(self, states: bool = True) -> dict[str, Any]:
        """Return everything but the observation; without the state if not ``states``."""
        data = {"step": self.step, "action": self.action, "action_name": self.action_name, "reward": self.reward}
        if states and self.state is not None:
            data["state"] = self.state.to_dict()
        return {**data, "info": dict(self.info)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trajectory:
        """Rebuild the step from :meth:`to_dict`; the observation is None, the state too if there is none.

        Raises:
            KeyError, TypeError, ValueError: it is not what :meth:`to_dict` wrote.
        """
        state = data.get("state")
        return cls(
            step=int(data["step"]),
            observation=None,
            action=int(data["action"]),
            action_name=str(data.get("action_name", ACTION_NAMES.get(int(data["action"]), ""))),
            reward=float(data["reward"]),
            state=None if state is None else GridState.from_dict(state),
            info=dict(data.get("info", {})),
        )


@dataclass
class EpisodeResult:
    """An episode and how it ended.

    Attributes:
        success: the goal was reached.
        total_reward: sum over the steps.
        steps_taken: actions done.
        terminated, truncated: how the environment ended it; neither, if the policy stopped before.
        trajectory: one entry per step; empty if it was not recorded.
        final_state: the state after the last action.
        seed: of the episode.
        mission: the task in words.
        info: what else is known, JSON-able: ``model_error`` if the model failed, ``model_seconds`` that it took,
            ``details`` that it gave.
    """

    task_id: str
    success: bool
    total_reward: float
    steps_taken: int
    max_steps: int
    terminated: bool
    truncated: bool
    trajectory: list[Trajectory]
    final_state: GridState
    seed: int
    mission: str
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def actions(self) -> list[int]:
        """What was done; with the task it gives back every state."""
        return [each.action for each in self.trajectory]

    def to_dict(self, states: bool = True) -> dict[str, Any]:
        """Return a dict, JSON-able if the infos are; without observations, and without states if not ``states``."""
        data = {each.name: getattr(self, each.name) for each in fields(self)}
        data["trajectory"] = [each.to_dict(states) for each in self.trajectory]
        data["final_state"] = self.final_state.to_dict()
        data["info"] = dict(self.info)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EpisodeResult:
        """Rebuild the episode from :meth:`to_dict`, but for the observations.

        Raises:
            KeyError, TypeError, ValueError: it is not what :meth:`to_dict` wrote.
        """
        return cls(
            task_id=str(data["task_id"]),
            success=bool(data["success"]),
            total_reward=float(data["total_reward"]),
            steps_taken=int(data["steps_taken"]),
            max_steps=int(data["max_steps"]),
            terminated=bool(data["terminated"]),
            truncated=bool(data["truncated"]),
            trajectory=[Trajectory.from_dict(each) for each in data["trajectory"]],
            final_state=GridState.from_dict(data["final_state"]),
            seed=int(data["seed"]),
            mission=str(data["mission"]),
            info=dict(data.get("info", {})),
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, whole or not at all.

        Raises:
            OSError: it cannot be written.
            TypeError: an info holds what JSON cannot.
        """
        replace_file(Path(path), (json_text(self.to_dict(), indent=2) + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EpisodeResult:
        """Read what :meth:`save` wrote.

        Raises:
            EvaluationError: the file cannot be read or is no episode.
        """
        return read_saved(path, cls.from_dict, _MAX_BYTES, "an episode that save() wrote")
