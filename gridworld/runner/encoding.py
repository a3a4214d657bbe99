"""What is in files of results: JSON, and file names made of untrusted text."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from gridworld.errors import EvaluationError
from spca.common.encoding import json_text
from spca.common.errors import FileError
from spca.common.files import read_bytes

__all__ = ["file_stem", "json_text", "read_saved"]

T = TypeVar("T")

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]+")
_HASHED: Final = re.compile(r"-[0-9a-f]{8}$")
_LONGEST: Final = 100


def file_stem(text: str) -> str:
    """Encode ``text`` as a file stem; different texts never share one, on any file system."""
    safe = _UNSAFE.sub("_", text).lstrip(".")[:_LONGEST]
    if safe == text == safe.lower() and safe and not _HASHED.search(safe):
        return safe
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{safe}-{digest[:8]}"


def read_saved(path: str | os.PathLike[str], make: Callable[[Any], T], limit: int, what: str) -> T:
    """Return what ``make`` builds of the JSON in a file of at most ``limit`` bytes.

    Args:
        what: the kind of file that it must be, for the error.

    Raises:
        EvaluationError: it cannot be read or is not of this kind.
    """
    name = os.fspath(path)
    try:
        return make(json.loads(read_bytes(Path(name), limit)))
    except FileError as error:
        raise EvaluationError(f"{name}: cannot be read: {error.reason}") from error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise EvaluationError(f"{name}: is not {what}: {reason:.200}") from error
