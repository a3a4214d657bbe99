"""Who plays the tasks; results do not depend on it, only the order in which they come."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Final, TypeAlias

from gridworld.evaluation.processes import play_in_processes
from gridworld.evaluation.ray_engine import play_with_ray
from gridworld.evaluation.recipe import Finished, Recipe
from gridworld.evaluation.settings import Task

Engine: TypeAlias = Callable[[Recipe, Sequence[Task], int], Generator[Finished]]
"""``engine(recipe, tasks, workers)``: every task's number and result, in the order in which they are finished."""

ENGINES: Final[dict[str, Engine]] = {"local": play_in_processes, "ray": play_with_ray}
"""Engines by the names that ``--engine`` takes."""
