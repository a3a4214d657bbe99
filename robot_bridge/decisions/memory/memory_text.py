"""Write the memory of an exploration as text for a prompt: the newest and nearest, and how much more (pure).

``robot_bridge.decisions.messages.message_parser`` parses it line by line.
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

_ROOMS = 2
_OBJECTS = 2
_FRONTIERS = 3
_DEAD_ENDS = 1
_UNSEEN = 3
_NAME = 20
_OBJECT = 12
_VALUE = 12
_REASON = 30
_FINDINGS: Final = (100, 40)
"""Greatest sizes in bytes, of the newer finding and of the other."""
VIEW: Final = "view"
"""Kind of a finding that is the description of a picture."""
_WIDEST_M: Final = 5.0
"""Width beyond this is not worth a longer drive."""
NONE: Final = "none"
UNKNOWN: Final = "not known yet"
_LONG_TEXTS: Final = ("reason", "notes")


def prompt_text(state: ExplorationState, here: Pose) -> str:
    """Return a line for each topic, and one for each of the last actions, the newest first."""
    lines = [
        "EXPLORATION MEMORY:",
        f"  Rooms: {_format_rooms(state.rooms, here)}",
        f"  Current room: {_format_current_room(state)}",
        f"  Frontiers: {_format_frontiers(state)}",
        f"  Dead ends: {_format_dead_ends(state.dead_ends)}",
    ]
    if state.unseen:
        lines.append(f"  Unseen obstacles: {_format_unseen(state.unseen, here)}")
    lines.append(f"  Discoveries: {state.total_discoveries} in {round(state.exploration_duration_s)} s")
    if state.findings:
        lines.append(f"  Seen: {_format_findings(state.findings)}")

    lines.append("  Recent:" if state.recent_actions else f"  Recent: {NONE}")
    numbered = list(enumerate(state.recent_actions, start=1))
    lines += [f"  [{number}] {_format_action(action)}" for number, action in reversed(numbered)]
    return "\n".join(lines)


def call_text(tool: str, parameters: Mapping[str, Any]) -> str:
    """Return a call in short, such as ``navigate_to_goal(frontier, 3)``."""
    values = (plain(value, _VALUE) for name, value in parameters.items() if name not in _LONG_TEXTS)
    name = plain(tool, _NAME) or "nothing"
    return f"{name}({', '.join(values)})"


def _join_shown(shown: Sequence[str], total: int, more: str = "") -> str:
    """Return a list of what is shown, with the number of those that are not."""
    rest = total - len(shown)
    items = list(shown)
    if rest:
        items.append(f"and {rest} more{more}")
    return "; ".join(items) or NONE


def _quote_name(text: str, size: int = _NAME) -> str:
    return f'"{plain(text, size) or "unnamed"}"'


def _format_place(position: Sequence[float]) -> str:
    x, y = position[:2]
    return f"({x:.1f}, {y:.1f})"


def _format_rooms(rooms: Sequence[KnownRoom], here: Pose) -> str:
    """Return the rooms entered nearest to the robot, the number of others, and how many of those are explored."""
    order = sorted(rooms, key=lambda room: here.distance_to(*room.position))
    shown = []
    for room in order[:_ROOMS]:
        shown.append(f"{_quote_name(room.name)} {_format_place(room.position)} {room.explored_pct}%")
    explored = sum(room.explored_pct == 100 for room in order[_ROOMS:])
    return _join_shown(shown, len(rooms), f", {explored} explored")


def _format_current_room(state: ExplorationState) -> str:
    name = _quote_name(state.current_room)
    room = next((room for room in state.rooms if room.name == state.current_room), None)
    if room is None:
        return name
    origin = f" from {_quote_name(room.entered_from)}" if room.entered_from else ""
    newest = reversed(room.objects[-_OBJECTS:])
    objects = [_quote_name(label, _OBJECT) for label in newest]
    found = f", objects: {_join_shown(objects, len(room.objects))}" if objects else ""
    return f"{name}{origin}{found}"


def _format_frontiers(state: ExplorationState) -> str:
    """Return the frontiers, near and wide ones first, recently failed ones last."""
    if not state.frontiers_known:
        return UNKNOWN
    failed = {action.params.get("frontier_id") for action in state.recent_actions if not action.result.success}

    def rank(frontier: KnownFrontier) -> tuple[bool, float]:
        return frontier.id in failed, frontier.distance_m - min(frontier.width_m, _WIDEST_M)

    order = sorted(state.frontiers, key=rank)
    shown = []
    for frontier in order[:_FRONTIERS]:
        direction = f"#{frontier.id} {frontier.direction_deg:+d}°"
        shown.append(f"{direction} {frontier.distance_m:.1f}m wide {frontier.width_m:.1f}m")
    return _join_shown(shown, len(order))


def _format_dead_ends(dead_ends: Sequence[DeadEnd]) -> str:
    newest = reversed(dead_ends[-_DEAD_ENDS:])
    shown = [f"{_format_place(dead_end.position)} {dead_end.direction_deg}°" for dead_end in newest]
    return _join_shown(shown, len(dead_ends))


def _format_unseen(places: Sequence[Sequence[float]], here: Pose) -> str:
    near = sorted(places, key=lambda place: here.distance_to(*place))
    shown = [_format_place(place) for place in near[:_UNSEEN]]
    return _join_shown(shown, len(places))


def _format_findings(findings: Sequence[Finding]) -> str:
    """Return the newest description and the newest note; the newer of both gets more room."""
    newest = {finding.kind == VIEW: finding for finding in findings}.values()
    order = sorted(newest, key=findings.index, reverse=True)
    shown = []
    for finding, size in zip(order, _FINDINGS, strict=False):
        kind = plain(finding.kind, _OBJECT)
        name = _quote_name(finding.name, _OBJECT)
        shown.append(f"{kind} {name} {_format_place(finding.position)} {_quote_name(finding.text, size)}")
    return _join_shown(shown, len(findings))


def _format_action(action: PastAction) -> str:
    result = action.result
    outcome = "success" if result.success else "failed"
    if result.clear is not None:
        outcome = "clear" if result.clear else "not clear"
    parts = [
        f"{call_text(action.action, action.params)} → {outcome}",
        f"{result.actual_distance_m:+.2f}m",
    ]
    if action.action == Tool.ROTATE:
        parts.append(f"{result.turned_deg:+d}°")
    if result.free_m is not None:
        parts.append(f"free for {result.free_m:.1f}m")
    reason = plain(result.stopped_reason, _REASON)
    if reason:
        parts.append(reason)
    return ", ".join(parts)
