"""The task of a gridworld: maze, mechanisms, rules and goal, as dataclasses and as a JSON file.

:class:`TaskSpecification` represents a task everywhere. Its fields and their types (:mod:`gridworld.task.records`)
define the file format. Strict reading (:mod:`gridworld.task.reading`), the checks of the content
(:mod:`gridworld.task.validation`) and the JSON Schema (:mod:`gridworld.task.schema`) are derived from these fields.
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
        """Read a task from JSON data in any of the forms of :mod:`gridworld.task.forms`.

        Args:
            strict: an unknown field is an error; otherwise unknown fields are ignored.
            warnings: list that gets a line for each ignored field. If None, all these lines become one
                :class:`~gridworld.errors.TaskWarning`.

        Raises:
            TaskError: the data is not a task; the error lists every missing or mistyped field.
        """
        return read_task(cls, data, strict=strict, notes=warnings)

    @classmethod
    def from_json(
        cls, path: str | os.PathLike[str], *, strict: bool = False, warnings: list[str] | None = None
    ) -> Self:
        """Read a task from a file; :func:`gridworld.library.resolve` finds the file.

        Args:
            strict, warnings: as for :meth:`from_dict`.

        Raises:
            TaskError: the file cannot be read or is not a task; the message names the file.
        """
        return read_task(cls, read_json(resolve(path)), os.fspath(path), strict=strict, notes=warnings)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON data that :meth:`from_dict` reads, without optional fields that are None."""
        return write(self)  # type: ignore[no-any-return]

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the task to a file. If the write fails, the old file stays unchanged.

        Raises:
            TaskError: the file cannot be written.
        """
        write_json(path, self.to_dict())

    def validate(self) -> tuple[bool, list[str]]:
        """Return (whether the task is valid, its problems); each problem is "field: reason"."""
        problems = validate(self)
        return not problems, problems

    def get_mission_text(self) -> str:
        """Return the description of the task; if the task has none, return its goal in words."""
        return mission_text(self)
