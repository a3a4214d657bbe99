"""``reference/navigator``: an explorer that knows nothing but the message that any model gets.

It is what a user can run without a key, and what other models are compared with. It keeps nothing between two calls and
does not look at the image, so the same message always leads to the same call. The first rule that has an answer wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
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
"""A doorway nearer than that to where a room was entered leads into a room that has a name."""
_PASSED_DEG = 120
_PASSED_M = 1.3
"""A doorway so far behind was just driven through."""
_SETTLED_M = 1.0
_SETTLED_S = 20.0
"""Before either of them the map has hardly begun: no frontiers means nothing yet."""
_BLOCKED = 0.25
_NARROW = 0.6
_WIDE = 0.9
"""Affordances: 0.75, 1.3 and 1.8 m."""
_MOVED_M: Final = 0.3
_IN_VIEW_M: Final = 5.0
_OPEN_M: Final = 2.0
_BEYOND_M: Final = 0.8
"""How far behind a doorway a room is looked at from."""
_CHECK_M: Final = 1.5
_WIDEST_M: Final = 5.0
"""What is wider is not worth driving farther for."""
_UNDER_WAY_M: Final = 3.0
"""How much nearer another frontier must be to turn round for it: distances are as the crow flies."""

_AHEAD: Final = (Direction.FORWARD, Direction.FORWARD_LEFT, Direction.FORWARD_RIGHT)
_TURNS: Final = (45, -45, 90, -90, 135, -135, 180, -180)


@dataclass(frozen=True, slots=True)
class Choice:
    """One call, and why."""

    tool: Tool
    parameters: Mapping[str, Any]
    why: str


class ReferenceNavigator:
    """A :class:`robot_bridge.protocols.DecisionModel`; its answers take no time worth counting."""

    def ask(self, system: str, user: str, image: bytes | None, tools: Sequence[str], timeout_s: float) -> ModelReply:
        """See :class:`robot_bridge.protocols.DecisionModel`; only ``user`` and ``tools`` are read."""
        del system, image, timeout_s
        choice = choose(user)
        if choice.tool not in tools:
            choice = _stop(StopReason.UNCERTAIN, f"{choice.tool} is not offered")
        return ModelReply(choice.why, ((choice.tool.value, choice.parameters),))

    def describe(self, prompt: str, image: bytes, timeout_s: float) -> ModelReply:
        """It does not look at pictures, and says so."""
        del prompt, image, timeout_s
        return ModelReply("the reference navigator does not look at pictures")


def choose(message: str) -> Choice:
    """The call for a message."""
    try:
        seen = read_message(message)
    except UnreadableError as error:
        return _stop(StopReason.UNCERTAIN, f"the message cannot be read: {error}")
    choices = (rule(seen) for rule in _RULES)
    return next(filter(None, choices), _stop(StopReason.UNCERTAIN, "no way is open"))


def report_room(seen: Seen) -> Choice | None:
    """A doorway lies just behind, and no room was entered near here."""
    passed = any(abs(each.direction_deg) >= _PASSED_DEG and each.distance_m <= _PASSED_M for each in seen.doorways)
    if not passed or _near_a_room(seen, seen.pose.x, seen.pose.y):
        return None
    name = f"room {seen.room_count + 1}"
    parameters = {"label": name, "notes": "entered through a doorway", "significance": "room"}
    return Choice(Tool.REPORT_DISCOVERY, parameters, f"the doorway is behind me: this is {name}")


def look_into_room(seen: Seen) -> Choice | None:
    """A room was reported just now, and neither a picture came with the message nor was one described before."""
    last = _last(seen)
    if (
        last is None
        or seen.has_picture
        or seen.has_looked
        or last.tool != Tool.REPORT_DISCOVERY
        or last.arguments[-1:] != ("room",)
    ):
        return None
    return Choice(Tool.OBSERVE_SCENE, {"focus": "general"}, "a new room: look around")


def finish(seen: Seen) -> Choice | None:
    """There were frontiers to be found and none is left."""
    if seen.frontiers is None or seen.frontiers:
        return None
    if seen.driven_m < _SETTLED_M and seen.time_s < _SETTLED_S:
        return _stop(StopReason.NEED_TO_OBSERVE, "no frontiers yet: wait for the map")
    return _stop(StopReason.EXPLORATION_COMPLETE, "no frontiers are left")


def go_to_frontier(seen: Seen) -> Choice | None:
    """The best frontier that was not tried in vain lately."""
    open_ones = [each for each in seen.frontiers or () if not _failures(seen, each)]
    if not open_ones:
        return None
    best = min(open_ones, key=lambda each: _cost(seen, each))
    return _frontier_goal(best, f"frontier {best.id} is {best.distance_m:.1f} m away")


def leave_dead_end(seen: Seen) -> Choice | None:
    """Everything ahead is blocked: back out, then turn to where it is widest."""
    if max(seen.affordances[each] for each in _AHEAD) > _BLOCKED:
        return None
    backed = _last(seen)
    was_backing = backed is not None and backed.arguments[:1] == (Direction.BACKWARD.value,)
    if seen.affordances[Direction.BACKWARD] > _BLOCKED and not was_backing:
        return _move(Direction.BACKWARD, Speed.SLOW, 4.0, "a dead end: back out")
    return _turn_to(seen, _widest(seen), "a dead end: turn round")


def try_frontier_again(seen: Seen) -> Choice | None:
    """All frontiers were tried in vain: once more the one that failed least, unless that was the last thing tried."""
    last = _last(seen)
    if not seen.frontiers or (last is not None and last.tool == Tool.NAVIGATE_TO_GOAL):
        return None
    best = min(seen.frontiers, key=lambda each: (_failures(seen, each), _cost(seen, each)))
    return _frontier_goal(best, f"try frontier {best.id} again from here")


def go_through_doorway(seen: Seen) -> Choice | None:
    """Without a list of frontiers: into a doorway in view that leads into no room known."""
    last = _last(seen)
    if last is not None and last.tool == Tool.NAVIGATE_TO_GOAL and not _got_somewhere(last):
        return None
    ahead = [each for each in seen.doorways if each.distance_m <= _IN_VIEW_M and abs(each.direction_deg) <= 90]
    for doorway in sorted(ahead, key=lambda each: each.distance_m):
        x, y = _behind(doorway, seen.pose)
        if not _near_a_room(seen, x, y):
            parameters = {"goal_type": "coordinates", "frontier_id": None, "x": x, "y": y, "reason": "look into it"}
            return Choice(Tool.NAVIGATE_TO_GOAL, parameters, f"a doorway {doorway.distance_m:.1f} m away")
    return None


def wander(seen: Seen) -> Choice | None:
    """Ahead where there is room, else to where it opens, else into what is narrow, which is checked first."""
    last = _last(seen)
    ahead = [each for each in _AHEAD if not _was_blocked(seen, each)]
    best = max(ahead, key=lambda each: _appeal(seen, each), default=None)
    if best is not None and seen.affordances[best] >= _NARROW:
        is_wide = seen.affordances[best] >= _WIDE
        speed, duration = (Speed.FAST, 5.0) if is_wide else (Speed.MEDIUM, 3.0)
        return _move(best, speed, duration, f"there is room {best}")
    turned = last is not None and last.tool == Tool.ROTATE
    narrow = best is not None and seen.affordances[best] > _BLOCKED
    if best is None or not narrow or (not turned and _view(seen, _widest(seen)) >= _OPEN_M):
        return _turn_to(seen, _widest(seen), "turn to where it opens")
    return _squeeze(seen, [each for each in ahead if seen.affordances[each] > _BLOCKED])


def _squeeze(seen: Seen, directions: Sequence[Direction]) -> Choice | None:
    """Slowly in the first direction that was found clear, after asking for each of them."""
    checks = [action for action in _since_moved(seen) if action.tool == Tool.CHECK_PATH_CLEAR]
    asked = {action.arguments[:1]: action.outcome for action in checks}
    for direction in directions:
        if asked.get((direction.value,)) == "clear":
            return _move(direction, Speed.SLOW, 3.0, f"it is narrow {direction}, but clear")
        if (direction.value,) not in asked:
            parameters = {"direction": direction.value, "distance_m": _CHECK_M}
            return Choice(Tool.CHECK_PATH_CLEAR, parameters, f"it is narrow {direction}: check first")
    return _turn_to(seen, _widest(seen), "nothing ahead is clear")


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
    """Metres to drive, more for turning round, less for a wide one and for the one under way."""
    under_way = seen.last_call[1:3] == ("frontier", str(frontier.id))
    turning = abs(frontier.direction_deg) / 120
    gain = 0.8 * min(frontier.width_m, _WIDEST_M)
    return frontier.distance_m + turning - gain - (_UNDER_WAY_M if under_way else 0.0)


def _failures(seen: Seen, frontier: SeenFrontier) -> int:
    tried = (each for each in seen.recent if each.arguments[:2] == ("frontier", str(frontier.id)))
    return sum(not _got_somewhere(each) for each in tried)


def _got_somewhere(action: Action) -> bool:
    """A goal that was given up for a better one on the way did not fail."""
    return action.outcome != "failed" or action.distance_m >= _MOVED_M


def _since_moved(seen: Seen) -> tuple[Action, ...]:
    """What was done since the robot last got anywhere, newest first."""
    moves = {Tool.MOVE_TOWARD, Tool.ROTATE, Tool.NAVIGATE_TO_GOAL}
    return tuple(takewhile(lambda action: not (action.tool in moves and _got_somewhere(action)), seen.recent))


def _was_blocked(seen: Seen, direction: Direction) -> bool:
    """Moving there failed, or was said not to be clear, since the robot last got anywhere."""
    return any(
        action.arguments[:1] == (direction.value,) and action.outcome in {"failed", "not clear"}
        for action in _since_moved(seen)
    )


def _appeal(seen: Seen, direction: Direction) -> float:
    return seen.affordances[direction] + (0.15 if direction is Direction.FORWARD else 0.0)


def _view(seen: Seen, angle: int) -> float:
    """Metres to see in a direction that is a multiple of 30 degrees; 0 where unknown."""
    return seen.sectors[angle % 360 // 30] or 0.0


def _widest(seen: Seen) -> int:
    """Degrees to a long view, not straight ahead, and rather to a side than back the way the robot came."""
    angles = (angle for angle in range(-150, 181, 30) if angle)
    return max(angles, key=lambda angle: (_view(seen, angle) - abs(angle) / 45, angle))


def _turn_to(seen: Seen, angle: int, why: str) -> Choice | None:
    """The turn that comes nearest to an angle, of those that did not fail lately."""
    failed = {each.arguments[:1] for each in seen.recent if each.tool == Tool.ROTATE and each.outcome == "failed"}
    turns = [turn for turn in _TURNS if (str(turn),) not in failed]
    if not turns:
        return None
    best = min(turns, key=lambda turn: (abs(turn - angle), abs(turn)))
    return Choice(Tool.ROTATE, {"degrees": best}, why)


def _behind(doorway: Gap, pose: Pose) -> tuple[float, float]:
    angle = radians(pose.heading + doorway.direction_deg)
    far = doorway.distance_m + _BEYOND_M
    return round(pose.x + far * cos(angle), 2), round(pose.y + far * sin(angle), 2)


def _near_a_room(seen: Seen, x: float, y: float) -> bool:
    return any(Pose(room.x, room.y).distance_to(x, y) < _ROOM_AWAY_M for room in seen.rooms)


def _last(seen: Seen) -> Action | None:
    return seen.recent[0] if seen.recent else None


def _frontier_goal(frontier: SeenFrontier, why: str) -> Choice:
    parameters = {"goal_type": "frontier", "frontier_id": frontier.id, "x": None, "y": None, "reason": why}
    return Choice(Tool.NAVIGATE_TO_GOAL, parameters, why)


def _move(direction: Direction, speed: Speed, duration_s: float, why: str) -> Choice:
    parameters = {"direction": direction.value, "speed": speed.value, "duration_s": duration_s}
    return Choice(Tool.MOVE_TOWARD, parameters, why)


def _stop(reason: StopReason, why: str) -> Choice:
    return Choice(Tool.STOP_ROBOT, {"reason": reason.value}, why)
