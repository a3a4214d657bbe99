"""Lenient readers for JSON values of any type: a value of the wrong type counts as missing (no input or output).

A number also counts as missing if it is not finite, or too large for a script of a page to represent exactly.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

EXACT: Final = 2**53
"""Largest absolute value up to which every whole number is exact as a float."""


def table(value: object) -> Mapping[str, Any]:
    """Return ``value`` if it is a JSON object, else {}."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Return ``value`` if it is a JSON list, else []."""
    return value if isinstance(value, list) else []


def text(value: object, default: str = "") -> str:
    """Return ``value`` if it is a JSON string, else ``default``."""
    return value if isinstance(value, str) else default


def number(value: object) -> float | None:
    """Return ``value`` as a float if it is a number with an absolute value of at most :data:`EXACT`, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -EXACT <= value <= EXACT else None


def whole(value: object) -> int | None:
    """Return ``value`` if it is an integer from 0 to :data:`EXACT`, else None."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= EXACT else None


def count(value: object) -> int:
    """Return ``value`` if it is an integer from 0 to :data:`EXACT`, else 0."""
    return whole(value) or 0


def texts(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the strings of a record at ``names``, by name; "" for a missing string."""
    return {name: text(record.get(name)) for name in names}


def counts(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the non-negative integers of a record at ``names``, by name; 0 for a missing integer."""
    return {name: count(record.get(name)) for name in names}


def steps(attempt: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """Return a triple for each step: primitive, plan position (from 0) and source line (from 1).

    A missing value is -1.
    """
    triples = []
    for step in items(attempt.get("steps")):
        padded = [*items(step), None, None, None]
        code, position, line = map(_read_index, padded[:3])
        triples.append((code, position, line))
    return triples


def _read_index(value: object) -> int:
    index = whole(value)
    return -1 if index is None else index


def parse_lenient(data: str) -> Any:
    """Parse JSON; ``NaN`` and infinities become None.

    Raises:
        ValueError: the data is not JSON, or is nested too deeply.
    """
    try:
        return json.loads(data, parse_constant=lambda _name: None, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _finite(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None
