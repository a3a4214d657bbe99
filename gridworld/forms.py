"""The forms in which a file may hold a task.

::

    {"task_id": ..., "maze": {"dimensions": ..., "start": ...}, "mechanisms": ...}              the one that is written
    {"task_id": ..., "maze": {"dimensions": ..., "layout": {"start": ...}, "mechanisms": ...}}  the nested one
    {"TaskSpecification": ...}                                                                either of them, wrapped
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gridworld.errors import TaskError
from gridworld.reading import read, shown
from gridworld.task_spec import MazeLayout, MechanismSet, Position, TaskSpecification

WRAPPER = "TaskSpecification"

T = TypeVar("T", bound=TaskSpecification)


@dataclass
class NestedLayout:
    """A maze without its dimensions."""

    walls: list[Position] = field(metadata={"absent": list})
    start: Position
    goal: Position
    floor: list[Position] | None = None


@dataclass
class NestedMaze:
    """A maze with its contents a level further in, and maybe the mechanisms of the task."""

    dimensions: tuple[int, int] = field(metadata={"bounds": (3, 128)})
    layout: NestedLayout
    mechanisms: MechanismSet | None = None


@dataclass
class _NestedTask(TaskSpecification):
    maze: NestedMaze  # type: ignore[assignment]


def read_task(cls: type[T], data: Any, source: str = "") -> T:
    """A task from JSON data in any of the forms.

    Raises:
        TaskError: with the problems of the data.
    """
    if isinstance(data, Mapping) and WRAPPER in data:
        data = _unwrapped(data, source)
    maze = data.get("maze") if isinstance(data, Mapping) else None
    if not isinstance(maze, Mapping) or "layout" not in maze:
        return read(cls, data, source)
    if "mechanisms" in maze and "mechanisms" in data:
        raise TaskError("maze.mechanisms: stands beside the mechanisms of the task; give one of them", source)
    return _flat(cls, read(_NestedTask, data, source))


def _unwrapped(data: Mapping[str, Any], source: str) -> Any:
    others = [key for key in data if key != WRAPPER]
    if others:
        raise TaskError(f"{shown(others[0])} stands beside {WRAPPER}; put it inside", source)
    if getattr(data, "repeated", ()):
        raise TaskError(f"{WRAPPER}: is given more than once", source)
    return data[WRAPPER]


def _flat(cls: type[T], task: _NestedTask) -> T:
    values = {part.name: getattr(task, part.name) for part in dataclasses.fields(task)}
    layout = task.maze.layout
    values["maze"] = MazeLayout(task.maze.dimensions, layout.walls, layout.start, layout.goal, layout.floor)
    if task.maze.mechanisms is not None:
        values["mechanisms"] = task.maze.mechanisms
    return cls(**values)
