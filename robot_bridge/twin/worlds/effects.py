"""Carry out in the twin the effects that would need an arm on a real robot, such as picking up a thing.

An effect happens only if the robot truly stands at the right place and looks in the right direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import degrees, hypot, radians
from types import MappingProxyType
from typing import Final

from robot_bridge.contracts import EffectResult, Pose
from robot_bridge.twin.robot import MujocoRobot
from robot_bridge.twin.worlds.judging import Cell
from robot_bridge.twin.worlds.levels import cell_at, direction_of, middle
from robot_bridge.twin.worlds.world import Thing

REACH: Final = 1.25
"""Greatest distance from the footprint's middle to the middle of the cell ahead, metres."""
OFF_MIDDLE: Final = 0.3
"""Greatest distance of the footprint's middle from the middle of the robot's cell, metres."""
OFF_HEADING: Final = radians(25)
"""Greatest angle between the heading and the direction to the middle of the cell ahead."""

_DIRECTION_STEPS: Final = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""(columns, rows) to the next cell in each direction: 0 east, 1 south, 2 west, 3 north."""
_PORTABLE: Final = ("key", "ball", "box")


class TwinEffects:
    """Effects in a twin, with MiniGrid's rules. A carried thing is not in the world.

    Args:
        robot: the simulated robot.
        contents: index of a box among the world's things -> index of the thing in the box.
        carrying: index of the thing in hand at the start, or None.
    """

    def __init__(
        self,
        robot: MujocoRobot,
        *,
        contents: Mapping[int, int] = MappingProxyType({}),
        carrying: int | None = None,
    ) -> None:
        self._robot = robot
        self._contents = contents
        self._carrying = carrying

    @property
    def carrying(self) -> Thing | None:
        """The thing in hand, or None."""
        return None if self._carrying is None else self._robot.things[self._carrying]

    def pick_up(self) -> EffectResult:
        """Take the key, ball or box ahead, if the hand is empty."""
        cell = self._find_faced_cell()
        if isinstance(cell, str):
            return EffectResult(False, cell)
        index = self._index_in(cell)
        if index is None:
            return EffectResult(False, "there is nothing ahead")
        thing = self._robot.things[index]
        if thing.kind not in _PORTABLE:
            return _result(thing, f"a {thing.kind} cannot be picked up")
        if self.carrying is not None:
            return _result(thing, f"the hand already holds the {self.carrying.color} {self.carrying.kind}")
        self._robot.remove(index)
        self._carrying = index
        return _result(thing)

    def drop(self) -> EffectResult:
        """Put the thing in hand into the cell ahead, if that cell is free."""
        cell = self._find_faced_cell()
        if isinstance(cell, str):
            return EffectResult(False, cell)
        if self._carrying is None:
            return EffectResult(False, "the hand is empty")
        thing = self._robot.things[self._carrying]
        if self._index_in(cell) is not None or self._is_built_up(cell):
            return _result(thing, "the place ahead is not free")
        self._robot.put(self._carrying, *middle(cell))
        self._carrying = None
        return _result(thing)

    def toggle(self) -> EffectResult:
        """Open or close the door ahead, or open the box ahead."""
        cell = self._find_faced_cell()
        if isinstance(cell, str):
            return EffectResult(False, cell)
        index = self._index_in(cell)
        kind = "" if index is None else self._robot.things[index].kind
        if index is not None and kind == "door":
            return self._toggle_door(index, cell)
        if index is not None and kind == "box":
            return self._open_box(index)
        return EffectResult(False, f"nothing opens on a {kind}" if kind else "there is nothing ahead")

    def _toggle_door(self, index: int, cell: Cell) -> EffectResult:
        """Open or close a door.

        A locked door opens only with the key of its colour in hand. An open door closes only if nothing stands in the
        doorway.
        """
        door = self._robot.things[index]
        in_hand = self.carrying
        has_key = in_hand is not None and (in_hand.kind, in_hand.color) == ("key", door.color)
        if door.state == "locked" and not has_key:
            return _result(door, f"the {door.color} door is locked: it needs the {door.color} key in hand")
        if door.state == "open" and self._is_blocked(cell, index):
            return _result(door, f"something stands in the {door.color} door")
        self._robot.set_state(index, "closed" if door.state == "open" else "open")
        return _result(self._robot.things[index])

    def _open_box(self, index: int) -> EffectResult:
        """Take a box out of the world; if a thing is in the box, put the thing in the place of the box."""
        box = self._robot.things[index]
        self._robot.remove(index)
        inside = self._contents.get(index)
        if inside is None:
            return EffectResult(True)
        self._robot.put(inside, box.x, box.y)
        return _result(self._robot.things[inside])

    def _find_faced_cell(self) -> Cell | str:
        """Return the cell ahead on which the robot can act, or a text that says why the robot cannot act."""
        robot = self._robot
        if robot.is_moving:
            return "the robot is moving"

        pose = self._pose()
        footprint = Pose(*pose.ahead(robot.config.body.centre), pose.heading)
        column, row = cell_at(footprint.x, footprint.y)
        off_middle = footprint.distance_to(*middle((column, row)))
        if off_middle > OFF_MIDDLE:
            return f"the robot stands {off_middle:.2f} m off the middle of its cell"

        columns, rows = _DIRECTION_STEPS[direction_of(footprint.heading)]
        cell = column + columns, row + rows
        bearing = footprint.bearing_to(*middle(cell))
        if abs(bearing) > OFF_HEADING:
            return f"the robot looks {degrees(abs(bearing)):.0f} degrees past the place ahead"
        distance = footprint.distance_to(*middle(cell))
        if distance > REACH:
            return f"the place ahead is {distance:.2f} m away"
        return cell

    def _pose(self) -> Pose:
        """Return the true pose in world coordinates."""
        truth = self._robot.truth
        start = self._robot.world.start
        return Pose(truth.x + start.x, truth.y + start.y, truth.heading)

    def _index_in(self, cell: Cell) -> int | None:
        """Return the index of the first present thing in a cell, or None."""
        for index, thing in enumerate(self._robot.things):
            if thing.is_present and cell_at(thing.x, thing.y) == cell:
                return index
        return None

    def _is_built_up(self, cell: Cell) -> bool:
        """Return whether a wall or an obstacle reaches into the inner 0.8 m of a cell."""
        x, y = middle(cell)
        half = 0.4
        west = x - half
        east = x + half
        south = y - half
        north = y + half
        for wall in self._robot.world.walls:
            overlaps_x = wall.x0 < east and wall.x1 > west
            overlaps_y = wall.y0 < north and wall.y1 > south
            if overlaps_x and overlaps_y:
                return True

        for obstacle in self._robot.world.obstacles:
            is_near_x = abs(obstacle.x - x) < half + obstacle.half_x
            is_near_y = abs(obstacle.y - y) < half + obstacle.half_y
            if is_near_x and is_near_y:
                return True
        return False

    def _is_blocked(self, cell: Cell, door: int) -> bool:
        """Return whether the robot or a solid thing is in the cell of a door, where the closed panel would be.

        ``door`` is the index of the door, which does not count as a solid thing.
        """
        x, y = middle(cell)
        body = self._robot.config.body
        body_x, body_y = self._pose().ahead(body.centre)
        # A circle around the footprint stands for the robot, so that the heading does not matter.
        radius = hypot((body.front + body.rear) / 2, body.half_width)
        if hypot(body_x - x, body_y - y) < 0.1 + radius:
            return True

        others = (thing for index, thing in enumerate(self._robot.things) if index != door)
        return any(thing.is_solid and cell_at(thing.x, thing.y) == cell for thing in others)


def _result(thing: Thing, reason: str = "") -> EffectResult:
    """Return the result of an effect on a thing; a reason means that the effect did not happen."""
    return EffectResult(not reason, reason, thing.kind, thing.color, thing.state)
