"""Records of an episode and its steps, which can be written to JSON files and read again."""

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
"""Largest size in bytes of the file of one episode. It suffices for thousands of steps with their states."""


@dataclass
class Trajectory:
    """One step of an episode: the observation, the action and the reward.

    Attributes:
        step: number of the step, from 1.
        observation: observation **before** the action: an RGB image, uint8, shape (height, width, 3), or an
            :class:`~gridworld.rules.observation.Observation`; None if not recorded. Observations are never written to
            files.
        action, action_name: number and name of the action.
        reward: the reward of the action.
        state: the state **before** the action; None if not recorded.
        info: notes of the backend and the policy about the step.
    """

    step: int
    observation: Any
    action: int
    action_name: str
    reward: float
    state: GridState | None
    info: dict[str, Any] = field(default_factory=dict)

    def to_dict(self, states: bool = True) -> dict[str, Any]:
        """Return the fields except the observation. If ``states`` is False, the state is left out, too."""
        data = {"step": self.step, "action": self.action, "action_name": self.action_name, "reward": self.reward}
        if states and self.state is not None:
            data["state"] = self.state.to_dict()
        return {**data, "info": dict(self.info)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Trajectory:
        """Rebuild a step from the dict of :meth:`to_dict`. The observation is None; the state is None if the dict has
        no state.

        Raises:
            KeyError, TypeError, ValueError: the dict does not have the form of :meth:`to_dict`.
        """
        action = int(data["action"])
        state = data.get("state")
        return cls(
            step=int(data["step"]),
            observation=None,
            action=action,
            action_name=str(data.get("action_name", ACTION_NAMES.get(action, ""))),
            reward=float(data["reward"]),
            state=None if state is None else GridState.from_dict(state),
            info=dict(data.get("info", {})),
        )


@dataclass
class EpisodeResult:
    """An episode and its end.

    Attributes:
        success: whether the goal was reached.
        total_reward: sum of the rewards of all steps.
        steps_taken: number of actions done.
        terminated: whether the environment ended the episode by its rules.
        truncated: whether the environment ended the episode after ``max_steps``. If the policy stopped earlier,
            ``terminated`` and ``truncated`` are False.
        trajectory: one entry per step; empty if not recorded.
        final_state: the state after the last action.
        seed: seed of the episode.
        mission: the task in words.
        info: further JSON-able values: ``model_error`` if the model failed, ``model_seconds``, which is the time that
            the model took, and the ``details`` that the model returned.
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
        """The actions in order; the task and these actions determine every state."""
        return [each.action for each in self.trajectory]

    def to_dict(self, states: bool = True) -> dict[str, Any]:
        """Return all fields except the observations. If ``states`` is False, the states of steps are left out, too.

        The dict is JSON-able if the values of every ``info`` are JSON-able.
        """
        data = {each.name: getattr(self, each.name) for each in fields(self)}
        data["trajectory"] = [each.to_dict(states) for each in self.trajectory]
        data["final_state"] = self.final_state.to_dict()
        data["info"] = dict(self.info)
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> EpisodeResult:
        """Rebuild an episode, without observations, from the dict of :meth:`to_dict`.

        Raises:
            KeyError, TypeError, ValueError: the dict does not have the form of :meth:`to_dict`.
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
        """Write the episode to a JSON file; an interrupted write leaves no partial file.

        Raises:
            OSError: the file cannot be written.
            TypeError: an ``info`` holds a value that JSON cannot represent.
        """
        replace_file(Path(path), (json_text(self.to_dict(), indent=2) + "\n").encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EpisodeResult:
        """Return the episode in a file that :meth:`save` wrote.

        Raises:
            EvaluationError: the file cannot be read or holds no episode.
        """
        return read_saved(path, cls.from_dict, _MAX_BYTES, "an episode that save() wrote")
