"""Lay out areas: rooms on a grid, around a hall or along a corridor, and the passages between them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Final

from explorer.generating.places.draft import Box
from explorer.generating.plans.gadgets import CLIFF
from explorer.generating.plans.plan import Area, Gate, Plan, Unfit
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

    def on_edge(self, spot: Spot) -> bool:
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
        Unfit: there is no room for them on the grid.
    """
    spots = _embed(rng, plan)
    rooms = [Room(area, spots[area.number]) for area in plan.areas]
    base = max(_depth(area) for area in plan.areas)
    columns = _Bands(rng, rooms, axis=0)
    rows = _Bands(rng, rooms, axis=1)
    for room in rooms:
        floor = base + _rise(room.area)
        x, u = columns.span(room)
        z, w = rows.span(room)
        room.inside = Box((x, floor, z), (u, floor + rng.choice((3, 3, 4)), w))
    passages = {room.area.number: _passage(rng, rooms, room, columns, rows) for room in rooms if room.area.gate}
    top = max(room.inside.most[1] for room in rooms)
    return Layout(rooms, passages, (columns.end + MARGIN, top + 4, rows.end + MARGIN))


def _rise(area: Area) -> int:
    """Return how far an area lies above the first one."""
    return sum(RISES.get(each.gate.gadget, 0) for each in area.way() if each.gate is not None)


def _depth(area: Area) -> int:
    """Return how far the masonry below an area reaches down from the level of the first area."""
    if area.parent is None or area.gate is None:
        return MARGIN
    return max(MARGIN - _rise(area), DEPTHS.get(area.gate.kind, 0) - _rise(area.parent))


def _embed(rng: random.Random, plan: Plan) -> list[tuple[Spot, ...]]:
    """Return the grid places of each area; each child lies beside its parent."""
    for _ in range(30):
        children = sum(area.parent is plan.areas[0] for area in plan.areas)
        long = rng.choice((1, 1, 2, 3)) if children > 1 else 1
        taken: list[tuple[Spot, ...]] = [tuple((number, 0) for number in range(long))]
        used = set(taken[0])
        for area in plan.areas[1:]:
            parent, _ = area.entrance
            sides = [(x + i, z + j) for x, z in taken[parent.number] for i, j in STEPS]
            free = [spot for spot in sides if spot not in used]
            if not free:
                break
            taken.append((rng.choice(free),))
            used.update(taken[-1])
        else:
            return taken
    raise Unfit("rooms: no place on the grid")


class _Bands:
    """Widths of the grid's lines and of the masonry between them, along one axis."""

    def __init__(self, rng: random.Random, rooms: list[Room], axis: int) -> None:
        self._axis = axis
        self._rng = rng
        lines = sorted({spot[axis] for room in rooms for spot in room.spots})
        self._wide = {id(room): self._width(rng, room) for room in rooms}
        start = MARGIN
        self._starts = {}
        self._widths = {}
        for line in lines:
            width = max(self._wide[id(room)] for room in rooms for spot in room.spots if spot[axis] == line)
            self._starts[line] = start
            self._widths[line] = width
            start += width + max(
                [3, *(LENGTHS[room.area.entrance[1].kind] for room in rooms if self._crosses(room, rooms, line))]
            )
        self.end = start

    def _width(self, rng: random.Random, room: Room) -> int:
        along = len({spot[self._axis] for spot in room.spots})
        if along == 1 and len(room.spots) > 1:
            return 5
        return rng.choice((7, 8, 9, 9, 10, 11)) + 2 * (room.area.number == 0 and len(room.spots) == 1)

    def _crosses(self, room: Room, rooms: list[Room], line: int) -> bool:
        """Return whether the passage to a room crosses the band after a line."""
        if room.area.parent is None:
            return False
        ends = neighbours(rooms[room.area.parent.number], room)
        return {spot[self._axis] for spot in ends} == {line, line + 1}

    def middle(self, line: int) -> int:
        """Return the coordinate that every room on a line contains, with 2 cells to spare on both sides."""
        return self._starts[line] + self._widths[line] // 2

    def span(self, room: Room) -> tuple[int, int]:
        """Return the first and last coordinate of a room."""
        lines = sorted({spot[self._axis] for spot in room.spots})
        if len(lines) > 1:
            return self._starts[lines[0]], self._starts[lines[-1]] + self._widths[lines[-1]] - 1
        width = self._wide[id(room)]
        line = lines[0]
        start = self._starts[line]
        most = self._starts[line] + self._widths[line] - width
        middle = self.middle(line)
        least = max(start, middle + 3 - width)
        first = self._rng.randint(least, max(least, min(most, middle - 2)))
        return first, first + width - 1


def neighbours(parent: Room, child: Room) -> tuple[Spot, Spot]:
    """Return the grid places where two rooms adjoin, the parent's first."""
    spot = child.spots[0]
    near = [each for each in parent.spots if abs(each[0] - spot[0]) + abs(each[1] - spot[1]) == 1]
    return near[0], spot


def _passage(rng: random.Random, rooms: list[Room], child: Room, columns: _Bands, rows: _Bands) -> Passage:
    before, gate = child.area.entrance
    parent = rooms[before.number]
    start, end = neighbours(parent, child)
    along = 0 if start[1] == end[1] else 1
    across = (rows if along == 0 else columns).middle(end[1 - along])
    forward = end[along] > start[along]
    near = (parent.inside.most if forward else parent.inside.least)[2 * along]
    far = (child.inside.least if forward else child.inside.most)[2 * along]
    line = range(near + 1, far) if forward else range(near - 1, far, -1)
    wide = {"moat": (1, 2), "trench": (0, 1, 2), "open": (0, 1), "ledge": (1, 2), "stairs": (1,), "maze": (2,)}
    half = rng.choice(wide.get(gate.kind, (0,)))
    middle = across + rng.randint(half - 2, 2 - half)
    rows_across = [[middle + offset for offset in range(-half, half + 1)] for _ in line]
    lanes = [
        [(at, other) if along == 0 else (other, at) for other in others]
        for at, others in zip(line, rows_across, strict=True)
    ]
    return Passage(gate, parent, child, lanes)
