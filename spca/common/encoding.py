"""JSON that every reader takes, numpy or not."""

from __future__ import annotations

import json
import math
import os
from functools import partial
from typing import Any

from spca.common.text import escape_json


def json_text(data: Any, *, indent: int | None = None) -> str:
    """Return ``data`` as strict JSON to be read by people, too.

    Characters stay as they are, but for those that nobody can see, which are escapes. NaN and infinity, which JSON does
    not have, are null; numpy's scalars and arrays are numbers and lists.

    Raises:
        TypeError: something in it has no form in JSON.
        ValueError: it contains itself.
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
