"""What is written into files: JSON of results, and file names made of untrusted text."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from typing import Any, Final

import numpy as np

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_HASHED: Final = re.compile(r"-[0-9a-f]{8}$")
_LONGEST: Final = 100


def file_stem(text: str) -> str:
    """A file name, without suffix, that tells ``text``; different texts never share one, on any file system."""
    safe = _UNSAFE.sub("_", text).lstrip(".")[:_LONGEST]
    if safe == text == safe.lower() and safe and not _HASHED.search(safe):
        return safe
    return f"{safe}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


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
    if isinstance(value, np.ndarray | np.generic):
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
