"""Parse a message of ``robot_bridge.decisions.messages.message`` strictly, so that no line is misread (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from robot_bridge.contracts import Direction, Gap, Pose
from robot_bridge.decisions.memory.memory_text import NONE, UNKNOWN, VIEW
from robot_bridge.decisions.messages.message import IMAGE
from robot_bridge.decisions.messages.sensor_snapshot import SECTORS


class UnreadableError(ValueError):
    """A line of the message is missing or malformed."""


@dataclass(frozen=True, slots=True)
class SeenFrontier:
    """Frontier in a message; ``direction_deg`` is counter-clockwise from ahead."""

    id: int
    direction_deg: float
    distance_m: float
    width_m: float


@dataclass(frozen=True, slots=True)
class Room:
    """Room with the place in the map frame where it was entered."""

    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Action:
    """Recent action; ``outcome`` is "success", "failed", "clear" or "not clear"."""

    tool: str
    arguments: tuple[str, ...]
    outcome: str
    distance_m: float


@dataclass(frozen=True, slots=True)
class Seen:
    """Content of a message.

    Attributes:
        pose: the robot's pose in the map frame; unlike elsewhere, the heading is in degrees.
        driven_m: distance driven so far.
        time_s: duration of the exploration so far.
        sectors: free distance in metres in each sector of 30 degrees, counter-clockwise from ahead; None if unknown.
        doorways: doorways in view.
        affordances: how feasible each direction is, 0.1 to 1.
        rooms: the nearest rooms.
        room_count: number of all rooms.
        frontiers: the best frontiers, or None until frontiers are known.
        has_picture: whether a picture came with the message.
        has_looked: whether the memory shows the description of a picture.
        recent: recent actions, newest first.
        last_call: the last called tool and its arguments, empty before the first call. The call may still be under way.
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


# Regular expressions of parts of the message.
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
    """Return the parsed content of a message.

    Raises:
        UnreadableError: a line is missing or malformed.
    """
    match = _MESSAGE.match(text)
    if match is None:
        raise UnreadableError("a line is missing or malformed")
    state = match.groups()[:6]
    x, y, heading, _, driven, time = map(float, state)

    sector_lines = enumerate(match["sectors"].splitlines())
    sectors = [_read_sector(index, line) for index, line in sector_lines]
    doorway_items, _ = _read_items(_DOORWAY, match["doorways"])
    doorways = [Gap(*map(float, item)) for item in doorway_items]  # direction, width, distance
    affordances = _read_affordances(match["affordances"].split(", "))
    room_items, more_rooms = _read_items(_ROOM, match["rooms"])
    rooms = [Room(name, float(x), float(y)) for name, x, y in room_items]
    finding_items, _ = _read_items(_FINDING, match["findings"])
    has_looked = any(kind == VIEW for kind, *_ in finding_items)
    recent = [_read_action(line) for line in match["recent"].splitlines()]
    return Seen(
        pose=Pose(x, y, heading),
        driven_m=driven,
        time_s=time,
        sectors=tuple(sectors),
        doorways=tuple(doorways),
        affordances=affordances,
        rooms=tuple(rooms),
        room_count=len(rooms) + more_rooms,
        frontiers=_read_frontiers(match["frontiers"]),
        has_picture=match["image"] == IMAGE,
        has_looked=has_looked,
        recent=tuple(recent),
        last_call=_read_call(match["last"]),
    )


def _match_groups(pattern: str, text: str) -> tuple[str, ...]:
    """Return the groups of a pattern that must match the whole text; an unmatched group is "".

    Raises:
        UnreadableError: the pattern does not match.
    """
    match = re.fullmatch(pattern, text)
    if match is None:
        raise UnreadableError(f"cannot be read: {text[:80]!r}")
    return match.groups(default="")


def _read_items(pattern: str, text: str | None) -> tuple[list[tuple[str, ...]], int]:
    """Return the items of a list that is separated by semicolons, and the number of further items that the list omits.

    Each item is returned as the groups of ``pattern``, which it must match. The last item may be "and N more".
    """
    if text is None or text == NONE:
        return [], 0
    *items, last = text.split("; ")
    more = re.fullmatch(_MORE, last)
    if more is None:
        items.append(last)
    count = int(more[1]) if more else 0
    return [_match_groups(pattern, item) for item in items], count


def _read_sector(index: int, line: str) -> float | None:
    """Return the distance in a line, or None if it is unknown; the line must belong to the sector ``index``."""
    angle, name, distance = _match_groups(_SECTOR, line)
    if (int(angle), name) != (index * 30, SECTORS[index]):
        raise UnreadableError(f"sector {index} is missing")
    return float(distance) if distance else None


def _read_affordances(parts: list[str]) -> dict[Direction, float]:
    """Return the scores from parts such as "left 0.50"; all six directions must be present."""
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
        frontier = SeenFrontier(int(number), float(direction), float(distance), float(width))
        frontiers.append(frontier)
    return tuple(frontiers)
