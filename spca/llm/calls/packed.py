"""Pack the transcripts of a run into one compressed file of JSON Lines, and read the file again."""

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
    """Return the bytes of the packed file: one transcript a line, in order.

    Run id, request number and the path of a model file are removed, since they differ between equal runs.
    """
    lines = []
    for transcript in transcripts:
        neutral = {"model": strip_path(transcript["model"]), "run": "", "request": 0}
        lines.append(f"{json_text(transcript | neutral)}\n")
    return lzma.compress("".join(lines).encode(), preset=9)


def unpack(path: Path) -> tuple[Transcript, ...]:
    """Return the transcripts in a packed file, in order.

    The name of a transcript consists of the file and the line number (from 1).

    Raises:
        ResumeError: the file cannot be read.
    """
    try:
        text = lzma.decompress(read_bytes(path)).decode()
        lines = text.split("\n")[:-1]
        transcripts = []
        for line_number, line in enumerate(lines, 1):
            transcripts.append(read_transcript(f"{path.name}:{line_number}", line))
        return tuple(transcripts)
    except FileError as error:
        raise ResumeError(str(error)) from error
    except (lzma.LZMAError, EOFError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ResumeError(f"{path} cannot be read: {type(error).__name__}: {error}") from error


def strip_path(model: str) -> str:
    """Return the name of a model; if the name holds an absolute path, keep only the last part of the path."""
    ref = ModelRef.parse(model)
    path = Path(ref.name)
    if path.is_absolute():
        return f"{ref.prefix}/{path.name}"
    return model
