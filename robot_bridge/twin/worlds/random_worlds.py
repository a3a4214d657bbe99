"""Random worlds to explore and to be safe in: the same seed, the same world (pure).

Nothing in them is drawn from a level: they are flats with what a robot on a real floor meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, cos, hypot, pi, sin

import numpy as np
from numpy.random import Generator

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose
from robot_bridge.twin.worlds.floor_plans import FloorPlan, Room, divide_rooms, single_room
from robot_bridge.twin.worlds.world import Obstacle, Point, TwinWorld

FREE_AT_START = 0.6
"""Metres around the middle of the robot's footprint in which nothing stands."""
PASSAGE = 0.55
"""Metres left free between pieces of furniture, and between them and walls: room to pass."""
_BEFORE_DOORWAY = 0.75
"""Metres around the middle of a doorway in which nothing stands."""
_FROM_START = 1.0
"""No mover's path comes nearer to the start than that, beyond its own radius."""
_TRIES = 40
_STEP = 0.05
"""Metres between the points at which a mover's path is checked."""

Disc = tuple[float, float, float]
"""x, y and radius."""


def make_cluttered(seed: int) -> TwinWorld:
    """Return two to four rooms with thin poles, chairs, boxes and obstacles.

    Two to four of the obstacles walk, at up to 0.5 m/s.
    """
    # The order of the draws is part of a world: another order makes other worlds of the same seeds.
    rng = np.random.default_rng(seed)
    sides = rng.uniform(6, 12, 2)
    width, height = (round(float(side), 1) for side in sides)
    rooms = int(rng.integers(2, 5))
    plan = divide_rooms(single_room(width, height), rng, rooms=rooms)

    site = _Site.draw(plan, rng)
    obstacles: list[Obstacle] = []
    for _ in range(int(rng.integers(2, 5))):
        obstacles += site.chair()
    for _ in range(int(rng.integers(2, 6))):
        obstacles += site.box()
    for _ in range(int(rng.integers(4, 9))):
        obstacles += site.pole()
    for _ in range(int(rng.integers(2, 5))):
        obstacles += site.mover()
    return TwinWorld(plan.walls, (), tuple(obstacles), site.start(), f"cluttered seed {seed}")


@dataclass(slots=True)
class _Site:
    """A flat being furnished; ``taken`` holds what stands in it as discs."""

    plan: FloorPlan
    rng: Generator
    robot: Point
    heading: float
    taken: list[Disc] = field(default_factory=list)

    @staticmethod
    def draw(plan: FloorPlan, rng: Generator) -> _Site:
        """Return an empty site with a random place for the robot."""
        number = int(rng.integers(len(plan.rooms)))
        room = plan.rooms[number].shrink_by(FREE_AT_START)
        x = float(rng.uniform(room.x0, room.x1))
        y = float(rng.uniform(room.y0, room.y1))
        heading = float(rng.integers(4)) * pi / 2 - pi
        return _Site(plan, rng, (x, y), heading)

    def start(self) -> Pose:
        """Return where the rear axle stands when the footprint's middle is at ``robot``."""
        centre = RobotConfig().body.centre
        middle = Pose(*self.robot, self.heading)
        return Pose(*middle.ahead(-centre), self.heading)

    def pole(self) -> Iterator[Obstacle]:
        """Yield a pole, if there is room for it."""
        for x, y in self.places(0.01):
            yield Obstacle.pole(x, y)

    def chair(self) -> Iterator[Obstacle]:
        """Yield four legs and the seat on them, turned by any angle."""
        reach = 0.27
        for x, y in self.places(0.3):
            turned = float(self.rng.uniform(0, pi / 2))
            for quarter in range(4):
                angle = turned + pi / 4 + quarter * pi / 2
                leg_x = x + reach * cos(angle)
                leg_y = y + reach * sin(angle)
                yield Obstacle.leg(leg_x, leg_y)
            yield Obstacle.seat(x, y)

    def box(self) -> Iterator[Obstacle]:
        """Yield a box of random size, if there is room for it."""
        half_x, half_y = (float(half) for half in self.rng.uniform(0.1, 0.3, 2))
        for x, y in self.places(hypot(half_x, half_y)):
            height = float(self.rng.uniform(0.25, 0.6))
            yield Obstacle.box(x, y, half_x, half_y, height)

    def mover(self) -> Iterator[Obstacle]:
        """Yield an obstacle that walks a loop of two to four corners in one room, if there is room for it."""
        radius = float(self.rng.uniform(0.1, 0.2))
        for _ in range(10 * _TRIES):
            room = self._draw_room().shrink_by(radius + 0.1)
            count = int(self.rng.integers(2, 5))
            corners = [self._draw_point(room) for _ in range(count)]
            path = corners if len(corners) == 2 else [*corners, corners[0]]
            points: list[Point] = []
            for start, end in pairwise(path):
                points += _points_between(start, end)

            is_long_enough = len(points) * _STEP > 1.0
            if is_long_enough and all(self._is_clear(point, radius) for point in points):
                speed = round(float(self.rng.uniform(0.1, 0.5)), 2)
                yield Obstacle.mover(path, speed, radius)
                return

    def places(self, radius: float) -> Iterator[Point]:
        """Yield one free place for something of that size and take it; yield nothing if none was found."""
        for _ in range(_TRIES):
            room = self._draw_room().shrink_by(radius + PASSAGE)
            x, y = self._draw_point(room)
            if self._is_free(x, y, radius):
                self.taken.append((x, y, radius))
                yield x, y
                return

    def _draw_room(self) -> Room:
        """Return a random room, large ones more often."""
        rooms = self.plan.rooms
        areas = np.array([room.size[0] * room.size[1] for room in rooms])
        number = int(self.rng.choice(len(rooms), p=areas / areas.sum()))
        return rooms[number]

    def _draw_point(self, room: Room) -> Point:
        # A margin wider than the room swaps its sides.
        x0, x1 = sorted((room.x0, room.x1))
        y0, y1 = sorted((room.y0, room.y1))
        x = float(self.rng.uniform(x0, x1))
        y = float(self.rng.uniform(y0, y1))
        return round(x, 3), round(y, 3)

    def _is_free(self, x: float, y: float, radius: float) -> bool:
        kept = [(*self.robot, FREE_AT_START)]
        kept += [(doorway.x, doorway.y, _BEFORE_DOORWAY) for doorway in self.plan.doorways]
        if _touches_any(x, y, radius, kept):
            return False
        return not _touches_any(x, y, radius, self.taken, gap=PASSAGE)

    def _is_clear(self, point: Point, radius: float) -> bool:
        """Return whether a mover can be there: it walks through nothing and keeps off the robot's start."""
        x, y = point
        from_start = hypot(x - self.robot[0], y - self.robot[1])
        return from_start >= _FROM_START + radius and not _touches_any(x, y, radius, self.taken, gap=0.05)


def _touches_any(x: float, y: float, radius: float, discs: Iterable[Disc], gap: float = 0.0) -> bool:
    """Return whether a disc comes nearer than ``gap`` to one of ``discs``."""
    return any(hypot(x - disc_x, y - disc_y) < radius + other + gap for disc_x, disc_y, other in discs)


def _points_between(a: Point, b: Point) -> Iterator[Point]:
    """Yield points from ``a`` to ``b``, close together."""
    across = b[0] - a[0]
    up = b[1] - a[1]
    count = max(1, ceil(hypot(across, up) / _STEP))
    for index in range(count + 1):
        share = index / count
        yield a[0] + across * share, a[1] + up * share
