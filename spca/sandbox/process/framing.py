"""The frames that the host and the processes of the sandbox exchange over pipes.

Every frame, in both directions, begins with the same little-endian header: kind (u8), sequence number (u32), length of
the payload (u32). :mod:`spca.sandbox.process.wire` defines the payloads of an episode, and
:mod:`spca.sandbox.process.calls` the payloads of a call. Every process of the sandbox loads this module, so it imports
little.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from spca.sandbox.kernel.lockdown import IN_FD, OUT_FD

START = 0xD1
VIEW = 0xD2
CALL = 0xD3
READY = 0xE1
PRINTED = 0xE2
ASKED = 0xE3
DONE = 0xE4
FAULT = 0xE5
OPEN = 0xE6
RESULT = 0xE7
"""Kinds of frames. No kind is an ASCII code, so that frames differ from the text that a crashing interpreter writes.

``OPEN``: the process could not apply its layers; the payload says why.
"""

HEADER: Final = struct.Struct("<BII")
MAX_PAYLOAD_BYTES: Final = {READY: 0, PRINTED: 4096, ASKED: 9, DONE: 0, FAULT: 4096, OPEN: 4096, RESULT: 1 << 17}
"""Length in bytes of the longest payload that the host accepts, by kind."""

_CHUNK: Final = 1 << 12
_LARGE_CHUNK: Final = 1 << 16  # what a pipe holds


class WireError(Exception):
    """The received bytes are not a valid frame of this protocol."""


class Frame(NamedTuple):
    """A received frame; the payload's length is not stored."""

    kind: int
    sequence: int
    payload: bytes


def pack(kind: int, sequence: int, payload: bytes = b"") -> bytes:
    """Return the bytes of a frame with this header and payload."""
    return HEADER.pack(kind, sequence, len(payload)) + payload


class Frames:
    """Buffer that splits received bytes into frames.

    Args:
        longest: length in bytes of the longest accepted payload, by kind; frames of other kinds are refused.
    """

    def __init__(self, longest: Mapping[int, int] = MAX_PAYLOAD_BYTES) -> None:
        self._longest = longest
        self._bytes = b""

    @property
    def rest(self) -> bytes:
        """The received bytes that :meth:`next` has not yet returned as a frame."""
        return self._bytes

    def feed(self, data: bytes) -> None:
        self._bytes += data

    def next(self) -> Frame | None:
        """Return the next complete frame and remove it from the buffer; None while the frame is incomplete.

        Raises:
            WireError: the bytes do not begin with an accepted frame.
        """
        if not self._bytes:
            return None
        longest = self._longest.get(self._bytes[0])
        if longest is None:
            raise WireError(f"a frame of unknown kind {self._bytes[0]:#x}")
        if len(self._bytes) < HEADER.size:
            return None
        kind, sequence, length = HEADER.unpack_from(self._bytes)
        if length > longest:
            raise WireError(f"a frame of {length} bytes, {longest} are allowed")
        end = HEADER.size + length
        if len(self._bytes) < end:
            return None
        payload = self._bytes[HEADER.size : end]
        self._bytes = self._bytes[end:]
        return Frame(kind, sequence, payload)


def frame_reader() -> Callable[[], Frame]:
    """Return a function that waits for the next frame of the host. If the host closes the pipe, the process ends."""
    rest = b""

    def read_frame() -> Frame:
        nonlocal rest
        data = rest or _read_bytes(_CHUNK)
        while len(data) < HEADER.size:
            data += _read_bytes(_CHUNK)
        kind, sequence, length = HEADER.unpack_from(data)
        end = HEADER.size + length
        if len(data) < end:
            data = _read_up_to(end, data)
        rest = data[end:]
        return Frame(kind, sequence, data[HEADER.size : end])

    return read_frame


def _read_up_to(length: int, data: bytes) -> bytes:
    """Return ``length`` bytes of the host that begin with ``data``."""
    chunks = [data]
    missing = length - len(data)
    while missing:
        chunk = _read_bytes(min(missing, _LARGE_CHUNK))
        chunks.append(chunk)
        missing -= len(chunk)
    return b"".join(chunks)


def _read_bytes(limit: int) -> bytes:
    """Return the next bytes of the host, at most ``limit``; end the process if the pipe is closed."""
    data = os.read(IN_FD, limit)
    if not data:
        os._exit(0)
    return data


def write_bytes(data: bytes) -> None:
    """Send all of ``data`` to the host."""
    while data:
        data = data[os.write(OUT_FD, data) :]
