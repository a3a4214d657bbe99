"""Values as JSON, and JSON as pieces that a page carries without a single character of it being markup."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any


def to_json(value: Any) -> str:
    """A value of :mod:`spca.report.model` as JSON in ASCII: dataclasses by field, tuples as arrays, no NaN (null)."""
    try:
        return json.dumps(value, default=_fields, separators=(",", ":"), allow_nan=False)
    except ValueError:  # the encoder does not say where
        return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False)


def piece(value: Any) -> str:
    """JSON of a value, compressed, in base64; equal values give equal pieces."""
    return base64.b64encode(gzip.compress(to_json(value).encode("ascii"), mtime=0)).decode("ascii")


@cache
def _names(cls: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


def _fields(value: Any) -> Any:
    if is_dataclass(value):
        return {name: getattr(value, name) for name in _names(type(value))}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Set):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    found = _fields(value)
    return {str(key): _finite(item) for key, item in found.items()} if isinstance(found, dict) else _finite(found)
