"""Reading of results from JSON files, and file names made from untrusted text."""

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
_HAS_DIGEST: Final = re.compile(r"-[0-9a-f]{8}$")
_MAX_STEM: Final = 100


def file_stem(text: str) -> str:
    """Return ``text`` as a file stem; different texts get different stems even on file systems that ignore case.

    A text that is already a safe lower-case stem stays unchanged, unless it ends like a digest. In any other text,
    unsafe characters are replaced and the text is shortened. Then the first 8 digits of the SHA-256 of the original
    text are appended.
    """
    safe = _UNSAFE.sub("_", text).lstrip(".")[:_MAX_STEM]
    is_unchanged = safe == text and safe == safe.lower()
    if safe and is_unchanged and not _HAS_DIGEST.search(safe):
        return safe
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{safe}-{digest[:8]}"


def read_saved(path: str | os.PathLike[str], make: Callable[[Any], T], limit: int, what: str) -> T:
    """Return the object that ``make`` builds from the JSON of a file.

    Args:
        path: path of the file.
        make: builds the object from the parsed JSON.
        limit: largest size of the file in bytes.
        what: the expected kind of file, for the error message.

    Raises:
        EvaluationError: the file cannot be read, or ``make`` refuses its content.
    """
    name = os.fspath(path)
    try:
        return make(json.loads(read_bytes(Path(name), limit)))
    except FileError as error:
        raise EvaluationError(f"{name}: cannot be read: {error.reason}") from error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise EvaluationError(f"{name}: is not {what}: {reason:.200}") from error
