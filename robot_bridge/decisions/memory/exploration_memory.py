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

from robot_bridge.contracts import BEARINGS, ActionResult, Direction, Frontier, NavigationDecision, Pose, wrapped
from robot_bridge.decisions.memory.memory_state import (
    DeadEnd,
    ExplorationState,
    Finding,
    KnownFrontier,
    KnownRoom,
    PastAction,
    PastResult,
    place_of,
    read_state,
    write_state,
)
from robot_bridge.decisions.memory.memory_text import VIEW, prompt_text
from robot_bridge.decisions.tools import LABEL_LENGTH, NOTES_LENGTH, PARAMETERS
from robot_bridge.text import harmless

DESCRIPTION_LENGTH: Final = 600
RECENT_ACTIONS: Final = 5
MOST_ROOMS: Final = 200
MOST_OBJECTS: Final = 20
MOST_DEAD_ENDS: Final = 50
MOST_UNSEEN: Final = 50
MOST_FINDINGS: Final = 30
"""The oldest entries beyond these counts are forgotten, except the start."""
_SAME_DEAD_END_M = 1.0
_SAME_DEAD_END_DEG = 45
_DOORWAY_WIDTH_M: Final = 1.2
_LARGEST_NUMBER: Final = 10**9
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
        clear = result.data.get("clear")
        free = result.data.get("obstacle_distance_m")
        outcome = PastResult(
            success=bool(result.success),
            actual_distance_m=round(float(result.actual_distance_m), 2),
            turned_deg=round(float(result.turned_deg)),
            stopped_reason=harmless(result.stopped_reason, LABEL_LENGTH),
            clear=clear if isinstance(clear, bool) else None,
            free_m=round(free, 1) if isinstance(free, float) and clear is False else None,
        )
        name = harmless(decision.tool_name, LABEL_LENGTH)
        action = PastAction(name, parameters_told(decision), outcome, place_of(position))
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
                room = KnownRoom(name=name, entered_from=state.current_room, position=place_of(position))
                state.rooms.append(room)
                state.rooms = state.rooms[:1] + state.rooms[1:][1 - MOST_ROOMS :]
            state.current_room = name
            return
        objects: list[str] = next((room.objects for room in state.rooms if room.name == state.current_room), [])
        if name not in objects:
            objects.append(name)
            del objects[:-MOST_OBJECTS]

    def record_view(self, focus: str, description: str, position: Pose) -> None:
        """Record a model's description of a picture taken at ``position``; the model looked for ``focus``."""
        self._record_finding(VIEW, harmless(focus, LABEL_LENGTH), harmless(description, DESCRIPTION_LENGTH), position)

    def _record_finding(self, kind: str, name: str, text: str, position: Pose) -> None:
        """Record a finding; it replaces an earlier one of the same thing, or a view from the same position."""
        if not text:
            return
        finding = Finding(harmless(kind, LABEL_LENGTH), name, text, place_of(position))
        kept = [each for each in self.state.findings if not _is_same(each, finding)]
        self.state.findings = [*kept, finding][-MOST_FINDINGS:]

    def update_frontiers(self, frontier_list: Sequence[Frontier], position: Pose | None = None) -> None:
        """Record the frontiers that can be reached now; ``position`` defaults to the robot's last known one."""
        state = self.state
        self._position = position or self._position
        state.frontiers = [_frontier(each, self._position) for each in frontier_list]
        state.frontiers_known = True
        left = dict.fromkeys(range(len(state.rooms)), 0)
        for each in frontier_list:
            room = self._nearest_room(each.x, each.y)
            left[room] += 1
            if each.id not in self._listed:
                self._listed.add(each.id)
                state.rooms[room].frontiers_found += 1
        for index, known in enumerate(state.rooms):
            known.frontiers_found = max(known.frontiers_found, left[index])
            share = 1 - left[index] / known.frontiers_found if known.frontiers_found else 1
            known.explored_pct = round(100 * share)

    def _nearest_room(self, x: float, y: float) -> int:
        rooms = self.state.rooms
        return min(range(len(rooms)), key=lambda index: dist(rooms[index].position, (x, y)))

    def record_dead_end(self, direction: Direction | float, position: Pose, reason: str = "blocked") -> None:
        """Record a dead end: a direction relative to the robot, or degrees counter-clockwise from ahead."""
        relative = BEARINGS[direction] if isinstance(direction, Direction) else direction
        heading = round(degrees(position.heading) + relative) % 360
        for known in self.state.dead_ends:
            turned = abs((known.direction_deg - heading + 180) % 360 - 180)
            if position.distance_to(*known.position) <= _SAME_DEAD_END_M and turned <= _SAME_DEAD_END_DEG:
                return
        dead_end = DeadEnd(heading, harmless(reason, LABEL_LENGTH), place_of(position))
        self.state.dead_ends = [*self.state.dead_ends, dead_end][-MOST_DEAD_ENDS:]

    def record_unseen(self, place: Sequence[float]) -> None:
        """Record an obstacle at [x, y] that the lidar does not see."""
        self.state.unseen = [*self.state.unseen, [round(float(each), 2) for each in place]][-MOST_UNSEEN:]

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


def parameters_told(decision: NavigationDecision) -> dict[str, Any]:
    """Return the parameters that the tool has, in its order; texts cut, other values by the name of their type."""
    model = PARAMETERS.get(decision.tool_name)  # type: ignore[call-overload]
    given: object = decision.parameters
    names = model.model_fields if model and isinstance(given, Mapping) else ()
    return {name: _value(decision.parameters[name]) for name in names if decision.parameters.get(name) is not None}


def _value(value: object) -> object:
    if isinstance(value, bool) or (isinstance(value, int | float) and abs(value) < _LARGEST_NUMBER):
        return value
    return harmless(value if isinstance(value, str) else type(value).__name__, LABEL_LENGTH)


def _is_same(known: Finding, new: Finding) -> bool:
    """Return whether two findings are of the same thing, or views from the same position."""
    is_named_so = (known.kind, known.name) == (new.kind, new.name)
    return is_named_so and (new.kind != VIEW or known.position == new.position)


def _frontier(frontier: Frontier, position: Pose) -> KnownFrontier:
    bearing = degrees(wrapped(position.bearing_to(frontier.x, frontier.y)))
    return KnownFrontier(
        id=int(frontier.id),
        direction_deg=round(bearing),
        distance_m=round(float(position.distance_to(frontier.x, frontier.y)), 1),
        type="doorway" if frontier.width_m <= _DOORWAY_WIDTH_M else "open",
        width_m=round(float(frontier.width_m), 1),
        position=[round(float(frontier.x), 2), round(float(frontier.y), 2)],
    )
