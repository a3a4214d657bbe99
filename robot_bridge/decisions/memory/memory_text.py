"""Write the memory of an exploration as text for a prompt: the newest and nearest, and how much more (pure).

``robot_bridge.decisions.messages.message_parser`` parses it line by line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from robot_bridge.contracts import Pose, Tool
from robot_bridge.decisions.memory.memory_state import DeadEnd, ExplorationState, Finding, KnownRoom, PastAction
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
    current = next((room for room in state.rooms if room.name == state.current_room), None)
    lines = [
        "EXPLORATION MEMORY:",
        f"  Rooms: {_rooms(state.rooms, here)}",
        f"  Current room: {_current(state.current_room, current)}",
        f"  Frontiers: {_frontiers(state) if state.frontiers_known else UNKNOWN}",
        f"  Dead ends: {_dead_ends(state.dead_ends)}",
        *([f"  Unseen obstacles: {_unseen(state.unseen, here)}"] if state.unseen else []),
        f"  Discoveries: {state.total_discoveries} in {round(state.exploration_duration_s)} s",
        *([f"  Seen: {_findings(state.findings)}"] if state.findings else []),
        f"  Recent:{'' if state.recent_actions else f' {NONE}'}",
    ]
    actions = reversed(list(enumerate(state.recent_actions, start=1)))
    return "\n".join([*lines, *(f"  [{index}] {_action(action)}" for index, action in actions)])


def call_text(tool: str, parameters: Mapping[str, Any]) -> str:
    """Return a call in short, such as ``navigate_to_goal(frontier, 3)``."""
    values = (plain(value, _VALUE) for name, value in parameters.items() if name not in _LONG_TEXTS)
    return f"{plain(tool, _NAME) or 'nothing'}({', '.join(values)})"


def _listed(shown: Sequence[str], all_of_them: int, more: str = "") -> str:
    rest = all_of_them - len(shown)
    return "; ".join([*shown, *([f"and {rest} more{more}"] if rest else [])]) or NONE


def _name(text: str, size: int = _NAME) -> str:
    return f'"{plain(text, size) or "unnamed"}"'


def _place(position: Sequence[float]) -> str:
    return f"({position[0]:.1f}, {position[1]:.1f})"


def _rooms(rooms: Sequence[KnownRoom], here: Pose) -> str:
    """Return the rooms entered nearest to the robot, the number of others, and how many of those are explored."""
    order = sorted(rooms, key=lambda room: here.distance_to(*room.position))
    shown = [f"{_name(room.name)} {_place(room.position)} {room.explored_pct}%" for room in order[:_ROOMS]]
    done = sum(room.explored_pct == 100 for room in order[_ROOMS:])
    return _listed(shown, len(rooms), f", {done} explored")


def _current(name: str, room: KnownRoom | None) -> str:
    if room is None:
        return _name(name)
    origin = f" from {_name(room.entered_from)}" if room.entered_from else ""
    objects = [_name(each, _OBJECT) for each in reversed(room.objects[-_OBJECTS:])]
    found = f", objects: {_listed(objects, len(room.objects))}" if objects else ""
    return f"{_name(name)}{origin}{found}"


def _frontiers(state: ExplorationState) -> str:
    """Return the frontiers, near and wide ones first, recently failed ones last."""
    failed = {action.params.get("frontier_id") for action in state.recent_actions if not action.result.success}
    order = sorted(
        state.frontiers,
        key=lambda each: (each.id in failed, each.distance_m - min(each.width_m, _WIDEST_M)),
    )
    shown = [
        f"#{each.id} {each.direction_deg:+d}° {each.distance_m:.1f}m wide {each.width_m:.1f}m"
        for each in order[:_FRONTIERS]
    ]
    return _listed(shown, len(order))


def _dead_ends(dead_ends: Sequence[DeadEnd]) -> str:
    shown = [f"{_place(each.position)} {each.direction_deg}°" for each in reversed(dead_ends[-_DEAD_ENDS:])]
    return _listed(shown, len(dead_ends))


def _unseen(places: Sequence[Sequence[float]], here: Pose) -> str:
    near = sorted(places, key=lambda place: here.distance_to(*place))
    return _listed([_place(place) for place in near[:_UNSEEN]], len(places))


def _findings(findings: Sequence[Finding]) -> str:
    """Return the newest description and the newest note; the newer of both gets more room."""
    newest = {each.kind == VIEW: each for each in findings}.values()
    order = sorted(newest, key=findings.index, reverse=True)
    shown = [
        f"{plain(each.kind, _OBJECT)} {_name(each.name, _OBJECT)} {_place(each.position)} {_name(each.text, size)}"
        for each, size in zip(order, _FINDINGS, strict=False)
    ]
    return _listed(shown, len(findings))


def _action(action: PastAction) -> str:
    result = action.result
    outcome = "success" if result.success else "failed"
    if result.clear is not None:
        outcome = "clear" if result.clear else "not clear"
    turned = f", {result.turned_deg:+d}°" if action.action == Tool.ROTATE else ""
    free = f", free for {result.free_m:.1f}m" if result.free_m is not None else ""
    why = f", {said}" if (said := plain(result.stopped_reason, _REASON)) else ""
    call = call_text(action.action, action.params)
    return f"{call} → {outcome}, {result.actual_distance_m:+.2f}m{turned}{free}{why}"
