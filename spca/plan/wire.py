"""Messages between the solver and its process: one JSON object a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

_CHUNK = 1 << 16


class Lines:
    """Complete lines out of the chunks of a pipe; what a killed writer left unfinished is never a line."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        yield from lines


def read_chunk(fd: int) -> bytes:
    """What is there to read, empty at the end; blocks when there is nothing yet."""
    return os.read(fd, _CHUNK)


def encode(message: Mapping[str, object]) -> bytes:
    """A message as a line of ASCII."""
    return json.dumps(message).encode() + b"\n"


def decode(line: bytes) -> dict[str, Any]:
    """The message of a line.

    Raises:
        ValueError: it is not a JSON object.
    """
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("a message is an object")
    return message


def write_all(fd: int, data: bytes) -> None:
    """Write to a blocking pipe to the last byte."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
