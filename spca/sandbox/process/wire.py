"""What the host and the worker of an episode send each other, in the frames of :mod:`spca.sandbox.process.framing`.

The host sends ``START`` once (sequence 0) and then one ``VIEW`` for each answer it wants, numbered from 1; the
worker sends ``READY`` (0), and answers view *n* with exactly one of ``ASKED``, ``DONE``, ``FAULT`` carrying *n*,
preceded by any ``PRINTED``. ``START`` is marshalled: it goes to the worker, which nobody trusts; what comes back is
unpacked by fixed layouts.
"""

from __future__ import annotations

import marshal
import struct
from types import CodeType
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spca.contracts import AgentView, Status
from spca.sandbox.process.framing import (
    ASKED,
    DONE,
    FAULT,
    LONGEST,
    START,
    VIEW,
    Frame,
    WireError,
    pack,
)
from spca.sandbox.process.runner import MAX_FRAMES, Arguments, Asked, Done, Fault

_GRID: Final = struct.Struct("<BB8HBH")
_ASKED: Final = struct.Struct("<BII")
_ASKED_FRAME: Final = struct.Struct("<BIIBII")  # HEADER and _ASKED in one
_FAULT: Final = struct.Struct("<BiB")
_FRAME: Final = struct.Struct("<IB")
_STATUSES: Final = (Status.RUNTIME_ERROR, Status.SYNTAX_ERROR, Status.MISSING_METHOD)
_NONE: Final = 0xFF
_UNCHANGED: Final = 0xFFFF
_MAX_NAME: Final = 60


class Start(NamedTuple):
    """What an episode begins with."""

    module: CodeType
    steps: tuple[tuple[str, Arguments], ...]
    previous: tuple[int, ...]
    words: tuple[str, ...]
    print_limit: int


def pack_start(start: Start) -> bytes:
    """The frame that an episode begins with."""
    return pack(START, 0, marshal.dumps(tuple(start)))


def unpack_start(payload: bytes) -> Start:
    """The payload of a ``START`` frame."""
    return Start(*marshal.loads(payload))  # noqa: S302 - from the host to the worker, never the other way


def pack_view(view: AgentView, sequence: int, mission: bool = True) -> bytes:
    """A view; without ``mission`` the worker goes on with the one it knows.

    Raises:
        ValueError: a grid has more than 65535 rows or columns, or a text is too long.
    """
    inventory = None if view.inventory is None else view.inventory.encode()
    text = view.mission.encode() if mission else b""
    if (inventory is not None and len(inventory) >= _NONE) or len(text) >= _UNCHANGED:
        raise ValueError("an inventory or mission that is too long to be shown")
    try:
        head = _GRID.pack(
            view.direction,
            view.start_direction,
            *view.full_grid.shape,
            *view.observation.shape,
            *view.position,
            *view.start_position,
            _NONE if inventory is None else len(inventory),
            len(text) if mission else _UNCHANGED,
        )
    except struct.error as error:
        raise ValueError(f"a view that cannot be sent: {error}") from error
    payload = b"".join((head, view.full_grid.tobytes(), view.observation.tobytes(), inventory or b"", text))
    return pack(VIEW, sequence, payload)


class View:
    """A view as the worker keeps it: like an :class:`~spca.contracts.AgentView`, but its grids are unpacked on use."""

    __slots__ = (
        "_grids",
        "_payload",
        "direction",
        "inventory",
        "mission",
        "position",
        "start_direction",
        "start_position",
    )

    def __init__(self, payload: bytes, mission: str) -> None:
        """``mission`` is the one that was sent last."""
        head = _GRID.unpack_from(payload)
        self._payload = payload
        self._grids = head[2:6]
        self.direction, self.start_direction, self.position, self.start_position = *head[:2], head[6:8], head[8:10]
        self.inventory = None
        self.mission = mission
        inventory_length, mission_length = head[10:]
        if inventory_length != _NONE or mission_length != _UNCHANGED:
            self._read_texts(inventory_length, mission_length)

    inventory: str | None

    def _read_texts(self, inventory_length: int, mission_length: int) -> None:
        rows, columns, high, wide = self._grids
        at = _GRID.size + rows * columns + high * wide
        if inventory_length != _NONE:
            self.inventory = self._payload[at : at + inventory_length].decode()
            at += inventory_length
        if mission_length != _UNCHANGED:
            self.mission = self._payload[at : at + mission_length].decode()

    @property
    def full_grid(self) -> NDArray[np.uint8]:
        rows, columns, _, _ = self._grids
        return np.frombuffer(self._payload, np.uint8, rows * columns, _GRID.size).reshape(rows, columns)

    @property
    def observation(self) -> NDArray[np.uint8]:
        rows, columns, high, wide = self._grids
        start = _GRID.size + rows * columns
        return np.frombuffer(self._payload, np.uint8, high * wide, start).reshape(high, wide)


def pack_answer(answer: Asked | Done | Fault, sequence: int) -> bytes:
    """The answer to the view with that number, cut to what the host accepts."""
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
    return pack(FAULT, sequence, payload[: LONGEST[FAULT]])


def unpack_asked(data: bytes, sequence: int) -> Asked | None:
    """What almost every answer is: one whole ``ASKED`` frame with that number; None for anything else."""
    if len(data) == _ASKED_FRAME.size:
        kind, number, length, code, position, line = _ASKED_FRAME.unpack(data)
        if kind == ASKED and number == sequence and length == _ASKED.size:
            return Asked(code, position, line)
    return None


def unpack_answer(frame: Frame) -> Asked | Done | Fault:
    """What the worker answered.

    Raises:
        WireError: it is no answer.
    """
    try:
        if frame.kind == ASKED:
            return Asked(*_ASKED.unpack(frame.payload))
        if frame.kind == DONE:
            return Done()
        if frame.kind == FAULT:
            return _fault(frame.payload)
    except (struct.error, IndexError) as error:
        raise WireError(f"a malformed answer: {error}") from error
    raise WireError(f"a frame of kind {frame.kind:#x} instead of an answer")


def _fault(payload: bytes) -> Fault:
    status, position, count = _FAULT.unpack_from(payload)
    if count > MAX_FRAMES:
        raise WireError(f"a failure with {count} frames")
    at = _FAULT.size
    frames = []
    for _ in range(count):
        line, length = _FRAME.unpack_from(payload, at)
        at += _FRAME.size
        frames.append((payload[at : at + length].decode(errors="replace"), line))
        at += length
    message = payload[at:].decode(errors="replace")
    return Fault(_STATUSES[status], message, None if position < 0 else position, tuple(frames))
