"""Lay out areas: rooms on a grid, around a hall or along a corridor, and the passages between them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Final

from explorer.generating.places.draft import Box
from explorer.generating.plans.gadgets import CLIFF
from explorer.generating.plans.plan import Area, Gate, Plan, RejectedDraw
from explorer.scene import Cell

MARGIN: Final = 2
DEPTHS: Final = {"moat": 8, "trench": 8}
"""Cells below the feet that a gate needs; all others need 2."""
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
"""Least cells between the rooms on both sides of a gate."""
RISES: Final = {"ledge": CLIFF + 1, "stairs_up": 4, "stairs_down": -4}
_HALF_WIDTHS: Final[dict[str, tuple[int, ...]]] = {
    "moat": (1, 2),
    "trench": (0, 1, 2),
    "open": (0, 1),
    "ledge": (1, 2),
    "stairs": (1,),
    "maze": (2,),
}
"""Cells that a passage may reach to either side of its middle column; all others are 1 cell wide."""
STEPS: Final = ((1, 0), (-1, 0), (0, 1), (0, -1))
Spot = tuple[int, int]
"""A place on the grid, or a column of cells (x, z)."""


@dataclass(slots=True, eq=False)
class Room:
    """A placed area.

    Attributes:
        inside: its open cells.
        spots: places on the grid that it occupies.
    """

    area: Area
    spots: tuple[Spot, ...]
    inside: Box = field(default_factory=lambda: Box((0, 0, 0), (0, 0, 0)))

    @property
    def floor(self) -> int:
        """Level of the feet."""
        return self.inside.least[1]

    @property
    def columns(self) -> list[Spot]:
        """All of its columns (x, z)."""
        x, _, z = self.inside.least
        u, _, w = self.inside.most
        return [(a, b) for b in range(z, w + 1) for a in range(x, u + 1)]

    def is_on_edge(self, spot: Spot) -> bool:
        """Return whether a column touches a wall."""
        x, _, z = self.inside.least
        u, _, w = self.inside.most
        return spot[0] in (x, u) or spot[1] in (z, w)


@dataclass(slots=True, eq=False)
class Passage:
    """The way from a room to the one behind a gate.

    Attributes:
        lanes: rows of columns across it, from the parent's end to the child's.
        first, last: first and last row of the gate.
    """

    gate: Gate
    parent: Room
    child: Room
    lanes: list[list[Spot]]
    first: int = 1
    last: int = 1

    @property
    def middle(self) -> list[Spot]:
        """The columns along its middle."""
        return [row[len(row) // 2] for row in self.lanes]


@dataclass(slots=True, eq=False)
class Layout:
    """All rooms and passages; passages by the number of the area behind them."""

    rooms: list[Room]
    passages: dict[int, Passage]
    size: Cell


def lay_out(rng: random.Random, plan: Plan) -> Layout:
    """Place the areas of a plan.

    Raises:
        RejectedDraw: there is no room for them on the grid.
    """
    spots = _embed_areas(rng, plan)
    rooms = [Room(area, spots[area.number]) for area in plan.areas]
    base = max(_measure_depth(area) for area in plan.areas)
    columns = _Bands(rng, rooms, axis=0)
    rows = _Bands(rng, rooms, axis=1)

    for room in rooms:
        floor = base + _measure_rise(room.area)
        x, u = columns.draw_span(room)
        z, w = rows.draw_span(room)
        height = rng.choice((3, 3, 4))
        room.inside = Box((x, floor, z), (u, floor + height, w))

    passages = {room.area.number: _lay_passage(rng, rooms, room, columns, rows) for room in rooms if room.area.gate}
    top = max(room.inside.most[1] for room in rooms)
    size = (columns.end + MARGIN, top + 4, rows.end + MARGIN)
    return Layout(rooms, passages, size)


def _measure_rise(area: Area) -> int:
    """Return how far an area lies above the first one."""
    gates = [each.gate for each in area.walk_to_root() if each.gate is not None]
    return sum(RISES.get(gate.gadget, 0) for gate in gates)


def _measure_depth(area: Area) -> int:
    """Return how far the masonry below an area reaches down from the level of the first area."""
    if area.parent is None or area.gate is None:
        return MARGIN
    below_room = MARGIN - _measure_rise(area)
    below_gate = DEPTHS.get(area.gate.kind, 0) - _measure_rise(area.parent)
    return max(below_room, below_gate)


def _embed_areas(rng: random.Random, plan: Plan) -> list[tuple[Spot, ...]]:
    """Return the grid places of each area; each child lies beside its parent."""
    for _ in range(30):
        children = sum(area.parent is plan.areas[0] for area in plan.areas)
        long = rng.choice((1, 1, 2, 3)) if children > 1 else 1
        corridor = tuple((number, 0) for number in range(long))

        taken: list[tuple[Spot, ...]] = [corridor]
        used = set(corridor)
        for area in plan.areas[1:]:
            parent, _ = area.entrance
            sides = [(x + i, z + j) for x, z in taken[parent.number] for i, j in STEPS]
            free = [spot for spot in sides if spot not in used]
            if not free:
                break
            spot = rng.choice(free)
            taken.append((spot,))
            used.add(spot)
        else:
            return taken
    raise RejectedDraw("rooms: no place on the grid")


class _Bands:
    """Widths of the grid's lines and of the masonry between them, along one axis."""

    def __init__(self, rng: random.Random, rooms: list[Room], axis: int) -> None:
        self._axis = axis
        self._rng = rng
        self._wide = {id(room): self._draw_width(rng, room) for room in rooms}
        self._starts = {}
        self._widths = {}

        lines: set[int] = set()
        for room in rooms:
            lines.update(self._find_lines(room))
        start = MARGIN
        for line in sorted(lines):
            width = max(self._wide[id(room)] for room in rooms if line in self._find_lines(room))
            self._starts[line] = start
            self._widths[line] = width

            crossing = [room.area.entrance[1] for room in rooms if self._crosses(room, rooms, line)]
            start += width + max((LENGTHS[gate.kind] for gate in crossing), default=3)
        self.end = start

    def _find_lines(self, room: Room) -> list[int]:
        """Return the lines that a room lies on, in order."""
        return sorted({spot[self._axis] for spot in room.spots})

    def _draw_width(self, rng: random.Random, room: Room) -> int:
        """Draw the width of a room; a corridor is narrow across, and a first room is larger."""
        is_corridor = len(room.spots) > 1
        if is_corridor and len(self._find_lines(room)) == 1:
            return 5
        width = rng.choice((7, 8, 9, 9, 10, 11))
        if room.area.number == 0 and not is_corridor:
            width += 2
        return width

    def _crosses(self, room: Room, rooms: list[Room], line: int) -> bool:
        """Return whether the passage to a room crosses the band after a line."""
        if room.area.parent is None:
            return False
        ends = find_adjoining_spots(rooms[room.area.parent.number], room)
        return {spot[self._axis] for spot in ends} == {line, line + 1}

    def middle(self, line: int) -> int:
        """Return the coordinate that every room on a line contains, with 2 cells to spare on both sides."""
        return self._starts[line] + self._widths[line] // 2

    def draw_span(self, room: Room) -> tuple[int, int]:
        """Return the first and last coordinate of a room."""
        lines = self._find_lines(room)
        start = self._starts[lines[0]]
        end = self._starts[lines[-1]] + self._widths[lines[-1]]
        if len(lines) > 1:
            return start, end - 1

        # A room narrower than its line slides along it, but always contains its middle.
        width = self._wide[id(room)]
        middle = self.middle(lines[0])
        least = max(start, middle + 3 - width)
        most = min(end - width, middle - 2)
        first = self._rng.randint(least, max(least, most))
        return first, first + width - 1


def find_adjoining_spots(parent: Room, child: Room) -> tuple[Spot, Spot]:
    """Return the grid places where two rooms adjoin, the parent's first."""
    x, z = child.spots[0]
    near = [(u, w) for u, w in parent.spots if abs(u - x) + abs(w - z) == 1]
    return near[0], (x, z)


def _lay_passage(rng: random.Random, rooms: list[Room], child: Room, columns: _Bands, rows: _Bands) -> Passage:
    before, gate = child.area.entrance
    parent = rooms[before.number]
    start, end = find_adjoining_spots(parent, child)
    along_x = start[1] == end[1]
    middle = rows.middle(end[1]) if along_x else columns.middle(end[0])
    line = _cells_between(parent.inside, child.inside, axis=0 if along_x else 2, forward=end > start)

    half = rng.choice(_HALF_WIDTHS.get(gate.kind, (0,)))
    middle += rng.randint(half - 2, 2 - half)
    across = range(middle - half, middle + half + 1)
    lanes = []
    for at in line:
        row = [(at, z) for z in across] if along_x else [(x, at) for x in across]
        lanes.append(row)
    return Passage(gate, parent, child, lanes)


def _cells_between(parent: Box, child: Box, axis: int, *, forward: bool) -> range:
    """Return the coordinates along an axis of the masonry between two rooms, from the parent on."""
    if forward:
        return range(parent.most[axis] + 1, child.least[axis])
    return range(parent.least[axis] - 1, child.most[axis], -1)
