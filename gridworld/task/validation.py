"""Validation of the content of a task, beyond the form of its file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from gridworld.errors import TaskError
from gridworld.library import resolve
from gridworld.task.checks import (
    Directory,
    Grid,
    annotation_problems,
    goal_problems,
    id_problems,
    maze_problems,
    mechanism_problems,
    place_problems,
    things_of,
)
from gridworld.task.forms import read_task
from gridworld.task.jsonfile import read_json
from gridworld.task.reading import MAX_PROBLEMS, form_problems, plan_of, shown
from gridworld.task.records import Task

MAX_POINTS: Final = 1_000_000_000
"""Greatest permitted value of ``metadata["points"]``."""


def validate(spec: Task) -> list[str]:
    """Return the problems of a task, each "field: reason", without duplicates, at most ``MAX_PROBLEMS``.

    If values have wrong types, only the problems with types are returned.
    """
    if problems := form_problems(spec):
        return problems
    return list(islice(dict.fromkeys(_problems(spec)), MAX_PROBLEMS))


def check_file(path: str | os.PathLike[str], *, strict: bool = False, warnings: list[str] | None = None) -> list[str]:
    """Return the problems of a task file, each "FILE: field: reason"; the list of a valid task is empty.

    Args:
        strict, warnings: as for :meth:`gridworld.task_spec.TaskSpecification.from_json`.
    """
    source = os.fspath(path)
    try:
        problems = validate(read_task(Task, read_json(resolve(path)), source, strict=strict, notes=warnings))
    except TaskError as error:
        problems = list(error.problems)
    return [f"{source}: {problem}" for problem in problems]


def _problems(spec: Task) -> Iterator[str]:
    """Yield all problems of a task whose values have the right types.

    If the dimensions of the maze are not valid, cells are not checked.
    """
    things = things_of(spec.mechanisms)
    has_valid_size = not any(_outside_bounds(spec.maze, "maze."))
    grid = Grid(spec) if has_valid_size else None
    known = Directory(things)
    yield from _number_problems(spec)
    yield from id_problems(things)
    if grid is not None:
        yield from maze_problems(spec, grid)
        yield from place_problems(spec, grid, things)
    yield from mechanism_problems(spec, known)
    yield from annotation_problems(spec, known)
    yield from goal_problems(spec, grid, known)


def _number_problems(spec: Task) -> Iterator[str]:
    """Yield the problems of the id and of the numbers of a task."""
    if not spec.task_id.strip():
        yield "task_id: must not be empty"
    yield from _outside_bounds(spec, "")
    yield from _outside_bounds(spec.maze, "maze.")
    yield from _outside_bounds(spec.rules, "rules.")
    if spec.rules.view_size % 2 == 0:
        yield f"rules.view_size: {spec.rules.view_size} must be odd"
    points = (spec.metadata or {}).get("points", 0)
    is_number = isinstance(points, int | float) and not isinstance(points, bool)
    if not is_number or not 0 <= points <= MAX_POINTS:
        yield f"metadata.points: {shown(points)} must be a number from 0 to {MAX_POINTS}"


def _outside_bounds(part: Any, prefix: str) -> Iterator[str]:
    """Yield a problem for each number of a part that is not within the bounds of its field.

    Args:
        part: a dataclass of :mod:`gridworld.task.records`.
        prefix: the path of the part with a final ".", or "" for the task itself.
    """
    for plan in plan_of(type(part)):
        if plan.bounds is None:
            continue
        least, greatest = plan.bounds
        field = f"{prefix}{plan.keys[0]}"
        value = getattr(part, plan.name)
        numbers = value if isinstance(value, tuple) else (value,)
        for number in numbers:
            if least is not None and number < least:
                yield f"{field}: {number} must be at least {least}"
            if greatest is not None and number > greatest:
                yield f"{field}: {number} must be at most {greatest}"
