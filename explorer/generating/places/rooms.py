"""Lay out the areas of a plan: rooms on a grid, and the passages between the rooms.

An area is a room of the plan; its parent is the area from which it is entered, through a gate. The first area is a hall
or a corridor. A place is a position (x, z) on the coarse grid.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Final

from explorer.generating.places.draft import Box
from explorer.generating.plans.gadgets import CLIFF
from explorer.generating.plans.plan import Area, Gate, Plan, RejectedDraw
from explorer.scene import Cell

MARGIN: Final = 2
"""Number of cells of masonry between the rooms and the sides of the scene."""
DEPTHS: Final = {"moat": 8, "trench": 8}
"""Kind of gate -> depth in cells, below the feet, that the gate needs; for all other kinds, :data:`MARGIN` is enough.
"""
LENGTHS: Final = {
    "open": 3,
    "iron_door": 4,
    "wooden_door": 3,
    "plug": 4,
    "moat": 10,
    "ledge": 7,
    "trench": 5,
    "stairs": 6,
    "maze": 7,
}
"""Kind of gate -> least number of cells between the two rooms that the gate connects."""
RISES: Final = {"ledge": CLIFF + 1, "stairs_up": 4, "stairs_down": -4}
"""Gadget (name of a gate) -> how many cells the area behind it lies above the parent area; 0 for all other gadgets."""
_HALF_WIDTHS: Final[dict[str, tuple[int, ...]]] = {
    "moat": (1, 2),
    "trench": (0, 1, 2),
    "open": (0, 1),
    "ledge": (1, 2),
    "stairs": (1,),
    "maze": (2,),
}
"""Kind of gate -> possible numbers of cells on either side of the passage's middle; for all other kinds, 0."""
STEPS: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))
"""Offsets (x, z) from a column or place to its four neighbours."""
Spot = tuple[int, int]
"""(x, z): either a place on the coarse grid of rooms, or a column of cells."""


@dataclass(slots=True, eq=False)
class Room:
    """An area with a place in the scene.

    Attributes:
        spots: places on the grid that the room occupies.
        inside: box of the room's open cells.
    """

    area: Area
    spots: tuple[Spot, ...]
    inside: Box = field(default_factory=lambda: Box((0, 0, 0), (0, 0, 0)))

    @property
    def floor(self) -> int:
        """Level y of the feet of a body that stands on the floor."""
        return self.inside.least[1]

    @property
    def columns(self) -> list[Spot]:
        """All columns (x, z) of open cells, ordered by z from the north, then by x from the west."""
        west, _, north = self.inside.least
        east, _, south = self.inside.most
        return [(x, z) for z in range(north, south + 1) for x in range(west, east + 1)]

    def is_on_edge(self, spot: Spot) -> bool:
        """Return whether a column of the room adjoins a wall."""
        west, _, north = self.inside.least
        east, _, south = self.inside.most
        x, z = spot
        return x in (west, east) or z in (north, south)


@dataclass(slots=True, eq=False)
class Passage:
    """The tunnel from a parent room through a gate to a child room.

    Attributes:
        lanes: rows across the passage, from the parent room to the child room; each row is a list of columns (x, z).
        first, last: indices in ``lanes`` of the first and last row that the gate occupies.
    """

    gate: Gate
    parent: Room
    child: Room
    lanes: list[list[Spot]]
    first: int = 1
    last: int = 1

    @property
    def middle(self) -> list[Spot]:
        """The middle column (x, z) of each row, from the parent room to the child room."""
        return [row[len(row) // 2] for row in self.lanes]


@dataclass(slots=True, eq=False)
class Layout:
    """All rooms and passages of a scene.

    Attributes:
        rooms: room of each area, by the area's number.
        passages: number of an area -> the passage from its parent to this area.
        size: number of cells of the scene along x, y and z.
    """

    rooms: list[Room]
    passages: dict[int, Passage]
    size: Cell


def lay_out(rng: random.Random, plan: Plan) -> Layout:
    """Place the areas of a plan; return their rooms and passages.

    Raises:
        RejectedDraw: the areas do not fit on the grid.
    """
    spots = _embed_areas(rng, plan)
    rooms = [Room(area, spots[area.number]) for area in plan.areas]
    first_floor = max(_measure_depth(area) for area in plan.areas)
    columns = _Bands(rng, rooms, axis=0)
    rows = _Bands(rng, rooms, axis=1)

    for room in rooms:
        floor = first_floor + _measure_rise(room.area)
        west, east = columns.draw_span(room)
        north, south = rows.draw_span(room)
        height = rng.choice((3, 3, 4))
        room.inside = Box((west, floor, north), (east, floor + height, south))

    passages = {}
    for room in rooms:
        if room.area.gate:
            passages[room.area.number] = _lay_passage(rng, rooms, room, columns, rows)
    top = max(room.inside.most[1] for room in rooms)
    size = (columns.end + MARGIN, top + 4, rows.end + MARGIN)
    return Layout(rooms, passages, size)


def _measure_rise(area: Area) -> int:
    """Return how many cells an area lies above the first area; negative if it lies lower."""
    gates = [each.gate for each in area.walk_to_root() if each.gate is not None]
    return sum(RISES.get(gate.gadget, 0) for gate in gates)


def _measure_depth(area: Area) -> int:
    """Return how many cells an area and its gate need below the level of the first area."""
    if area.parent is None or area.gate is None:
        return MARGIN
    below_room = MARGIN - _measure_rise(area)
    below_gate = DEPTHS.get(area.gate.kind, 0) - _measure_rise(area.parent)
    return max(below_room, below_gate)


def _embed_areas(rng: random.Random, plan: Plan) -> list[tuple[Spot, ...]]:
    """Return the places of each area on the grid, by the area's number; each child adjoins its parent.

    The first area may be a corridor of up to three places; every other area occupies one place.

    Raises:
        RejectedDraw: in each of 30 draws, some area finds no free place.
    """
    for _ in range(30):
        children = sum(area.parent is plan.areas[0] for area in plan.areas)
        corridor_length = rng.choice((1, 1, 2, 3)) if children > 1 else 1
        corridor = tuple((number, 0) for number in range(corridor_length))

        places: list[tuple[Spot, ...]] = [corridor]
        used = set(corridor)
        for area in plan.areas[1:]:
            parent, _ = area.entrance
            sides = [(x + i, z + j) for x, z in places[parent.number] for i, j in STEPS]
            free = [spot for spot in sides if spot not in used]
            if not free:
                break
            spot = rng.choice(free)
            places.append((spot,))
            used.add(spot)
        else:
            # Every area has a place.
            return places
    raise RejectedDraw("rooms: no place on the grid")


class _Bands:
    """Coordinates of the lines of the grid along one axis.

    A line is a column (axis 0) or a row (axis 1) of the grid, and as wide as its widest room. After each line comes a
    band of masonry, as wide as the longest passage across it.

    Attributes:
        end: first coordinate after the last line and its band.
    """

    def __init__(self, rng: random.Random, rooms: list[Room], axis: int) -> None:
        self._axis = axis
        self._rng = rng
        self._room_widths = {id(room): self._draw_width(rng, room) for room in rooms}
        self._starts: dict[int, int] = {}
        self._widths: dict[int, int] = {}

        lines: set[int] = set()
        for room in rooms:
            lines.update(self._find_lines(room))
        start = MARGIN
        for line in sorted(lines):
            rooms_on_line = [room for room in rooms if line in self._find_lines(room)]
            width = max(self._room_widths[id(room)] for room in rooms_on_line)
            self._starts[line] = start
            self._widths[line] = width

            crossing_gates = [room.area.entrance[1] for room in rooms if self._crosses(room, rooms, line)]
            start += width + max((LENGTHS[gate.kind] for gate in crossing_gates), default=3)
        self.end = start

    def _find_lines(self, room: Room) -> list[int]:
        """Return the indices of the lines on which a room lies, in ascending order."""
        return sorted({spot[self._axis] for spot in room.spots})

    def _draw_width(self, rng: random.Random, room: Room) -> int:
        """Draw the width of a room in cells, along the axis.

        A corridor is 5 cells wide across its length. A first room that is not a corridor is wider than other rooms.
        """
        is_corridor = len(room.spots) > 1
        if is_corridor and len(self._find_lines(room)) == 1:
            return 5
        width = rng.choice((7, 8, 9, 9, 10, 11))
        if room.area.number == 0 and not is_corridor:
            width += 2
        return width

    def _crosses(self, room: Room, rooms: list[Room], line: int) -> bool:
        """Return whether the passage to ``room`` from its parent crosses the band after the line ``line``."""
        if room.area.parent is None:
            return False
        parent = rooms[room.area.parent.number]
        lines_of_ends = {spot[self._axis] for spot in find_adjoining_spots(parent, room)}
        return lines_of_ends == {line, line + 1}

    def middle(self, line: int) -> int:
        """Return the coordinate in the middle of a line; every room on the line also covers 2 cells on either side of
        it.
        """
        return self._starts[line] + self._widths[line] // 2

    def draw_span(self, room: Room) -> tuple[int, int]:
        """Draw the position of a room; return its first and last coordinate along the axis."""
        lines = self._find_lines(room)
        start = self._starts[lines[0]]
        end = self._starts[lines[-1]] + self._widths[lines[-1]]
        if len(lines) > 1:
            return start, end - 1

        # A room that is narrower than its line lies at a random position that includes the middle of the line.
        width = self._room_widths[id(room)]
        middle = self.middle(lines[0])
        least = max(start, middle + 3 - width)
        most = min(end - width, middle - 2)
        first = self._rng.randint(least, max(least, most))
        return first, first + width - 1


def find_adjoining_spots(parent: Room, child: Room) -> tuple[Spot, Spot]:
    """Return two adjoining places on the grid: a place of the parent, then the place of the child."""
    child_x, child_z = child.spots[0]
    adjoining = [(x, z) for x, z in parent.spots if abs(x - child_x) + abs(z - child_z) == 1]
    return adjoining[0], (child_x, child_z)


def _lay_passage(rng: random.Random, rooms: list[Room], child: Room, columns: _Bands, rows: _Bands) -> Passage:
    """Return a straight passage to ``child`` from its parent; its width and its offset to the side are random.

    Args:
        columns, rows: the lines of the grid along x and along z.
    """
    parent_area, gate = child.area.entrance
    parent = rooms[parent_area.number]
    start, end = find_adjoining_spots(parent, child)
    along_x = start[1] == end[1]
    middle = rows.middle(end[1]) if along_x else columns.middle(end[0])
    positions = _list_positions_between(parent.inside, child.inside, axis=0 if along_x else 2, forward=end > start)

    # Both rooms cover 2 cells on either side of the middle; the passage stays within these cells.
    half = rng.choice(_HALF_WIDTHS.get(gate.kind, (0,)))
    middle += rng.randint(half - 2, 2 - half)
    across = range(middle - half, middle + half + 1)
    lanes = []
    for position in positions:
        row = [(position, z) for z in across] if along_x else [(x, position) for x in across]
        lanes.append(row)
    return Passage(gate, parent, child, lanes)


def _list_positions_between(parent: Box, child: Box, axis: int, *, forward: bool) -> range:
    """Return the coordinates along an axis of the cells between two rooms, in the direction from parent to child.

    Args:
        forward: whether the child has greater coordinates than the parent.
    """
    if forward:
        return range(parent.most[axis] + 1, child.least[axis])
    return range(parent.least[axis] - 1, child.most[axis], -1)
