"""Lengths of shortest solutions, searched once per task and process."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from gridworld.errors import SearchLimitError
from gridworld.task_spec import TaskSpecification

_found: Final[dict[tuple[str, str], int | None]] = {}


def fingerprint(spec: TaskSpecification) -> str:
    """sha256 of what decides how a task plays: everything but its name, words and metadata."""
    words = ("task_id", "version", "description", "metadata", "dependency_chain", "distractors")
    data = {key: value for key, value in spec.to_dict().items() if key not in words}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def optimal_steps(spec: TaskSpecification, tiling: str = "square") -> int | None:
    """Length of a shortest solution; None if there is none or the search had too little room."""
    key = fingerprint(spec), tiling
    if key not in _found:
        _found[key] = _search(spec, tiling)
    return _found[key]


def _search(spec: TaskSpecification, tiling: str) -> int | None:
    from gridworld.solver import solve
    from gridworld.tilings import TILINGS

    try:
        solution = solve(spec, tiling=TILINGS[tiling])
    except SearchLimitError:
        return None
    return solution.steps if solution.solved else None
