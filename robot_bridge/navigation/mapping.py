"""Build a growing log-odds occupancy grid from lidar scans at known poses.

Free space is the fan of the beams, drawn as one polygon; between neighbouring beams it reaches as far as the shorter
one. Besides its odds every cell keeps the mean of the points measured in it, so walls are known to millimetres although
cells are 5 cm wide.
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
"""x0, y0, x1, y1 in the map frame."""

HIT = 0.85
MISS = -0.1
MAX_LOG_ODDS = 2.5
MIN_LOG_ODDS = -2.0
"""Log-odds of a return and of a beam passing through, and their bounds: moved things are forgotten within 2.5 s."""

_CHUNK_M = 4.0
_ROUNDING = 1e-9
_NO_RETURN_RUN = 5
_SUBPIXEL = 4
_FLAT_M = 0.02
_FLAT = 0.1
_UNEVEN = 3.0
_MAX_CHORD_M = 0.7


class OccupancyMap:
    """The free, occupied and unknown cells around the start.

    ``x``, ``y`` is the lower left corner in the map frame, a multiple of ``resolution``; it and the size change as the
    map grows. ``version`` increases with every change.
    """

    def __init__(self, resolution: float = 0.05) -> None:
        self.resolution = resolution
        self.x = self.y = 0.0
        self.version = 0
        self._odds: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._seen: NDArray[np.uint8] = np.zeros((0, 0), np.uint8)
        self._surface: NDArray[np.uint8] = np.zeros((0, 0), np.uint8)
        # Sums of x and y from the cell's middle, and the count: small values, so float32 can add many without loss.
        self._sums: NDArray[np.float32] = np.zeros((0, 0, 3), np.float32)
        self._fixed: NDArray[np.bool_] = np.zeros((0, 0), np.bool_)
        self._written: Rectangle | None = None
        self._codes: tuple[int, NDArray[np.int8]] = (-1, np.zeros((0, 0), np.int8))

    @property
    def shape(self) -> tuple[int, int]:
        """Return the numbers of rows and columns."""
        return int(self._odds.shape[0]), int(self._odds.shape[1])

    @property
    def codes(self) -> NDArray[np.int8]:
        """Return int8 (rows, columns), read-only; row 0 at the lowest y.

        -1 is unknown, other values are the probability of being occupied in percent."""
        if self._codes[0] != self.version:
            probability = 100.0 / (1.0 + np.exp(-self._odds))
            codes = np.rint(probability).astype(np.int8)
            codes[self._seen == 0] = -1
            codes.flags.writeable = False
            self._codes = self.version, codes
        return self._codes[1]

    @property
    def occupied(self) -> NDArray[np.bool_]:
        """Return cells that are more likely occupied than free, bool (rows, columns)."""
        occupied: NDArray[np.bool_] = self._odds > 0.0
        return occupied

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Return cells that no beam has reached, bool (rows, columns)."""
        unknown: NDArray[np.bool_] = self._seen == 0
        return unknown

    @property
    def surfaces(self) -> NDArray[np.bool_]:
        """Return cells that are occupied or between neighbouring returns of one wall, bool (rows, columns).

        Perhaps no beam has touched the latter, but no way leads through them."""
        surfaces: NDArray[np.bool_] = (self._odds > 0.0) | (self._surface > 0)
        return surfaces

    @property
    def explored_m2(self) -> float:
        """Return the area known to be free, square metres."""
        free = (self._odds <= 0.0) & (self._seen > 0)
        return float(np.count_nonzero(free)) * self.resolution**2

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Return (row, column) of a place, which may lie outside the map."""
        row = floor((y - self.y) / self.resolution)
        column = floor((x - self.x) / self.resolution)
        return row, column

    def place(self, row: float, column: float) -> tuple[float, float]:
        """Return (x, y) of a cell's middle."""
        x = self.x + (column + 0.5) * self.resolution
        y = self.y + (row + 0.5) * self.resolution
        return x, y

    def contains(self, row: int, column: int) -> bool:
        """Return whether the map contains the cell now."""
        rows, columns = self.shape
        return 0 <= row < rows and 0 <= column < columns

    def obstacles_in(self, x0: float, y0: float, x1: float, y1: float) -> Array:
        """Return one point for every occupied cell that touches the rectangle, float64 (n, 2).

        It is the mean of the points measured in the cell, or the cell's middle."""
        row0, column0 = self.cell(x0, y0)
        row1, column1 = self.cell(x1, y1)
        row0 = max(row0, 0)
        column0 = max(column0, 0)
        row_end = max(row1 + 1, 0)
        column_end = max(column1 + 1, 0)
        window = np.s_[row0:row_end, column0:column_end]
        rows, columns = np.nonzero(self._odds[window] > 0.0)
        return self._means(rows + row0, columns + column0)

    def find_measured(self) -> tuple[NDArray[np.bool_], Array]:
        """Return the occupied cells in which the lidar measured points, bool (rows, columns), and the mean point of
        each, row by row, float64 (n, 2)."""
        counts = self._sums[:, :, 2]
        cells: NDArray[np.bool_] = (self._odds > 0.0) & (counts > 0) & ~self._fixed
        return cells, self._means(*np.nonzero(cells))

    def _means(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
        sums = self._sums[rows, columns].astype(np.float64)
        offsets = sums[:, :2] / np.maximum(sums[:, 2:], 1.0)
        means: Array = self._middles(rows, columns) + offsets
        return means

    def _middles(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
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
        """Return how far a place lies outside the rectangle of everything written, metres; inf if nothing was."""
        if self._written is None:
            return inf
        x0, y0, x1, y1 = self._written
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
        south = self._chunks((self.y - y0) / size)
        west = self._chunks((self.x - x0) / size)
        north = self._chunks((y1 - self.y) / size + 1 - rows)
        east = self._chunks((x1 - self.x) / size + 1 - columns)
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

    def _chunks(self, missing: float) -> int:
        """Return how many cells to add if ``missing`` are missing; more if rounding could leave a place outside."""
        chunk = round(_CHUNK_M / self.resolution)
        return max(0, ceil(missing / chunk + _ROUNDING)) * chunk

    def integrate(self, scan: Scan, lidar: Lidar, pose: Pose, *, remember_points: bool = True) -> None:
        """Write a scan taken with the rear axle at ``pose``.

        ``remember_points`` False leaves the mean points as they are: a robot at rest would only repeat its error.
        """
        import cv2

        points = transform_from_frame(returns(scan, lidar), pose)
        fan = _free_fan(scan, lidar, pose)
        outline = np.concatenate((points, fan))
        if not len(outline):
            return
        x0, y0, x1, y1 = self._cover_all(outline)
        top, left = self.cell(x0, y0)
        bottom, right = self.cell(x1, y1)
        window = np.s_[top : bottom + 1, left : right + 1]

        free = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
        corner_x = self.x + left * self.resolution
        corner_y = self.y + top * self.resolution
        pixels = (fan - (corner_x, corner_y)) / self.resolution - 0.5
        polygon = np.rint(pixels * (1 << _SUBPIXEL)).astype(np.int32)
        cv2.fillPoly(free, [polygon], 1, cv2.LINE_8, _SUBPIXEL)

        cells = self._cells(points)
        rows = cells[:, 1]
        columns = cells[:, 0]

        # Beams hit a thin pole between two cells now in one, now in the other: do not clear neighbours of a return.
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
        chords = (_chords(scan, lidar, pose) - (self.x, self.y)) / self.resolution
        segments = np.floor(chords).astype(np.int32)
        cv2.polylines(self._surface, list(segments), False, 1)

        if remember_points:
            self._remember(points, rows, columns, window)
        self.version += 1

    def fix(self, points: Array) -> None:
        """Mark obstacles that the lidar does not see at these points, (n, 2): no beam clears their cells."""
        if not len(points):
            return
        self._cover_all(points)
        cells = self._cells(points)
        rows = cells[:, 1]
        columns = cells[:, 0]
        self._fixed[rows, columns] = True
        self._odds[rows, columns] = MAX_LOG_ODDS
        self._seen[rows, columns] = 1
        np.add.at(self._sums, (rows, columns), self._offsets(points, rows, columns))
        self.version += 1

    def _offsets(self, points: Array, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return what points add to the sums of their cells, (n, 3)."""
        offsets = points - self._middles(rows, columns)
        counts = np.ones(len(points))
        return np.column_stack((offsets, counts)).astype(np.float32)

    def _cover_all(self, points: Array) -> Rectangle:
        """Grow the map until all points lie inside, note that they are written, and return the rectangle of them."""
        x0, y0 = points.min(axis=0).tolist()
        x1, y1 = points.max(axis=0).tolist()
        self.cover(x0, y0, x1, y1)
        west, south, east, north = self._written or (x0, y0, x1, y1)
        west = min(west, x0)
        south = min(south, y0)
        east = max(east, x1)
        north = max(north, y1)
        self._written = west, south, east, north
        return x0, y0, x1, y1

    def _remember(
        self, points: Array, rows: NDArray[np.intp], columns: NDArray[np.intp], window: tuple[slice, slice]
    ) -> None:
        """Add measured points to the sums of their cells; clear the sums of cells in the window that became free."""
        np.add.at(self._sums, (rows, columns), self._offsets(points, rows, columns))
        self._sums[window][self._odds[window] <= MIN_LOG_ODDS / 2] = 0.0


def _chords(scan: Scan, lidar: Lidar, pose: Pose) -> Array:
    """Return segments between neighbouring returns that are in line with the return before or after, (n, 2, 2).

    They are walls seen at a small angle, which beams hit far apart."""
    good = valid(scan)
    reach = np.where(good, scan.ranges, 0.0).astype(np.float64)
    directions = pose.heading + angles(scan)
    points = _beam_points(pose.ahead(lidar.x), reach, directions)
    before = _shift_beams(points, -1)
    after = _shift_beams(points, 1)
    next_after = _shift_beams(points, 2)
    chord = after - points
    chord_x, chord_y = chord.T
    length = np.maximum(np.hypot(chord_x, chord_y), 1e-9)

    is_line = np.zeros(len(points), np.bool_)
    neighbours = ((before, _shift_beams(good, -1)), (next_after, _shift_beams(good, 2)))
    for other, is_good in neighbours:
        away_x, away_y = (other - points).T
        aside = np.abs(chord_x * away_y - chord_y * away_x) / length
        far = np.hypot(away_x, away_y)
        is_flat = aside < _FLAT_M + _FLAT * far
        is_line |= is_good & is_flat & (length < _UNEVEN * far)

    is_chord = good & _shift_beams(good, 1) & is_line & (length < _MAX_CHORD_M)
    return np.stack((points[is_chord], after[is_chord]), axis=1)


def _beam_points(lidar_place: tuple[float, float], reach: Array, directions: Array) -> Array:
    """Return the points ``reach`` (n,) from the lidar in the directions (n,), (n, 2)."""
    lidar_x, lidar_y = lidar_place
    x = lidar_x + reach * np.cos(directions)
    y = lidar_y + reach * np.sin(directions)
    return np.column_stack((x, y))


def _free_fan(scan: Scan, lidar: Lidar, pose: Pose) -> Array:
    """Return the outline of the area that the beams passed through, (n, 2) in the map frame."""
    reach = np.where(valid(scan), scan.ranges, 0.0).astype(np.float64)
    with np.errstate(invalid="ignore"):
        beyond = np.isposinf(scan.ranges) | (scan.ranges >= scan.range_max)
    if not (reach.any() or beyond.any()):
        return np.zeros((0, 2))
    run = beyond.copy()
    for shift in range(1, _NO_RETURN_RUN // 2 + 1):  # a single missing return is a sensor fault, not open space
        run &= _shift_beams(beyond, shift) & _shift_beams(beyond, -shift)
    reach[run] = scan.range_max
    both = np.minimum(reach, _shift_beams(reach, 1))
    directions = pose.heading + angles(scan)
    lidar_place = pose.ahead(lidar.x)
    first = _beam_points(lidar_place, both, directions)
    second = _beam_points(lidar_place, both, _shift_beams(directions, 1))
    return np.stack((first, second), axis=1).reshape(-1, 2)


def _shift_beams(beams: NDArray[Any], by: int) -> NDArray[Any]:
    """Return, for every beam of a whole turn, the value ``by`` beams on; ``np.roll`` takes ten times as long."""
    return np.concatenate((beams[by:], beams[:by]))
