"""JSON files in and out, read strictly and written whole.

What comes in is untrusted: repeated keys survive as a mark that the reader reports with its path, and every
way in which a file can be broken is a :class:`~gridworld.errors.TaskError` with one line.
"""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from gridworld.errors import TaskError
from spca.common.files import open_regular

MAX_BYTES = 16 * 1024 * 1024


class JsonObject(dict[str, Any]):
    """A JSON object that remembers which of its keys were given more than once."""

    repeated: tuple[str, ...] = ()


def read_json(path: str | os.PathLike[str]) -> Any:
    """The value in a file.

    Raises:
        TaskError: the file cannot be read, is not UTF-8 or not JSON, or has more than ``MAX_BYTES``.
    """
    source = os.fspath(path)
    try:
        content = read_regular(source, MAX_BYTES + 1)
    except OSError as error:
        raise TaskError(f"cannot be read: {error.strerror or error}", source) from None
    except ValueError as error:  # a NUL in the path
        raise TaskError(f"cannot be read: {error}", source) from None
    return parse_json(content, source)


def parse_json(content: bytes | str, source: str = "") -> Any:
    """The value in a text; objects become :class:`JsonObject`.

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
        raise TaskError(f"is not UTF-8 text: byte {error.start} is 0x{error.object[error.start]:02x}", source) from None
    except json.JSONDecodeError as error:
        raise TaskError(f"is not JSON: line {error.lineno} column {error.colno}: {error.msg}", source) from None
    except RecursionError:
        raise TaskError("is nested too deeply", source) from None
    except TaskError:
        raise
    except ValueError:  # CPython converts integers of a limited length only
        raise TaskError("holds an integer of thousands of digits", source) from None


def _object(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = JsonObject(pairs)
    if len(made) < len(pairs):
        made.repeated = tuple(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
    return made


def write_json(path: str | os.PathLike[str], data: Any) -> None:
    """Write a value as UTF-8 with an indent of 2; the file appears whole or not at all.

    Raises:
        TaskError: the file cannot be written.
    """
    target = str(Path(path))
    try:
        write_whole(target, (json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode())
    except OSError as error:
        raise TaskError(f"cannot be written: {error.strerror or error}", target) from None
    except (TypeError, ValueError, RecursionError) as error:  # not a JSON value, or a NUL in the path
        raise TaskError(f"cannot be written: {error}", target) from None


def read_regular(path: str | os.PathLike[str], size: int) -> bytes:
    """Return the first ``size`` bytes of a file: a pipe would keep the reader waiting, a device never ends.

    Raises:
        OSError: it cannot be read, or is not a regular file.
    """
    with open(path, "rb", opener=open_regular) as file:
        return file.read(size)


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file so that a reader, or a machine that stops, never meets half of it.

    Raises:
        OSError: it cannot be written, or is a device or pipe, which would be replaced; what was there stays.
    """
    target = Path(path)
    if not target.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not (target.is_file() or target.is_dir()):
        raise OSError(errno.EINVAL, "is not a regular file", str(target))
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0o022)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except BaseException:  # no half of a file stays, whatever happened
        Path(name).unlink(missing_ok=True)
        raise
