"""Events that make it worth asking a model before its timer: doorway, crossing, dead end, distance driven (pure).

Something that stays in view fires once: a trigger that kept firing while the robot passes a doorway would cost more
calls than it saves over the timer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from math import cos, radians, sin
from typing import Final

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Direction, Gap, Pose, Trigger

COOLDOWN_S: Final = 2.0
DOORWAY_M: Final = 0.7
"""Narrowest gap that counts as a doorway."""
NEAR_M: Final = 3.0
"""A doorway farther away fires only when the robot comes near."""
OPEN_M: Final = 2.0
CLOSED_M: Final = 1.0
MOVED_M: Final = 1.5
_SAME_PLACE_M: Final = 1.0
_SAME_DOORWAY_M: Final = 1.5
"""Seen at a slant, the middle of a doorway is measured more than a metre off."""
_REMEMBERED: Final = 16

_AROUND: Final = (
    Direction.LEFT,
    Direction.FORWARD_LEFT,
    Direction.FORWARD,
    Direction.FORWARD_RIGHT,
    Direction.RIGHT,
    Direction.BACKWARD,
)
"""In a circle: behind the robot lies next to both of its sides."""
_FRONT: Final = (Direction.FORWARD_LEFT, Direction.FORWARD, Direction.FORWARD_RIGHT)


class EventTrigger:
    """Remembers which events fired where, and where the model was last asked."""

    def __init__(self, config: RobotConfig | None = None) -> None:
        self._lidar_x = (config or RobotConfig()).lidar.x
        self._fired_at = {trigger: deque[tuple[float, float]](maxlen=_REMEMBERED) for trigger in Trigger}
        self._held = {Trigger.INTERSECTION: False, Trigger.DEAD_END: False}
        self._asked_at: Pose | None = None

    def note_asked(self, position: Pose) -> None:
        """Note that the model was asked here, for whatever reason: ``MOVED`` counts from here."""
        self._asked_at = position

    def check_triggers(
        self,
        obstacle_distances: Mapping[str, float],
        detected_gaps: Sequence[Gap],
        position: Pose,
        last_trigger_time: float | None,
        now: float,
    ) -> list[Trigger]:
        """Return why the model should be asked now; empty within 2 s of ``last_trigger_time``, but no event is lost.

        Times are seconds of the robot's clock; None if there was no trigger yet.
        """
        if self._asked_at is None:
            self._asked_at = position
        if last_trigger_time is not None and now - last_trigger_time < COOLDOWN_S:
            return []

        found = []
        if self._sees_new_doorway(detected_gaps, position):
            found.append(Trigger.DOORWAY)
        if self._begins(Trigger.INTERSECTION, is_intersection(obstacle_distances), position):
            found.append(Trigger.INTERSECTION)
        if self._begins(Trigger.DEAD_END, is_dead_end(obstacle_distances), position):
            found.append(Trigger.DEAD_END)
        if position.distance_to(self._asked_at.x, self._asked_at.y) > MOVED_M:
            found.append(Trigger.MOVED)
            self._asked_at = position
        return found

    def _sees_new_doorway(self, gaps: Sequence[Gap], position: Pose) -> bool:
        doorways = [gap for gap in gaps if gap.width_m >= DOORWAY_M and gap.distance_m <= NEAR_M]
        places = [_locate_gap(gap, position, self._lidar_x) for gap in doorways]
        new = [place for place in places if self._is_new(Trigger.DOORWAY, place, _SAME_DOORWAY_M)]
        self._fired_at[Trigger.DOORWAY].extend(new)
        return bool(new)

    def _begins(self, trigger: Trigger, holds: bool, position: Pose) -> bool:
        """Return whether a condition newly holds, at a place where it has not fired lately."""
        begins = holds and not self._held[trigger]
        self._held[trigger] = holds
        if not begins or not self._is_new(trigger, (position.x, position.y)):
            return False
        self._fired_at[trigger].append((position.x, position.y))
        return True

    def _is_new(self, trigger: Trigger, place: tuple[float, float], apart_m: float = _SAME_PLACE_M) -> bool:
        return all(Pose(*earlier).distance_to(*place) > apart_m for earlier in self._fired_at[trigger])


def is_intersection(obstacle_distances: Mapping[str, float]) -> bool:
    """Return whether three or more neighbouring directions are open for 2 m."""
    is_open = [obstacle_distances.get(direction, 0.0) >= OPEN_M for direction in _AROUND]
    # Entries before the first are counted from the end: the circle closes.
    return any(is_open[index - 2] and is_open[index - 1] and is_open[index] for index in range(len(is_open)))


def is_dead_end(obstacle_distances: Mapping[str, float]) -> bool:
    """Return whether everything ahead is nearer than 1 m; an unknown direction counts as open."""
    return all(obstacle_distances.get(direction, OPEN_M) < CLOSED_M for direction in _FRONT)


def _locate_gap(gap: Gap, position: Pose, lidar_x: float) -> tuple[float, float]:
    angle = radians(gap.direction_deg)
    ahead = lidar_x + gap.distance_m * cos(angle)
    left = gap.distance_m * sin(angle)
    return position.ahead(ahead, left)
