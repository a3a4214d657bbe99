"""Parse a message of ``robot_bridge.decisions.messages.message`` strictly, so that nothing is misread (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from robot_bridge.contracts import Direction, Gap, Pose
from robot_bridge.decisions.memory.memory_text import NONE, UNKNOWN, VIEW
from robot_bridge.decisions.messages.message import IMAGE
from robot_bridge.decisions.messages.sensor_snapshot import SECTORS


class UnreadableError(ValueError):
    """The message is invalid."""


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
    doorways: tuple[Gap, ...]
    affordances: dict[Direction, float]
    rooms: tuple[Room, ...]
    room_count: int
    frontiers: tuple[SeenFrontier, ...] | None
    has_picture: bool
    has_looked: bool
    recent: tuple[Action, ...]
    last_call: tuple[str, ...]


_N: Final = r"([+-]?\d+(?:\.\d+)?)"
_SECTOR: Final = r"(\d{3})° ([a-z-]+): (?:(\d+\.\d)m (?:CLEAR|NEAR|OBSTACLE|WALL)|-- UNKNOWN)"
_DOORWAY: Final = rf"{_N}° {_N}m wide at {_N}m"
_SCORE: Final = rf"(\w+) {_N}"
_ROOM: Final = rf'"([^"]*)" \({_N}, {_N}\) \d+%'
_MORE: Final = r"and (\d+) more.*"
_FRONTIER: Final = rf"#(\d+) {_N}° {_N}m wide {_N}m"
_FINDING: Final = rf'([^"]*) "[^"]*" \({_N}, {_N}\) "[^"]*"'
_CALL: Final = r"([^()]+)\(([^()]*)\)"
_ACTION: Final = rf"  \[\d\] ([^()]+)\(([^()]*)\) → (success|failed|clear|not clear), {_N}m.*"
_MESSAGE: Final = re.compile(
    rf"STATE: x {_N} m, y {_N} m, heading {_N}° [NESW]{{1,2}}, speed {_N} m/s, driven {_N} m, time {_N} s, battery .+\n"
    rf"LIDAR:\n"
    rf"(?P<sectors>(?:\d.*\n){{{len(SECTORS)}}})"
    rf"(?:doorways: (?P<doorways>.*)\n)?"
    rf"AFFORDANCES: (?P<affordances>.*)\n"
    rf"LAST CALL: (?P<last>.*)\n"
    rf"PREVIOUS ACTION: .*\n"
    rf"(?:NOTE: .*\n)*"
    rf"EXPLORATION MEMORY:\n"
    rf"  Rooms: (?P<rooms>.*)\n"
    rf"  Current room: .*\n"
    rf"  Frontiers: (?P<frontiers>.*)\n"
    rf"  Dead ends: .*\n"
    rf"(?:  Unseen obstacles: .*\n)?"
    rf"  Discoveries: .*\n"
    rf"(?:  Seen: (?P<findings>.*)\n)?"
    rf"  Recent:.*\n"
    rf"(?P<recent>(?:  \[.*\n)*)"
    rf"(?P<image>IMAGE: .*)"
)


def read_message(text: str) -> Seen:
    """Return everything the message says about where the robot is and what it may do.

    Raises:
        UnreadableError: a line is missing or malformed.
    """
    found = _MESSAGE.match(text)
    if found is None:
        raise UnreadableError("a line is missing or malformed")
    x, y, heading, _, driven, time = map(float, found.groups()[:6])
    rooms, more = _items(_ROOM, found["rooms"])
    doorways, _ = _items(_DOORWAY, found["doorways"])
    findings, _ = _items(_FINDING, found["findings"])
    return Seen(
        pose=Pose(x, y, heading),
        driven_m=driven,
        time_s=time,
        sectors=tuple(_sector(index, line) for index, line in enumerate(found["sectors"].splitlines())),
        doorways=tuple(Gap(*map(float, each)) for each in doorways),
        affordances=_affordances(found["affordances"].split(", ")),
        rooms=tuple(Room(name, float(east), float(north)) for name, east, north in rooms),
        room_count=len(rooms) + more,
        frontiers=None if found["frontiers"] == UNKNOWN else _frontiers(found["frontiers"]),
        has_picture=found["image"] == IMAGE,
        has_looked=any(kind == VIEW for kind, *_ in findings),
        recent=tuple(_action(line) for line in found["recent"].splitlines()),
        last_call=() if found["last"] == NONE else _call(found["last"]),
    )


def _groups(pattern: str, text: str) -> tuple[str, ...]:
    match = re.fullmatch(pattern, text)
    if match is None:
        raise UnreadableError(f"cannot be read: {text[:80]!r}")
    return match.groups(default="")


def _items(pattern: str, text: str | None) -> tuple[list[tuple[str, ...]], int]:
    """Return the items of a list separated by semicolons, and how many more it says there are."""
    if text is None or text == NONE:
        return [], 0
    *items, last = text.split("; ")
    more = re.fullmatch(_MORE, last)
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


def _action(line: str) -> Action:
    tool, arguments, outcome, distance = _groups(_ACTION, line)
    return Action(tool, tuple(filter(None, arguments.split(", "))), outcome, float(distance))


def _frontiers(text: str) -> tuple[SeenFrontier, ...]:
    found, _ = _items(_FRONTIER, text)
    return tuple(SeenFrontier(int(id), float(angle), float(far), float(wide)) for id, angle, far, wide in found)
