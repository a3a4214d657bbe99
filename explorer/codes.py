"""Pack the primitives of an episode into a short text: base64 of zlib of little-endian 16-bit codes."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable
from typing import Final

import numpy as np

from explorer.errors import SceneError

MAX_LENGTH: Final = 100_000
"""Largest number of codes that can be packed. An episode therefore has at most as many steps."""


def packed(codes: Iterable[int]) -> str:
    """Return primitive codes as text.

    Raises:
        SceneError: there are more than :data:`MAX_LENGTH` codes.
    """
    array = np.fromiter(codes, np.dtype("<u2"))
    if array.size > MAX_LENGTH:
        raise SceneError(f"{array.size:,} steps are too many: {MAX_LENGTH:,} can be kept")
    return base64.b64encode(zlib.compress(array.tobytes(), 9)).decode("ascii")


def unpacked(text: str, source: str = "", field: str = "codes") -> tuple[int, ...]:
    """Return the primitive codes that a text contains; invert :func:`packed`.

    Args:
        source, field: the file and field of the text, for the error message.

    Raises:
        SceneError: the text is malformed, or holds more than :data:`MAX_LENGTH` codes.
    """
    try:
        reader = zlib.decompressobj()
        compressed = base64.b64decode(text.encode("ascii"), validate=True)
        # Two bytes per code; one byte more than allowed shows that the text is too long, whatever its full length.
        data = reader.decompress(compressed, 2 * MAX_LENGTH + 1)
    except (ValueError, binascii.Error, zlib.error) as error:  # ValueError: not ASCII
        raise SceneError("it is not base64 of zlib data: restore it as it was written", source, field) from error
    if len(data) > 2 * MAX_LENGTH:
        raise SceneError(f"it holds more than {MAX_LENGTH:,} steps", source, field)
    if not reader.eof or reader.unused_data or len(data) % 2:
        raise SceneError("it is torn: restore it as it was written", source, field)
    return tuple(np.frombuffer(data, np.dtype("<u2")).tolist())
