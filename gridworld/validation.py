"""What a task must fulfil beyond the form of its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gridworld.task_spec import TaskSpecification


def validate(spec: TaskSpecification) -> list[str]:
    """Everything that is wrong with a task, each "field: reason"; in order, each once."""
    return [] if spec.max_steps >= 1 else [f"max_steps: {spec.max_steps} must be at least 1"]
