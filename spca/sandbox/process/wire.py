"""Messages between the host and the worker of an episode, in the frames of :mod:`spca.sandbox.process.framing`.

The host sends ``START`` once (sequence number 0) and then one ``VIEW`` for each requested answer, numbered from 1. The
worker sends ``READY`` (number 0). The worker answers view *n* with any number of ``PRINTED`` and then exactly one
``ASKED``, ``DONE`` or ``FAULT`` with the number *n*. ``START`` is marshalled, which is safe only because the host is
trusted; the host unpacks the untrusted worker's messages by fixed layouts.
"""

from __future__ import annotations

import marshal
import struct
from collections.abc import Callable, Sequence
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
from spca.sandbox.process.runner import MAX_FRAMES, Arguments, Asked, Done, Fault, Runner, protect_value

_DTYPES: Final = tuple(map(np.dtype, ("|u1", "<u2", "<u4", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8", "|b1")))
_ARRAY_DTYPES: Final = {dtype: number for number, dtype in enumerate(_DTYPES)}
_WORD_DTYPES: Final = dict(list(_ARRAY_DTYPES.items())[:3])
"""Number on the wire of each dtype that arrays, and arrays of words, may have."""

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


_Change = tuple[int, int | None, tuple[int, ...], Any]
"""Change of an attribute: index, number of the dtype, shape and bytes of an array; or index, None, () and value."""


class ViewPacker:
    """Packs the views of an episode; a value that has not changed since the last view is left out.

    Args:
        interface: names and kinds of the state attributes.
    """

    def __init__(self, interface: AgentInterface) -> None:
        kinds = [StateKind(kind) for _name, kind in interface.attributes]
        numbers = {StateKind.WORDS: _WORD_DTYPES, StateKind.NUMBERS: _ARRAY_DTYPES}
        self._arrays = [(index, numbers[kind]) for index, kind in enumerate(kinds) if kind is not StateKind.VALUE]
        self._value_indices = [index for index, kind in enumerate(kinds) if kind is StateKind.VALUE]
        self._last: list[object] = [None] * len(kinds)
        # The last value of each attribute if nothing can change it in place: the same object needs no comparison.
        self._immutable: list[object] = [_NOTHING] * len(kinds)

    def pack(self, view: AgentView, sequence: int) -> bytes:
        """Return a view as a ``VIEW`` frame.

        Raises:
            ValueError: there is another number of values, a value cannot be sent, or the view is too large.
        """
        try:
            payload = marshal.dumps(self._list_changes(view.values), _MARSHAL_VERSION)
            if len(payload) > MAX_VIEW_BYTES:
                raise ValueError(f"a view of {len(payload)} bytes, {MAX_VIEW_BYTES} are allowed")
        except ValueError:
            self._forget()
            raise
        return pack(VIEW, sequence, payload)

    def _forget(self) -> None:
        """Let the next view tell every value, because the worker does not get this one."""
        self._last = [None] * len(self._last)
        self._immutable = [_NOTHING] * len(self._last)

    def _list_changes(self, shown: Sequence[Any]) -> list[_Change]:
        last = self._last
        immutable = self._immutable
        if len(shown) != len(last):
            raise ValueError(f"a view of {len(shown)} values, the body has {len(last)}")
        changes: list[_Change] = []
        for index in self._value_indices:
            value = shown[index]
            if value is immutable[index]:
                continue
            is_immutable = _is_immutable(value)
            if not is_immutable and not _is_plain(value):
                raise _make_refusal(value, "None, bools, numbers, texts, tuples and dicts")
            immutable[index] = value if is_immutable else _NOTHING
            plain = marshal.dumps(value, _MARSHAL_VERSION)
            if plain != last[index]:
                last[index] = plain
                changes.append((index, None, (), value))

        for index, numbers in self._arrays:
            array = shown[index]
            number = numbers.get(array.dtype) if isinstance(array, np.ndarray) else None
            if number is None:
                raise _make_refusal(array, f"an array of {', '.join(map(str, numbers))}")
            content = number, array.shape, array.tobytes()
            if content != last[index]:
                last[index] = content
                changes.append((index, *content))
        return changes


_MARSHAL_VERSION: Final = 2
"""The version of marshal that writes equal bytes for equal values, because it writes no references."""
_SCALARS: Final = frozenset((type(None), bool, int, float, str))
_MAX_DEPTH: Final = 20
_NOTHING: Final = object()


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


def _is_immutable(value: object) -> bool:
    """Return whether a value is a scalar or a tuple of scalars."""
    kind = type(value)
    if kind is tuple:
        return _SCALARS.issuperset([type(inner) for inner in value])  # type: ignore[attr-defined]
    return kind in _SCALARS


def _make_refusal(value: object, wanted: str) -> ValueError:
    kind = getattr(value, "dtype", type(value).__name__)
    return ValueError(f"a view that cannot be sent: {kind} instead of {wanted}")


class ViewReader:
    """The worker's side of :class:`ViewPacker`.

    Attributes:
        values: the present values of the state attributes, which cannot be changed.
    """

    def __init__(self, count: int) -> None:
        self.values: list[Any] = [None] * count

    def read(self, payload: bytes) -> None:
        """Bring the values up to date with a ``VIEW`` payload."""
        for index, number, shape, content in marshal.loads(payload):  # noqa: S302 - from the host to the worker
            is_array = number is not None
            self.values[index] = np.ndarray(shape, _DTYPES[number], content) if is_array else protect_value(content)


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
