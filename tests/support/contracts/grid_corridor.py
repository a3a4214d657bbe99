"""A corridor to try grid backends in: one row, which every tiling has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gridworld.backends.base import AbstractGridBackend, GridState
from gridworld.task_spec import TaskSpecification

LEFT, RIGHT, FORWARD, PICKUP, DROP, TOGGLE, DONE = range(7)
FAR = [9, 1]
KEY = {"keys": [{"id": "k", "position": [3, 1], "color": "blue"}]}
Make = Callable[..., AbstractGridBackend]


def task(
    mechanisms: dict[str, Any] | None = None,
    max_steps: int = 20,
    goal: dict[str, Any] | None = None,
    **rules: Any,
) -> TaskSpecification:
    """A corridor of 11 x 3 cells, from column 1 to the goal in column 9."""
    return TaskSpecification.from_dict(
        {
            "task_id": "corridor",
            "seed": 7,
            "difficulty_tier": 1,
            "description": "Walk to the end of the corridor.",
            "maze": {"dimensions": [11, 3], "walls": [], "start": [1, 1], "goal": FAR},
            "mechanisms": mechanisms or {},
            "rules": rules,
            "goal": goal or {"type": "reach_position", "target": FAR},
            "max_steps": max_steps,
        }
    )


EVERYTHING = {
    "keys": [{"id": "k", "position": [2, 1], "color": "blue"}],
    "doors": [{"id": "d", "position": [3, 1], "requires_key": "blue"}],
    "switches": [{"id": "s", "position": [4, 1], "controls": ["g"]}],
    "gates": [{"id": "g", "position": [5, 1]}],
    "blocks": [{"id": "b", "position": [6, 1]}],
    "teleporters": [{"id": "t", "position_a": [8, 1], "position_b": [1, 1]}],
}
THROUGH = (PICKUP, TOGGLE, FORWARD, PICKUP, TOGGLE, FORWARD, FORWARD, TOGGLE, FORWARD, FORWARD, FORWARD)


def started(backend: AbstractGridBackend, spec: TaskSpecification) -> GridState:
    backend.configure(spec)
    return backend.reset()[1]


def played(backend: AbstractGridBackend, spec: TaskSpecification, *actions: int) -> GridState:
    """The state after the actions from the start of a task."""
    state = started(backend, spec)
    for action in actions:
        state = backend.step(action)[4]
    return state
