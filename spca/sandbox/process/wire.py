"""Messages between the host and the worker of an episode, in the frames of :mod:`spca.sandbox.process.framing`.

The host sends ``START`` once (sequence number 0) and then one ``VIEW`` for each requested answer, numbered from 1. The
worker sends ``READY`` (number 0). The worker answers view *n* with any number of ``PRINTED`` and then exactly one
``ASKED``, ``DONE`` or ``FAULT`` with the number *n*. ``START`` is marshalled, which is safe only because the host is
trusted; the host unpacks the untrusted worker's messages by fixed layouts.
"""

from __future__ import annotations

import marshal
import struct
from collections.abc import Callable
from functools import lru_cache
from types import CodeType
from typing import Any, Final, NamedTuple

import numpy as np

from spca.body import AgentInterface, StateKind
from spca.contracts import AgentView, Status
from spca.sandbox.process.framing import (
    ASKED,
    DONE,
    FAULT,
    MAX_PAYLOAD_BYTES,
    START,
    VIEW,
    Frame,
    WireError,
    pack,
)
from spca.sandbox.process.runner import MAX_FRAMES, Arguments, Asked, Done, Fault, Runner

# In front of each value or array: index, number of the dtype or _PLAIN, number of dimensions. The length of a
# marshalled value follows, or the dimensions of an array.
_HEAD: Final = struct.Struct("<BBB")
_LENGTH: Final = struct.Struct("<I")
_PLAIN: Final = 0xFF
_DTYPES: Final = tuple(map(np.dtype, ("|u1", "<u2", "<u4", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8", "|b1")))
_DTYPE_NUMBERS: Final = {dtype: number for number, dtype in enumerate(_DTYPES)}
_UNSIGNED: Final = 3
"""Number of dtypes, the first ones, that arrays of words may have."""
_MAX_RANK: Final = 16
_SHAPES: Final = tuple(struct.Struct(f"<{rank}I") for rank in range(_MAX_RANK + 1))
"""The dimensions of an array, by their number."""

_ASKED: Final = struct.Struct("<BII")
_ASKED_FRAME: Final = struct.Struct("<BIIBII")  # HEADER and _ASKED in one
_FAULT: Final = struct.Struct("<BiB")
_FRAME: Final = struct.Struct("<IB")
_STATUSES: Final = (Status.RUNTIME_ERROR, Status.SYNTAX_ERROR, Status.MISSING_METHOD)
MAX_VIEW_BYTES: Final = 1 << 24
"""Size of the largest view in bytes; generated code needs memory for several of them."""

_MAX_NAME: Final = 60


class Start(NamedTuple):
    """Content of the first message of an episode.

    The fields are arguments of :class:`~spca.sandbox.process.runner.Runner`; ``primitives`` and ``attributes`` are
    those of the :class:`~spca.body.AgentInterface`.
    """

    module: CodeType
    primitives: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]
    steps: tuple[tuple[str, Arguments], ...]
    previous: tuple[int, ...]
    words: tuple[str, ...]
    print_limit: int


def pack_start(start: Start) -> bytes:
    """Return ``start`` as a ``START`` frame."""
    return pack(START, 0, marshal.dumps(tuple(start)))


def unpack_start(payload: bytes) -> Start:
    """Return the content of a ``START`` frame."""
    return Start(*marshal.loads(payload))  # noqa: S302 - from the host to the worker, never the other way


def make_runner(start: Start, printed: Callable[[str], object]) -> Runner:
    """Return the runner of an episode that begins with ``start``."""
    interface = AgentInterface(start.primitives, start.attributes)
    words = np.array(start.words or ("",))
    return Runner(start.module, interface, start.steps, start.previous, words, printed, start.print_limit)


class ViewPacker:
    """Packs the views of an episode; a value that has not changed since the last view is left out.

    Args:
        interface: names and kinds of the state attributes.
    """

    def __init__(self, interface: AgentInterface) -> None:
        kinds = [kind for _name, kind in interface.attributes]
        self._value_indices = [index for index, kind in enumerate(kinds) if kind == StateKind.VALUE]
        self._array_indices = [index for index, kind in enumerate(kinds) if kind != StateKind.VALUE]
        self._word_indices = {index for index, kind in enumerate(kinds) if kind == StateKind.WORDS}
        self._last: list[object] = [None] * len(kinds)

    def pack(self, view: AgentView, sequence: int) -> bytes:
        """Return a view as a ``VIEW`` frame.

        Raises:
            ValueError: there is another number of values, a value cannot be sent, or the view is too large.
        """
        last = self._last
        shown = view.values
        if len(shown) != len(last):
            raise ValueError(f"a view of {len(shown)} values, the body has {len(last)}")
        parts: list[bytes] = []
        for index in self._value_indices:
            value = shown[index]
            plain = marshal.dumps(value, _MARSHAL_VERSION) if _is_plain(value) else _refuse_value(value)
            if plain != last[index]:
                last[index] = plain
                parts += (_HEAD.pack(index, _PLAIN, 0), _LENGTH.pack(len(plain)), plain)

        for index in self._array_indices:
            array = shown[index]
            content = _describe_array(array, index in self._word_indices), array.tobytes()
            if content != last[index]:
                last[index] = content
                parts += (_pack_head(index, content[0]), content[1])

        payload = b"".join(parts)
        if len(payload) > MAX_VIEW_BYTES:
            raise ValueError(f"a view of {len(payload)} bytes, {MAX_VIEW_BYTES} are allowed")
        return pack(VIEW, sequence, payload)


_MARSHAL_VERSION: Final = 2
"""The version of marshal that writes equal bytes for equal values, because it writes no references."""
_SCALARS: Final = frozenset((type(None), bool, int, float, str))
_MAX_DEPTH: Final = 20


def _is_plain(value: object, depth: int = 0) -> bool:
    """Return whether a value is what :class:`spca.body.StateKind` calls a VALUE."""
    kind = type(value)
    if kind in _SCALARS:
        return True
    if depth > _MAX_DEPTH:
        return False
    if isinstance(value, tuple | list):
        return all(_is_plain(inner, depth + 1) for inner in value)
    if isinstance(value, dict):
        return all(_is_plain(name, depth + 1) and _is_plain(inner, depth + 1) for name, inner in value.items())
    return False


def _refuse_value(value: object) -> bytes:
    raise ValueError(
        f"a view that cannot be sent: {type(value).__name__} instead of None, bools, numbers, texts, tuples and dicts"
    )


def _describe_array(array: Any, has_words: bool) -> tuple[int, tuple[int, ...]]:
    """Return the number of an array's dtype and the array's shape.

    Args:
        has_words: whether the array holds indices of words, which must be unsigned.

    Raises:
        ValueError: the value is no such array, or has too many dimensions.
    """
    number = _DTYPE_NUMBERS.get(array.dtype) if isinstance(array, np.ndarray) else None
    if number is None or array.ndim > _MAX_RANK or (has_words and number >= _UNSIGNED):
        kind = getattr(array, "dtype", type(array).__name__)
        wanted = "indices of words" if has_words else "numbers"
        raise ValueError(f"a view that cannot be sent: {kind} instead of an array of {wanted}")
    return number, array.shape


@lru_cache(maxsize=1024)
def _pack_head(index: int, description: tuple[int, tuple[int, ...]]) -> bytes:
    """Return the bytes in front of an array."""
    number, shape = description
    return _HEAD.pack(index, number, len(shape)) + _SHAPES[len(shape)].pack(*shape)


class ViewReader:
    """The worker's side of :class:`ViewPacker`.

    Attributes:
        values: the present values of the state attributes; arrays are read-only.
    """

    def __init__(self, count: int) -> None:
        self.values: list[Any] = [None] * count

    def read(self, payload: bytes) -> None:
        """Bring the values up to date with a ``VIEW`` payload."""
        offset = 0
        end = len(payload)
        while offset < end:
            index, number, rank = _HEAD.unpack_from(payload, offset)
            offset += _HEAD.size
            if number == _PLAIN:
                (length,) = _LENGTH.unpack_from(payload, offset)
                start = offset + _LENGTH.size
                offset = start + length
                self.values[index] = marshal.loads(payload[start:offset])  # noqa: S302 - from the host to the worker
            else:
                shape = _SHAPES[rank].unpack_from(payload, offset)
                start = offset + _SHAPES[rank].size
                array = np.ndarray(shape, _DTYPES[number], payload, start)
                self.values[index] = array
                offset = start + array.nbytes


def pack_answer(answer: Asked | Done | Fault, sequence: int) -> bytes:
    """Return the answer to view ``sequence`` as a frame, shortened to the length that the host accepts."""
    if isinstance(answer, Asked):
        return _ASKED_FRAME.pack(ASKED, sequence, _ASKED.size, *answer)
    if isinstance(answer, Done):
        return pack(DONE, sequence)
    position = -1 if answer.position is None else answer.position
    payload = _FAULT.pack(_STATUSES.index(answer.status), position, len(answer.frames))
    for name, line in answer.frames:
        text = name.encode(errors="replace")[:_MAX_NAME]
        payload += _FRAME.pack(line, len(text)) + text
    payload += answer.message.encode(errors="replace")
    return pack(FAULT, sequence, payload[: MAX_PAYLOAD_BYTES[FAULT]])


def unpack_asked(data: bytes, sequence: int) -> Asked | None:
    """Return the answer if ``data`` is exactly one ``ASKED`` frame with the number ``sequence``; else None.

    Almost all answers have this form, so this function is the fast path.
    """
    if len(data) == _ASKED_FRAME.size:
        kind, number, length, code, position, line = _ASKED_FRAME.unpack(data)
        if kind == ASKED and number == sequence and length == _ASKED.size:
            return Asked(code, position, line)
    return None


def unpack_answer(frame: Frame) -> Asked | Done | Fault:
    """Return the worker's answer in a frame.

    Raises:
        WireError: the frame is not a valid answer.
    """
    try:
        if frame.kind == ASKED:
            return Asked(*_ASKED.unpack(frame.payload))
        if frame.kind == DONE:
            return Done()
        if frame.kind == FAULT:
            return _unpack_fault(frame.payload)
    except (struct.error, IndexError) as error:
        raise WireError(f"a malformed answer: {error}") from error
    raise WireError(f"a frame of kind {frame.kind:#x} instead of an answer")


def _unpack_fault(payload: bytes) -> Fault:
    """Return the content of a ``FAULT`` payload: a head, the frames, and the message, which extends to the end."""
    status, position, count = _FAULT.unpack_from(payload)
    if count > MAX_FRAMES:
        raise WireError(f"a failure with {count} frames")
    offset = _FAULT.size
    frames = []
    for _ in range(count):
        line, length = _FRAME.unpack_from(payload, offset)
        offset += _FRAME.size
        frames.append((payload[offset : offset + length].decode(errors="replace"), line))
        offset += length
    message = payload[offset:].decode(errors="replace")
    return Fault(_STATUSES[status], message, None if position < 0 else position, tuple(frames))
