"""Gridworld tasks: specification, two backends, runner, evaluation of models.

The package loads a public name at its first use, so importing the package loads neither MiniGrid nor gymnasium.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from gridworld.actions import ACTION_NAMES, Action
    from gridworld.backends.base import AbstractGridBackend, GridState
    from gridworld.backends.minigrid_backend import MiniGridBackend
    from gridworld.backends.multigrid_backend import MultiGridBackend
    from gridworld.custom_env import CustomMiniGridEnv
    from gridworld.errors import GridworldError, TaskError
    from gridworld.registration import register
    from gridworld.rules.observation import Observation
    from gridworld.runner.episode_result import EpisodeResult
    from gridworld.runner.grid_runner import GridRunner
    from gridworld.task_parser import TaskParser
    from gridworld.task_spec import (
        BlockSpec,
        DependencyChain,
        DependencyStep,
        Distractor,
        DoorSpec,
        GateSpec,
        GoalSpec,
        HazardSpec,
        KeySpec,
        MazeLayout,
        MechanismSet,
        Position,
        Rules,
        SwitchSpec,
        TaskSpecification,
        TeleporterSpec,
    )

__all__ = [
    "ACTION_NAMES",
    "AbstractGridBackend",
    "Action",
    "BlockSpec",
    "CustomMiniGridEnv",
    "DependencyChain",
    "DependencyStep",
    "Distractor",
    "DoorSpec",
    "EpisodeResult",
    "GateSpec",
    "GoalSpec",
    "GridRunner",
    "GridState",
    "GridworldError",
    "HazardSpec",
    "KeySpec",
    "MazeLayout",
    "MechanismSet",
    "MiniGridBackend",
    "MultiGridBackend",
    "Observation",
    "Position",
    "Rules",
    "SwitchSpec",
    "TaskError",
    "TaskParser",
    "TaskSpecification",
    "TeleporterSpec",
    "register",
]

_MODULES: Final = {
    "ACTION_NAMES": "gridworld.actions",
    "AbstractGridBackend": "gridworld.backends.base",
    "Action": "gridworld.actions",
    "CustomMiniGridEnv": "gridworld.custom_env",
    "EpisodeResult": "gridworld.runner.episode_result",
    "GridRunner": "gridworld.runner.grid_runner",
    "GridState": "gridworld.backends.base",
    "GridworldError": "gridworld.errors",
    "MiniGridBackend": "gridworld.backends.minigrid_backend",
    "MultiGridBackend": "gridworld.backends.multigrid_backend",
    "Observation": "gridworld.rules.observation",
    "TaskError": "gridworld.errors",
    "TaskParser": "gridworld.task_parser",
    "register": "gridworld.registration",
}
"""The module of each public name; a name of ``__all__`` that is not listed here is in ``gridworld.task_spec``."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES.get(name, "gridworld.task_spec")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
