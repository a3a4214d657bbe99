"""``reference/navigator``: an explorer with fixed rules that knows only the message that every model gets.

The reference navigator runs without a key and is the baseline for other models. The navigator remembers nothing between
two calls and does not look at the image. Therefore the same message always leads to the same call.

A rule is a function that returns a call, or None if the rule does not apply. The rules are tried in order, and the
first call is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from typing import Any, Final

from robot_bridge.contracts import Direction, Gap, ModelReply, Pose, Speed, StopReason, Tool
from robot_bridge.decisions.messages.message_parser import (
    Action,
    Seen,
    SeenFrontier,
    UnreadableError,
    read_message,
)

_ROOM_AWAY_M: Final = 2.5
"""A place belongs to a room if it is nearer than this to the place where the room was entered."""
_PASSED_DEG = 120
_PASSED_M = 1.3
"""The robot has just driven through a doorway if the doorway is at least ``_PASSED_DEG`` away from ahead and at most
``_PASSED_M`` metres away."""
_SETTLED_M = 1.0
_SETTLED_S = 20.0
"""Until the robot has driven ``_SETTLED_M`` metres or explored for ``_SETTLED_S`` seconds, a lack of frontiers does not
end the exploration.
"""
_BLOCKED = 0.25
_NARROW = 0.6
_WIDE = 0.9
"""``_BLOCKED``, ``_NARROW`` and ``_WIDE`` are affordance scores for 0.75, 1.3 and 1.8 m of free space."""
_MOVED_M: Final = 0.3
"""A failed action that drove less than this has not moved the robot."""
_IN_VIEW_M: Final = 5.0
"""Greatest distance of a doorway that the robot drives to."""
_OPEN_M: Final = 2.0
"""A view of this length is worth a turn."""
_BEYOND_M: Final = 0.8
"""The robot drives to a place that is this far, in metres, behind a doorway."""
_CHECK_M: Final = 1.5
"""A narrow direction must be clear for this distance, in metres."""
_MAX_USEFUL_WIDTH_M: Final = 5.0
"""A frontier that is wider than this, in metres, costs as much as if it had this width."""
_UNDER_WAY_M: Final = 3.0
"""If another frontier is nearer by more than this, in metres, the robot gives up the frontier to which it drives. The
margin is large because distances are straight lines.
"""

_AHEAD: Final = (Direction.FORWARD, Direction.FORWARD_LEFT, Direction.FORWARD_RIGHT)
_TURNS: Final = (45, -45, 90, -90, 135, -135, 180, -180)
"""Turns of the tool ``rotate``, in degrees counter-clockwise."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Call of a tool, with the reason for choosing the call."""

    tool: Tool
    parameters: Mapping[str, Any]
    why: str


class ReferenceNavigator:
    """A :class:`robot_bridge.protocols.DecisionModel` whose answers take no time worth counting."""

    def ask(self, system: str, user: str, image: bytes | None, tools: Sequence[str], timeout_s: float) -> ModelReply:
        """See :class:`robot_bridge.protocols.DecisionModel`; only ``user`` and ``tools`` are read."""
        del system, image, timeout_s
        choice = choose(user)
        if choice.tool not in tools:
            choice = _stop(StopReason.UNCERTAIN, f"{choice.tool} is not offered")
        return ModelReply(choice.why, ((choice.tool.value, choice.parameters),))

    def describe(self, prompt: str, image: bytes, timeout_s: float) -> ModelReply:
        """Return a text that says that the navigator does not look at pictures."""
        del prompt, image, timeout_s
        return ModelReply("the reference navigator does not look at pictures")


def choose(message: str) -> Choice:
    """Return the call of the first rule that has an answer to a message, else a stop."""
    try:
        seen = read_message(message)
    except UnreadableError as error:
        return _stop(StopReason.UNCERTAIN, f"the message cannot be read: {error}")
    choices = (rule(seen) for rule in _RULES)
    return next(filter(None, choices), _stop(StopReason.UNCERTAIN, "no way is open"))


def report_room(seen: Seen) -> Choice | None:
    """Report a new room if the robot has just passed a doorway and no known room was entered near here."""
    near_doorways = [doorway for doorway in seen.doorways if doorway.distance_m <= _PASSED_M]
    has_passed = any(abs(doorway.direction_deg) >= _PASSED_DEG for doorway in near_doorways)
    if not has_passed or _is_near_room(seen, seen.pose.x, seen.pose.y):
        return None
    name = f"room {seen.room_count + 1}"
    parameters = {"label": name, "notes": "entered through a doorway", "significance": "room"}
    return Choice(Tool.REPORT_DISCOVERY, parameters, f"the doorway is behind me: this is {name}")


def look_into_room(seen: Seen) -> Choice | None:
    """Look around if the last action reported a room, unless the message has a picture or a picture was described."""
    last = _last_action(seen)
    if last is None or seen.has_picture or seen.has_looked:
        return None
    is_room_report = last.tool == Tool.REPORT_DISCOVERY and last.arguments[-1:] == ("room",)
    if not is_room_report:
        return None
    return Choice(Tool.OBSERVE_SCENE, {"focus": "general"}, "a new room: look around")


def finish(seen: Seen) -> Choice | None:
    """If no frontiers are left, end the exploration; if the exploration has hardly begun, stop and wait instead."""
    if seen.frontiers is None or seen.frontiers:
        return None
    has_hardly_begun = seen.driven_m < _SETTLED_M and seen.time_s < _SETTLED_S
    if has_hardly_begun:
        return _stop(StopReason.NEED_TO_OBSERVE, "no frontiers yet: wait for the map")
    return _stop(StopReason.EXPLORATION_COMPLETE, "no frontiers are left")


def go_to_frontier(seen: Seen) -> Choice | None:
    """Go to the best frontier to which no recent drive failed."""
    candidates = [frontier for frontier in seen.frontiers or () if not _count_failures(seen, frontier)]
    if not candidates:
        return None
    best = min(candidates, key=lambda frontier: _cost(seen, frontier))
    return _frontier_goal(best, f"frontier {best.id} is {best.distance_m:.1f} m away")


def leave_dead_end(seen: Seen) -> Choice | None:
    """If all directions ahead are blocked, drive backwards.

    If backwards is blocked too, or the last action already was a drive backwards, turn to the longest view instead.
    """
    if max(seen.affordances[direction] for direction in _AHEAD) > _BLOCKED:
        return None
    last = _last_action(seen)
    was_backing = last is not None and last.arguments[:1] == (Direction.BACKWARD.value,)
    if seen.affordances[Direction.BACKWARD] > _BLOCKED and not was_backing:
        return _move(Direction.BACKWARD, Speed.SLOW, 4.0, "a dead end: back out")
    return _turn_to(seen, _widest_angle(seen), "a dead end: turn round")


def try_frontier_again(seen: Seen) -> Choice | None:
    """Try again to reach the frontier with the fewest failures, unless the last action was a drive to a goal."""
    last = _last_action(seen)
    was_drive = last is not None and last.tool == Tool.NAVIGATE_TO_GOAL
    if not seen.frontiers or was_drive:
        return None
    best = min(seen.frontiers, key=lambda frontier: (_count_failures(seen, frontier), _cost(seen, frontier)))
    return _frontier_goal(best, f"try frontier {best.id} again from here")


def go_through_doorway(seen: Seen) -> Choice | None:
    """Drive through the nearest doorway ahead behind which no known room was entered.

    This rule works without frontiers. It does not apply directly after a drive to a goal that failed without moving the
    robot.
    """
    last = _last_action(seen)
    has_failed_goal = last is not None and last.tool == Tool.NAVIGATE_TO_GOAL and not _has_moved(last)
    if has_failed_goal:
        return None
    in_view = [doorway for doorway in seen.doorways if doorway.distance_m <= _IN_VIEW_M]
    ahead = [doorway for doorway in in_view if abs(doorway.direction_deg) <= 90]
    for doorway in sorted(ahead, key=lambda doorway: doorway.distance_m):
        x, y = _place_behind(doorway, seen.pose)
        if not _is_near_room(seen, x, y):
            parameters = {"goal_type": "coordinates", "frontier_id": None, "x": x, "y": y, "reason": "look into it"}
            return Choice(Tool.NAVIGATE_TO_GOAL, parameters, f"a doorway {doorway.distance_m:.1f} m away")
    return None


def wander(seen: Seen) -> Choice | None:
    """Drive ahead if there is room.

    If there is no room ahead, turn to a long view. If there is no long view, check a narrow direction and drive there.
    """
    ahead = [direction for direction in _AHEAD if not _was_blocked(seen, direction)]
    best = max(ahead, key=lambda direction: _appeal(seen, direction), default=None)
    best_score = 0.0 if best is None else seen.affordances[best]
    if best is not None and best_score >= _NARROW:
        speed, duration = (Speed.FAST, 5.0) if best_score >= _WIDE else (Speed.MEDIUM, 3.0)
        return _move(best, speed, duration, f"there is room {best}")

    last = _last_action(seen)
    has_turned = last is not None and last.tool == Tool.ROTATE
    widest = _widest_angle(seen)
    opens_elsewhere = not has_turned and _view_distance(seen, widest) >= _OPEN_M
    if best_score <= _BLOCKED or opens_elsewhere:
        return _turn_to(seen, widest, "turn to where it opens")
    passable = [direction for direction in ahead if seen.affordances[direction] > _BLOCKED]
    return _squeeze(seen, passable)


def _squeeze(seen: Seen, directions: Sequence[Direction]) -> Choice | None:
    """Check the directions in order and move slowly in the first clear direction; turn if no direction is clear.

    Each call returns a single step. The outcomes of earlier checks are read from the recent actions.
    """
    checks = [action for action in _actions_since_moved(seen) if action.tool == Tool.CHECK_PATH_CLEAR]
    outcomes = {action.arguments[:1]: action.outcome for action in checks}
    for direction in directions:
        outcome = outcomes.get((direction.value,))
        if outcome == "clear":
            return _move(direction, Speed.SLOW, 3.0, f"it is narrow {direction}, but clear")
        if outcome is None:
            parameters = {"direction": direction.value, "distance_m": _CHECK_M}
            return Choice(Tool.CHECK_PATH_CLEAR, parameters, f"it is narrow {direction}: check first")
    return _turn_to(seen, _widest_angle(seen), "nothing ahead is clear")


_RULES: Final[Sequence[Callable[[Seen], Choice | None]]] = (
    report_room,
    look_into_room,
    finish,
    go_to_frontier,
    leave_dead_end,
    try_frontier_again,
    go_through_doorway,
    wander,
)


def _cost(seen: Seen, frontier: SeenFrontier) -> float:
    """Return the cost of a frontier in metres: its distance, plus turning, minus its width.

    The frontier to which the robot is already on its way costs less.
    """
    is_under_way = seen.last_call[1:3] == ("frontier", str(frontier.id))
    turning = abs(frontier.direction_deg) / 120
    gain = 0.8 * min(frontier.width_m, _MAX_USEFUL_WIDTH_M)
    return frontier.distance_m + turning - gain - (_UNDER_WAY_M if is_under_way else 0.0)


def _count_failures(seen: Seen, frontier: SeenFrontier) -> int:
    """Return how many recent drives to a frontier failed without moving the robot."""
    goal = ("frontier", str(frontier.id))
    attempts = (action for action in seen.recent if action.arguments[:2] == goal)
    return sum(not _has_moved(action) for action in attempts)


def _has_moved(action: Action) -> bool:
    """Return whether an action succeeded or at least moved the robot.

    If an action moved the robot and failed later, the reason was only that the robot gave the goal up for a better
    goal.
    """
    return action.outcome != "failed" or action.distance_m >= _MOVED_M


def _actions_since_moved(seen: Seen) -> Iterator[Action]:
    """Yield the actions since the robot last moved, newest first."""
    motion_tools = {Tool.MOVE_TOWARD, Tool.ROTATE, Tool.NAVIGATE_TO_GOAL}
    for action in seen.recent:
        if action.tool in motion_tools and _has_moved(action):
            return
        yield action


def _was_blocked(seen: Seen, direction: Direction) -> bool:
    """Return whether a move or a check in a direction has failed since the robot last moved."""
    for action in _actions_since_moved(seen):
        is_in_direction = action.arguments[:1] == (direction.value,)
        if is_in_direction and action.outcome in {"failed", "not clear"}:
            return True
    return False


def _appeal(seen: Seen, direction: Direction) -> float:
    """Return the affordance of a direction, with a bonus for straight ahead."""
    return seen.affordances[direction] + (0.15 if direction is Direction.FORWARD else 0.0)


def _view_distance(seen: Seen, angle: int) -> float:
    """Return the metres of free view at ``angle``, a multiple of 30 degrees; 0 if unknown."""
    return seen.sectors[angle % 360 // 30] or 0.0


def _widest_angle(seen: Seen) -> int:
    """Return the angle of the best view that is not straight ahead, in degrees counter-clockwise.

    Longer views are better. Views to the side are better than views back to where the robot came from.
    """
    angles = (angle for angle in range(-150, 181, 30) if angle)

    def rank(angle: int) -> tuple[float, int]:
        return _view_distance(seen, angle) - abs(angle) / 45, angle

    return max(angles, key=rank)


def _turn_to(seen: Seen, angle: int, why: str) -> Choice | None:
    """Return the turn that is nearest to an angle, or None if every turn has failed recently.

    Turns that have failed recently are left out.
    """
    failures = (action for action in seen.recent if action.outcome == "failed")
    failed = {action.arguments[:1] for action in failures if action.tool == Tool.ROTATE}
    turns = [turn for turn in _TURNS if (str(turn),) not in failed]
    if not turns:
        return None
    best = min(turns, key=lambda turn: (abs(turn - angle), abs(turn)))
    return Choice(Tool.ROTATE, {"degrees": best}, why)


def _place_behind(doorway: Gap, pose: Pose) -> tuple[float, float]:
    """Return a point in the room behind a doorway; unlike elsewhere, ``pose.heading`` is in degrees."""
    angle = radians(pose.heading + doorway.direction_deg)
    distance = doorway.distance_m + _BEYOND_M
    x = pose.x + distance * cos(angle)
    y = pose.y + distance * sin(angle)
    return round(x, 2), round(y, 2)


def _is_near_room(seen: Seen, x: float, y: float) -> bool:
    """Return whether a known room was entered near a place."""
    return any(Pose(room.x, room.y).distance_to(x, y) < _ROOM_AWAY_M for room in seen.rooms)


def _last_action(seen: Seen) -> Action | None:
    return seen.recent[0] if seen.recent else None


def _frontier_goal(frontier: SeenFrontier, why: str) -> Choice:
    parameters = {"goal_type": "frontier", "frontier_id": frontier.id, "x": None, "y": None, "reason": why}
    return Choice(Tool.NAVIGATE_TO_GOAL, parameters, why)


def _move(direction: Direction, speed: Speed, duration_s: float, why: str) -> Choice:
    parameters = {"direction": direction.value, "speed": speed.value, "duration_s": duration_s}
    return Choice(Tool.MOVE_TOWARD, parameters, why)


def _stop(reason: StopReason, why: str) -> Choice:
    return Choice(Tool.STOP_ROBOT, {"reason": reason.value}, why)
