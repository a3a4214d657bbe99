"""The body of a recorded run. It is read from the record, so that no report has to import a plugin."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any, Final

from spca.bodies.grid.body import GRID
from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.body import Body
from spca.common.errors import PluginError

BODY: Final = "body"
"""Field of ``run.json`` and ``evaluation.json``: the body of the run."""


def describe_body(body: Body) -> dict[str, Any]:
    """Return the record of a body: its name, the hash of what models and generated code get of it, its primitives."""
    parts = {
        "primitives": [astuple(primitive) for primitive in body.primitives],
        "state": [astuple(attribute) for attribute in body.state],
        "words": body.words,
        "prompts": dict(body.prompts),
        "budgets": astuple(body.budgets),
        "progress": body.progress,
        "about": body.about,
    }
    text = json.dumps(parts, sort_keys=True)
    return {
        "name": body.name,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "primitives": list(body.interface.primitives),
    }


def require_same_body(record: Mapping[str, Any], body: Body, what: str) -> None:
    """Raise an error if a folder was made with another body, such as one that reads its names from a changed file.

    The grid's body is not compared, because it changes with the version of this program.

    Args:
        record: content of ``run.json`` or ``evaluation.json``.
        what: the folder, for the message.

    Raises:
        PluginError: the bodies differ.
    """
    recorded = record.get(BODY)
    if not isinstance(recorded, Mapping) or body is GRID:
        return
    if recorded.get("sha256") != describe_body(body)["sha256"]:
        raise PluginError(f"{what} was made with another body {body.name}: load the plugin as it was")


def list_primitives(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the primitives of a recorded run; runs of earlier versions had the grid's body.

    Args:
        info: content of ``run.json`` or ``evaluation.json``, whose values may be of any JSON type.
    """
    recorded = info.get(BODY)
    names = recorded.get("primitives") if isinstance(recorded, Mapping) else None
    if not isinstance(names, list):
        return PRIMITIVE_METHODS
    return tuple(name if isinstance(name, str) else "?" for name in names)
