"""What a robot without an arm cannot do itself, done in the twin where the robot truly stands right for it."""

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
"""Metres from the footprint's middle to the middle of the cell ahead."""
OFF_MIDDLE: Final = 0.3
"""Metres that the footprint's middle may be off the middle of its cell."""
OFF_HEADING: Final = radians(25)
"""Between the heading and the direction to the middle of the cell ahead."""

_AHEAD: Final = ((1, 0), (0, 1), (-1, 0), (0, -1))
"""Steps in columns and rows, by direction."""
_PORTABLE: Final = ("key", "ball", "box")


class TwinEffects:
    """Effects in a twin, with MiniGrid's rules. What is carried is out of the world.

    Args:
        contents: index of a box among the world's things -> index of what is in it.
        carrying: index of what is in hand at the beginning.
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
        """What is in hand."""
        return None if self._carrying is None else self._robot.things[self._carrying]

    def pick_up(self) -> EffectResult:
        cell = self._faced()
        if isinstance(cell, str):
            return EffectResult(False, cell)
        index = self._thing_in(cell)
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
        cell = self._faced()
        if isinstance(cell, str):
            return EffectResult(False, cell)
        if self._carrying is None:
            return EffectResult(False, "the hand is empty")
        thing = self._robot.things[self._carrying]
        if self._thing_in(cell) is not None or self._is_built_up(cell):
            return _result(thing, "the place ahead is not free")
        self._robot.put(self._carrying, *middle(cell))
        self._carrying = None
        return _result(thing)

    def toggle(self) -> EffectResult:
        cell = self._faced()
        if isinstance(cell, str):
            return EffectResult(False, cell)
        index = self._thing_in(cell)
        kind = "" if index is None else self._robot.things[index].kind
        if index is not None and kind == "door":
            return self._toggle_door(index, cell)
        if index is not None and kind == "box":
            return self._open_box(index)
        return EffectResult(False, f"nothing opens on a {kind}" if kind else "there is nothing ahead")

    def _toggle_door(self, index: int, cell: Cell) -> EffectResult:
        door = self._robot.things[index]
        hand = self.carrying
        if door.state == "locked" and (hand is None or (hand.kind, hand.color) != ("key", door.color)):
            return _result(door, f"the {door.color} door is locked: it needs the {door.color} key in hand")
        if door.state == "open" and self._is_blocked(cell, index):
            return _result(door, f"something stands in the {door.color} door")
        self._robot.set_state(index, "closed" if door.state == "open" else "open")
        return _result(self._robot.things[index])

    def _open_box(self, index: int) -> EffectResult:
        box = self._robot.things[index]
        self._robot.remove(index)
        inside = self._contents.get(index)
        if inside is None:
            return EffectResult(True)
        self._robot.put(inside, box.x, box.y)
        return _result(self._robot.things[inside])

    def _faced(self) -> Cell | str:
        """The cell ahead that the robot could act on, or why it cannot act."""
        robot = self._robot
        if robot.is_moving:
            return "the robot is moving"
        pose = self._pose()
        body = Pose(*pose.ahead(robot.config.body.centre), pose.heading)
        column, row = cell_at(body.x, body.y)
        off = body.distance_to(*middle((column, row)))
        if off > OFF_MIDDLE:
            return f"the robot stands {off:.2f} m off the middle of its cell"
        step = _AHEAD[direction_of(body.heading)]
        cell = column + step[0], row + step[1]
        turned = body.bearing_to(*middle(cell))
        if abs(turned) > OFF_HEADING:
            return f"the robot looks {degrees(abs(turned)):.0f} degrees past the place ahead"
        if body.distance_to(*middle(cell)) > REACH:
            return f"the place ahead is {body.distance_to(*middle(cell)):.2f} m away"
        return cell

    def _pose(self) -> Pose:
        """The true one in world coordinates."""
        truth = self._robot.truth
        start = self._robot.world.start
        return Pose(truth.x + start.x, truth.y + start.y, truth.heading)

    def _thing_in(self, cell: Cell) -> int | None:
        return next((i for i, t in enumerate(self._robot.things) if t.is_present and cell_at(t.x, t.y) == cell), None)

    def _is_built_up(self, cell: Cell) -> bool:
        """Whether a wall or an obstacle reaches into a cell's inner part."""
        x, y = middle(cell)
        half = 0.4
        world = self._robot.world
        walls = (w.x0 < x + half and w.x1 > x - half and w.y0 < y + half and w.y1 > y - half for w in world.walls)
        return any(walls) or any(
            abs(o.x - x) < half + o.half_x and abs(o.y - y) < half + o.half_y for o in world.obstacles
        )

    def _is_blocked(self, cell: Cell, door: int) -> bool:
        """Whether something, be it the robot, stands where the panel of a door would be."""
        x, y = middle(cell)
        things = (t for i, t in enumerate(self._robot.things) if i != door and t.is_solid)
        body = self._robot.config.body
        pose = self._pose()
        at = Pose(*pose.ahead(body.centre))
        robot = hypot(at.x - x, at.y - y) < 0.1 + hypot((body.front + body.rear) / 2, body.half_width)
        return robot or any(cell_at(t.x, t.y) == cell for t in things)


def _result(thing: Thing, reason: str = "") -> EffectResult:
    """With a reason: it was not done."""
    return EffectResult(not reason, reason, thing.kind, thing.color, thing.state)
