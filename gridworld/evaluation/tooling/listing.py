"""``list``: a table of the shipped tasks, or of tasks in files and folders."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter

from gridworld import library
from gridworld.errors import TaskError
from gridworld.evaluation.options import Strict
from gridworld.evaluation.tooling.common import files_of, load
from gridworld.task_spec import TaskSpecification
from spca.common.command import EXIT_FINISHED, EXIT_USER_ERROR, complain
from spca.common.text import one_line

_COLUMNS: Final = ("task", "tier", "size", "goal", "seen", "mechanisms", "max steps", "file")
_FOLDED: Final = ("task\n  mechanisms", "tier", "size\nsteps", "goal\nseen")
"""Headings of the narrow table; the shipped tasks fit into 80 columns."""


def list_tasks(
    *files: Annotated[str, Parameter(name="FILE", help="a file, folder or benchmark (default: all that ship)")],
    strict: Strict = False,
) -> int:
    """Print a table of tasks; return the exit code, which is 2 if a file cannot be used."""
    problems: list[str] = []
    rows: list[tuple[str, ...]] = []
    for path in files_of(files or list(library.BENCHMARKS), problems):
        try:
            row = _make_row(load(path, strict=strict), path)
            rows.append(tuple(map(one_line, row)))
        except TaskError as error:
            problems.append(str(error))
    if rows:
        _show(rows)
    for problem in problems:
        complain(f"error: {problem}")
    return EXIT_USER_ERROR if problems else EXIT_FINISHED


def _show(rows: Sequence[tuple[str, ...]]) -> None:
    """Print one line for each task. On a narrow terminal, print two lines for each task and leave out the file."""
    from spca.common.printing import make_table, open_console

    console = open_console()
    table = make_table(*_COLUMNS, left=len(_COLUMNS))
    for row in rows:
        table.add_row(*row)
    unlimited = console.options.update(width=sys.maxsize)
    needed_width = console.measure(table, options=unlimited).maximum
    if needed_width > console.width:
        table = make_table(*_FOLDED, left=len(_FOLDED))
        for row in rows:
            table.add_row(*_fold_row(row))
    console.print(table)


def _fold_row(row: tuple[str, ...]) -> tuple[str, ...]:
    """Return a row of the wide table as a row of the narrow table. In the narrow table, a cell may have two lines."""
    task, tier, size, goal, seen, mechanisms, steps, _ = row
    return f"{task}\n  {mechanisms}", tier, f"{size}\n{steps}", f"{goal}\n{seen}"


def _make_row(spec: TaskSpecification, path: Path) -> tuple[str, ...]:
    """Return the cells of a task, in the order of ``_COLUMNS``."""
    width, height = spec.maze.dimensions
    kinds = ("keys", "doors", "switches", "gates", "blocks", "teleporters", "hazards")
    mechanisms: list[str] = []
    for kind in kinds:
        number = len(getattr(spec.mechanisms, kind))
        if number:
            mechanisms.append(f"{number} {kind if number > 1 else _singular(kind)}")
    package = Path(library.__file__).resolve().parent
    file = path.relative_to(package.parent) if path.is_relative_to(package) else path
    return (
        spec.task_id,
        str(spec.difficulty_tier),
        f"{width}x{height}",
        spec.goal.goal_type,
        spec.rules.observability,
        ", ".join(mechanisms) or "none",
        str(spec.max_steps),
        str(file),
    )


def _singular(kind: str) -> str:
    return {"switches": "switch"}.get(kind, kind.removesuffix("s"))
