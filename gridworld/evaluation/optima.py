"""What is known of shortest solutions, found once per task and process."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from gridworld.certificate import FIELD
from gridworld.optimum import Optimum, find_optimum
from gridworld.solver import DEFAULT_LIMIT
from gridworld.task_spec import TaskSpecification
from gridworld.tilings import TILINGS

_found: Final[dict[tuple[str, str, int], Optimum]] = {}


def optimum_of(spec: TaskSpecification, tiling: str = "square", limit: int = DEFAULT_LIMIT) -> Optimum:
    """What :func:`gridworld.optimum.find_optimum` finds; searched for the first time only."""
    key = fingerprint(spec), tiling, limit
    if key not in _found:
        _found[key] = find_optimum(spec, TILINGS[tiling], limit)
    return _found[key]


def fingerprint(spec: TaskSpecification) -> str:
    """sha256 of what decides how a task plays: everything but its name, words and metadata; all of it if certified."""
    data, certificate = spec.to_dict(), (spec.metadata or {}).get(FIELD)
    if certificate is None:
        words = ("task_id", "version", "description", "metadata", "dependency_chain", "distractors")
        data = {key: value for key, value in data.items() if key not in words}
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
