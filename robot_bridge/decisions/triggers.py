"""Detect events for which a model is asked before its timer runs out (pure).

The events are a doorway, an intersection, a dead end, and a distance driven. An event that stays in view fires once.
Otherwise a doorway would fire again and again while the robot passes, and cost more calls than triggers save.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from math import cos, radians, sin
from typing import Final

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Direction, Gap, Pose, Trigger

COOLDOWN_S: Final = 2.0
"""Least time between two triggers."""
DOORWAY_M: Final = 0.7
"""Narrowest gap that counts as a doorway."""
NEAR_M: Final = 3.0
"""Greatest distance at which a doorway fires."""
OPEN_M: Final = 2.0
"""A direction counts as open from this distance to the nearest obstacle."""
CLOSED_M: Final = 1.0
"""A direction counts as closed below this distance to the nearest obstacle."""
MOVED_M: Final = 1.5
"""Distance from the place of the last request from which ``MOVED`` fires."""
_SAME_PLACE_M: Final = 1.0
"""An event fires only if its place is farther than this from the places of earlier events of its kind."""
_SAME_DOORWAY_M: Final = 1.5
"""Like ``_SAME_PLACE_M``, for doorways. The middle of a doorway seen at a slant is measured more than a metre off."""
_REMEMBERED: Final = 16
"""Number of places that are remembered for each kind of event."""

_AROUND: Final = (
    Direction.LEFT,
    Direction.FORWARD_LEFT,
    Direction.FORWARD,
    Direction.FORWARD_RIGHT,
    Direction.RIGHT,
    Direction.BACKWARD,
)
"""The directions in clockwise order; the last is next to the first, because the circle closes."""
_FRONT: Final = (Direction.FORWARD_LEFT, Direction.FORWARD, Direction.FORWARD_RIGHT)


class EventTrigger:
    """Detector of events, which remembers where events fired and where the model was last asked."""

    def __init__(self, config: RobotConfig | None = None) -> None:
        self._lidar_x = (config or RobotConfig()).lidar.x
        self._fired_at = {trigger: deque[tuple[float, float]](maxlen=_REMEMBERED) for trigger in Trigger}
        self._held = {Trigger.INTERSECTION: False, Trigger.DEAD_END: False}
        self._asked_at: Pose | None = None

    def note_asked(self, position: Pose) -> None:
        """Note that the model was asked at this position, from which ``MOVED`` counts."""
        self._asked_at = position

    def check_triggers(
        self,
        obstacle_distances: Mapping[str, float],
        detected_gaps: Sequence[Gap],
        position: Pose,
        last_trigger_time: float | None,
        now: float,
    ) -> list[Trigger]:
        """Return the reasons to ask the model now, an empty list if there are none.

        Within ``COOLDOWN_S`` after ``last_trigger_time`` the list is empty, but events are not lost: they fire later.
        Times are seconds of the robot's clock; ``last_trigger_time`` is None if no trigger has fired yet.
        """
        if self._asked_at is None:
            self._asked_at = position
        if last_trigger_time is not None and now - last_trigger_time < COOLDOWN_S:
            return []

        triggers = []
        if self._fire_new_doorways(detected_gaps, position):
            triggers.append(Trigger.DOORWAY)
        if self._fire_on_begin(Trigger.INTERSECTION, is_intersection(obstacle_distances), position):
            triggers.append(Trigger.INTERSECTION)
        if self._fire_on_begin(Trigger.DEAD_END, is_dead_end(obstacle_distances), position):
            triggers.append(Trigger.DEAD_END)
        if position.distance_to(self._asked_at.x, self._asked_at.y) > MOVED_M:
            triggers.append(Trigger.MOVED)
            self._asked_at = position
        return triggers

    def _fire_new_doorways(self, gaps: Sequence[Gap], position: Pose) -> bool:
        """Remember all doorways that fire now, and return whether there are any."""
        doorways = [gap for gap in gaps if gap.width_m >= DOORWAY_M and gap.distance_m <= NEAR_M]
        places = [_locate_gap(gap, position, self._lidar_x) for gap in doorways]
        new_places = [place for place in places if self._is_new(Trigger.DOORWAY, place, _SAME_DOORWAY_M)]
        self._fired_at[Trigger.DOORWAY].extend(new_places)
        return bool(new_places)

    def _fire_on_begin(self, trigger: Trigger, holds: bool, position: Pose) -> bool:
        """Return whether an event fires, and remember the place if so.

        An event fires if its condition has just begun to hold and the event has not fired near this position.
        """
        has_begun = holds and not self._held[trigger]
        self._held[trigger] = holds
        place = (position.x, position.y)
        if not has_begun or not self._is_new(trigger, place):
            return False
        self._fired_at[trigger].append(place)
        return True

    def _is_new(self, trigger: Trigger, place: tuple[float, float], apart_m: float = _SAME_PLACE_M) -> bool:
        """Return whether every earlier place of the event is more than ``apart_m`` metres away from ``place``."""
        return all(Pose(*earlier).distance_to(*place) > apart_m for earlier in self._fired_at[trigger])


def is_intersection(obstacle_distances: Mapping[str, float]) -> bool:
    """Return whether three neighbouring directions are open for 2 m; an unknown direction counts as closed."""
    is_open = [obstacle_distances.get(direction, 0.0) >= OPEN_M for direction in _AROUND]
    for index in range(len(is_open)):
        # The indices -2 and -1 close the circle.
        neighbours = (is_open[index - 2], is_open[index - 1], is_open[index])
        if all(neighbours):
            return True
    return False


def is_dead_end(obstacle_distances: Mapping[str, float]) -> bool:
    """Return whether all directions ahead are closed within 1 m; an unknown direction counts as open."""
    return all(obstacle_distances.get(direction, OPEN_M) < CLOSED_M for direction in _FRONT)


def _locate_gap(gap: Gap, position: Pose, lidar_x: float) -> tuple[float, float]:
    """Return the place of a gap's middle in the map frame."""
    angle = radians(gap.direction_deg)
    ahead = lidar_x + gap.distance_m * cos(angle)
    left = gap.distance_m * sin(angle)
    return position.ahead(ahead, left)
