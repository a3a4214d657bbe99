"""Memory of an exploration: rooms, frontiers, dead ends and the last actions.

A model sees nothing of earlier calls; :meth:`ExplorationMemory.to_prompt_text` gives it what it should know of them.
Names of rooms and things come from models and are untrusted: they are cut and sanitised on the way in, and bounded
again on the way out.
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
"""The oldest entries beyond these counts are forgotten, except the start."""
_SAME_DEAD_END_M = 1.0
_SAME_DEAD_END_DEG = 45
_DOORWAY_WIDTH_M: Final = 1.2
_MAX_NUMBER: Final = 10**9
"""Largest number of a parameter that is shown; of a larger one or NaN only the type is shown."""


class ExplorationMemory:
    """Maintains an :class:`ExplorationState`; not thread-safe."""

    def __init__(self) -> None:
        self.state = ExplorationState()
        self._position = Pose()
        self._listed: set[int] = set()

    def update_after_action(self, decision: NavigationDecision, result: ActionResult, position: Pose) -> None:
        """Record a decision with its result and the robot's position; call once per decision."""
        self._position = position
        name = harmless(decision.tool_name, LABEL_LENGTH)
        action = PastAction(name, filter_parameters(decision), _summarise_result(result), round_place(position))
        self.state.recent_actions = [*self.state.recent_actions, action][-RECENT_ACTIONS:]

    def record_discovery(self, label: str, notes: str | None, significance: str, position: Pose) -> None:
        """Record a finding: a room becomes the current one, added unless its name is known; other things lie in it."""
        state = self.state
        name = harmless(label, LABEL_LENGTH)
        self._position = position
        self._record_finding(significance, name, harmless(notes or "", NOTES_LENGTH), position)
        state.total_discoveries += 1
        if significance == "room":
            if not any(room.name == name for room in state.rooms):
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
        """Record a model's description of a picture taken at ``position``; the model looked for ``focus``."""
        self._record_finding(VIEW, harmless(focus, LABEL_LENGTH), harmless(description, DESCRIPTION_LENGTH), position)

    def _record_finding(self, kind: str, name: str, text: str, position: Pose) -> None:
        """Record a finding; it replaces an earlier one of the same thing, or a view from the same position."""
        if not text:
            return
        finding = Finding(harmless(kind, LABEL_LENGTH), name, text, round_place(position))
        kept = [known for known in self.state.findings if not _is_same(known, finding)]
        self.state.findings = [*kept, finding][-MAX_FINDINGS:]

    def update_frontiers(self, frontier_list: Sequence[Frontier], position: Pose | None = None) -> None:
        """Record the frontiers that can be reached now; ``position`` defaults to the robot's last known one."""
        state = self.state
        self._position = position or self._position
        state.frontiers = [_describe_frontier(frontier, self._position) for frontier in frontier_list]
        state.frontiers_known = True

        left = dict.fromkeys(range(len(state.rooms)), 0)
        for frontier in frontier_list:
            nearest = self._nearest_room(frontier.x, frontier.y)
            left[nearest] += 1
            if frontier.id not in self._listed:
                self._listed.add(frontier.id)
                state.rooms[nearest].frontiers_found += 1

        for index, room in enumerate(state.rooms):
            room.frontiers_found = max(room.frontiers_found, left[index])
            share = 1 - left[index] / room.frontiers_found if room.frontiers_found else 1
            room.explored_pct = round(100 * share)

    def _nearest_room(self, x: float, y: float) -> int:
        distances = [dist(room.position, (x, y)) for room in self.state.rooms]
        return distances.index(min(distances))

    def record_dead_end(self, direction: Direction | float, position: Pose, reason: str = "blocked") -> None:
        """Record a dead end: a direction relative to the robot, or degrees counter-clockwise from ahead."""
        relative = BEARINGS[direction] if isinstance(direction, Direction) else direction
        heading = round(degrees(position.heading) + relative) % 360
        for known in self.state.dead_ends:
            turned = abs((known.direction_deg - heading + 180) % 360 - 180)
            is_near = position.distance_to(*known.position) <= _SAME_DEAD_END_M
            if is_near and turned <= _SAME_DEAD_END_DEG:
                return
        dead_end = DeadEnd(heading, harmless(reason, LABEL_LENGTH), round_place(position))
        self.state.dead_ends = [*self.state.dead_ends, dead_end][-MAX_DEAD_ENDS:]

    def record_unseen(self, place: Sequence[float]) -> None:
        """Record an obstacle at [x, y] that the lidar does not see."""
        rounded = [round(float(coordinate), 2) for coordinate in place]
        self.state.unseen = [*self.state.unseen, rounded][-MAX_UNSEEN:]

    def to_prompt_text(self) -> str:
        """Return the state in about 200 tokens, however long the exploration has lasted."""
        return prompt_text(self.state, self._position)

    def save_to_disk(self, path: str | Path) -> None:
        """Write the state as YAML (atomic write).

        Raises:
            SetupError: the file cannot be written.
        """
        write_state(Path(path), self.state)

    def load_from_disk(self, path: str | Path) -> None:
        """Load a saved state; the current state is kept if that fails.

        Raises:
            SetupError: the file is missing or invalid.
        """
        self.state = read_state(Path(path))
        self._listed.clear()


def filter_parameters(decision: NavigationDecision) -> dict[str, Any]:
    """Return the parameters that the tool has, in its order; texts cut, other values by the name of their type."""
    model = PARAMETERS.get(decision.tool_name)  # type: ignore[call-overload]
    given: object = decision.parameters
    if not model or not isinstance(given, Mapping):
        return {}
    return {name: _simplify_value(given[name]) for name in model.model_fields if given.get(name) is not None}


def _simplify_value(value: object) -> object:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) < _MAX_NUMBER:
        return value
    text = value if isinstance(value, str) else type(value).__name__
    return harmless(text, LABEL_LENGTH)


def _summarise_result(result: ActionResult) -> PastResult:
    clear = result.data.get("clear")
    free = result.data.get("obstacle_distance_m")
    free_m = None
    if isinstance(free, float) and clear is False:
        free_m = round(free, 1)
    return PastResult(
        success=bool(result.success),
        actual_distance_m=round(float(result.actual_distance_m), 2),
        turned_deg=round(float(result.turned_deg)),
        stopped_reason=harmless(result.stopped_reason, LABEL_LENGTH),
        clear=clear if isinstance(clear, bool) else None,
        free_m=free_m,
    )


def _is_same(known: Finding, new: Finding) -> bool:
    """Return whether two findings are of the same thing, or views from the same position."""
    is_named_so = (known.kind, known.name) == (new.kind, new.name)
    return is_named_so and (new.kind != VIEW or known.position == new.position)


def _describe_frontier(frontier: Frontier, position: Pose) -> KnownFrontier:
    bearing = degrees(wrap_angle(position.bearing_to(frontier.x, frontier.y)))
    distance = float(position.distance_to(frontier.x, frontier.y))
    return KnownFrontier(
        id=int(frontier.id),
        direction_deg=round(bearing),
        distance_m=round(distance, 1),
        type="doorway" if frontier.width_m <= _DOORWAY_WIDTH_M else "open",
        width_m=round(float(frontier.width_m), 1),
        position=[round(float(frontier.x), 2), round(float(frontier.y), 2)],
    )
