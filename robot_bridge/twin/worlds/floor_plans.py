"""Random flats: a rectangle divided into rooms by walls, each wall with a doorway (pure).

An axis is 0 for x and 1 for y. A wall or doorway *across* an axis has a fixed position on this axis.
"""

from __future__ import annotations

from dataclasses import dataclass

from numpy.random import Generator

from robot_bridge.twin.worlds.world import Point, Wall

THICKNESS = 0.12
"""Thickness of walls, metres."""
DOORWAYS = 0.9, 1.3
"""Least and greatest width of a doorway, metres."""
_MIN_BESIDE_DOORWAY = 0.3
"""Least distance of the end of a wall from the edge of a doorway, metres."""
_MAX_TRIES = 20


@dataclass(frozen=True, slots=True)
class Room:
    """The floor of a room from wall to wall, in world coordinates, metres."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def size(self) -> tuple[float, float]:
        return self.x1 - self.x0, self.y1 - self.y0

    def shrink_by(self, margin: float) -> Room:
        """Return the part of the room that lies at least ``margin`` metres from the walls."""
        return Room(self.x0 + margin, self.y0 + margin, self.x1 - margin, self.y1 - margin)

    def contains(self, point: Point) -> bool:
        x, y = point
        return self.x0 <= x <= self.x1 and self.y0 <= y <= self.y1

    def span(self, axis: int) -> tuple[float, float]:
        return (self.x0, self.x1) if axis == 0 else (self.y0, self.y1)


@dataclass(frozen=True, slots=True)
class Doorway:
    """A gap of ``width`` metres in a wall across ``axis``; ``x``, ``y`` is the middle of the gap."""

    x: float
    y: float
    width: float
    axis: int


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """A flat: rooms, doorways and walls; every room can be reached from every other room."""

    rooms: tuple[Room, ...]
    doorways: tuple[Doorway, ...]
    walls: tuple[Wall, ...]


def single_room(width: float, height: float) -> FloorPlan:
    """Return a plan of one room whose south-west corner is the origin."""
    t = THICKNESS
    south = Wall(-t, -t, width + t, 0.0)
    north = Wall(-t, height, width + t, height + t)
    west = Wall(-t, 0.0, 0.0, height)
    east = Wall(width, 0.0, width + t, height)
    room = Room(0.0, 0.0, width, height)
    return FloorPlan((room,), (), (south, north, west, east))


def divide_rooms(plan: FloorPlan, rng: Generator, rooms: int, smallest: float = 2.2) -> FloorPlan:
    """Return the plan after dividing rooms until it has ``rooms`` rooms or no room can be divided.

    Each time, the longest room that can be divided is divided.

    Args:
        plan: the plan to divide.
        rng: draws the walls and doorways.
        rooms: number of rooms wanted.
        smallest: least length of a room's side, metres.
    """
    while len(plan.rooms) < rooms:
        for room in sorted(plan.rooms, key=lambda r: -max(r.size)):
            divided = _split(plan, room, rng, smallest)
            if divided is not None:
                plan = divided
                break
        else:  # no room can be divided
            return plan
    return plan


def _split(plan: FloorPlan, room: Room, rng: Generator, smallest: float) -> FloorPlan | None:
    """Return the plan with a new wall across the longer side of the room, or None if no place for a wall was found."""
    width, height = room.size
    axis = 1 if height > width else 0
    low, high = room.span(axis)
    low = low + smallest + THICKNESS / 2
    high = high - smallest - THICKNESS / 2
    if low >= high:
        return None
    for _ in range(_MAX_TRIES):
        position = round(float(rng.uniform(low, high)), 2)
        if not any(_is_blocked(doorway, room, axis, position) for doorway in plan.doorways):
            return _add_wall(plan, room, axis, position, rng)
    return None


def _is_blocked(doorway: Doorway, room: Room, axis: int, position: float) -> bool:
    """Return whether a new wall of the room, at ``position`` on the axis, would end in the doorway or close to it."""
    room_with_walls = room.shrink_by(-THICKNESS)
    is_in_end_wall = doorway.axis != axis and room_with_walls.contains((doorway.x, doorway.y))
    if not is_in_end_wall:
        return False
    doorway_position = doorway.x if axis == 0 else doorway.y
    min_distance = doorway.width / 2 + _MIN_BESIDE_DOORWAY + THICKNESS / 2
    return abs(doorway_position - position) < min_distance


def _add_wall(plan: FloorPlan, room: Room, axis: int, position: float, rng: Generator) -> FloorPlan:
    """Return the plan with the room divided in two by a wall at ``position`` on the axis; the wall has a doorway."""
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
    """Return (doorway, two pieces of wall) for a new wall at ``position`` on the axis.

    The wall goes from ``low`` to ``high`` on the other axis.
    """
    width = round(float(rng.uniform(*DOORWAYS)), 2)
    edge = width / 2 + _MIN_BESIDE_DOORWAY
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
    """Return the (x, y) whose coordinate is ``position`` on the axis and ``along`` on the other axis."""
    return (position, along) if axis == 0 else (along, position)
