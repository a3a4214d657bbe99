"""Floor plans by well-known methods, on any tiling: each draws the cells that are not wall.

Mazes by the recursive backtracker (Jamis Buck, "Mazes for Programmers", 2015), rooms by binary space partition.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gridworld.generating.floor import Floor
from gridworld.rules.tilings import SQUARE, Cell, Tiling

Plan: TypeAlias = Callable[[random.Random, Tiling, int, int], set[Cell]]

SMALLEST: Final = 6
LARGEST: Final = 18


def draw_floor(rng: random.Random, tiling: Tiling, name: str, least: int, greatest: int) -> Floor:
    """A floor of the named plan, mirrored and turned where the tiling allows it.

    Args:
        least, greatest: bounds of width and height, border included.
    """
    width = rng.randint(least, greatest)
    height = rng.randint(max(least, 7), greatest)
    if rng.random() < 0.5:
        width, height = height, width
    if name in ON_LATTICE:
        width, height = (
            size + 1 if size % 2 == 0 and size < LARGEST else size - (1 - size % 2) for size in (width, height)
        )
    cells = PLANS[name](rng, tiling, width, height)
    if tiling is not SQUARE:
        return Floor(tiling, width, height, cells, name)
    if rng.random() < 0.5:
        cells = {(width - 1 - x, y) for x, y in cells}
    if rng.random() < 0.5:
        cells = {(x, height - 1 - y) for x, y in cells}
    if rng.random() < 0.5:
        width, height, cells = height, width, {(y, x) for x, y in cells}
    return Floor(tiling, width, height, cells, name)


def inside(width: int, height: int) -> set[Cell]:
    """Every cell but the border."""
    return {(x, y) for x in range(1, width - 1) for y in range(1, height - 1)}


def maze(rng: random.Random, tiling: Tiling, width: int, height: int) -> set[Cell]:
    """A maze without loops: corridors of one cell between walls of one cell."""
    room = inside(width, height)
    carved = {(1, 1)}
    stack = [(1, 1)]
    while stack:
        steps = ((heading, tiling.ahead(stack[-1], heading)) for heading in range(tiling.headings))
        ways = [(between, tiling.ahead(between, heading)) for heading, between in steps]
        ways = [way for way in ways if way[1] in room and way[1] not in carved]
        if not ways:
            stack.pop()
            continue
        way = rng.choice(ways)
        carved.update(way)
        stack.append(way[1])
    return carved


def braided_maze(rng: random.Random, tiling: Tiling, width: int, height: int) -> set[Cell]:
    """A maze with a few walls opened, so that some ways are loops."""
    carved = maze(rng, tiling, width, height)
    half = tiling.headings // 2
    openings = [
        cell
        for cell in sorted(inside(width, height) - carved)
        if any(
            {tiling.ahead(cell, way), tiling.ahead(cell, way + half)} <= carved
            and sum(near in carved for near in tiling.neighbours(cell)) == 2
            for way in range(half)
        )
    ]
    return carved | set(rng.sample(openings, min(len(openings), rng.randint(1, max(1, len(openings) // 6)))))


def rooms(rng: random.Random, tiling: Tiling, width: int, height: int) -> set[Cell]:
    """Rooms by binary space partition: every wall that parts a room has one doorway, few have a second."""
    walls = set[Cell]()
    doorways = set[Cell]()
    pending = [(1, 1, width - 2, height - 2)]
    while pending:
        left, top, right, bottom = pending.pop()
        lines = [[(x, y) for y in range(top, bottom + 1)] for x in range(left + 2, right - 1)]
        lines += [[(x, y) for x in range(left, right + 1)] for y in range(top + 2, bottom - 1)]
        small = right - left < 6 and bottom - top < 6
        beside = {near for doorway in doorways for near in tiling.neighbours(doorway)}
        lines = [line for line in lines if beside.isdisjoint(line)]
        if not lines or (small and rng.random() < 0.3):
            continue
        line = rng.choice(lines)
        walls.update(line)
        doorways.update(rng.sample(line[1:-1] or line, 2 if len(line) > 6 and rng.random() < 0.1 else 1))
        x, y = line[0]
        last_x, _ = line[-1]
        if x == last_x:
            pending += [(left, top, x - 1, bottom), (x + 1, top, right, bottom)]
        else:
            pending += [(left, top, right, y - 1), (left, y + 1, right, bottom)]
    return inside(width, height) - (walls - doorways)


def vaults(rng: random.Random, _: Tiling, width: int, height: int) -> set[Cell]:
    """A corridor, itself parted here and there, with rooms on both sides, each with a doorway of its own."""
    breadth = rng.choice((1, 1, 2, 3)) if height >= 9 else 1
    top = rng.randint(3, height - 4 - breadth) if height - 4 - breadth >= 3 else 2
    bottom = top + breadth - 1
    carved = {(x, y) for x in range(1, width - 1) for y in range(top, bottom + 1)}
    for column in range(rng.randint(4, 6), width - 4, rng.randint(4, 6)):
        if rng.random() < 0.5:
            carved -= {(column, y) for y in range(top, bottom + 1)} - {(column, rng.randint(top, bottom))}
    for first, last, wall in ((1, top - 2, top - 1), (bottom + 2, height - 2, bottom + 1)):
        left = 1
        while first <= last and left < width - 1:
            right = min(left + rng.randint(1, 4), width - 2)
            right = width - 2 if width - 2 - right < 2 else right
            carved |= {(x, y) for x in range(left, right + 1) for y in range(first, last + 1)}
            doorways = [x for x in range(left, right + 1) if sum(y in carved for y in ((x, top), (x, bottom))) == 2]
            if doorways:
                carved.add((rng.choice(doorways), wall))
            left = right + 2
    return carved


def serpentine(rng: random.Random, _: Tiling, width: int, height: int) -> set[Cell]:
    """One winding way: rows of wall, open at alternate ends."""
    carved = inside(width, height)
    at_left = rng.random() < 0.5
    row = 0
    while (row := row + rng.choice((2, 2, 3))) < height - 2:
        carved -= {(x, row) for x in range(1, width - 1)} - {(1 if at_left else width - 2, row)}
        at_left = not at_left
    return carved


def hall(rng: random.Random, tiling: Tiling, width: int, height: int) -> set[Cell]:
    """One open room with some pillars and short walls."""
    carved = inside(width, height)
    for _ in range(rng.randint(0, len(carved) // 12)):
        cell = rng.choice(sorted(carved))
        heading = rng.randrange(tiling.headings)
        for _ in range(rng.randint(1, 3)):
            carved.discard(cell)
            cell = tiling.ahead(cell, heading)
    return carved


ON_LATTICE: Final = frozenset({"maze", "braided_maze"})
"""Plans that fill odd widths and heights best."""

PLANS: Final[Mapping[str, Plan]] = {
    plan.__name__: plan for plan in (maze, braided_maze, rooms, vaults, serpentine, hall)
}
