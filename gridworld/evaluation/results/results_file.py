"""The results file: written whole, read with every way of being wrong named."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from gridworld.errors import EvaluationError
from gridworld.runner.encoding import json_text
from gridworld.task.jsonfile import read_regular, write_whole

T = TypeVar("T")

_MAX_BYTES: Final = 1 << 30


def write_results(path: str | os.PathLike[str], data: Mapping[str, Any]) -> None:
    """Write ``data`` as JSON, whole or not at all, one line per field and per task; its folder is made.

    Raises:
        EvaluationError: it cannot be written.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, _lines(data).encode())
    except OSError as error:
        raise EvaluationError(f"{target}: cannot be written: {error.strerror or error}") from None


def _lines(data: Mapping[str, Any]) -> str:
    fields = []
    for name, value in data.items():
        text = json_text(value)
        if name == "task_results" and value:
            text = "[\n" + ",\n".join(json_text(each) for each in value) + "\n]"
        fields.append(f"{json_text(name)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n"


def read_results(path: str | os.PathLike[str], make: Callable[[Any], T]) -> T:
    """Return what ``make`` builds of the data in a results file.

    Raises:
        EvaluationError: it cannot be read or is not a results file.
    """
    name = os.fspath(path)
    try:
        content = read_regular(name, _MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise EvaluationError(f"{name}: has more than {_MAX_BYTES >> 20} MiB")
        return make(json.loads(content))
    except OSError as error:
        raise EvaluationError(f"{name}: cannot be read: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise EvaluationError(f"{name}: is not a results file of an evaluation: {reason:.200}") from None
