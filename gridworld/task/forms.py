"""The forms in which a file may hold a task; the flat form is the form of written files.

::

    {"task_id": ..., "maze": {"dimensions": ..., "start": ...}, "mechanisms": ...}              flat form
    {"task_id": ..., "maze": {"dimensions": ..., "layout": {"start": ...}, "mechanisms": ...}}  nested form
    {"TaskSpecification": ...}                                                                  either form, wrapped
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from gridworld.errors import TaskError
from gridworld.task.reading import noting, read, shown
from gridworld.task.records import MazeLayout, MechanismSet, Position, Task

WRAPPER = "TaskSpecification"

T = TypeVar("T", bound=Task)


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
class _NestedTask(Task):
    maze: NestedMaze  # type: ignore[assignment]


def read_task(cls: type[T], data: Any, source: str = "", *, strict: bool = False, notes: list[str] | None = None) -> T:
    """Return a task from JSON data in any of the forms.

    Args:
        source: the file of the data, for messages.
        strict, notes: as for :func:`gridworld.task.reading.noting`.

    Raises:
        TaskError: the data is not a task; the error lists the problems.
    """

    def reading(new_notes: list[str] | None) -> T:
        return _read_form(cls, data, source, new_notes)

    return noting(reading, source, strict=strict, notes=notes, depth=4)


def _read_form(cls: type[T], data: Any, source: str, notes: list[str] | None) -> T:
    """Return a task from data in any of the forms; ``notes`` is None if reading is strict."""
    if isinstance(data, Mapping) and WRAPPER in data:
        data = _unwrap(data, source, notes)
    maze = data.get("maze") if isinstance(data, Mapping) else None
    if not isinstance(maze, Mapping) or "layout" not in maze:
        return read(cls, data, source, notes)
    if "mechanisms" in maze and "mechanisms" in data:
        raise TaskError("maze.mechanisms: stands beside the mechanisms of the task; give one of them", source)
    return _flat(cls, read(_NestedTask, data, source, notes))


def _unwrap(data: Mapping[str, Any], source: str, notes: list[str] | None) -> Any:
    """Return the task data inside the wrapper; another key beside the wrapper is a note, or an error if strict."""
    if others := [key for key in data if key != WRAPPER]:
        problem = f"{shown(others[0])} stands beside {WRAPPER}; put it inside"
        if notes is None:
            raise TaskError(problem, source)
        notes.append(problem)
    if getattr(data, "repeated", ()):
        raise TaskError(f"{WRAPPER}: is given more than once", source)
    return data[WRAPPER]


def _flat(cls: type[T], task: _NestedTask) -> T:
    """Convert a task from the nested to the flat form."""
    values = {part.name: getattr(task, part.name) for part in dataclasses.fields(task)}
    layout = task.maze.layout
    values["maze"] = MazeLayout(task.maze.dimensions, layout.walls, layout.start, layout.goal, layout.floor)
    if task.maze.mechanisms is not None:
        values["mechanisms"] = task.maze.mechanisms
    return cls(**values)
