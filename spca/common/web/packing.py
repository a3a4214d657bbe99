"""Pack values as compressed JSON in base64. A page contains its data in such pieces, which cannot contain markup.

When a page unpacks its pieces, invisible characters are made visible (``unpack`` in ``kit/pieces.js``).
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
"""Compression level of gzip, from 1 to 9; a higher level takes longer and saves a few percent."""
_MAX_DIGITS: Final = 300
"""Approximate number of decimal digits of the largest integer that is packed; a larger integer becomes null."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text that a page shows line by line; ``language`` is ``python``, ``pddl``, ``json`` or ``text``."""

    language: str
    lines: tuple[str, ...]


def to_json(value: Any) -> bytes:
    """Return ``value`` as JSON: ``{"value": ..., "lines": [...]}``.

    Dataclasses become objects, tuples become arrays, NaN and infinity become null. The lines of each :class:`Text` are
    replaced by indices into ``lines``, because versions of an agent share nearly all lines. A :class:`Text` is found
    only in a mapping, or in a field ``texts`` of a dataclass.
    """
    lines: dict[str, int] = {}
    folded = _fold_texts(value, lines)
    try:
        return _encode(folded, lines)
    except ValueError:  # half of a surrogate pair, or a number with too many digits
        return _encode(_replace_invalid(folded), _replace_invalid(list(lines)))


def compress(value: Any) -> bytes:
    """Return the gzip of the JSON of ``value``; equal values give equal bytes."""
    return gzip.compress(to_json(value), _LEVEL, mtime=0)


def pack(value: Any) -> str:
    """Return ``value`` as a piece of a page: base64 of the gzip of its JSON."""
    return base64.b64encode(compress(value)).decode("ascii")


def strip_paths(value: Any) -> Any:
    """Return a copy of ``value`` with the folders removed from the absolute paths in its texts."""
    if isinstance(value, str):
        return strip_folders(value)
    if isinstance(value, Mapping):
        return {strip_folders(name): strip_paths(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(strip_paths, value))
    if _is_dataclass_instance(value):
        stripped = {field.name: strip_paths(getattr(value, field.name)) for field in fields(value)}
        return replace(value, **stripped)
    return value


def _is_dataclass_instance(value: Any) -> bool:
    return is_dataclass(value) and not isinstance(value, type)


def _fold_texts(value: Any, lines: dict[str, int]) -> Any:
    """Return ``value`` with line indices in place of the lines of texts; add new lines to ``lines``.

    Args:
        lines: line -> index.
    """
    if isinstance(value, Text):
        indices = tuple(lines.setdefault(line, len(lines)) for line in value.lines)
        return replace(value, lines=indices)  # type: ignore[arg-type]
    if isinstance(value, Mapping):
        return {name: _fold_texts(item, lines) for name, item in value.items()}
    if _is_dataclass_instance(value) and getattr(value, "texts", None):
        return replace(value, texts=_fold_texts(value.texts, lines))
    return value


def _encode(value: Any, lines: Iterable[str]) -> bytes:
    return pydantic_core.to_json({"value": value, "lines": list(lines)}, inf_nan_mode="null")


def _replace_invalid(value: Any) -> Any:
    """Return a copy of ``value`` with "?" in place of half surrogate pairs and None in place of huge integers; slow."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()
    if isinstance(value, int) and value.bit_length() > 3 * _MAX_DIGITS:  # a digit has about 3.3 bits
        return None
    if isinstance(value, list | tuple):
        return [_replace_invalid(item) for item in value]
    if isinstance(value, Mapping):
        return {_replace_invalid(key): _replace_invalid(item) for key, item in value.items()}
    if is_dataclass(value):
        return {field.name: _replace_invalid(getattr(value, field.name)) for field in fields(value)}
    return value
