"""Build a growing log-odds occupancy grid from lidar scans at known poses.

The area that the beams pass through is free. This area, the *fan* of the beams, is drawn as one polygon. Between two
neighbouring beams, the fan reaches as far as the shorter beam.

Besides its log-odds, every cell keeps the mean of the points measured in the cell. Walls are therefore known to
millimetres although cells are 5 cm wide.
"""

from __future__ import annotations

from math import ceil, floor, hypot, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Lidar
from robot_bridge.contracts import Pose, Scan
from robot_bridge.safety.geometry import transform_from_frame
from robot_bridge.safety.scans import angles, returns, valid

Array = NDArray[np.float64]
Rectangle = tuple[float, float, float, float]
"""(lowest x, lowest y, highest x, highest y) in the map frame, metres."""

HIT = 0.85
MISS = -0.1
MAX_LOG_ODDS = 2.5
MIN_LOG_ODDS = -2.0
"""Log-odds that a return (HIT) and a passing beam (MISS) add to a cell, and the bounds of a cell's log-odds.

If a thing is moved away, these bounds make the map forget the thing within 2.5 s.
"""

_CHUNK_M = 4.0
_ROUNDING = 1e-9
_MIN_BEAMS_WITHOUT_RETURN = 5
_SUBPIXEL_BITS = 4
_FLAT_M = 0.02
_FLAT_SHARE = 0.1
_MAX_LENGTH_RATIO = 3.0
_MAX_CHORD_M = 0.7


class OccupancyMap:
    """The free, occupied and unknown cells around the start.

    All arrays have the axes (row, column); row 0 is at the lowest y, column 0 at the lowest x. ``x``, ``y`` is the
    lower left corner in the map frame, metres, a multiple of ``resolution``. The corner and the size change as the map
    grows. ``version`` increases with every change.
    """

    def __init__(self, resolution: float = 0.05) -> None:
        self.resolution = resolution
        self.x = self.y = 0.0
        self.version = 0
        self._odds: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._seen: NDArray[np.uint8] = np.zeros((0, 0), np.uint8)
        self._surface: NDArray[np.uint8] = np.zeros((0, 0), np.uint8)
        # Sums over a cell's points of (x from the cell's middle, y from the middle, 1). Offsets from the middle are
        # small, so float32 can add many of them without loss.
        self._sums: NDArray[np.float32] = np.zeros((0, 0, 3), np.float32)
        self._fixed: NDArray[np.bool_] = np.zeros((0, 0), np.bool_)
        self._bounds: Rectangle | None = None  # of all points written so far
        self._codes: tuple[int, NDArray[np.int8]] = (-1, np.zeros((0, 0), np.int8))  # version and its codes

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        return int(self._odds.shape[0]), int(self._odds.shape[1])

    @property
    def codes(self) -> NDArray[np.int8]:
        """Return the map as int8 (rows, columns), read-only; row 0 at the lowest y.

        -1 means unknown; other values are the probability, in percent, that the cell is occupied.
        """
        if self._codes[0] != self.version:
            probability = 100.0 / (1.0 + np.exp(-self._odds))
            codes = np.rint(probability).astype(np.int8)
            codes[self._seen == 0] = -1
            codes.flags.writeable = False
            self._codes = self.version, codes
        return self._codes[1]

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Return which cells are more likely occupied than free, bool (rows, columns)."""
        occupied: NDArray[np.bool_] = self._odds > 0.0
        return occupied

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Return which cells no beam has reached, bool (rows, columns)."""
        unknown: NDArray[np.bool_] = self._seen == 0
        return unknown

    @property
    def surfaces(self) -> NDArray[np.bool_]:
        """Return which cells are occupied or lie between neighbouring returns of one wall, bool (rows, columns).

        No path leads through a cell between two returns of a wall, even if no beam has touched the cell.
        """
        surfaces: NDArray[np.bool_] = (self._odds > 0.0) | (self._surface > 0)
        return surfaces

    @property
    def explored_m2(self) -> float:
        """Return the area known to be free, square metres."""
        free = (self._odds <= 0.0) & (self._seen > 0)
        return float(np.count_nonzero(free)) * self.resolution**2

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Return the (row, column) of the cell at a place; the place may lie outside the map."""
        row = floor((y - self.y) / self.resolution)
        column = floor((x - self.x) / self.resolution)
        return row, column

    def place(self, row: float, column: float) -> tuple[float, float]:
        """Return the (x, y) of a cell's middle."""
        x = self.x + (column + 0.5) * self.resolution
        y = self.y + (row + 0.5) * self.resolution
        return x, y

    def contains(self, row: int, column: int) -> bool:
        """Return whether the map, at its current size, contains the cell."""
        rows, columns = self.shape
        return 0 <= row < rows and 0 <= column < columns

    def obstacles_in(self, x0: float, y0: float, x1: float, y1: float) -> Array:
        """Return one point for every occupied cell that touches the rectangle, float64 (n, 2).

        The point is the mean of the points measured in the cell, or the cell's middle if no points were measured.
        """
        row0, column0 = self.cell(x0, y0)
        row1, column1 = self.cell(x1, y1)
        row0 = max(row0, 0)
        column0 = max(column0, 0)
        row_end = max(row1 + 1, 0)
        column_end = max(column1 + 1, 0)
        window = np.s_[row0:row_end, column0:column_end]
        rows, columns = np.nonzero(self._odds[window] > 0.0)
        return self._mean_points(rows + row0, columns + column0)

    def find_measured(self) -> tuple[NDArray[np.bool_], Array]:
        """Return (cells, mean points) of the occupied cells in which the lidar measured points.

        The cells are bool (rows, columns), the mean points float64 (n, 2) in row-major order of the cells.
        """
        counts = self._sums[:, :, 2]
        cells: NDArray[np.bool_] = (self._odds > 0.0) & (counts > 0) & ~self._fixed
        return cells, self._mean_points(*np.nonzero(cells))

    def _mean_points(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
        """Return the mean of the points measured in each cell, (n, 2); the cell's middle if it has no points."""
        sums = self._sums[rows, columns].astype(np.float64)
        offsets = sums[:, :2] / np.maximum(sums[:, 2:], 1.0)
        means: Array = self._cell_middles(rows, columns) + offsets
        return means

    def _cell_middles(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
        """Return the (x, y) of the middle of each cell, (n, 2)."""
        cells = np.column_stack((columns, rows))
        corner = np.array((self.x, self.y))
        middles: Array = (cells + 0.5) * self.resolution + corner
        return middles

    def _cells(self, points: Array) -> NDArray[np.intp]:
        """Return the (column, row) of the cell that contains each point, (n, 2)."""
        offsets = (points - (self.x, self.y)) / self.resolution
        cells: NDArray[np.intp] = np.floor(offsets).astype(np.intp)
        return cells

    def beyond(self, x: float, y: float) -> float:
        """Return the distance, metres, from a place to the rectangle around all written points.

        The distance is 0 inside the rectangle and inf if the map is empty.
        """
        if self._bounds is None:
            return inf
        x0, y0, x1, y1 = self._bounds
        dx = max(x0 - x, 0.0, x - x1)
        dy = max(y0 - y, 0.0, y - y1)
        return hypot(dx, dy)

    def cover(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Grow the map until the rectangle lies inside."""
        rows, columns = self.shape
        size = self.resolution
        if not rows:
            self.x = floor(x0 / size) * size
            self.y = floor(y0 / size) * size
        # Numbers of cells to add on each side.
        south = self._whole_chunks((self.y - y0) / size)
        west = self._whole_chunks((self.x - x0) / size)
        north = self._whole_chunks((y1 - self.y) / size + 1 - rows)
        east = self._whole_chunks((x1 - self.x) / size + 1 - columns)
        if not (south or west or north or east):
            return
        around = ((south, north), (west, east))
        self._odds = np.pad(self._odds, around)
        self._seen = np.pad(self._seen, around)
        self._surface = np.pad(self._surface, around)
        self._fixed = np.pad(self._fixed, around)
        self._sums = np.pad(self._sums, (*around, (0, 0)))
        self.x = self.x - west * size
        self.y = self.y - south * size
        self.version += 1

    def _whole_chunks(self, missing: float) -> int:
        """Return how many cells to add on a side on which ``missing`` cells are missing, in whole chunks.

        If a rounding error could otherwise leave a place outside the map, ``_ROUNDING`` adds a chunk.
        """
        chunk = round(_CHUNK_M / self.resolution)
        return max(0, ceil(missing / chunk + _ROUNDING)) * chunk

    def integrate(self, scan: Scan, lidar: Lidar, pose: Pose, *, remember_points: bool = True) -> None:
        """Write a scan into the map; ``pose`` is the pose of the rear axle at the time of the scan.

        If ``remember_points`` is False, the mean points do not change. This is for a robot at rest, which would only
        repeat the error of its pose.
        """
        import cv2

        points = transform_from_frame(returns(scan, lidar), pose)
        fan = _free_fan(scan, lidar, pose)
        outline = np.concatenate((points, fan))
        if not len(outline):
            return
        x0, y0, x1, y1 = self._cover_points(outline)
        top, left = self.cell(x0, y0)
        bottom, right = self.cell(x1, y1)
        window = np.s_[top : bottom + 1, left : right + 1]

        free = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
        corner_x = self.x + left * self.resolution
        corner_y = self.y + top * self.resolution
        pixels = (fan - (corner_x, corner_y)) / self.resolution - 0.5
        polygon = np.rint(pixels * (1 << _SUBPIXEL_BITS)).astype(np.int32)
        cv2.fillPoly(free, [polygon], 1, cv2.LINE_8, _SUBPIXEL_BITS)

        cells = self._cells(points)
        rows = cells[:, 1]
        columns = cells[:, 0]

        # Beams hit a thin pole on the border of two cells in either cell, so do not clear the neighbours of a return.
        hits = np.zeros_like(free)
        hits[rows - top, columns - left] = 1
        beside_hits = cv2.dilate(hits, np.ones((3, 3), np.uint8))
        cleared = free & (beside_hits == 0)
        odds = self._odds[window] + np.float32(MISS) * cleared
        odds[rows - top, columns - left] += HIT  # a cell that several beams hit counts once
        odds[self._fixed[window]] = MAX_LOG_ODDS
        np.clip(odds, MIN_LOG_ODDS, MAX_LOG_ODDS, out=self._odds[window])
        self._seen[window] |= free
        self._seen[rows, columns] = 1

        inner = cv2.erode(free, np.ones((5, 5), np.uint8)) > 0
        self._surface[window][inner] = 0
        chords = (_surface_chords(scan, lidar, pose) - (self.x, self.y)) / self.resolution
        segments = np.floor(chords).astype(np.int32)
        cv2.polylines(self._surface, list(segments), False, 1)

        if remember_points:
            self._add_points(points, rows, columns, window)
        self.version += 1

    def fix(self, points: Array) -> None:
        """Mark obstacles that the lidar does not see, at points (n, 2).

        Later beams never clear the cells of these points.
        """
        if not len(points):
            return
        self._cover_points(points)
        cells = self._cells(points)
        rows = cells[:, 1]
        columns = cells[:, 0]
        self._fixed[rows, columns] = True
        self._odds[rows, columns] = MAX_LOG_ODDS
        self._seen[rows, columns] = 1
        np.add.at(self._sums, (rows, columns), self._offsets(points, rows, columns))
        self.version += 1

    def _offsets(self, points: Array, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return what each point adds to the sums of its cell, (n, 3): x and y from the cell's middle, and 1."""
        offsets = points - self._cell_middles(rows, columns)
        counts = np.ones(len(points))
        return np.column_stack((offsets, counts)).astype(np.float32)

    def _cover_points(self, points: Array) -> Rectangle:
        """Grow the map until all points lie inside, extend the bounds, and return the rectangle around the points."""
        x0, y0 = points.min(axis=0).tolist()
        x1, y1 = points.max(axis=0).tolist()
        self.cover(x0, y0, x1, y1)
        rectangle = (x0, y0, x1, y1)
        west, south, east, north = rectangle if self._bounds is None else self._bounds
        west = min(west, x0)
        south = min(south, y0)
        east = max(east, x1)
        north = max(north, y1)
        self._bounds = west, south, east, north
        return rectangle

    def _add_points(
        self, points: Array, rows: NDArray[np.intp], columns: NDArray[np.intp], window: tuple[slice, slice]
    ) -> None:
        """Add measured points to the sums of their cells; in the window, set the sums of free cells to zero."""
        np.add.at(self._sums, (rows, columns), self._offsets(points, rows, columns))
        self._sums[window][self._odds[window] <= MIN_LOG_ODDS / 2] = 0.0


def _surface_chords(scan: Scan, lidar: Lidar, pose: Pose) -> Array:
    """Return the chords between neighbouring returns of one wall, (n, 2 ends, x and y) in the map frame.

    Two neighbouring returns belong to one wall if the return before or after them lies on the line through both. The
    chords fill gaps in walls seen at a small angle, where the beams hit far apart.
    """
    is_valid = valid(scan)
    reach = np.where(is_valid, scan.ranges, 0.0).astype(np.float64)
    directions = pose.heading + angles(scan)
    points = _beam_points(pose.ahead(lidar.x), reach, directions)
    before = _shift_beams(points, -1)
    after = _shift_beams(points, 1)
    next_after = _shift_beams(points, 2)
    chord = after - points
    chord_x, chord_y = chord.T
    length = np.maximum(np.hypot(chord_x, chord_y), 1e-9)

    is_on_line = np.zeros(len(points), np.bool_)
    neighbours = ((before, _shift_beams(is_valid, -1)), (next_after, _shift_beams(is_valid, 2)))
    for neighbour, is_neighbour_valid in neighbours:
        neighbour_x, neighbour_y = (neighbour - points).T
        from_line = np.abs(chord_x * neighbour_y - chord_y * neighbour_x) / length
        distance = np.hypot(neighbour_x, neighbour_y)
        is_flat = from_line < _FLAT_M + _FLAT_SHARE * distance
        is_on_line |= is_neighbour_valid & is_flat & (length < _MAX_LENGTH_RATIO * distance)

    is_chord = is_valid & _shift_beams(is_valid, 1) & is_on_line & (length < _MAX_CHORD_M)
    return np.stack((points[is_chord], after[is_chord]), axis=1)


def _beam_points(lidar_place: tuple[float, float], reach: Array, directions: Array) -> Array:
    """Return the points at distance ``reach`` (n,) from the lidar in ``directions`` (n,), as an array (n, 2)."""
    lidar_x, lidar_y = lidar_place
    x = lidar_x + reach * np.cos(directions)
    y = lidar_y + reach * np.sin(directions)
    return np.column_stack((x, y))


def _free_fan(scan: Scan, lidar: Lidar, pose: Pose) -> Array:
    """Return the outline of the area that the beams passed through, (n, 2) in the map frame.

    Every pair of neighbouring beams gives two corners, at the distance that the shorter beam reached.
    """
    reach = np.where(valid(scan), scan.ranges, 0.0).astype(np.float64)
    with np.errstate(invalid="ignore"):
        has_no_return = np.isposinf(scan.ranges) | (scan.ranges >= scan.range_max)
    if not (reach.any() or has_no_return.any()):
        return np.zeros((0, 2))
    # A single missing return is a sensor fault, so only beams amid several without a return count as open space.
    is_open = has_no_return.copy()
    for shift in range(1, _MIN_BEAMS_WITHOUT_RETURN // 2 + 1):
        is_open &= _shift_beams(has_no_return, shift) & _shift_beams(has_no_return, -shift)
    reach[is_open] = scan.range_max
    shorter = np.minimum(reach, _shift_beams(reach, 1))
    directions = pose.heading + angles(scan)
    lidar_place = pose.ahead(lidar.x)
    starts = _beam_points(lidar_place, shorter, directions)
    ends = _beam_points(lidar_place, shorter, _shift_beams(directions, 1))
    return np.stack((starts, ends), axis=1).reshape(-1, 2)


def _shift_beams(beams: NDArray[Any], by: int) -> NDArray[Any]:
    """Return, for every beam, the value of the beam ``by`` positions later; after the last beam comes the first.

    ``np.roll`` does the same but takes ten times as long.
    """
    return np.concatenate((beams[by:], beams[:by]))
