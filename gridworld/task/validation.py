"""What a task must fulfil beyond the form of its file."""

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

MOST_POINTS: Final = 1_000_000_000
"""That ``metadata["points"]`` may give a task."""


def validate(spec: Task) -> list[str]:
    """List all that is wrong with a task, each "field: reason"; in order, each once, at most ``MAX_PROBLEMS``.

    A task whose values do not even have the types that they should have is told only that.
    """
    if problems := form_problems(spec):
        return problems
    return list(islice(dict.fromkeys(_problems(spec)), MAX_PROBLEMS))


def check_file(path: str | os.PathLike[str], *, strict: bool = False, warnings: list[str] | None = None) -> list[str]:
    """List all that is wrong with a file, each "FILE: field: reason"; nothing if it is a valid task.

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
    things = things_of(spec.mechanisms)
    sized = not any(_outside_bounds(spec.maze, "maze."))
    grid = Grid(spec) if sized else None
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
    if not spec.task_id.strip():
        yield "task_id: must not be empty"
    yield from _outside_bounds(spec, "")
    yield from _outside_bounds(spec.maze, "maze.")
    yield from _outside_bounds(spec.rules, "rules.")
    if spec.rules.view_size % 2 == 0:
        yield f"rules.view_size: {spec.rules.view_size} must be odd"
    points = (spec.metadata or {}).get("points", 0)
    is_number = isinstance(points, int | float) and not isinstance(points, bool)
    if not is_number or not 0 <= points <= MOST_POINTS:
        yield f"metadata.points: {shown(points)} must be a number from 0 to {MOST_POINTS}"


def _outside_bounds(part: Any, prefix: str) -> Iterator[str]:
    """Yield the numbers of a part that are not within the bounds of their fields."""
    for plan in plan_of(type(part)):
        if plan.bounds is None:
            continue
        least, greatest = plan.bounds
        field = f"{prefix}{plan.keys[0]}"
        value = getattr(part, plan.name)
        for number in value if isinstance(value, tuple) else (value,):
            if least is not None and number < least:
                yield f"{field}: {number} must be at least {least}"
            if greatest is not None and number > greatest:
                yield f"{field}: {number} must be at most {greatest}"
