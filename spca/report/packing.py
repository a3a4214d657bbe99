"""Values as JSON, and JSON as pieces that a page carries without a single character of it being markup."""

from __future__ import annotations

import base64
import gzip
import json
import math
import re
from collections.abc import Mapping, Set
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache, partial
from typing import Any, Final, TypeAlias

from spca.report.model import Text, Token
from spca.text import visible

Line: TypeAlias = tuple[Token, ...]

_ESCAPE: Final = re.compile(r"\\r\\n|\\u(?:d[89ab]..\\ud[c-f]..|....)|\\.")
"""Escapes of JSON in ASCII: all characters that are not seen are written as one. A pair of surrogates is one too."""


def to_json(value: Any) -> str:
    """A piece as JSON in ASCII: ``{"value": ..., "lines": [...]}``.

    Dataclasses become objects, tuples arrays, numbers that JSON has not null. The lines of a
    :class:`~spca.report.model.Text` become numbers of ``lines``: versions of an agent share nearly all of them.
    Every string is as :func:`~spca.report.texts.visible` makes it, wherever it came from.
    """
    try:
        return _encoded(value)
    except ValueError:  # the encoder does not say where the number is
        return _encoded(_finite(value))


def piece(value: Any) -> str:
    """JSON of a value, compressed, in base64; equal values give equal pieces."""
    return base64.b64encode(gzip.compress(to_json(value).encode("ascii"), mtime=0)).decode("ascii")


def _encoded(value: Any) -> str:
    lines: dict[Line, int] = {}

    def fields_of(each: Any) -> Any:
        if isinstance(each, Text):
            return {"language": each.language, "lines": [lines.setdefault(line, len(lines)) for line in each.lines]}
        return _fields(each)

    dumps = partial(json.dumps, separators=(",", ":"), allow_nan=False)
    body = dumps(value, default=fields_of)
    return _ESCAPE.sub(_visible, f'{{"value":{body},"lines":{dumps(list(lines))}}}')


def _visible(escape: re.Match[str]) -> str:
    return _spelled(escape[0])


@lru_cache(maxsize=1024)
def _spelled(escape: str) -> str:
    """An escape of JSON, spelled out where it stands for a character that would not be seen."""
    character = json.loads(f'"{escape}"')
    shown = visible(character)
    return escape if shown == character else json.dumps(shown)[1:-1]


@cache
def _names(cls: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(cls))


def _fields(value: Any) -> Any:
    if is_dataclass(value):
        return {name: getattr(value, name) for name in _names(value.__class__)}
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
    if isinstance(value, Text):
        return value
    found = _fields(value)
    return {str(key): _finite(item) for key, item in found.items()} if isinstance(found, dict) else _finite(found)
