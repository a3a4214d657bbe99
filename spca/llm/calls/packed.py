"""The calls of a run in one file: its transcripts as JSON Lines, compressed."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any, Final

from spca.common.encoding import json_text
from spca.common.errors import FileError
from spca.common.files import read_bytes
from spca.errors import ResumeError
from spca.llm.calls.transcripts import Transcript, read_transcript
from spca.llm.catalogue.model_ref import ModelRef

PACKED: Final = "transcripts.jsonl.xz"


def pack(transcripts: list[dict[str, Any]]) -> bytes:
    """Return the file of a run's calls: each transcript as JSON, in order, without what is of that run alone."""
    lines = []
    for call in transcripts:
        neutral = {"model": without_path(call["model"]), "run": "", "request": 0}
        lines.append(f"{json_text(call | neutral)}\n")
    return lzma.compress("".join(lines).encode(), preset=9)


def unpack(path: Path) -> tuple[Transcript, ...]:
    """Return the calls in such a file, in order.

    Raises:
        ResumeError: it cannot be read.
    """
    try:
        text = lzma.decompress(read_bytes(path)).decode()
        lines = text.split("\n")[:-1]
        return tuple(read_transcript(f"{path.name}:{number}", line) for number, line in enumerate(lines, 1))
    except FileError as error:
        raise ResumeError(str(error)) from error
    except (lzma.LZMAError, EOFError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ResumeError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


def without_path(model: str) -> str:
    """Return the name of a model; of one that is a file or folder, without the path to it."""
    ref = ModelRef.parse(model)
    path = Path(ref.name)
    if path.is_absolute():
        return f"{ref.prefix}/{path.name}"
    return model
