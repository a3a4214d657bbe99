"""The parts of a simulated world, as values: walls, things and obstacles (pure).

World coordinates are in metres: x east, y north, z up. A thing of a MiniGrid level stands in the middle of its 1 m
cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from math import hypot
from typing import Literal

from robot_bridge.contracts import Pose

WALL_HEIGHT = 1.0
SIGN_BOTTOM = 0.45
"""Height of the lower edge of a hanging sign, metres; robots pass below the sign."""
DOOR_WIDTH = 1.0
DOOR_THICKNESS = 0.06
DOOR_HEIGHT = 0.44

Kind = Literal["key", "ball", "box", "door", "goal", "lava"]
DOOR_STATES = ("open", "closed", "locked")

Shape = Literal["cylinder", "box"]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Wall:
    """A box between two corners (x0, y0) and (x1, y1), ``WALL_HEIGHT`` high; ``x0 < x1`` and ``y0 < y1``."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Thing:
    """A thing of a level that the robot can recognise by its tag.

    Keys, balls and boxes are cubes with a tag on each side. A door is a panel across its cell, with tags on both faces,
    and a sign above; an open door has only the sign. A goal or lava is a mark on the floor, with a four-sided sign
    above it.

    ``state`` is one of ``DOOR_STATES`` for a door, "" for other things. ``heading`` is the direction in which a robot
    passes through a door, radians. A thing with ``is_present`` False is not in the world now, for example because it is
    in a box.
    """

    kind: Kind
    color: str
    state: str
    x: float
    y: float
    heading: float = 0.0
    is_present: bool = True

    @property
    def states(self) -> tuple[str, ...]:
        """All possible values of ``state``."""
        return DOOR_STATES if self.kind == "door" else ("",)

    @property
    def is_solid(self) -> bool:
        """Whether the robot would run into the thing."""
        if self.kind == "door":
            return self.state != "open"
        return self.is_present and self.kind in ("key", "ball", "box")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """An obstacle, which has no tag; make one with :meth:`pole`, :meth:`leg`, :meth:`seat`, :meth:`box`, :meth:`mover`.

    ``half_x`` and ``half_y`` are half the extent of a box, or the radius of a cylinder, metres. ``height`` is the
    distance from the lower to the upper side. ``bottom`` is the height of the lower side above the floor, metres.

    An obstacle with a ``path`` walks along the points and back, for ever, at ``speed`` m/s. After touching the robot,
    the obstacle stops and turns back. If ``is_glass`` is True, neither the lidar nor the camera sees the obstacle.
    """

    name: str
    shape: Shape
    x: float
    y: float
    half_x: float
    half_y: float
    height: float
    path: tuple[Point, ...] = ()
    speed: float = 0.0
    bottom: float = 0.0
    is_glass: bool = False

    @staticmethod
    def pole(x: float, y: float) -> Obstacle:
        """Return a pole 2 cm thick, as high as a wall."""
        return Obstacle("pole", "cylinder", x, y, 0.01, 0.01, WALL_HEIGHT)

    @staticmethod
    def leg(x: float, y: float) -> Obstacle:
        """Return the leg of a chair, 3 cm thick."""
        return Obstacle("leg", "cylinder", x, y, 0.015, 0.015, 0.45)

    @staticmethod
    def seat(x: float, y: float, radius: float = 0.29) -> Obstacle:
        """Return the seat of a chair, which is above the robot and above the plane of its lidar."""
        return Obstacle("seat", "cylinder", x, y, radius, radius, 0.03, bottom=0.45)

    @staticmethod
    def box(x: float, y: float, half_x: float = 0.2, half_y: float = 0.15, height: float = 0.3) -> Obstacle:
        return Obstacle("box", "box", x, y, half_x, half_y, height)

    @staticmethod
    def mover(path: Sequence[Point], speed: float, radius: float = 0.15) -> Obstacle:
        """Return a round obstacle that walks along ``path``, starting at the first point."""
        x, y = path[0]
        return Obstacle("mover", "cylinder", x, y, radius, radius, 0.8, tuple(path), speed)

    @property
    def length(self) -> float:
        """Length of the path, metres."""
        return sum(length for length, *_ in _straight_parts(self.path))

    def position_at(self, distance: float) -> Point:
        """Return the (x, y) of the obstacle after ``distance`` metres of walking along the path and back."""
        parts = _straight_parts(self.path)
        length = self.length
        if length == 0:
            return self.x, self.y
        in_round_trip = distance % (2 * length)
        left = min(in_round_trip, 2 * length - in_round_trip)  # distance from the start of the path
        for part_length, x, y, direction_x, direction_y in parts:
            if left <= part_length:
                return x + direction_x * left, y + direction_y * left
            left -= part_length
        return self.path[-1]


@lru_cache(maxsize=256)
def _straight_parts(path: tuple[Point, ...]) -> tuple[tuple[float, float, float, float, float], ...]:
    """Return (length, start x, start y, direction x, direction y) of every straight part of a path."""
    parts = []
    for (x, y), (end_x, end_y) in pairwise(path):
        dx = end_x - x
        dy = end_y - y
        length = hypot(dx, dy)
        if length > 0:
            parts.append((length, x, y, dx / length, dy / length))
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class TwinWorld:
    """A world without the robot; ``start`` is the first pose of the robot's rear axle, in world coordinates."""

    walls: tuple[Wall, ...]
    things: tuple[Thing, ...]
    obstacles: tuple[Obstacle, ...]
    start: Pose
    name: str

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """The rectangle ``(x0, y0, x1, y1)`` around the start, all walls, and the middles of things and obstacles."""
        xs = [self.start.x]
        ys = [self.start.y]
        for wall in self.walls:
            xs += [wall.x0, wall.x1]
            ys += [wall.y0, wall.y1]
        for thing in self.things:
            xs.append(thing.x)
            ys.append(thing.y)
        for obstacle in self.obstacles:
            xs.append(obstacle.x)
            ys.append(obstacle.y)
        return min(xs), min(ys), max(xs), max(ys)


def merge_walls(walls: Iterable[Wall]) -> tuple[Wall, ...]:
    """Return the same walls as fewer boxes.

    Neighbours that share a whole side are joined into a single box, first along x, then along y.
    """
    rows = _join_along_x(walls)
    columns = _join_along_x(_swap_axes(wall) for wall in rows)
    return tuple(_swap_axes(wall) for wall in columns)


def _swap_axes(wall: Wall) -> Wall:
    return Wall(wall.y0, wall.x0, wall.y1, wall.x1)


def _join_along_x(walls: Iterable[Wall]) -> list[Wall]:
    """Return the boxes row by row, with neighbours along x joined; a row holds boxes with the same y0 and y1."""
    joined: list[Wall] = []
    for wall in sorted(walls, key=lambda wall: (wall.y0, wall.y1, wall.x0)):
        last = joined[-1] if joined else None
        if last is not None and _is_continuation(last, wall):
            joined[-1] = replace(last, x1=wall.x1)
        else:
            joined.append(wall)
    return joined


def _is_continuation(last: Wall, wall: Wall) -> bool:
    """Return whether ``wall`` starts where ``last`` ends along x, in the same row."""
    is_in_same_row = (last.y0, last.y1) == (wall.y0, wall.y1)
    return is_in_same_row and abs(last.x1 - wall.x0) < 1e-9
