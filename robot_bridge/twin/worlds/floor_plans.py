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

    def within(self, margin: float) -> Room:
        """The part that lies so far from the walls."""
        return Room(self.x0 + margin, self.y0 + margin, self.x1 - margin, self.y1 - margin)

    def contains(self, point: Point) -> bool:
        return self.x0 <= point[0] <= self.x1 and self.y0 <= point[1] <= self.y1

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


def enclosed(width: float, height: float) -> FloorPlan:
    """One room whose south-west corner is the origin."""
    t = THICKNESS
    walls = (
        Wall(-t, -t, width + t, 0.0),
        Wall(-t, height, width + t, height + t),
        Wall(-t, 0.0, 0.0, height),
        Wall(width, 0.0, width + t, height),
    )
    return FloorPlan((Room(0.0, 0.0, width, height),), (), walls)


def divided(plan: FloorPlan, rng: Generator, rooms: int, smallest: float = 2.2) -> FloorPlan:
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
    for _ in range(_TRIES if low < high else 0):
        position = round(float(rng.uniform(low, high)), 2)
        if not any(_meets(doorway, room, axis, position) for doorway in plan.doorways):
            return _with_wall(plan, room, axis, position, rng)
    return None


def _meets(doorway: Doorway, room: Room, axis: int, position: float) -> bool:
    """Whether a new wall of the room would end in or close to a doorway."""
    at = (doorway.x, doorway.y)[axis]
    is_ours = doorway.axis != axis and room.within(-THICKNESS).contains((doorway.x, doorway.y))
    return is_ours and abs(at - position) < doorway.width / 2 + _BESIDE_DOORWAY + THICKNESS / 2


def _with_wall(plan: FloorPlan, room: Room, axis: int, position: float, rng: Generator) -> FloorPlan:
    low, high = room.span(1 - axis)
    doorway, walls = _wall_with_doorway(axis, position, low, high, rng)
    half = THICKNESS / 2
    first, last = room.span(axis)
    halves = (
        Room(*_at(axis, first, low), *_at(axis, position - half, high)),
        Room(*_at(axis, position + half, low), *_at(axis, last, high)),
    )
    others = tuple(other for other in plan.rooms if other != room)
    return FloorPlan((*others, *halves), (*plan.doorways, doorway), (*plan.walls, *walls))


def _wall_with_doorway(
    axis: int, position: float, low: float, high: float, rng: Generator
) -> tuple[Doorway, tuple[Wall, Wall]]:
    """A wall at ``position`` on an axis, from ``low`` to ``high`` on the other."""
    width = round(float(rng.uniform(*DOORWAYS)), 2)
    half = THICKNESS / 2
    edge = width / 2 + _BESIDE_DOORWAY
    along = round(float(rng.uniform(low + edge, high - edge)), 2)
    before = Wall(*_at(axis, position - half, low), *_at(axis, position + half, along - width / 2))
    beyond = Wall(*_at(axis, position - half, along + width / 2), *_at(axis, position + half, high))
    return Doorway(*_at(axis, position, along), width, axis), (before, beyond)


def _at(axis: int, position: float, along: float) -> Point:
    """The point at ``position`` on an axis (0: x, 1: y) and ``along`` on the other."""
    return (position, along) if axis == 0 else (along, position)
