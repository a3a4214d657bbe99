"""Messages between the host and the worker of an episode, in the frames of :mod:`spca.sandbox.process.framing`.

The host sends ``START`` once (sequence number 0) and then one ``VIEW`` for each requested answer, numbered from 1. The
worker sends ``READY`` (number 0). The worker answers view *n* with any number of ``PRINTED`` and then exactly one
``ASKED``, ``DONE`` or ``FAULT`` with the number *n*. ``START`` is marshalled, which is safe only because the host is
trusted; the host unpacks the untrusted worker's messages by fixed layouts.
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
    MAX_PAYLOAD_BYTES,
    START,
    VIEW,
    Frame,
    WireError,
    pack,
)
from spca.sandbox.process.runner import MAX_FRAMES, Arguments, Asked, Done, Fault

# Fields of a view: direction and start direction; (rows, columns) of the full grid and of the observation, position
# and start position; lengths of the inventory and of the mission.
_VIEW_HEAD: Final = struct.Struct("<BB8HBH")
_ASKED: Final = struct.Struct("<BII")
_ASKED_FRAME: Final = struct.Struct("<BIIBII")  # HEADER and _ASKED in one
_FAULT: Final = struct.Struct("<BiB")
_FRAME: Final = struct.Struct("<IB")
_STATUSES: Final = (Status.RUNTIME_ERROR, Status.SYNTAX_ERROR, Status.MISSING_METHOD)
_NONE: Final = 0xFF  # instead of the length of an inventory
_UNCHANGED: Final = 0xFFFF  # instead of the length of a mission
_MAX_NAME: Final = 60


class Start(NamedTuple):
    """Content of the first message of an episode.

    The fields are arguments of :class:`~spca.sandbox.process.runner.Runner`.
    """

    module: CodeType
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


def pack_view(view: AgentView, sequence: int, mission: bool = True) -> bytes:
    """Return a view as a ``VIEW`` frame.

    If ``mission`` is False, the mission is left out, because the worker already has the same mission.

    Raises:
        ValueError: a grid has more than 65535 rows or columns, or a text is too long.
    """
    inventory = None if view.inventory is None else view.inventory.encode()
    text = view.mission.encode() if mission else b""
    if (inventory is not None and len(inventory) >= _NONE) or len(text) >= _UNCHANGED:
        raise ValueError("an inventory or mission that is too long to be shown")
    try:
        head = _VIEW_HEAD.pack(
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
    """The worker's form of an :class:`~spca.contracts.AgentView`; each access to a grid unpacks the grid."""

    __slots__ = (
        "_grid_sizes",
        "_payload",
        "direction",
        "inventory",
        "mission",
        "position",
        "start_direction",
        "start_position",
    )

    def __init__(self, payload: bytes, mission: str) -> None:
        """Unpack a ``VIEW`` payload; ``mission`` is the last mission that the host sent."""
        head = _VIEW_HEAD.unpack_from(payload)
        self._payload = payload
        self.direction = head[0]
        self.start_direction = head[1]
        self._grid_sizes = head[2:6]
        self.position = head[6:8]
        self.start_position = head[8:10]
        inventory_length = head[10]
        mission_length = head[11]
        self.inventory = None
        self.mission = mission
        if inventory_length != _NONE or mission_length != _UNCHANGED:
            self._read_texts(inventory_length, mission_length)

    inventory: str | None

    def _read_texts(self, inventory_length: int, mission_length: int) -> None:
        """Set inventory and mission from the end of the payload, if the payload contains them."""
        rows, columns, seen_rows, seen_columns = self._grid_sizes
        offset = _VIEW_HEAD.size + rows * columns + seen_rows * seen_columns
        if inventory_length != _NONE:
            self.inventory = self._payload[offset : offset + inventory_length].decode()
            offset += inventory_length
        if mission_length != _UNCHANGED:
            self.mission = self._payload[offset : offset + mission_length].decode()

    @property
    def full_grid(self) -> NDArray[np.uint8]:
        rows, columns, _, _ = self._grid_sizes
        return np.frombuffer(self._payload, np.uint8, rows * columns, _VIEW_HEAD.size).reshape(rows, columns)

    @property
    def observation(self) -> NDArray[np.uint8]:
        rows, columns, seen_rows, seen_columns = self._grid_sizes
        offset = _VIEW_HEAD.size + rows * columns
        cells = np.frombuffer(self._payload, np.uint8, seen_rows * seen_columns, offset)
        return cells.reshape(seen_rows, seen_columns)


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
