"""Read untrusted JSON; refuse large files, duplicate keys, numbers that are not finite, and values of a wrong type."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from pydantic import TypeAdapter, ValidationError

from explorer.errors import SceneError
from spca.common.errors import FileError
from spca.common.files import read_text
from spca.common.text import one_line

MAX_BYTES: Final = 1 << 20
"""Largest number of bytes of a scene's file, or of a line of a set.

Files of generated scenes have a few thousand bytes.
"""

T = TypeVar("T")
_MESSAGES: Final = {
    "missing": "is missing: add it",
    "extra_forbidden": "is not a field of this format: remove it or correct its name",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "float_type": "expected a number",
    "finite_number": "expected a finite number",
    "string_type": "expected a text",
    "bool_type": "expected true or false",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "dict_type": "expected an object",
    "model_type": "expected an object",
    "dataclass_type": "expected an object",
}
"""Type of a pydantic error -> message. For any other type, pydantic's message is used."""


def file_text(path: Path, limit: int = MAX_BYTES) -> str:
    """Return the text of a file.

    Raises:
        SceneError: the file does not exist, has more than ``limit`` bytes, or is not UTF-8.
    """
    try:
        return read_text(path, limit)
    except FileError as error:
        raise SceneError(f"cannot be read: {error.reason}", str(path)) from error


def json_value(text: str, source: str) -> Any:
    """Return the value in a JSON text.

    Raises:
        SceneError: the text is not JSON, contains an object with a duplicate key, or contains a number that is not
            finite.
    """
    if len(text) > MAX_BYTES:
        raise SceneError(f"has more than {MAX_BYTES >> 20} MB", source)
    duplicates: list[str] = []

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(key for key, _ in pairs)
        duplicates.extend(key for key, count in counts.items() if count > 1)
        return dict(pairs)

    def refuse_constant(word: str) -> NoReturn:
        raise SceneError(f"holds {word}: expected a finite number", source)

    try:
        value = json.loads(text, object_pairs_hook=make_object, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        raise SceneError(f"is not JSON: line {error.lineno} column {error.colno}: {error.msg}", source) from error
    except RecursionError as error:
        raise SceneError("is nested too deeply", source) from error
    except SceneError:
        raise
    except ValueError as error:  # CPython limits the digits of integers
        raise SceneError("holds a number of thousands of digits", source) from error
    if duplicates:
        raise SceneError(f"the key {duplicates[0][:80]!a} is given more than once: keep one", source)
    return value


def validate(kind: TypeAdapter[T], value: object, source: str, inside: str = "") -> T:
    """Return the object that a JSON value describes. Types are strict, so neither true nor "3" counts as a number.

    Args:
        source: file of the value, for errors.
        inside: path of the field that contains the value, for errors.

    Raises:
        SceneError: a field is invalid; the error names the first invalid field and the reason.
    """
    try:
        # Pydantic's strict mode accepts lists for tuples only in JSON text, not in Python values.
        return kind.validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]

    field = inside
    for part in first["loc"]:
        field += f"[{part}]" if isinstance(part, int) else f".{part}"
    message = first["msg"]
    problem = _MESSAGES.get(first["type"], message[:1].lower() + message[1:])
    if first["type"] not in ("missing", "extra_forbidden"):
        problem += f", not {_describe_value(first['input'])}"
    raise SceneError(one_line(problem), source, one_line(field.removeprefix("."))[:120])


def _describe_value(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return json.dumps(value)[:60]
