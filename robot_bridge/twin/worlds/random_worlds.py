"""Random worlds for exploring and for tests of safety; the same seed gives the same world (pure).

The worlds do not come from MiniGrid levels. Each world is a flat with obstacles of the kinds found on real floors.
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
"""Radius around the middle of the robot's footprint that is kept free of obstacles, metres."""
PASSAGE = 0.55
"""Width, metres, kept free between pieces of furniture, and between furniture and walls, so that the robot can pass."""
_FREE_AT_DOORWAY = 0.75
"""Radius around the middle of a doorway that is kept free of obstacles, metres."""
_MOVER_FROM_START = 1.0
"""Least distance, metres, of a mover's edge from the middle of the robot at the start."""
_MAX_TRIES = 40
_PATH_STEP_M = 0.05
"""Metres between the points at which a mover's path is checked."""

Disc = tuple[float, float, float]
"""x, y and radius."""


def make_cluttered(seed: int) -> TwinWorld:
    """Return a world of two to four rooms with chairs, boxes, thin poles, and two to four movers.

    Movers walk at up to 0.5 m/s.
    """
    # Keep the order of the draws: with another order, the same seeds would give other worlds.
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
    """A flat to which obstacles are being added.

    ``robot`` is the (x, y) of the footprint's middle at the start, ``heading`` the robot's heading. ``taken`` holds a
    disc around each obstacle that stands still.
    """

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
        """Return the pose of the rear axle for which the footprint's middle is at ``robot``."""
        centre = RobotConfig().body.centre
        middle = Pose(*self.robot, self.heading)
        return Pose(*middle.ahead(-centre), self.heading)

    def pole(self) -> Iterator[Obstacle]:
        """Yield a pole, or nothing if no free place was found."""
        for x, y in self.places(0.01):
            yield Obstacle.pole(x, y)

    def chair(self) -> Iterator[Obstacle]:
        """Yield the four legs and the seat of a chair at a random angle, or nothing if no free place was found."""
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
        """Yield a box of random size, or nothing if no free place was found."""
        half_x, half_y = (float(half) for half in self.rng.uniform(0.1, 0.3, 2))
        for x, y in self.places(hypot(half_x, half_y)):
            height = float(self.rng.uniform(0.25, 0.6))
            yield Obstacle.box(x, y, half_x, half_y, height)

    def mover(self) -> Iterator[Obstacle]:
        """Yield an obstacle that walks a path with two to four corners in a room, or nothing if no path was found.

        A path with three or four corners is closed.
        """
        radius = float(self.rng.uniform(0.1, 0.2))
        for _ in range(10 * _MAX_TRIES):
            room = self._draw_room().shrink_by(radius + 0.1)
            count = int(self.rng.integers(2, 5))
            corners = [self._draw_point(room) for _ in range(count)]
            path = corners if len(corners) == 2 else [*corners, corners[0]]
            points: list[Point] = []
            for start, end in pairwise(path):
                points += _points_between(start, end)

            is_long_enough = len(points) * _PATH_STEP_M > 1.0  # metres
            if is_long_enough and all(self._is_clear(point, radius) for point in points):
                speed = round(float(self.rng.uniform(0.1, 0.5)), 2)
                yield Obstacle.mover(path, speed, radius)
                return

    def places(self, radius: float) -> Iterator[Point]:
        """Yield a free place for a disc of this radius and mark the place as taken; yield nothing if none was found."""
        for _ in range(_MAX_TRIES):
            room = self._draw_room().shrink_by(radius + PASSAGE)
            x, y = self._draw_point(room)
            if self._is_free(x, y, radius):
                self.taken.append((x, y, radius))
                yield x, y
                return

    def _draw_room(self) -> Room:
        """Return a random room, with a probability in proportion to its area."""
        rooms = self.plan.rooms
        areas = np.array([room.size[0] * room.size[1] for room in rooms])
        number = int(self.rng.choice(len(rooms), p=areas / areas.sum()))
        return rooms[number]

    def _draw_point(self, room: Room) -> Point:
        """Return a random point of a room, rounded to millimetres."""
        # If the room was shrunk by more than half its width, x0 is greater than x1.
        x0, x1 = sorted((room.x0, room.x1))
        y0, y1 = sorted((room.y0, room.y1))
        x = float(self.rng.uniform(x0, x1))
        y = float(self.rng.uniform(y0, y1))
        return round(x, 3), round(y, 3)

    def _is_free(self, x: float, y: float, radius: float) -> bool:
        """Return whether an obstacle at (x, y) would be away from the start, the doorways and other obstacles."""
        kept_free = [(*self.robot, FREE_AT_START)]
        kept_free += [(doorway.x, doorway.y, _FREE_AT_DOORWAY) for doorway in self.plan.doorways]
        if _touches_any(x, y, radius, kept_free):
            return False
        return not _touches_any(x, y, radius, self.taken, gap=PASSAGE)

    def _is_clear(self, point: Point, radius: float) -> bool:
        """Return whether a mover at a point would be clear of obstacles and away from the robot's start."""
        x, y = point
        from_start = hypot(x - self.robot[0], y - self.robot[1])
        is_away_from_start = from_start >= _MOVER_FROM_START + radius
        return is_away_from_start and not _touches_any(x, y, radius, self.taken, gap=0.05)


def _touches_any(x: float, y: float, radius: float, discs: Iterable[Disc], gap: float = 0.0) -> bool:
    """Return whether a disc comes nearer than ``gap`` metres to any of ``discs``."""
    return any(hypot(x - disc_x, y - disc_y) < radius + other + gap for disc_x, disc_y, other in discs)


def _points_between(a: Point, b: Point) -> Iterator[Point]:
    """Yield points from ``a`` to ``b``, both included, at most ``_PATH_STEP_M`` apart."""
    dx = b[0] - a[0]
    dy = b[1] - a[1]
    count = max(1, ceil(hypot(dx, dy) / _PATH_STEP_M))
    for index in range(count + 1):
        share = index / count
        yield a[0] + dx * share, a[1] + dy * share
