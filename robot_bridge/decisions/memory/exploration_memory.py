"""Memory of an exploration: rooms, frontiers, dead ends and the last actions.

A model sees nothing of earlier calls, except for the text of :meth:`ExplorationMemory.to_prompt_text`. Names of rooms
and things come from models and are untrusted. Names are cut and sanitised when recorded, and cut again when written
into a prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import degrees, dist
from pathlib import Path
from typing import Any, Final

from robot_bridge.contracts import BEARINGS, ActionResult, Direction, Frontier, NavigationDecision, Pose, wrap_angle
from robot_bridge.decisions.memory.memory_state import (
    DeadEnd,
    ExplorationState,
    Finding,
    KnownFrontier,
    KnownRoom,
    PastAction,
    PastResult,
    read_state,
    round_place,
    write_state,
)
from robot_bridge.decisions.memory.memory_text import VIEW, prompt_text
from robot_bridge.decisions.tools import LABEL_LENGTH, NOTES_LENGTH, PARAMETERS
from robot_bridge.text import harmless

DESCRIPTION_LENGTH: Final = 600
RECENT_ACTIONS: Final = 5
MAX_ROOMS: Final = 200
MAX_OBJECTS: Final = 20
MAX_DEAD_ENDS: Final = 50
MAX_UNSEEN: Final = 50
MAX_FINDINGS: Final = 30
"""If a list has more entries than its limit above, the oldest entries are forgotten, except the room of the start."""
_SAME_DEAD_END_M = 1.0
_SAME_DEAD_END_DEG = 45
"""Two dead ends are the same if they differ by at most ``_SAME_DEAD_END_M`` metres and ``_SAME_DEAD_END_DEG`` degrees.
"""
_DOORWAY_WIDTH_M: Final = 1.2
"""A frontier up to this width counts as a doorway."""
_MAX_NUMBER: Final = 10**9
"""A parameter's number is kept if its absolute value is below this. Of a larger number or NaN, only the type is kept.
"""


class ExplorationMemory:
    """Memory of an exploration, which keeps an :class:`ExplorationState` up to date; not thread-safe."""

    def __init__(self) -> None:
        self.state = ExplorationState()
        self._position = Pose()
        self._counted_frontiers: set[int] = set()

    def update_after_action(self, decision: NavigationDecision, result: ActionResult, position: Pose) -> None:
        """Record a decision with its result and the robot's position; must be called once per decision."""
        self._position = position
        name = harmless(decision.tool_name, LABEL_LENGTH)
        action = PastAction(name, filter_parameters(decision), _summarise_result(result), round_place(position))
        self.state.recent_actions = [*self.state.recent_actions, action][-RECENT_ACTIONS:]

    def record_discovery(self, label: str, notes: str | None, significance: str, position: Pose) -> None:
        """Record a discovery.

        A room becomes the current room, and is added to the rooms unless its name is known. Any other thing is added to
        the objects of the current room.
        """
        state = self.state
        name = harmless(label, LABEL_LENGTH)
        self._position = position
        self._record_finding(significance, name, harmless(notes or "", NOTES_LENGTH), position)
        state.total_discoveries += 1
        if significance == "room":
            is_known = any(room.name == name for room in state.rooms)
            if not is_known:
                room = KnownRoom(name=name, entered_from=state.current_room, position=round_place(position))
                start, *others = [*state.rooms, room]
                state.rooms = [start, *others[1 - MAX_ROOMS :]]
            state.current_room = name
            return

        for room in state.rooms:
            if room.name == state.current_room:
                if name not in room.objects:
                    room.objects.append(name)
                    del room.objects[:-MAX_OBJECTS]
                return

    def record_view(self, focus: str, description: str, position: Pose) -> None:
        """Record a model's description of a picture.

        The picture was taken at ``position`` to look for ``focus``.
        """
        self._record_finding(VIEW, harmless(focus, LABEL_LENGTH), harmless(description, DESCRIPTION_LENGTH), position)

    def _record_finding(self, kind: str, name: str, text: str, position: Pose) -> None:
        """Record a finding, which replaces an earlier finding of the same kind and name.

        A view replaces only an earlier view from the same position. An empty text is not recorded.
        """
        if not text:
            return
        finding = Finding(harmless(kind, LABEL_LENGTH), name, text, round_place(position))
        kept = [known for known in self.state.findings if not _is_replaced(known, finding)]
        self.state.findings = [*kept, finding][-MAX_FINDINGS:]

    def update_frontiers(self, frontier_list: Sequence[Frontier], position: Pose | None = None) -> None:
        """Record the frontiers that can be reached now, and update the explored percentage of every room.

        ``position`` defaults to the robot's last known position.
        """
        state = self.state
        self._position = position or self._position
        state.frontiers = [_describe_frontier(frontier, self._position) for frontier in frontier_list]
        state.frontiers_known = True

        frontiers_left = dict.fromkeys(range(len(state.rooms)), 0)  # by the index of the nearest room
        for frontier in frontier_list:
            nearest = self._nearest_room(frontier.x, frontier.y)
            frontiers_left[nearest] += 1
            if frontier.id not in self._counted_frontiers:
                self._counted_frontiers.add(frontier.id)
                state.rooms[nearest].frontiers_found += 1

        for index, room in enumerate(state.rooms):
            left = frontiers_left[index]
            room.frontiers_found = max(room.frontiers_found, left)
            share = 1 - left / room.frontiers_found if room.frontiers_found else 1
            room.explored_pct = round(100 * share)

    def _nearest_room(self, x: float, y: float) -> int:
        """Return the index of the room whose place of entry is nearest to (``x``, ``y``)."""
        distances = [dist(room.position, (x, y)) for room in self.state.rooms]
        return distances.index(min(distances))

    def record_dead_end(self, direction: Direction | float, position: Pose, reason: str = "blocked") -> None:
        """Record that the robot cannot go on in a direction from ``position``.

        A dead end that is already recorded is not recorded again. ``direction`` is a :class:`Direction` of the robot,
        or degrees counter-clockwise from ahead.
        """
        relative = BEARINGS[direction] if isinstance(direction, Direction) else direction
        heading = round(degrees(position.heading) + relative) % 360
        for known in self.state.dead_ends:
            difference = abs((known.direction_deg - heading + 180) % 360 - 180)
            is_near = position.distance_to(*known.position) <= _SAME_DEAD_END_M
            if is_near and difference <= _SAME_DEAD_END_DEG:
                return
        dead_end = DeadEnd(heading, harmless(reason, LABEL_LENGTH), round_place(position))
        self.state.dead_ends = [*self.state.dead_ends, dead_end][-MAX_DEAD_ENDS:]

    def record_unseen(self, place: Sequence[float]) -> None:
        """Record an obstacle that the lidar does not see; ``place`` is [x, y] in the map frame."""
        rounded = [round(float(coordinate), 2) for coordinate in place]
        self.state.unseen = [*self.state.unseen, rounded][-MAX_UNSEEN:]

    def to_prompt_text(self) -> str:
        """Return the state as text of about 200 tokens, regardless of how long the exploration has lasted."""
        return prompt_text(self.state, self._position)

    def save_to_disk(self, path: str | Path) -> None:
        """Write the state as YAML (atomic write).

        Raises:
            SetupError: the file cannot be written.
        """
        write_state(Path(path), self.state)

    def load_from_disk(self, path: str | Path) -> None:
        """Replace the state by a saved state; if the file cannot be loaded, the state does not change.

        Raises:
            SetupError: the file is missing or invalid.
        """
        self.state = read_state(Path(path))
        self._counted_frontiers.clear()


def filter_parameters(decision: NavigationDecision) -> dict[str, Any]:
    """Return those parameters of an unchecked call that the tool's definition lists, in the order of the definition.

    Texts are cut. A value that is neither a text nor a number is replaced by the name of its type.
    """
    model = PARAMETERS.get(decision.tool_name)  # type: ignore[call-overload]
    parameters: object = decision.parameters
    if not model or not isinstance(parameters, Mapping):
        return {}
    names = [name for name in model.model_fields if parameters.get(name) is not None]
    return {name: _simplify_value(parameters[name]) for name in names}


def _simplify_value(value: object) -> object:
    """Return a bool or a number unchanged, a text cut, and for any other value the name of its type."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) < _MAX_NUMBER:
        return value
    text = value if isinstance(value, str) else type(value).__name__
    return harmless(text, LABEL_LENGTH)


def _summarise_result(result: ActionResult) -> PastResult:
    """Return the remembered part of a result: rounded figures, a cut reason, and the answer of a path check."""
    clear = result.data.get("clear")
    obstacle_m = result.data.get("obstacle_distance_m")
    free_m = None
    if isinstance(obstacle_m, float) and clear is False:
        free_m = round(obstacle_m, 1)
    distance_m = round(float(result.actual_distance_m), 2)
    turned_deg = round(float(result.turned_deg))
    reason = harmless(result.stopped_reason, LABEL_LENGTH)
    return PastResult(
        success=bool(result.success),
        actual_distance_m=distance_m,
        turned_deg=turned_deg,
        stopped_reason=reason,
        clear=clear if isinstance(clear, bool) else None,
        free_m=free_m,
    )


def _is_replaced(known: Finding, new: Finding) -> bool:
    """Return whether ``new`` replaces ``known``, because kind and name are the same.

    For views, the position must also be the same.
    """
    has_same_name = (known.kind, known.name) == (new.kind, new.name)
    is_view_from_elsewhere = new.kind == VIEW and known.position != new.position
    return has_same_name and not is_view_from_elsewhere


def _describe_frontier(frontier: Frontier, position: Pose) -> KnownFrontier:
    """Return the memory's entry for a frontier, with direction and distance from ``position``."""
    bearing = degrees(wrap_angle(position.bearing_to(frontier.x, frontier.y)))
    distance = float(position.distance_to(frontier.x, frontier.y))
    kind = "doorway" if frontier.width_m <= _DOORWAY_WIDTH_M else "open"
    width = round(float(frontier.width_m), 1)
    return KnownFrontier(
        id=int(frontier.id),
        direction_deg=round(bearing),
        distance_m=round(distance, 1),
        type=kind,
        width_m=width,
        position=round_place(Pose(frontier.x, frontier.y)),
    )
