"""The task of a gridworld: maze, mechanisms, rules and goal, as dataclasses and as a JSON file.

:class:`TaskSpecification` is the one form of a task everywhere. Its fields and their types
(:mod:`gridworld.task.records`) are the format of the file: strict reading (:mod:`gridworld.task.reading`), the checks
of what a task means (:mod:`gridworld.task.validation`) and the JSON Schema (:mod:`gridworld.task.schema`) are derived
from them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from gridworld.library import resolve
from gridworld.task.forms import read_task
from gridworld.task.jsonfile import read_json, write_json
from gridworld.task.mission import mission_text
from gridworld.task.reading import write
from gridworld.task.records import (
    BlockSpec,
    Color,
    DependencyChain,
    DependencyStep,
    Distractor,
    DoorSpec,
    DoorState,
    GateSpec,
    GateState,
    GoalSpec,
    GoalType,
    HazardSpec,
    HazardType,
    KeySpec,
    MazeLayout,
    MechanismSet,
    Observability,
    Position,
    Rules,
    SwitchSpec,
    SwitchState,
    SwitchType,
    Task,
    TeleporterSpec,
)
from gridworld.task.validation import validate

__all__ = [
    "BlockSpec",
    "Color",
    "DependencyChain",
    "DependencyStep",
    "Distractor",
    "DoorSpec",
    "DoorState",
    "GateSpec",
    "GateState",
    "GoalSpec",
    "GoalType",
    "HazardSpec",
    "HazardType",
    "KeySpec",
    "MazeLayout",
    "MechanismSet",
    "Observability",
    "Position",
    "Rules",
    "SwitchSpec",
    "SwitchState",
    "SwitchType",
    "TaskSpecification",
    "TeleporterSpec",
]


@dataclass
class TaskSpecification(Task):
    """A complete task."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, strict: bool = False, warnings: list[str] | None = None) -> Self:
        """Read as any part does; also with everything under "TaskSpecification", or the maze under ``maze.layout``."""
        return read_task(cls, data, strict=strict, notes=warnings)

    @classmethod
    def from_json(
        cls, path: str | os.PathLike[str], *, strict: bool = False, warnings: list[str] | None = None
    ) -> Self:
        """Read a file; paths of shipped tasks lead to them from any folder (:func:`gridworld.library.resolve`).

        Args:
            strict, warnings: as for :meth:`from_dict`.

        Raises:
            TaskError: the file cannot be read or is not a task; names the file.
        """
        return read_task(cls, read_json(resolve(path)), os.fspath(path), strict=strict, notes=warnings)

    def to_dict(self) -> dict[str, Any]:
        """Return the dict that :meth:`from_dict` reads; fields that are None are left out."""
        return write(self)  # type: ignore[no-any-return]

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write a file, whole or not at all.

        Raises:
            TaskError: it cannot be written.
        """
        write_json(path, self.to_dict())

    def validate(self) -> tuple[bool, list[str]]:
        """Return whether the task makes sense, and everything that does not, each "field: reason"."""
        problems = validate(self)
        return not problems, problems

    def get_mission_text(self) -> str:
        """Return the task in words: its description, or what the goal asks for."""
        return mission_text(self)
