"""From an occupancy map to the cells that an agent of a grid world knows: where they are and what they are (pure).

Cells have edges of 1 m and are counted from the one in which the robot's footprint stood at its start: (rows south,
columns east). An occupancy map tells ground, walls and that something stands in a cell; what it is, and what lies flat
or hangs above, only the camera tells (:mod:`robot_bridge.agent.senses`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
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
        """In which a point lies."""
        return int(np.floor(self.y - y + 0.5)), int(np.floor(x - self.x + 0.5))


def beyond(cell: Cell, direction: int) -> Cell:
    """The cell next to a cell in a direction."""
    down, right = STEPS[direction % 4]
    return cell[0] + down, cell[1] + right


@dataclass(frozen=True, slots=True, eq=False)
class Terrain:
    """Ground by cell: ``ground`` uint8 (rows, columns) of :class:`Ground`; its first cell is ``corner``."""

    ground: NDArray[np.uint8]
    corner: Cell

    def at(self, cell: Cell) -> Ground:
        """Unknown outside."""
        row = cell[0] - self.corner[0]
        column = cell[1] - self.corner[1]
        rows, columns = self.ground.shape
        return Ground(int(self.ground[row, column])) if 0 <= row < rows and 0 <= column < columns else Ground.UNKNOWN


def terrain(chart: OccupancyMap, lattice: Lattice) -> Terrain:
    """Cells by what the lidar has met in them.

    A cell whose middle was seen free is free, unless there are returns well inside it: then something stands there. A
    cell that shows a face and could not be seen into is a wall. Whatever is seen too little of is unknown.
    """
    rows, columns = np.nonzero(chart.codes >= 0)
    if not len(rows):
        return Terrain(np.zeros((1, 1), np.uint8), (0, 0))
    codes = chart.codes[rows, columns]
    east = chart.x + (columns + 0.5) * chart.resolution - lattice.x + 0.5
    south = lattice.y - (chart.y + (rows + 0.5) * chart.resolution) + 0.5
    row = np.floor(south).astype(np.int64)
    column = np.floor(east).astype(np.int64)
    corner = int(row.min()) - 1, int(column.min()) - 1
    shape = int(row.max()) - corner[0] + 2, int(column.max()) - corner[1] + 2
    flat = (row - corner[0]) * shape[1] + column - corner[1]
    off_middle = np.maximum(np.abs(south - row - 0.5), np.abs(east - column - 0.5))

    def counted(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(flat[chosen], minlength=shape[0] * shape[1]).reshape(shape)

    cells = 1.0 / chart.resolution**2
    free = codes < FREE_BELOW
    occupied = codes >= OCCUPIED
    is_open = counted(free & (off_middle < _MIDDLE)) >= _MIDDLE_SHARE * (2 * _MIDDLE) ** 2 * cells
    is_seen_into = counted(free) >= _SEEN_INTO * cells
    stands_inside = counted(occupied & (off_middle < 0.5 - FACE)) >= _THING_RETURNS
    has_face = _faces(south[occupied], east[occupied], corner, shape, chart.resolution)
    ground = np.zeros(shape, np.uint8)
    ground[has_face & ~is_seen_into] = Ground.WALL
    ground[is_open] = Ground.FREE
    ground[stands_inside & is_seen_into] = Ground.THING
    return Terrain(_with_corners(ground), corner)


def is_bare(chart: OccupancyMap, lattice: Lattice, cell: Cell) -> bool:
    """Whether the map shows nothing well inside a cell, as far as it is known."""
    x, y = lattice.middle(cell)
    half = 0.5 - FACE
    column = int((x - half - chart.x) / chart.resolution)
    row = int((y - half - chart.y) / chart.resolution)
    many = round(2 * half / chart.resolution)
    return not bool((chart.codes[max(0, row) : row + many + 1, max(0, column) : column + many + 1] >= 50).any())


def _faces(
    south: NDArray[np.floating], east: NDArray[np.floating], corner: Cell, shape: tuple[int, int], resolution: float
) -> NDArray[np.bool_]:
    """Return cells with enough returns on one edge, bool of ``shape``; ends of edges, shared by two, do not count."""
    face = np.zeros(shape, bool)
    for across, along, is_row in ((south, east, True), (east, south, False)):
        line = np.rint(across)
        on_line = (np.abs(across - line) < FACE) & (np.abs(along - np.floor(along) - 0.5) < 0.5 - FACE)
        bins = round((1 - 2 * FACE) / resolution)
        place = np.floor((along[on_line] - np.floor(along[on_line]) - FACE) / resolution).clip(0, bins - 1)
        line_no = line[on_line].astype(np.int64) - corner[0 if is_row else 1]
        along_no = np.floor(along[on_line]).astype(np.int64) - corner[1 if is_row else 0]
        lines, alongs = (shape[0] + 1, shape[1]) if is_row else (shape[1] + 1, shape[0])
        hit = np.zeros((lines, alongs, bins), bool)
        hit[line_no, along_no, place.astype(np.int64)] = True
        full = hit.sum(axis=2) >= _FACE_SHARE * bins
        both = full[:-1] | full[1:]
        face |= both if is_row else both.T
    return face


def _with_corners(ground: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Where two walls meet around open ground, the cell that joins them shows no face: it is taken for a wall."""
    padded = np.pad(ground, 1)
    rows, columns = ground.shape
    joins = np.zeros(ground.shape, bool)
    for down, right in ((0, 0), (0, 2), (2, 0), (2, 2)):
        above = padded[down : down + rows, 1:-1] == Ground.WALL
        beside = padded[1:-1, right : right + columns] == Ground.WALL
        between = padded[down : down + rows, right : right + columns]
        joins |= above & beside & ((between == Ground.FREE) | (between == Ground.THING))
    joined: NDArray[np.uint8] = np.where((ground == Ground.UNKNOWN) & joins, np.uint8(Ground.WALL), ground)
    return joined.astype(np.uint8)


def window(cell: Cell, direction: int) -> Iterator[tuple[int, int, Cell]]:
    """The cells that an agent is shown: (forward, right + 3, cell), from near to far and left to right."""
    ahead = STEPS[direction]
    right = STEPS[(direction + 1) % 4]
    for forward in range(VIEW):
        for across in range(VIEW):
            aside = across - VIEW // 2
            yield (
                forward,
                across,
                (cell[0] + ahead[0] * forward + right[0] * aside, cell[1] + ahead[1] * forward + right[1] * aside),
            )


def lit(clear: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which cells of a window light reaches, as in MiniGrid: it spreads row by row through what is ``clear``.

    Both bool (forward, across), the agent at [0, 3].
    """
    seen = np.zeros_like(clear)
    last = clear.shape[1] - 1
    seen[0, clear.shape[1] // 2] = True
    for row in range(clear.shape[0]):
        for order, step in ((range(last), 1), (range(last, 0, -1), -1)):
            for column in order:
                if seen[row, column] and clear[row, column]:
                    seen[row, column + step] = True
                    if row + 1 < clear.shape[0]:
                        seen[row + 1, column + step] = seen[row + 1, column] = True
    return seen
