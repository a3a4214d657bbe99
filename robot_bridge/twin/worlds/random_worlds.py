"""Random worlds to explore and to be safe in: the same seed, the same world (pure).

Nothing in them is drawn from a level: they are flats with what a robot on a real floor meets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, cos, hypot, pi, sin

import numpy as np
from numpy.random import Generator

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Pose
from robot_bridge.twin.worlds.floor_plans import FloorPlan, Room, divided, enclosed
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


def cluttered(seed: int) -> TwinWorld:
    """Two to four rooms with thin poles, chairs, boxes and two to four obstacles that walk at up to 0.5 m/s."""
    rng = np.random.default_rng(seed)
    width, height = (round(float(side), 1) for side in rng.uniform(6, 12, 2))
    plan = divided(enclosed(width, height), rng, rooms=int(rng.integers(2, 5)))
    site = _Site.begun(plan, rng)
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
    def begun(plan: FloorPlan, rng: Generator) -> _Site:
        room = plan.rooms[int(rng.integers(len(plan.rooms)))].within(FREE_AT_START)
        robot = float(rng.uniform(room.x0, room.x1)), float(rng.uniform(room.y0, room.y1))
        return _Site(plan, rng, robot, float(rng.integers(4)) * pi / 2 - pi)

    def start(self) -> Pose:
        """Where the rear axle stands when the footprint's middle is at ``robot``."""
        centre = RobotConfig().body.centre
        return Pose(*Pose(*self.robot, self.heading).ahead(-centre), self.heading)

    def pole(self) -> Iterator[Obstacle]:
        for x, y in self.places(0.01):
            yield Obstacle.pole(x, y)

    def chair(self) -> Iterator[Obstacle]:
        """Four legs and the seat on them, turned by any angle."""
        reach = 0.27
        for x, y in self.places(0.3):
            turned = float(self.rng.uniform(0, pi / 2))
            for quarter in range(4):
                angle = turned + pi / 4 + quarter * pi / 2
                yield Obstacle.leg(x + reach * cos(angle), y + reach * sin(angle))
            yield Obstacle.seat(x, y)

    def box(self) -> Iterator[Obstacle]:
        half_x, half_y = (float(half) for half in self.rng.uniform(0.1, 0.3, 2))
        for x, y in self.places(hypot(half_x, half_y)):
            yield Obstacle.box(x, y, half_x, half_y, float(self.rng.uniform(0.25, 0.6)))

    def mover(self) -> Iterator[Obstacle]:
        """On a loop of two to four corners in one room."""
        radius = float(self.rng.uniform(0.1, 0.2))
        for _ in range(10 * _TRIES):
            room = self._room().within(radius + 0.1)
            corners = [self._point(room) for _ in range(int(self.rng.integers(2, 5)))]
            path = corners if len(corners) == 2 else [*corners, corners[0]]
            points = [point for a, b in pairwise(path) for point in _line(a, b)]
            if len(points) * _STEP > 1.0 and all(self._is_clear(point, radius) for point in points):
                yield Obstacle.mover(path, round(float(self.rng.uniform(0.1, 0.5)), 2), radius)
                return

    def places(self, radius: float) -> Iterator[Point]:
        """One free place for something of that size, taken then; none where none was found."""
        for _ in range(_TRIES):
            x, y = self._point(self._room().within(radius + PASSAGE))
            if self._is_free(x, y, radius):
                self.taken.append((x, y, radius))
                yield x, y
                return

    def _room(self) -> Room:
        rooms = self.plan.rooms
        areas = np.array([room.size[0] * room.size[1] for room in rooms])
        return rooms[int(self.rng.choice(len(rooms), p=areas / areas.sum()))]

    def _point(self, room: Room) -> Point:
        x0, x1 = sorted((room.x0, room.x1))
        y0, y1 = sorted((room.y0, room.y1))
        return round(float(self.rng.uniform(x0, x1)), 3), round(float(self.rng.uniform(y0, y1)), 3)

    def _is_free(self, x: float, y: float, radius: float) -> bool:
        kept = [(*self.robot, FREE_AT_START), *((d.x, d.y, _BEFORE_DOORWAY) for d in self.plan.doorways)]
        return all(hypot(x - ox, y - oy) >= radius + other for ox, oy, other in kept) and all(
            hypot(x - ox, y - oy) >= radius + other + PASSAGE for ox, oy, other in self.taken
        )

    def _is_clear(self, point: Point, radius: float) -> bool:
        """Whether a mover can be there: it walks through nothing and keeps off the robot's start."""
        x, y = point
        return hypot(x - self.robot[0], y - self.robot[1]) >= _FROM_START + radius and all(
            hypot(x - ox, y - oy) >= radius + other + 0.05 for ox, oy, other in self.taken
        )


def _line(a: Point, b: Point) -> Iterator[Point]:
    """Points from ``a`` to ``b``, close together."""
    count = max(1, ceil(hypot(b[0] - a[0], b[1] - a[1]) / _STEP))
    for index in range(count + 1):
        share = index / count
        yield a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share
