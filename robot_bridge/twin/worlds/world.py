"""What a simulated world is made of: walls, things and obstacles, as values (pure).

World coordinates: metres, x east, y north, z up. A thing of a MiniGrid level stands in the middle of its 1 m cell.
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
"""Height of the lower edge of a hanging sign: robots pass below it."""
DOOR_WIDTH = 1.0
DOOR_THICKNESS = 0.06
DOOR_HEIGHT = 0.44

Kind = Literal["key", "ball", "box", "door", "goal", "lava"]
DOOR_STATES = ("open", "closed", "locked")

Shape = Literal["cylinder", "box"]
Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Wall:
    """A box from corner to corner, ``WALL_HEIGHT`` high; ``x0 < x1`` and ``y0 < y1``."""

    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True)
class Thing:
    """Something of a level that the robot can recognise by its tag.

    Keys, balls and boxes are cubes with a tag on each side. A door is a panel across its cell with tags on both faces,
    unless it is open, and a sign above; a goal or lava is a mark on the floor and a sign with four sides above.

    ``state`` is one of ``DOOR_STATES`` for a door, "" otherwise. ``heading`` is the direction in which one passes
    through a door, radians. ``is_present`` False: it is not in the world yet, for example inside a box.
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
        """All that ``state`` can become."""
        return DOOR_STATES if self.kind == "door" else ("",)

    @property
    def is_solid(self) -> bool:
        """Whether the robot would run into it."""
        if self.kind == "door":
            return self.state != "open"
        return self.is_present and self.kind in ("key", "ball", "box")


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something in the way that has no tag. Use :meth:`pole`, :meth:`leg`, :meth:`box`, :meth:`mover`.

    ``half_x`` and ``half_y`` are half its extent, the radius of a cylinder. With a ``path`` it walks along the points
    and back, for ever, at ``speed`` m/s; where the robot is in its way, it stops on touching it and turns back.
    ``height`` is that of the thing itself, ``bottom`` how far above the floor it begins. ``is_glass``: neither the
    lidar nor the camera sees it.
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
        """Return the seat of a chair, above the robot and the plane of its lidar."""
        return Obstacle("seat", "cylinder", x, y, radius, radius, 0.03, bottom=0.45)

    @staticmethod
    def box(x: float, y: float, half_x: float = 0.2, half_y: float = 0.15, height: float = 0.3) -> Obstacle:
        return Obstacle("box", "box", x, y, half_x, half_y, height)

    @staticmethod
    def mover(path: Sequence[Point], speed: float, radius: float = 0.15) -> Obstacle:
        """Return a round obstacle that walks; it begins at the first point."""
        x, y = path[0]
        return Obstacle("mover", "cylinder", x, y, radius, radius, 0.8, tuple(path), speed)

    @property
    def length(self) -> float:
        """Length of the path, metres."""
        return sum(length for length, *_ in _legs(self.path))

    def position_at(self, distance: float) -> Point:
        """Return where it is after so many metres of its way there and back."""
        legs = _legs(self.path)
        length = self.length
        if length == 0:
            return self.x, self.y
        left = distance % (2 * length)
        left = min(left, 2 * length - left)
        for step, x, y, along_x, along_y in legs:
            if left <= step:
                return x + along_x * left, y + along_y * left
            left -= step
        return self.path[-1]


@lru_cache(maxsize=256)
def _legs(path: tuple[Point, ...]) -> tuple[tuple[float, float, float, float, float], ...]:
    """Return length, beginning and direction of every straight part of a path."""
    legs = []
    for (x, y), (to_x, to_y) in pairwise(path):
        across = to_x - x
        up = to_y - y
        length = hypot(across, up)
        if length > 0:
            legs.append((length, x, y, across / length, up / length))
    return tuple(legs)


@dataclass(frozen=True, slots=True)
class TwinWorld:
    """Everything but the robot; ``start`` is where the middle of its rear axle stands, in world coordinates."""

    walls: tuple[Wall, ...]
    things: tuple[Thing, ...]
    obstacles: tuple[Obstacle, ...]
    start: Pose
    name: str

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """``(x0, y0, x1, y1)`` of all there is, with the start."""
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
    """Return the same walls in fewer boxes.

    Neighbours that share a whole side become one, first along x, then along y.
    """
    rows = _join_along_x(walls)
    columns = _join_along_x(_swap_axes(wall) for wall in rows)
    return tuple(_swap_axes(wall) for wall in columns)


def _swap_axes(wall: Wall) -> Wall:
    return Wall(wall.y0, wall.x0, wall.y1, wall.x1)


def _join_along_x(walls: Iterable[Wall]) -> list[Wall]:
    """Return the boxes row by row; join each with the one before if it begins at its end and is as high."""
    joined: list[Wall] = []
    for wall in sorted(walls, key=lambda wall: (wall.y0, wall.y1, wall.x0)):
        last = joined[-1] if joined else None
        if last is not None and _continues(last, wall):
            joined[-1] = replace(last, x1=wall.x1)
        else:
            joined.append(wall)
    return joined


def _continues(last: Wall, wall: Wall) -> bool:
    is_as_high = (last.y0, last.y1) == (wall.y0, wall.y1)
    return is_as_high and abs(last.x1 - wall.x0) < 1e-9
