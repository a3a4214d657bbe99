"""Floor plans by well-known methods, on any tiling.

Each plan is a function of (random generator, tiling, width, height) that returns the cells that are not wall. Mazes
use the recursive backtracker (Jamis Buck, "Mazes for Programmers", 2015); rooms use binary space partition.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from gridworld.generating.floor import Floor
from gridworld.rules.tilings import SQUARE, Cell, Tiling

Plan: TypeAlias = Callable[[random.Random, Tiling, int, int], set[Cell]]

MIN_SIZE: Final = 6
MAX_SIZE: Final = 18


def draw_floor(rng: random.Random, tiling: Tiling, name: str, least: int, greatest: int) -> Floor:
    """Return a random floor with the plan ``name``; on the square tiling, it is mirrored and transposed at random.

    Args:
        least, greatest: bounds of width and height, in cells, border included.
    """
    width = rng.randint(least, greatest)
    height = rng.randint(max(least, 7), greatest)
    if rng.random() < 0.5:
        width, height = height, width
    if name in ON_LATTICE:
        width = _make_odd(width)
        height = _make_odd(height)
    cells = PLANS[name](rng, tiling, width, height)
    if tiling is not SQUARE:
        return Floor(tiling, width, height, cells, name)
    if rng.random() < 0.5:
        cells = {(width - 1 - x, y) for x, y in cells}
    if rng.random() < 0.5:
        cells = {(x, height - 1 - y) for x, y in cells}
    if rng.random() < 0.5:
        width, height = height, width
        cells = {(y, x) for x, y in cells}
    return Floor(tiling, width, height, cells, name)


def _make_odd(size: int) -> int:
    """Return an odd size unchanged; return an even size plus 1, or minus 1 if plus 1 would exceed ``MAX_SIZE``."""
    if size % 2:
        return size
    return size + 1 if size < MAX_SIZE else size - 1


def inside(width: int, height: int) -> set[Cell]:
    """Return all cells of a grid except the border."""
    return _rectangle(1, 1, width - 2, height - 2)


def _rectangle(left: int, top: int, right: int, bottom: int) -> set[Cell]:
    """Return the cells of a rectangle; all four bounds are inclusive."""
    return {(x, y) for x in range(left, right + 1) for y in range(top, bottom + 1)}


def _column(x: int, top: int, bottom: int) -> list[Cell]:
    """Return the cells of a column, from row ``top`` to row ``bottom`` inclusive."""
    return [(x, y) for y in range(top, bottom + 1)]


def _row(y: int, left: int, right: int) -> list[Cell]:
    """Return the cells of a row, from column ``left`` to column ``right`` inclusive."""
    return [(x, y) for x in range(left, right + 1)]


def maze(rng: random.Random, tiling: Tiling, width: int, height: int) -> set[Cell]:
    """Draw a maze without loops, by the recursive backtracker; corridors and walls are one cell wide."""
    room = inside(width, height)
    carved = {(1, 1)}
    stack = [(1, 1)]
    while stack:
        ways: list[tuple[Cell, Cell]] = []
        for heading in range(tiling.headings):
            between = tiling.ahead(stack[-1], heading)
            beyond = tiling.ahead(between, heading)
            if beyond in room and beyond not in carved:
                ways.append((between, beyond))
        if not ways:
            stack.pop()
            continue

        between, beyond = rng.choice(ways)
        carved.update((between, beyond))
        stack.append(beyond)
    return carved


def braided_maze(rng: random.Random, tiling: Tiling, width: int, height: int) -> set[Cell]:
    """Draw a maze, and open a few of its walls so that the maze has loops."""
    carved = maze(rng, tiling, width, height)
    walls = sorted(inside(width, height) - carved)
    candidates = [cell for cell in walls if _joins(tiling, cell, carved)]
    most = max(1, len(candidates) // 6)
    count = min(len(candidates), rng.randint(1, most))
    return carved | set(rng.sample(candidates, count))


def _joins(tiling: Tiling, wall: Cell, carved: set[Cell]) -> bool:
    """Return whether exactly two neighbours of a wall are floor, on opposite sides of the wall."""
    neighbours = tiling.neighbours(wall)
    if sum(near in carved for near in neighbours) != 2:
        return False
    half_turn = tiling.headings // 2
    axes = zip(neighbours[:half_turn], neighbours[half_turn:], strict=True)
    return any(near in carved and opposite in carved for near, opposite in axes)


def rooms(rng: random.Random, tiling: Tiling, width: int, height: int) -> set[Cell]:
    """Draw rooms by binary space partition; each wall between rooms has one doorway, a few walls have two."""
    walls: set[Cell] = set()
    doorways: set[Cell] = set()
    pending = [(1, 1, width - 2, height - 2)]
    while pending:
        left, top, right, bottom = pending.pop()
        lines = [_column(x, top, bottom) for x in range(left + 2, right - 1)]
        lines += [_row(y, left, right) for y in range(top + 2, bottom - 1)]
        # A new wall must not block the doorway of an older wall.
        beside_doorways = {near for doorway in doorways for near in tiling.neighbours(doorway)}
        lines = [line for line in lines if beside_doorways.isdisjoint(line)]
        is_small = right - left < 6 and bottom - top < 6
        if not lines or (is_small and rng.random() < 0.3):
            continue

        line = rng.choice(lines)
        walls.update(line)
        count = 2 if len(line) > 6 and rng.random() < 0.1 else 1
        without_ends = line[1:-1] or line
        doorways.update(rng.sample(without_ends, count))

        x, y = line[0]
        last_x, _ = line[-1]
        is_column = x == last_x
        if is_column:
            pending.append((left, top, x - 1, bottom))
            pending.append((x + 1, top, right, bottom))
        else:
            pending.append((left, top, right, y - 1))
            pending.append((left, y + 1, right, bottom))
    return inside(width, height) - (walls - doorways)


def vaults(rng: random.Random, _: Tiling, width: int, height: int) -> set[Cell]:
    """Draw a horizontal corridor with rooms above and below.

    Each room has one doorway to the corridor. Walls with a gap may divide the corridor.
    """
    breadth = rng.choice((1, 1, 2, 3)) if height >= 9 else 1
    lowest = height - 4 - breadth
    top = rng.randint(3, lowest) if lowest >= 3 else 2
    bottom = top + breadth - 1
    carved = _rectangle(1, top, width - 2, bottom)

    first_column = rng.randint(4, 6)
    spacing = rng.randint(4, 6)
    for column in range(first_column, width - 4, spacing):
        if rng.random() < 0.5:
            gap = rng.randint(top, bottom)
            carved -= set(_column(column, top, bottom)) - {(column, gap)}

    # Rows of the rooms, and the row of the wall between the rooms and the corridor.
    above = (1, top - 2, top - 1)
    below = (bottom + 2, height - 2, bottom + 1)
    rightmost = width - 2
    for first, last, wall in (above, below):
        left = 1
        while first <= last and left <= rightmost:
            right = min(left + rng.randint(1, 4), rightmost)
            if rightmost - right < 2:  # no space for a wall and another room
                right = rightmost
            carved |= _rectangle(left, first, right, last)
            doorways = [x for x in range(left, right + 1) if (x, top) in carved and (x, bottom) in carved]
            if doorways:
                carved.add((rng.choice(doorways), wall))
            left = right + 2
    return carved


def serpentine(rng: random.Random, _: Tiling, width: int, height: int) -> set[Cell]:
    """Draw one winding corridor between rows of wall, which are open at alternate ends."""
    carved = inside(width, height)
    open_at_left = rng.random() < 0.5
    row = rng.choice((2, 2, 3))
    while row < height - 2:
        opening = 1 if open_at_left else width - 2
        carved -= set(_row(row, 1, width - 2)) - {(opening, row)}
        open_at_left = not open_at_left
        row += rng.choice((2, 2, 3))
    return carved


def hall(rng: random.Random, tiling: Tiling, width: int, height: int) -> set[Cell]:
    """Draw one open room with some pillars and short walls."""
    carved = inside(width, height)
    for _ in range(rng.randint(0, len(carved) // 12)):
        cell = rng.choice(sorted(carved))
        heading = rng.randrange(tiling.headings)
        for _ in range(rng.randint(1, 3)):
            carved.discard(cell)
            cell = tiling.ahead(cell, heading)
    return carved


ON_LATTICE: Final = frozenset({"maze", "braided_maze"})
"""Plans that carve every second cell and so need odd widths and heights."""

PLANS: Final[Mapping[str, Plan]] = {
    plan.__name__: plan for plan in (maze, braided_maze, rooms, vaults, serpentine, hall)
}
