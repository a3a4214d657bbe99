"""Parse a message of ``robot_bridge.decisions.messages.message`` strictly, so that nothing is misread (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from robot_bridge.contracts import Direction, Pose
from robot_bridge.decisions.memory.memory_text import NONE, UNKNOWN, VIEW
from robot_bridge.decisions.messages.message import IMAGE
from robot_bridge.decisions.messages.sensor_snapshot import SECTORS


class UnreadableError(ValueError):
    """The message is invalid; names the line."""


@dataclass(frozen=True, slots=True)
class Doorway:
    """``direction_deg`` counter-clockwise from ahead; metres."""

    direction_deg: float
    width_m: float
    distance_m: float


@dataclass(frozen=True, slots=True)
class SeenFrontier:
    """A frontier as listed; ``direction_deg`` counter-clockwise from ahead."""

    id: int
    direction_deg: float
    distance_m: float
    width_m: float


@dataclass(frozen=True, slots=True)
class Room:
    """Where a room was entered, in the map frame."""

    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Action:
    """One of the last actions: ``outcome`` is success, failed, clear or not clear."""

    tool: str
    arguments: tuple[str, ...]
    outcome: str
    distance_m: float


@dataclass(frozen=True, slots=True)
class Seen:
    """The content of a message.

    ``sectors`` are distances every 30 degrees counter-clockwise, None if unknown; ``frontiers`` is None until they are
    known; ``has_picture``: a picture came with the message; ``has_looked``: one was described;
    ``recent`` is newest first; ``last_call`` is the last tool called, with its arguments; it may still be under way.
    """

    pose: Pose
    driven_m: float
    time_s: float
    sectors: tuple[float | None, ...]
    doorways: tuple[Doorway, ...]
    affordances: dict[Direction, float]
    rooms: tuple[Room, ...]
    room_count: int
    frontiers: tuple[SeenFrontier, ...] | None
    has_picture: bool
    has_looked: bool
    recent: tuple[Action, ...]
    last_call: tuple[str, ...]


_N: Final = r"([+-]?\d+(?:\.\d+)?)"
_STATE: Final = re.compile(
    rf"STATE: x {_N} m, y {_N} m, heading {_N}° [NESW]{{1,2}}, speed {_N} m/s, driven {_N} m, time {_N} s, battery .+"
)
_SECTOR: Final = re.compile(r"(\d{3})° ([a-z-]+): (?:(\d+\.\d)m (?:CLEAR|NEAR|OBSTACLE|WALL)|-- UNKNOWN)")
_DOORWAY: Final = re.compile(rf"{_N}° {_N}m wide at {_N}m")
_SCORE: Final = re.compile(rf"(\w+) {_N}")
_ROOM: Final = re.compile(rf'"([^"]*)" \({_N}, {_N}\) \d+%')
_MORE: Final = re.compile(r"and (\d+) more.*")
_FRONTIER: Final = re.compile(rf"#(\d+) {_N}° {_N}m wide {_N}m")
_FINDING: Final = re.compile(rf'([^"]*) "[^"]*" \({_N}, {_N}\) "[^"]*"')
_CALL: Final = re.compile(r"([^()]+)\(([^()]*)\)")
_ACTION: Final = re.compile(rf"  \[\d\] ([^()]+)\(([^()]*)\) → (success|failed|clear|not clear), {_N}m.*")


def read_message(text: str) -> Seen:
    """Return everything the message says about where the robot is and what it may do.

    Raises:
        UnreadableError: a line is missing or malformed.
    """
    lines = _Lines(text)
    x, y, heading, _, driven, time = map(float, _groups(_STATE, lines.take("STATE: ")))
    lines.take("LIDAR:")
    sectors = tuple(_sector(index, lines.take("")) for index in range(len(SECTORS)))
    doorways = lines.optional("doorways: ")
    affordances = lines.take("AFFORDANCES: ").removeprefix("AFFORDANCES: ").split(", ")
    last = lines.take("LAST CALL: ").removeprefix("LAST CALL: ")
    lines.take("PREVIOUS ACTION: ")
    while lines.optional("NOTE: "):
        pass
    lines.take("EXPLORATION MEMORY:")
    rooms, more = _items(_ROOM, lines.take("  Rooms: ").removeprefix("  Rooms: "))
    lines.take("  Current room: ")
    frontiers = lines.take("  Frontiers: ").removeprefix("  Frontiers: ")
    lines.take("  Dead ends: ")
    lines.optional("  Unseen obstacles: ")
    lines.take("  Discoveries: ")
    findings, _ = _items(_FINDING, lines.optional("  Seen: ").removeprefix("  Seen: "))
    lines.take("  Recent:")
    recent = tuple(lines.actions())
    image = lines.take("IMAGE: ")
    return Seen(
        pose=Pose(x, y, heading),
        driven_m=driven,
        time_s=time,
        sectors=sectors,
        doorways=tuple(Doorway(*map(float, each)) for each in _items(_DOORWAY, doorways.removeprefix("doorways: "))[0]),
        affordances=_affordances(affordances),
        rooms=tuple(Room(name, float(east), float(north)) for name, east, north in rooms),
        room_count=len(rooms) + more,
        frontiers=None if frontiers == UNKNOWN else _frontiers(frontiers),
        has_picture=image == IMAGE,
        has_looked=any(kind == VIEW for (kind, *_) in findings),
        recent=recent,
        last_call=() if last == NONE else _call(last),
    )


class _Lines:
    """The lines of a message, taken one after the other."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._next = 0

    def take(self, start: str) -> str:
        """Return the next line; raise if it does not begin with ``start``."""
        line = self.optional(start)
        if not line:
            raise UnreadableError(f"line {self._next + 1} does not begin with {start!r}")
        return line

    def optional(self, start: str) -> str:
        """Return the next line if it begins with ``start``, else ""."""
        if self._next < len(self._lines) and self._lines[self._next].startswith(start):
            self._next += 1
            return self._lines[self._next - 1]
        return ""

    def actions(self) -> list[Action]:
        found = []
        while line := self.optional("  ["):
            tool, arguments, outcome, distance = _groups(_ACTION, line)
            found.append(Action(tool, tuple(filter(None, arguments.split(", "))), outcome, float(distance)))
        return found


def _groups(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    match = pattern.fullmatch(text)
    if match is None:
        raise UnreadableError(f"cannot be read: {text[:80]!r}")
    return match.groups(default="")


def _items(pattern: re.Pattern[str], text: str) -> tuple[list[tuple[str, ...]], int]:
    """Return the items of a list separated by semicolons, and how many more it says there are."""
    if text in {"", NONE}:
        return [], 0
    *items, last = text.split("; ")
    more = _MORE.fullmatch(last)
    items = items if more else [*items, last]
    return [_groups(pattern, item) for item in items], int(more[1]) if more else 0


def _sector(index: int, line: str) -> float | None:
    angle, name, distance = _groups(_SECTOR, line)
    if (int(angle), name) != (index * 30, SECTORS[index]):
        raise UnreadableError(f"sector {index} is missing")
    return float(distance) if distance else None


def _affordances(parts: list[str]) -> dict[Direction, float]:
    scores = {name: float(score) for name, score in (_groups(_SCORE, part) for part in parts)}
    if set(scores) != {each.value for each in Direction}:
        raise UnreadableError("not the six directions")
    return {direction: scores[direction] for direction in Direction}


def _call(text: str) -> tuple[str, ...]:
    tool, arguments = _groups(_CALL, text)
    return (tool, *filter(None, arguments.split(", ")))


def _frontiers(text: str) -> tuple[SeenFrontier, ...]:
    found, _ = _items(_FRONTIER, text)
    return tuple(SeenFrontier(int(id), float(angle), float(far), float(wide)) for id, angle, far, wide in found)
