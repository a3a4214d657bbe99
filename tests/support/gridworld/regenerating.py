"""Generated tasks made again, from the arguments that their metadata keeps."""

from __future__ import annotations

from gridworld.generating.generator import SEARCH_LIMIT, VERSION, generate
from gridworld.task_spec import TaskSpecification


def regenerate(spec: TaskSpecification) -> TaskSpecification:
    """Make a generated task again from its metadata."""
    made = (spec.metadata or {})["generator"]
    assert made["version"] == VERSION
    return generate(
        made["tier"],
        made["seed"],
        index=made["index"],
        tiling=made["tiling"],
        mechanisms=made.get("mechanisms"),
        limit=made.get("limit", SEARCH_LIMIT),
    )
