"""Values of files that may hold anything: what is of another type than it should be counts as missing (pure).

Numbers that are not finite, or beyond what a script of a page can hold exactly, are missing too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, Final

EXACT: Final = 2**53
"""Whole numbers up to here are exact as floats."""


def table(value: object) -> Mapping[str, Any]:
    """Return a JSON object; {} for anything else."""
    return value if isinstance(value, Mapping) else {}


def items(value: object) -> list[Any]:
    """Return a JSON list; [] for anything else."""
    return value if isinstance(value, list) else []


def text(value: object, default: str = "") -> str:
    """Return a JSON string; ``default`` for anything else."""
    return value if isinstance(value, str) else default


def number(value: object) -> float | None:
    """Return a finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -EXACT <= value <= EXACT else None


def whole(value: object) -> int | None:
    """Return a non-negative integer; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= EXACT else None


def count(value: object) -> int:
    """Return a non-negative integer; 0 for anything else."""
    return whole(value) or 0


def texts(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the JSON strings of these names."""
    return {name: text(record.get(name)) for name in names}


def counts(record: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the non-negative integers of these names."""
    return {name: count(record.get(name)) for name in names}


def steps(attempt: Mapping[str, Any]) -> list[tuple[int, int, int]]:
    """Return primitive, plan position from 0 and source line from 1 of each step; -1 for what cannot be read."""
    found = []
    for step in items(attempt.get("steps")):
        padded = [*items(step), None, None, None]
        code, position, line = (-1 if whole(value) is None else value for value in padded[:3])
        found.append((code, position, line))
    return found


def parse_lenient(data: str) -> Any:
    """Parse JSON; ``NaN`` and infinities become None.

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return json.loads(data, parse_constant=lambda _name: None, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _finite(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None
