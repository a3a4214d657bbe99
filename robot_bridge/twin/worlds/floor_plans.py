"""Random flats: a rectangle that walls divide into rooms, each with a doorway (pure)."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from robot_bridge.twin.worlds.world import Point, Wall

THICKNESS = 0.12
"""Of walls, metres."""
DOORWAYS = 0.9, 1.3
"""Narrowest and widest, metres."""
_BESIDE_DOORWAY = 0.3
"""No wall begins nearer than that to a doorway's edge."""
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Room:
    """The floor from wall to wall, in metres of the world."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def size(self) -> tuple[float, float]:
        return self.x1 - self.x0, self.y1 - self.y0

    def shrink_by(self, margin: float) -> Room:
        """Return the part that lies so far from the walls."""
        return Room(self.x0 + margin, self.y0 + margin, self.x1 - margin, self.y1 - margin)

    def contains(self, point: Point) -> bool:
        x, y = point
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def span(self, axis: int) -> tuple[float, float]:
        return (self.x0, self.x1) if axis == 0 else (self.y0, self.y1)


@dataclass(frozen=True, slots=True)
class Doorway:
    """A gap of ``width`` in the wall that stands at its middle, across ``axis``."""

    x: float
    y: float
    width: float
    axis: int


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """Rooms and the walls between and around them; every room can be reached from every other."""

    rooms: tuple[Room, ...]
    doorways: tuple[Doorway, ...]
    walls: tuple[Wall, ...]


def single_room(width: float, height: float) -> FloorPlan:
    """Return one room whose south-west corner is the origin."""
    t = THICKNESS
    south = Wall(-t, -t, width + t, 0.0)
    north = Wall(-t, height, width + t, height + t)
    west = Wall(-t, 0.0, 0.0, height)
    east = Wall(width, 0.0, width + t, height)
    room = Room(0.0, 0.0, width, height)
    return FloorPlan((room,), (), (south, north, west, east))


def divide_rooms(plan: FloorPlan, rng: Generator, rooms: int, smallest: float = 2.2) -> FloorPlan:
    """Divide the longest room again and again until there are ``rooms``, or none can be divided.

    Args:
        smallest: no side of a room becomes shorter, metres.
    """
    while len(plan.rooms) < rooms:
        for room in sorted(plan.rooms, key=lambda r: -max(r.size)):
            parts = _split(plan, room, rng, smallest)
            if parts is not None:
                plan = parts
                break
        else:
            return plan
    return plan


def _split(plan: FloorPlan, room: Room, rng: Generator, smallest: float) -> FloorPlan | None:
    axis = int(room.size[1] > room.size[0])
    low, high = room.span(axis)
    low = low + smallest + THICKNESS / 2
    high = high - smallest - THICKNESS / 2
    if low >= high:
        return None
    for _ in range(_TRIES):
        position = round(float(rng.uniform(low, high)), 2)
        if not any(_is_blocked(doorway, room, axis, position) for doorway in plan.doorways):
            return _add_wall(plan, room, axis, position, rng)
    return None


def _is_blocked(doorway: Doorway, room: Room, axis: int, position: float) -> bool:
    """Return whether a new wall of the room would end in or close to a doorway."""
    is_in_end_wall = doorway.axis != axis and room.shrink_by(-THICKNESS).contains((doorway.x, doorway.y))
    if not is_in_end_wall:
        return False
    middle = (doorway.x, doorway.y)[axis]
    return abs(middle - position) < doorway.width / 2 + _BESIDE_DOORWAY + THICKNESS / 2


def _add_wall(plan: FloorPlan, room: Room, axis: int, position: float, rng: Generator) -> FloorPlan:
    low, high = room.span(1 - axis)
    doorway, walls = _draw_wall_with_doorway(axis, position, low, high, rng)

    near = position - THICKNESS / 2
    far = position + THICKNESS / 2
    first, last = room.span(axis)
    before = Room(*_point(axis, first, low), *_point(axis, near, high))
    beyond = Room(*_point(axis, far, low), *_point(axis, last, high))
    others = tuple(other for other in plan.rooms if other != room)
    return FloorPlan((*others, before, beyond), (*plan.doorways, doorway), (*plan.walls, *walls))


def _draw_wall_with_doorway(
    axis: int, position: float, low: float, high: float, rng: Generator
) -> tuple[Doorway, tuple[Wall, Wall]]:
    """Return a wall at ``position`` on an axis, from ``low`` to ``high`` on the other."""
    width = round(float(rng.uniform(*DOORWAYS)), 2)
    edge = width / 2 + _BESIDE_DOORWAY
    along = round(float(rng.uniform(low + edge, high - edge)), 2)
    doorway = Doorway(*_point(axis, position, along), width, axis)

    near = position - THICKNESS / 2
    far = position + THICKNESS / 2
    gap_start = along - width / 2
    gap_end = along + width / 2
    before = Wall(*_point(axis, near, low), *_point(axis, far, gap_start))
    beyond = Wall(*_point(axis, near, gap_end), *_point(axis, far, high))
    return doorway, (before, beyond)


def _point(axis: int, position: float, along: float) -> Point:
    """Return the point at ``position`` on an axis (0: x, 1: y) and ``along`` on the other."""
    return (position, along) if axis == 0 else (along, position)
