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
    state = found.groups()[:6]
    x, y, heading, _, driven, time = map(float, state)
    rooms, more_rooms = _read_items(_ROOM, found["rooms"])
    doorways, _ = _read_items(_DOORWAY, found["doorways"])
    findings, _ = _read_items(_FINDING, found["findings"])
    sectors = enumerate(found["sectors"].splitlines())
    return Seen(
        pose=Pose(x, y, heading),
        driven_m=driven,
        time_s=time,
        sectors=tuple(_read_sector(index, line) for index, line in sectors),
        doorways=tuple(Gap(*map(float, doorway)) for doorway in doorways),
        affordances=_read_affordances(found["affordances"].split(", ")),
        rooms=tuple(Room(name, float(east), float(north)) for name, east, north in rooms),
        room_count=len(rooms) + more_rooms,
        frontiers=_read_frontiers(found["frontiers"]),
        has_picture=found["image"] == IMAGE,
        has_looked=any(kind == VIEW for kind, *_ in findings),
        recent=tuple(_read_action(line) for line in found["recent"].splitlines()),
        last_call=_read_call(found["last"]),
    )


def _match_groups(pattern: str, text: str) -> tuple[str, ...]:
    match = re.fullmatch(pattern, text)
    if match is None:
        raise UnreadableError(f"cannot be read: {text[:80]!r}")
    return match.groups(default="")


def _read_items(pattern: str, text: str | None) -> tuple[list[tuple[str, ...]], int]:
    """Return the items of a list separated by semicolons, and how many more it says there are."""
    if text is None or text == NONE:
        return [], 0
    *items, last = text.split("; ")
    more = re.fullmatch(_MORE, last)
    if more is None:
        items.append(last)
    count = int(more[1]) if more else 0
    return [_match_groups(pattern, item) for item in items], count


def _read_sector(index: int, line: str) -> float | None:
    angle, name, distance = _match_groups(_SECTOR, line)
    if (int(angle), name) != (index * 30, SECTORS[index]):
        raise UnreadableError(f"sector {index} is missing")
    return float(distance) if distance else None


def _read_affordances(parts: list[str]) -> dict[Direction, float]:
    scores = {}
    for part in parts:
        name, score = _match_groups(_SCORE, part)
        scores[name] = float(score)
    if set(scores) != {direction.value for direction in Direction}:
        raise UnreadableError("not the six directions")
    return {direction: scores[direction] for direction in Direction}


def _read_call(text: str) -> tuple[str, ...]:
    if text == NONE:
        return ()
    tool, arguments = _match_groups(_CALL, text)
    return (tool, *_split_arguments(arguments))


def _read_action(line: str) -> Action:
    tool, arguments, outcome, distance = _match_groups(_ACTION, line)
    return Action(tool, _split_arguments(arguments), outcome, float(distance))


def _split_arguments(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(", ")))


def _read_frontiers(text: str) -> tuple[SeenFrontier, ...] | None:
    """Return the frontiers, or None if they are not known yet."""
    if text == UNKNOWN:
        return None
    items, _ = _read_items(_FRONTIER, text)
    frontiers = []
    for number, direction, distance, width in items:
        frontiers.append(SeenFrontier(int(number), float(direction), float(distance), float(width)))
    return tuple(frontiers)
