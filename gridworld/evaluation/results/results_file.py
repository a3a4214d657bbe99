"""Writing of results files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gridworld.errors import EvaluationError
from gridworld.runner.encoding import json_text
from spca.common.files import replace_file


def write_results(path: str | os.PathLike[str], data: Mapping[str, Any]) -> None:
    """Write ``data`` as JSON, with one line per field and one line per task; create the folder if necessary.

    An interrupted write leaves no partial file.

    Raises:
        EvaluationError: the file cannot be written.
    """
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, _format_lines(data).encode())
    except OSError as error:
        raise EvaluationError(f"{target}: cannot be written: {error.strerror or error}") from error


def _format_lines(data: Mapping[str, Any]) -> str:
    """Return JSON with one line for each field and one line for each item of ``task_results``."""
    fields = []
    for name, value in data.items():
        text = json_text(value)
        if name == "task_results" and value:
            lines = ",\n".join(json_text(each) for each in value)
            text = f"[\n{lines}\n]"
        fields.append(f"{json_text(name)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}\n"
