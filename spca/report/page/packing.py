"""Values as JSON, and JSON as pieces that a page carries without a single character of it being markup."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import Any, Final, TypeAlias

import pydantic_core

from spca.common.text import visible
from spca.report.read.model import Text, Token

Line: TypeAlias = tuple[Token, ...]

_ESCAPE: Final = re.compile(r"\\r\\n|\\u....|\\.")
_SUSPECT: Final = re.compile(r"\\[ubfr]")
_ODD: Final = re.compile(r"[^ -~]{1,8}")
_COMPRESSED: Final = 6
"""Of nine: more takes longer and saves a few percent."""


def to_json(value: Any) -> str:
    """A piece as JSON in ASCII: ``{"value": ..., "lines": [...]}``.

    Dataclasses become objects, tuples arrays, numbers that JSON has not null. The lines of each
    :class:`~spca.report.read.model.Text` become numbers of ``lines``: versions of an agent share nearly all of them.
    Texts stand in a mapping, or in a field ``texts``. Every string is as :func:`~spca.common.text.visible` makes it,
    wherever it came from.
    """
    lines: dict[Line, int] = {}
    folded = _folded(value, lines)
    try:
        text = _encoded(folded, lines)
    except ValueError:  # half of a surrogate pair, or a number with too many digits
        text = _encoded(_plain(folded), _plain(list(lines)))
    if _SUSPECT.search(text):  # texts hold many more line feeds and quotes than anything else
        text = _ESCAPE.sub(lambda escape: _spelled(escape[0]), text)
    if text.isascii() and "\x7f" not in text:
        return text
    return _ODD.sub(lambda odd: _escaped(odd[0]), text)


def piece(value: Any) -> str:
    """JSON of a value, compressed, in base64; equal values give equal pieces."""
    return base64.b64encode(gzip.compress(to_json(value).encode("ascii"), _COMPRESSED, mtime=0)).decode("ascii")


def _folded(value: Any, lines: dict[Line, int]) -> Any:
    """Replace lines of texts by their numbers."""
    if isinstance(value, Text):
        return {"language": value.language, "lines": [lines.setdefault(line, len(lines)) for line in value.lines]}
    if isinstance(value, Mapping):
        return {name: _folded(each, lines) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type) and getattr(value, "texts", None):
        return replace(value, texts=_folded(value.texts, lines))  # type: ignore[attr-defined]
    return value


def _encoded(value: Any, lines: Iterable[Line]) -> str:
    return pydantic_core.to_json({"value": value, "lines": list(lines)}, inf_nan_mode="null").decode()


def _plain(value: Any) -> Any:
    """Replace what JSON has not; this takes long."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return value


@lru_cache(maxsize=1024)
def _spelled(escape: str) -> str:
    """An escape of JSON, spelled out where it stands for a character that would not be seen."""
    character = json.loads(f'"{escape}"')
    shown = visible(character)
    return escape if shown == character else json.dumps(shown)[1:-1]


@lru_cache(maxsize=1024)
def _escaped(characters: str) -> str:
    """Characters other than printable ASCII, made visible, in ASCII."""
    return json.dumps(visible(characters))[1:-1]
