"""Strict JSON, also for data with numpy values."""

from __future__ import annotations

import json
import math
import os
from functools import partial
from typing import Any

from spca.common.text import escape_json


def json_text(data: Any, *, indent: int | None = None) -> str:
    """Return ``data`` as strict JSON that people can read.

    Only invisible characters are escaped. NaN and infinity become null; numpy's scalars and arrays become numbers and
    lists.

    Raises:
        TypeError: ``data`` holds a value that JSON cannot express.
        ValueError: ``data`` contains itself.
    """
    dump = partial(json.dumps, indent=indent, default=_plain, ensure_ascii=False, allow_nan=False)
    try:
        text = dump(data)
    except ValueError:
        text = dump(_finite(data))
    return escape_json(text)


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
