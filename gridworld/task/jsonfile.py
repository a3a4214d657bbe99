"""JSON files in and out, read strictly and written whole.

What comes in is untrusted: repeated keys survive as a mark that the reader reports with its path, and every
way in which a file can be broken is a :class:`~gridworld.errors.TaskError` with one line.
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
    """A JSON object that remembers which of its keys were given more than once."""

    repeated: tuple[str, ...] = ()


def read_json(path: str | os.PathLike[str]) -> Any:
    """Return the value in a file.

    Raises:
        TaskError: the file cannot be read, is not UTF-8 or not JSON, or has more than ``MAX_BYTES``.
    """
    source = os.fspath(path)
    try:
        return parse_json(read_bytes(Path(source)), source)
    except FileError as error:
        raise TaskError(f"cannot be read: {error.reason}", source) from error


def parse_json(content: bytes | str, source: str = "") -> Any:
    """Parse a text; objects become :class:`JsonObject`.

    Raises:
        TaskError: as :func:`read_json`.
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
    except ValueError as error:  # CPython converts integers of a limited length only
        raise TaskError("holds an integer of thousands of digits", source) from error


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = JsonObject(pairs)
    if len(made) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        made.repeated = tuple(key for key, count in counts.items() if count > 1)
    return made


def write_json(path: str | os.PathLike[str], data: Any) -> None:
    """Write a value as UTF-8 with an indent of 2; the file appears whole or not at all.

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
