"""JSON of results, numpy or not."""

from __future__ import annotations

import json
import math
import os
from typing import Any


def json_text(data: Any, *, indent: int | None = None) -> str:
    """JSON of ``data`` in ASCII; numpy scalars and arrays as numbers and lists, NaN and infinity as null.

    Raises:
        TypeError: something in it has no form in JSON.
        ValueError: it contains itself.
    """
    try:
        return json.dumps(data, indent=indent, default=_plain, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(data), indent=indent, default=_plain, allow_nan=False)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _finite(value: Any, depth: int = 0) -> Any:
    if depth > 200:
        raise ValueError("nested too deeply")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each, depth + 1) for each in value]
    return value
