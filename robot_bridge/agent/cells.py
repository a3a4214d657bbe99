"""From an occupancy map to the cells that an agent of a grid world knows: where they are and what they are (pure).

Cells have edges of 1 m and are counted from the one in which the robot's footprint stood at its start: (rows south,
columns east). An occupancy map tells ground, walls and that something stands in a cell; what it is, and what lies flat
or hangs above, only the camera tells (:mod:`robot_bridge.agent.senses`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from robot_bridge.navigation.mapping import OccupancyMap

Cell = tuple[int, int]

VIEW: Final = 7
"""Side of the window that an agent sees; it stands in the middle of the near side."""
STEPS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""Of a cell (rows, columns) by direction: 0 East, 1 South, 2 West, 3 North."""

OCCUPIED: Final = 65
FREE_BELOW: Final = 45
"""Codes of the map that count as occupied from, as free below."""
FACE: Final = 0.15
"""Metres: returns so near an edge of a cell lie on it, others stand inside."""
_MIDDLE: Final = 0.15
_FACE_SHARE = 0.4
_MIDDLE_SHARE = 0.5
_SEEN_INTO = 0.15
_THING_RETURNS: Final = 3


class Ground(IntEnum):
    """What the lidar says of a cell."""

    UNKNOWN = 0
    FREE = 1
    WALL = 2
    THING = 3


@dataclass(frozen=True, slots=True)
class Lattice:
    """Where the cells lie: ``x``, ``y`` is the middle of cell (0, 0) in the map frame."""

    x: float
    y: float

    def middle(self, cell: Cell) -> tuple[float, float]:
        return self.x + cell[1], self.y - cell[0]

    def cell(self, x: float, y: float) -> Cell:
        """Return the cell in which a point lies."""
        row = int(np.floor(self.y - y + 0.5))
        column = int(np.floor(x - self.x + 0.5))
        return row, column


def next_cell(cell: Cell, direction: int) -> Cell:
    """Return the cell next to a cell in a direction."""
    down, right = STEPS[direction % 4]
    return cell[0] + down, cell[1] + right


@dataclass(frozen=True, slots=True, eq=False)
class Terrain:
    """Ground by cell: ``ground`` uint8 (rows, columns) of :class:`Ground`; its first cell is ``corner``."""

    ground: NDArray[np.uint8]
    corner: Cell

    def ground_at(self, cell: Cell) -> Ground:
        """Return the ground of a cell, unknown outside of what is held."""
        row = cell[0] - self.corner[0]
        column = cell[1] - self.corner[1]
        rows, columns = self.ground.shape
        if 0 <= row < rows and 0 <= column < columns:
            return Ground(int(self.ground[row, column]))
        return Ground.UNKNOWN


def terrain(chart: OccupancyMap, lattice: Lattice) -> Terrain:
    """Return the cells by what the lidar has met in them.

    A cell whose middle was seen free is free, unless there are returns well inside it: then something stands there. A
    cell that shows a face and could not be seen into is a wall. Whatever is seen too little of is unknown.
    """
    rows, columns = np.nonzero(chart.codes >= 0)
    if not len(rows):
        return Terrain(np.zeros((1, 1), np.uint8), (0, 0))
    codes = chart.codes[rows, columns]

    # By point of the map: how far it lies south and east of the north-west corner of cell (0, 0), and in which cell.
    chart_x = chart.x + (columns + 0.5) * chart.resolution
    chart_y = chart.y + (rows + 0.5) * chart.resolution
    east = chart_x - lattice.x + 0.5
    south = lattice.y - chart_y + 0.5
    row = np.floor(south).astype(np.int64)
    column = np.floor(east).astype(np.int64)
    off_row = np.abs(south - row - 0.5)
    off_column = np.abs(east - column - 0.5)
    off_middle = np.maximum(off_row, off_column)

    # One cell of margin on each side.
    north = int(row.min()) - 1
    west = int(column.min()) - 1
    height = int(row.max()) - north + 2
    width = int(column.max()) - west + 2
    shape = (height, width)
    flat = (row - north) * width + column - west

    def count_by_cell(is_counted: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(flat[is_counted], minlength=height * width).reshape(shape)

    points_per_cell = 1.0 / chart.resolution**2
    free = codes < FREE_BELOW
    occupied = codes >= OCCUPIED
    free_middle = count_by_cell(free & (off_middle < _MIDDLE))
    is_open = free_middle >= _MIDDLE_SHARE * (2 * _MIDDLE) ** 2 * points_per_cell
    is_seen_into = count_by_cell(free) >= _SEEN_INTO * points_per_cell
    stands_inside = count_by_cell(occupied & (off_middle < 0.5 - FACE)) >= _THING_RETURNS
    corner = (north, west)
    has_face = _find_faces(south[occupied], east[occupied], corner, shape, chart.resolution)

    ground = np.zeros(shape, np.uint8)
    ground[has_face & ~is_seen_into] = Ground.WALL
    ground[is_open] = Ground.FREE
    ground[stands_inside & is_seen_into] = Ground.THING
    return Terrain(_close_corners(ground), corner)


def is_bare(chart: OccupancyMap, lattice: Lattice, cell: Cell) -> bool:
    """Return whether the map shows nothing well inside a cell, as far as it is known."""
    x, y = lattice.middle(cell)
    half = 0.5 - FACE
    column = int((x - half - chart.x) / chart.resolution)
    row = int((y - half - chart.y) / chart.resolution)
    many = round(2 * half / chart.resolution)
    rows = slice(max(0, row), row + many + 1)
    columns = slice(max(0, column), column + many + 1)
    return not bool((chart.codes[rows, columns] >= 50).any())


def _find_faces(
    south: NDArray[np.floating], east: NDArray[np.floating], corner: Cell, shape: tuple[int, int], resolution: float
) -> NDArray[np.bool_]:
    """Return cells with enough returns on one edge, bool of ``shape``; ends of edges, shared by two, do not count."""
    by_row = _find_faces_across(south, east, corner, shape, resolution)
    by_column = _find_faces_across(east, south, corner[::-1], shape[::-1], resolution)
    return by_row | by_column.T


def _find_faces_across(
    across: NDArray[np.floating], along: NDArray[np.floating], corner: Cell, shape: tuple[int, int], resolution: float
) -> NDArray[np.bool_]:
    """Return cells with a face on one of the two edges across one axis; ``corner`` and ``shape`` in (across, along)."""
    line = np.rint(across)
    is_near_line = np.abs(across - line) < FACE
    is_between_ends = np.abs(along - np.floor(along) - 0.5) < 0.5 - FACE
    on_line = is_near_line & is_between_ends

    bins = round((1 - 2 * FACE) / resolution)
    cell_start = np.floor(along[on_line])
    from_face = along[on_line] - cell_start - FACE
    place = np.floor(from_face / resolution).clip(0, bins - 1)
    line_no = line[on_line].astype(np.int64) - corner[0]
    along_no = cell_start.astype(np.int64) - corner[1]

    hit = np.zeros((shape[0] + 1, shape[1], bins), bool)
    hit[line_no, along_no, place.astype(np.int64)] = True
    full = hit.sum(axis=2) >= _FACE_SHARE * bins
    # Line n is an edge of the cell before it and of the cell after it.
    face: NDArray[np.bool_] = full[:-1] | full[1:]
    return face


def _close_corners(ground: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Turn unknown cells into walls where two walls meet around open ground: the cell that joins them shows no face."""
    padded = np.pad(ground, 1)
    joins = np.zeros(ground.shape, bool)
    for down, right in product((0, 2), (0, 2)):
        rows = slice(down, down + ground.shape[0])
        columns = slice(right, right + ground.shape[1])
        above = padded[rows, 1:-1] == Ground.WALL
        beside = padded[1:-1, columns] == Ground.WALL
        between = padded[rows, columns]
        is_open = (between == Ground.FREE) | (between == Ground.THING)
        joins |= above & beside & is_open

    closed = ground.astype(np.uint8)
    closed[(ground == Ground.UNKNOWN) & joins] = Ground.WALL
    return closed


def window(cell: Cell, direction: int) -> Iterator[tuple[int, int, Cell]]:
    """Yield the cells that an agent is shown: (forward, right + 3, cell), from near to far and left to right."""
    ahead = STEPS[direction]
    right = STEPS[(direction + 1) % 4]
    for forward in range(VIEW):
        for across in range(VIEW):
            aside = across - VIEW // 2
            row = cell[0] + ahead[0] * forward + right[0] * aside
            column = cell[1] + ahead[1] * forward + right[1] * aside
            yield forward, across, (row, column)


def spread_light(clear: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which cells of a window light reaches, as in MiniGrid: row by row through what is ``clear``.

    Both bool (forward, across), the agent at [0, 3].
    """
    rows, columns = clear.shape
    last = columns - 1
    seen = np.zeros_like(clear)
    seen[0, columns // 2] = True
    for row in range(rows):
        sweeps = ((range(last), 1), (range(last, 0, -1), -1))
        for order, step in sweeps:
            for column in order:
                if not (seen[row, column] and clear[row, column]):
                    continue
                seen[row, column + step] = True
                if row + 1 < rows:
                    seen[row + 1, column] = True
                    seen[row + 1, column + step] = True
    return seen
