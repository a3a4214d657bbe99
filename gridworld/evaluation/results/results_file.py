"""The results file, written whole."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gridworld.errors import EvaluationError
from gridworld.runner.encoding import json_text
from spca.common.files import replace_file


def write_results(path: str | os.PathLike[str], data: Mapping[str, Any]) -> None:
    """Write ``data`` as JSON, whole or not at all, one line per field and per task; its folder is made.

    Raises:
        EvaluationError: it cannot be written.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, _lines(data).encode())
    except OSError as error:
        raise EvaluationError(f"{target}: cannot be written: {error.strerror or error}") from error


def _lines(data: Mapping[str, Any]) -> str:
    fields = []
    for name, value in data.items():
        text = json_text(value)
        if name == "task_results" and value:
            text = "[\n" + ",\n".join(json_text(each) for each in value) + "\n]"
        fields.append(f"{json_text(name)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n"
