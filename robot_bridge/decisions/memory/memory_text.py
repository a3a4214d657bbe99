"""Write the memory of an exploration as text for a prompt (pure).

Every list shows only its newest or nearest entries and the number of further entries.
``robot_bridge.decisions.messages.message_parser`` parses the text line by line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from robot_bridge.contracts import Pose, Tool
from robot_bridge.decisions.memory.memory_state import (
    DeadEnd,
    ExplorationState,
    Finding,
    KnownFrontier,
    KnownRoom,
    PastAction,
)
from robot_bridge.text import plain

# Greatest numbers of entries that a list shows.
_MAX_ROOMS = 2
_MAX_OBJECTS = 2
_MAX_FRONTIERS = 3
_MAX_DEAD_ENDS = 1
_MAX_UNSEEN = 3
# Greatest sizes of texts, in bytes.
_NAME_SIZE = 20
_OBJECT_SIZE = 12
_VALUE_SIZE = 12
_REASON_SIZE = 30
_FINDING_SIZES: Final = (100, 40)
"""Greatest sizes in bytes of the text of the newer finding and of the older finding."""
VIEW: Final = "view"
"""``kind`` of a finding that is the description of a picture."""
_MAX_USEFUL_WIDTH_M: Final = 5.0
"""A frontier that is wider than this, in metres, ranks as if it had this width."""
NONE: Final = "none"
UNKNOWN: Final = "not known yet"
_LONG_TEXTS: Final = ("reason", "notes")
"""Parameters that the short form of a call leaves out."""


def prompt_text(state: ExplorationState, here: Pose) -> str:
    """Return the memory as text: a line for each topic, then a line for each recent action, the newest first."""
    rooms = _format_rooms(state.rooms, here)
    current_room = _format_current_room(state)
    frontiers = _format_frontiers(state)
    dead_ends = _format_dead_ends(state.dead_ends)
    lines = [
        "EXPLORATION MEMORY:",
        f"  Rooms: {rooms}",
        f"  Current room: {current_room}",
        f"  Frontiers: {frontiers}",
        f"  Dead ends: {dead_ends}",
    ]
    if state.unseen:
        lines.append(f"  Unseen obstacles: {_format_unseen(state.unseen, here)}")
    lines.append(f"  Discoveries: {state.total_discoveries} in {round(state.exploration_duration_s)} s")
    if state.findings:
        lines.append(f"  Seen: {_format_findings(state.findings)}")

    lines.append("  Recent:" if state.recent_actions else f"  Recent: {NONE}")
    numbered = list(enumerate(state.recent_actions, start=1))
    for number, action in reversed(numbered):
        lines.append(f"  [{number}] {_format_action(action)}")
    return "\n".join(lines)


def call_text(tool: str, parameters: Mapping[str, Any]) -> str:
    """Return a short form of a call, such as ``navigate_to_goal(frontier, 3)``."""
    values = (plain(value, _VALUE_SIZE) for name, value in parameters.items() if name not in _LONG_TEXTS)
    name = plain(tool, _NAME_SIZE) or "nothing"
    return f"{name}({', '.join(values)})"


def _join_shown(shown: Sequence[str], total: int, more: str = "") -> str:
    """Return the shown entries of a list in one text.

    If the list has more than the shown entries, of ``total`` in all, the text ends with their number and ``more``.
    """
    rest = total - len(shown)
    items = list(shown)
    if rest:
        items.append(f"and {rest} more{more}")
    return "; ".join(items) or NONE


def _quote_name(text: str, size: int = _NAME_SIZE) -> str:
    """Return a text in quotes, cut to ``size`` bytes; a text without plain characters becomes "unnamed"."""
    return f'"{plain(text, size) or "unnamed"}"'


def _format_place(position: Sequence[float]) -> str:
    x, y = position[:2]
    return f"({x:.1f}, {y:.1f})"


def _format_rooms(rooms: Sequence[KnownRoom], here: Pose) -> str:
    """Return the rooms that were entered nearest to the robot.

    The text ends with the number of other rooms, and how many of the other rooms are completely explored.
    """
    order = sorted(rooms, key=lambda room: here.distance_to(*room.position))
    shown = []
    for room in order[:_MAX_ROOMS]:
        name = _quote_name(room.name)
        place = _format_place(room.position)
        shown.append(f"{name} {place} {room.explored_pct}%")
    explored = sum(room.explored_pct == 100 for room in order[_MAX_ROOMS:])
    return _join_shown(shown, len(rooms), f", {explored} explored")


def _format_current_room(state: ExplorationState) -> str:
    """Return the current room, the room from which it was entered, and its newest objects."""
    name = _quote_name(state.current_room)
    room = next((room for room in state.rooms if room.name == state.current_room), None)
    if room is None:
        return name
    origin = f" from {_quote_name(room.entered_from)}" if room.entered_from else ""
    newest = reversed(room.objects[-_MAX_OBJECTS:])
    objects = [_quote_name(label, _OBJECT_SIZE) for label in newest]
    listed = f", objects: {_join_shown(objects, len(room.objects))}" if objects else ""
    return f"{name}{origin}{listed}"


def _format_frontiers(state: ExplorationState) -> str:
    """Return the best frontiers: near and wide frontiers come first, frontiers that failed recently come last."""
    if not state.frontiers_known:
        return UNKNOWN
    failed = {action.params.get("frontier_id") for action in state.recent_actions if not action.result.success}

    def rank(frontier: KnownFrontier) -> tuple[bool, float]:
        return frontier.id in failed, frontier.distance_m - min(frontier.width_m, _MAX_USEFUL_WIDTH_M)

    order = sorted(state.frontiers, key=rank)
    shown = []
    for frontier in order[:_MAX_FRONTIERS]:
        direction = f"#{frontier.id} {frontier.direction_deg:+d}°"
        size = f"{frontier.distance_m:.1f}m wide {frontier.width_m:.1f}m"
        shown.append(f"{direction} {size}")
    return _join_shown(shown, len(order))


def _format_dead_ends(dead_ends: Sequence[DeadEnd]) -> str:
    newest = reversed(dead_ends[-_MAX_DEAD_ENDS:])
    shown = [f"{_format_place(dead_end.position)} {dead_end.direction_deg}°" for dead_end in newest]
    return _join_shown(shown, len(dead_ends))


def _format_unseen(places: Sequence[Sequence[float]], here: Pose) -> str:
    """Return the nearest obstacles that the lidar does not see."""
    nearest_first = sorted(places, key=lambda place: here.distance_to(*place))
    shown = [_format_place(place) for place in nearest_first[:_MAX_UNSEEN]]
    return _join_shown(shown, len(places))


def _format_findings(findings: Sequence[Finding]) -> str:
    """Return the newest description of a picture and the newest discovery; the newer of the two may be longer."""
    # Later findings replace earlier findings, so that the newest of both kinds remain.
    newest = {finding.kind == VIEW: finding for finding in findings}.values()
    newest_first = sorted(newest, key=findings.index, reverse=True)
    shown = []
    for finding, size in zip(newest_first, _FINDING_SIZES, strict=False):
        kind = plain(finding.kind, _OBJECT_SIZE)
        name = _quote_name(finding.name, _OBJECT_SIZE)
        place = _format_place(finding.position)
        text = _quote_name(finding.text, size)
        shown.append(f"{kind} {name} {place} {text}")
    return _join_shown(shown, len(findings))


def _format_action(action: PastAction) -> str:
    """Return a recent action in a line: the call, the outcome, the distance, and the reason for an early end."""
    result = action.result
    outcome = "success" if result.success else "failed"
    if result.clear is not None:
        outcome = "clear" if result.clear else "not clear"
    call = call_text(action.action, action.params)
    parts = [f"{call} → {outcome}", f"{result.actual_distance_m:+.2f}m"]
    if action.action == Tool.ROTATE:
        parts.append(f"{result.turned_deg:+d}°")
    if result.free_m is not None:
        parts.append(f"free for {result.free_m:.1f}m")
    reason = plain(result.stopped_reason, _REASON_SIZE)
    if reason:
        parts.append(reason)
    return ", ".join(parts)
