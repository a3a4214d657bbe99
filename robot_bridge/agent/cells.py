"""Divide an occupancy map into the cells that an agent of a grid world knows, and classify each cell (pure).

A cell is a square of 1 m. Its coordinates are the numbers of cells (south, east) of cell (0, 0). At the start, the
middle of the robot's footprint was in the middle of cell (0, 0).

The map, made from lidar scans, shows whether a cell is free, a wall, or holds a thing. Only the camera shows what the
thing is. Only the camera shows what lies flat on the floor or hangs above the lidar (:mod:`robot_bridge.agent.senses`).

A return is an occupied point of the map. A face is an edge of a cell along which many returns lie, as along a wall.
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
"""Side of the square window that an agent sees, in cells; the agent stands in the middle of the near side."""
STEPS: Final = ((0, 1), (1, 0), (0, -1), (-1, 0))
"""By direction (0 East, 1 South, 2 West, 3 North): the step (rows, columns) to the next cell."""

OCCUPIED: Final = 65
"""Map codes of this value or more count as occupied."""
FREE_BELOW: Final = 45
"""Map codes from 0 up to, but not including, this value count as free."""
FACE: Final = 0.15
"""A return nearer than this, in metres, to an edge of its cell lies on the edge; every other return lies inside."""
_MIDDLE: Final = 0.15
"""A cell's middle is a square; this is half the side of the square, in metres."""
_FACE_SHARE = 0.4
"""Fraction of an edge that returns must cover so that the edge counts as a face."""
_MIDDLE_SHARE = 0.5
"""Fraction of a cell's middle that must be seen free so that the cell counts as free."""
_SEEN_INTO = 0.15
"""Area of a cell, in square metres, that must be seen free so that the cell counts as seen into."""
_THING_RETURNS: Final = 3
"""Least number of returns inside a cell that count as a thing."""


class Ground(IntEnum):
    """Class of a cell according to the lidar."""

    UNKNOWN = 0
    FREE = 1
    WALL = 2
    THING = 3


@dataclass(frozen=True, slots=True)
class Lattice:
    """Grid of cells in the map frame; ``x``, ``y`` is the middle of cell (0, 0), in metres."""

    x: float
    y: float

    def middle(self, cell: Cell) -> tuple[float, float]:
        """Return (x, y) of a cell's middle in the map frame."""
        row, column = cell
        return self.x + column, self.y - row

    def cell(self, x: float, y: float) -> Cell:
        """Return the cell in which a point lies."""
        row = int(np.floor(self.y - y + 0.5))
        column = int(np.floor(x - self.x + 0.5))
        return row, column


def next_cell(cell: Cell, direction: int) -> Cell:
    """Return the neighbour of a cell in a direction (index into ``STEPS``, modulo 4)."""
    down, right = STEPS[direction % 4]
    return cell[0] + down, cell[1] + right


@dataclass(frozen=True, slots=True, eq=False)
class Terrain:
    """Class of every cell in a rectangle of cells.

    ``ground`` is uint8 (rows, columns) with values of :class:`Ground`; ``ground[0, 0]`` belongs to the cell ``corner``.
    """

    ground: NDArray[np.uint8]
    corner: Cell

    def ground_at(self, cell: Cell) -> Ground:
        """Return the class of a cell; outside the rectangle, every cell is unknown."""
        row = cell[0] - self.corner[0]
        column = cell[1] - self.corner[1]
        rows, columns = self.ground.shape
        if 0 <= row < rows and 0 <= column < columns:
            return Ground(int(self.ground[row, column]))
        return Ground.UNKNOWN


def terrain(chart: OccupancyMap, lattice: Lattice) -> Terrain:
    """Return the class of every cell that the map shows.

    A cell counts as seen into if enough of its area was seen free. The first rule that applies decides:

    1. A cell that was seen into and has enough returns away from its edges holds a thing.
    2. A cell whose middle was seen free is free.
    3. A cell that has a face and was not seen into is a wall.
    4. Every other cell is unknown, except that an inner corner of a room becomes a wall (:func:`_close_corners`).
    """
    rows, columns = np.nonzero(chart.codes >= 0)
    if not len(rows):
        return Terrain(np.zeros((1, 1), np.uint8), (0, 0))
    codes = chart.codes[rows, columns]

    # For every known point of the map: its metres south and east of the north-west corner of cell (0, 0), and its cell.
    chart_x = chart.x + (columns + 0.5) * chart.resolution
    chart_y = chart.y + (rows + 0.5) * chart.resolution
    east = chart_x - lattice.x + 0.5
    south = lattice.y - chart_y + 0.5
    row = np.floor(south).astype(np.int64)
    column = np.floor(east).astype(np.int64)
    off_row = np.abs(south - row - 0.5)
    off_column = np.abs(east - column - 0.5)
    off_middle = np.maximum(off_row, off_column)

    # The rectangle of all seen cells, with a margin of one cell on each side.
    north = int(row.min()) - 1
    west = int(column.min()) - 1
    height = int(row.max()) - north + 2
    width = int(column.max()) - west + 2
    shape = (height, width)
    cell_number = (row - north) * width + column - west

    def count_by_cell(is_counted: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(cell_number[is_counted], minlength=height * width).reshape(shape)

    points_per_cell = 1.0 / chart.resolution**2
    points_in_middle = (2 * _MIDDLE) ** 2 * points_per_cell
    free = codes < FREE_BELOW
    occupied = codes >= OCCUPIED
    is_open = count_by_cell(free & (off_middle < _MIDDLE)) >= _MIDDLE_SHARE * points_in_middle
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
    """Return whether the inside of a cell, away from its edges, has only free or unknown map points."""
    x, y = lattice.middle(cell)
    half = 0.5 - FACE
    column = int((x - half - chart.x) / chart.resolution)
    row = int((y - half - chart.y) / chart.resolution)
    size = round(2 * half / chart.resolution)
    rows = slice(max(0, row), row + size + 1)
    columns = slice(max(0, column), column + size + 1)
    return not bool((chart.codes[rows, columns] >= 50).any())


def _find_faces(
    south: NDArray[np.floating], east: NDArray[np.floating], corner: Cell, shape: tuple[int, int], resolution: float
) -> NDArray[np.bool_]:
    """Return which cells have a face, that is, enough returns on one of their four edges.

    The result is a bool array of ``shape``, whose element [0, 0] belongs to the cell ``corner``. ``south`` and ``east``
    are the coordinates of the returns, in metres from the north-west corner of cell (0, 0). Returns near the end of an
    edge do not count, because they may lie on the crossing edge.
    """
    by_row = _find_faces_across(south, east, corner, shape, resolution)
    by_column = _find_faces_across(east, south, corner[::-1], shape[::-1], resolution)
    return by_row | by_column.T


def _find_faces_across(
    across: NDArray[np.floating], along: NDArray[np.floating], corner: Cell, shape: tuple[int, int], resolution: float
) -> NDArray[np.bool_]:
    """Return which cells have a face on one of the two edges that are perpendicular to the axis ``across``.

    ``corner``, ``shape`` and the result have their axes in the order (across, along).
    """
    line = np.rint(across)
    is_near_line = np.abs(across - line) < FACE
    is_between_ends = np.abs(along - np.floor(along) - 0.5) < 0.5 - FACE
    on_line = is_near_line & is_between_ends

    # Divide every edge, without its ends, into bins of one map point, and mark the bins with a return.
    bins = round((1 - 2 * FACE) / resolution)
    cell_start = np.floor(along[on_line])
    from_edge_end = along[on_line] - cell_start - FACE
    bin_index = np.floor(from_edge_end / resolution).clip(0, bins - 1)
    line_index = line[on_line].astype(np.int64) - corner[0]
    along_index = cell_start.astype(np.int64) - corner[1]

    is_hit = np.zeros((shape[0] + 1, shape[1], bins), bool)
    is_hit[line_index, along_index, bin_index.astype(np.int64)] = True
    is_face = is_hit.sum(axis=2) >= _FACE_SHARE * bins
    # Line n is the edge between the cells n - 1 and n.
    has_face: NDArray[np.bool_] = is_face[:-1] | is_face[1:]
    return has_face


def _close_corners(ground: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return a copy of ``ground`` in which the unknown cells in inner corners of rooms are walls.

    The lidar sees no face of such a cell. The cell is recognised by three neighbours: the cells above or below it and
    beside it are walls, and the diagonal cell between these two is free or holds a thing.
    """
    padded = np.pad(ground, 1)
    joins = np.zeros(ground.shape, bool)
    # Offsets into the padded array: 0 is the cell before, 2 the cell after.
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
    """Yield the cells of an agent's window, from near to far and from left to right.

    The agent stands in ``cell`` and faces ``direction``. Each item is (number of cells ahead of the agent, number of
    cells right of the window's left side, cell).
    """
    ahead_rows, ahead_columns = STEPS[direction]
    right_rows, right_columns = STEPS[(direction + 1) % 4]
    for forward in range(VIEW):
        for across in range(VIEW):
            right = across - VIEW // 2
            row = cell[0] + ahead_rows * forward + right_rows * right
            column = cell[1] + ahead_columns * forward + right_columns * right
            yield forward, across, (row, column)


def spread_light(clear: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which cells of a window are reached by light, by the rules of MiniGrid.

    ``clear`` says which cells let light through. ``clear`` and the result are bool (forward, across). The light starts
    at the agent, at [0, 3]. In each row, from near to far, light first spreads to the right and then to the left.
    """
    rows, columns = clear.shape
    last = columns - 1
    is_lit = np.zeros_like(clear)
    is_lit[0, columns // 2] = True
    rightward = (range(last), 1)
    leftward = (range(last, 0, -1), -1)
    for row in range(rows):
        for order, step in (rightward, leftward):
            for column in order:
                if not (is_lit[row, column] and clear[row, column]):
                    continue
                is_lit[row, column + step] = True
                if row + 1 < rows:
                    is_lit[row + 1, column] = True
                    is_lit[row + 1, column + step] = True
    return is_lit
