"""Values as JSON, compressed: pieces of a page, none of whose characters can be markup.

Hidden characters are spelled out where a page unpacks its pieces (``unpack`` in ``kit/pieces.js``).
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Final

import pydantic_core

from spca.common.text import strip_folders

_LEVEL: Final = 6
"""Of nine: more takes longer and saves a few percent."""
_MAX_DIGITS: Final = 300


@dataclass(frozen=True, slots=True)
class Text:
    """A text to be shown, line by line. ``language``: ``python``, ``pddl``, ``json`` or ``text``."""

    language: str
    lines: tuple[str, ...]


def to_json(value: Any) -> bytes:
    """Return a piece as JSON: ``{"value": ..., "lines": [...]}``.

    Dataclasses become objects, tuples arrays, NaN and infinity null. The lines of each :class:`Text` become numbers of
    ``lines``, for versions of an agent share nearly all of them. Texts stand in a mapping, or in a field ``texts``.
    """
    lines: dict[str, int] = {}
    folded = _fold_texts(value, lines)
    try:
        return _encode(folded, lines)
    except ValueError:  # half of a surrogate pair, or a number with too many digits
        return _encode(_replace_odd(folded), _replace_odd(list(lines)))


def compress(value: Any) -> bytes:
    """Return a piece as gzip of its JSON; equal values give equal bytes."""
    return gzip.compress(to_json(value), _LEVEL, mtime=0)


def pack(value: Any) -> str:
    """Return a piece as base64 of gzip of its JSON, as a page carries it."""
    return base64.b64encode(compress(value)).decode("ascii")


def strip_paths(value: Any) -> Any:
    """Return a value whose texts name no folder of this machine."""
    if isinstance(value, str):
        return strip_folders(value)
    if isinstance(value, Mapping):
        return {strip_folders(name): strip_paths(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(strip_paths, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: strip_paths(getattr(value, each.name)) for each in fields(value)})
    return value


def _fold_texts(value: Any, lines: dict[str, int]) -> Any:
    """Replace lines of texts by their numbers."""
    if isinstance(value, Text):
        return replace(value, lines=tuple(lines.setdefault(line, len(lines)) for line in value.lines))  # type: ignore[misc]
    if isinstance(value, Mapping):
        return {name: _fold_texts(each, lines) for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type) and getattr(value, "texts", None):
        return replace(value, texts=_fold_texts(value.texts, lines))  # type: ignore[attr-defined]
    return value


def _encode(value: Any, lines: Iterable[str]) -> bytes:
    return pydantic_core.to_json({"value": value, "lines": list(lines)}, inf_nan_mode="null")


def _replace_odd(value: Any) -> Any:
    """Replace what JSON has not; this takes long."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, int) and value.bit_length() > 3 * _MAX_DIGITS:
        return None
    if isinstance(value, list | tuple):
        return [_replace_odd(item) for item in value]
    if isinstance(value, Mapping):
        return {_replace_odd(key): _replace_odd(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: _replace_odd(getattr(value, field.name)) for field in fields(value)}
    return value
