"""JSON files: strict reading and atomic writing.

Files are untrusted. A :class:`JsonObject` records its repeated keys, so that the reader can report the path of each
key. Every broken file raises a :class:`~gridworld.errors.TaskError` whose message is one line.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from gridworld.errors import TaskError
from spca.common.errors import FileError
from spca.common.files import MAX_BYTES, read_bytes, replace_file


class JsonObject(dict[str, Any]):
    """A JSON object; ``repeated`` has the keys that occur more than once in the text of the object."""

    repeated: tuple[str, ...] = ()


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return the JSON value in a file.

    Raises:
        TaskError: the file cannot be read, is not UTF-8, is not JSON, or has more than ``MAX_BYTES`` bytes.
    """
    source = os.fspath(path)
    try:
        return parse_json(read_bytes(Path(source)), source)
    except FileError as error:
        raise TaskError(f"cannot be read: {error.reason}", source) from error


def parse_json(content: bytes | str, source: str = "") -> Any:
    """Parse a JSON text; objects become :class:`JsonObject`.

    Args:
        source: the file of the text, for error messages.

    Raises:
        TaskError: the text is not UTF-8, is not JSON, or is longer than ``MAX_BYTES``.
    """
    if len(content) > MAX_BYTES:
        raise TaskError(f"has more than {MAX_BYTES // 1024**2} MiB, which no task needs", source)
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        if not text.strip():
            raise TaskError("is empty; a task is a JSON object", source)
        return json.loads(text, object_pairs_hook=_object)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise TaskError(f"is not UTF-8 text: byte {error.start} is 0x{byte:02x}", source) from error
    except json.JSONDecodeError as error:
        raise TaskError(f"is not JSON: line {error.lineno} column {error.colno}: {error.msg}", source) from error
    except RecursionError as error:
        raise TaskError("is nested too deeply", source) from error
    except TaskError:
        raise
    except ValueError as error:  # CPython refuses to convert integers with too many digits
        raise TaskError("holds an integer of thousands of digits", source) from error


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    """Return the object with these (key, value) pairs; repeated keys are recorded."""
    obj = JsonObject(pairs)
    if len(obj) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        obj.repeated = tuple(key for key, count in counts.items() if count > 1)
    return obj


def write_json(path: str | os.PathLike[str], data: Any) -> None:
    """Write a value as UTF-8 JSON, indented by 2 spaces. If the write fails, the old file stays unchanged.

    Raises:
        TaskError: the file cannot be written.
    """
    target = Path(path)
    try:
        text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False)
        replace_file(target, (text + "\n").encode())
    except OSError as error:
        raise TaskError(f"cannot be written: {error.strerror or error}", str(target)) from error
    except (TypeError, ValueError, RecursionError) as error:  # not a JSON value, or a NUL in the path
        raise TaskError(f"cannot be written: {error}", str(target)) from error
