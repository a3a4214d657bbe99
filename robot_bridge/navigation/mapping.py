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
from robot_bridge.safety.geometry import placed
from robot_bridge.safety.scans import angles, returns, valid

Array = NDArray[np.float64]
Rectangle = tuple[float, float, float, float]
"""x0, y0, x1, y1 in the map frame."""

HIT = 0.85
MISS = -0.1
MOST = 2.5
LEAST = -2.0
"""Log-odds of a return and of a beam passing through, and their bounds: moved things are forgotten within 2.5 s."""

_CHUNK_M = 4.0
_ROUNDING = 1e-9
_NO_RETURN_RUN = 5
_SUBPIXEL = 4
_FLAT_M = 0.02
_FLAT = 0.1
_UNEVEN = 3.0
_LONGEST_CHORD_M = 0.7


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
            codes = np.rint(100.0 / (1.0 + np.exp(-self._odds))).astype(np.int8)
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
        return float(np.count_nonzero((self._odds <= 0.0) & (self._seen > 0))) * self.resolution**2

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Return (row, column) of a place, which may lie outside the map."""
        return floor((y - self.y) / self.resolution), floor((x - self.x) / self.resolution)

    def place(self, row: float, column: float) -> tuple[float, float]:
        """Return (x, y) of a cell's middle."""
        return self.x + (column + 0.5) * self.resolution, self.y + (row + 0.5) * self.resolution

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
        window = np.s_[row0 : max(row1 + 1, 0), column0 : max(column1 + 1, 0)]
        rows, columns = np.nonzero(self._odds[window] > 0.0)
        return self._means(rows + row0, columns + column0)

    def measured(self) -> tuple[NDArray[np.bool_], Array]:
        """Return the occupied cells in which the lidar measured points, bool (rows, columns), and the mean point of
        each, row by row, float64 (n, 2)."""
        cells: NDArray[np.bool_] = (self._odds > 0.0) & (self._sums[:, :, 2] > 0) & ~self._fixed
        return cells, self._means(*np.nonzero(cells))

    def _means(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
        sums = self._sums[rows, columns].astype(np.float64)
        found: Array = self._middles(rows, columns) + sums[:, :2] / np.maximum(sums[:, 2:], 1.0)
        return found

    def _middles(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Array:
        middles: Array = (np.column_stack((columns, rows)) + 0.5) * self.resolution + np.array((self.x, self.y))
        return middles

    def beyond(self, x: float, y: float) -> float:
        """Return how far a place lies outside the rectangle of everything written, metres; inf if nothing was."""
        if self._written is None:
            return inf
        x0, y0, x1, y1 = self._written
        return hypot(max(x0 - x, 0.0, x - x1), max(y0 - y, 0.0, y - y1))

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

        points = placed(returns(scan, lidar), pose)
        fan = _free_fan(scan, lidar, pose)
        outline = np.concatenate((points, fan))
        if not len(outline):
            return
        x0, y0, x1, y1 = self._cover_all(outline)
        top, left = self.cell(x0, y0)
        bottom, right = self.cell(x1, y1)
        window = np.s_[top : bottom + 1, left : right + 1]
        free = np.zeros((bottom - top + 1, right - left + 1), np.uint8)
        corner = self.x + left * self.resolution, self.y + top * self.resolution
        pixels = ((fan - corner) / self.resolution - 0.5) * (1 << _SUBPIXEL)
        cv2.fillPoly(free, [np.rint(pixels).astype(np.int32)], 1, cv2.LINE_8, _SUBPIXEL)
        cells = np.floor((points - (self.x, self.y)) / self.resolution).astype(np.intp)
        rows = cells[:, 1]
        columns = cells[:, 0]
        # Beams hit a thin pole between two cells now in one, now in the other: do not clear neighbours of a return.
        hits = np.zeros_like(free)
        hits[rows - top, columns - left] = 1
        cleared = free & (cv2.dilate(hits, np.ones((3, 3), np.uint8)) == 0)
        odds = self._odds[window] + np.float32(MISS) * cleared
        odds[rows - top, columns - left] += HIT  # a cell that several beams hit counts once
        odds[self._fixed[window]] = MOST
        np.clip(odds, LEAST, MOST, out=self._odds[window])
        self._seen[window] |= free
        self._seen[rows, columns] = 1
        self._surface[window][cv2.erode(free, np.ones((5, 5), np.uint8)) > 0] = 0
        chords = np.floor((_chords(scan, lidar, pose) - (self.x, self.y)) / self.resolution).astype(np.int32)
        cv2.polylines(self._surface, list(chords), False, 1)
        if remember_points:
            self._remember(points, rows, columns, window)
        self.version += 1

    def fix(self, points: Array) -> None:
        """Mark obstacles that the lidar does not see at these points, (n, 2): no beam clears their cells."""
        if not len(points):
            return
        self._cover_all(points)
        cells = np.floor((points - (self.x, self.y)) / self.resolution).astype(np.intp)
        rows = cells[:, 1]
        columns = cells[:, 0]
        self._fixed[rows, columns] = True
        self._odds[rows, columns] = MOST
        self._seen[rows, columns] = 1
        np.add.at(self._sums, (rows, columns), self._offsets(points, rows, columns))
        self.version += 1

    def _offsets(self, points: Array, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float32]:
        """Return what points add to the sums of their cells, (n, 3)."""
        return np.column_stack((points - self._middles(rows, columns), np.ones(len(points)))).astype(np.float32)

    def _cover_all(self, points: Array) -> Rectangle:
        """Grow the map until all points lie inside, note that they are written, and return the rectangle of them."""
        x0, y0 = points.min(axis=0).tolist()
        x1, y1 = points.max(axis=0).tolist()
        self.cover(x0, y0, x1, y1)
        west, south, east, north = self._written or (x0, y0, x1, y1)
        self._written = min(west, x0), min(south, y0), max(east, x1), max(north, y1)
        return x0, y0, x1, y1

    def _remember(
        self, points: Array, rows: NDArray[np.intp], columns: NDArray[np.intp], window: tuple[slice, slice]
    ) -> None:
        """Add measured points to the sums of their cells; clear the sums of cells in the window that became free."""
        np.add.at(self._sums, (rows, columns), self._offsets(points, rows, columns))
        self._sums[window][self._odds[window] <= LEAST / 2] = 0.0


def _chords(scan: Scan, lidar: Lidar, pose: Pose) -> Array:
    """Return segments between neighbouring returns that are in line with the return before or after, (n, 2, 2).

    They are walls seen at a small angle, which beams hit far apart."""
    good = valid(scan)
    reach = np.where(good, scan.ranges, 0.0).astype(np.float64)
    directions = pose.heading + angles(scan)
    x, y = pose.ahead(lidar.x)
    points = np.column_stack((x + reach * np.cos(directions), y + reach * np.sin(directions)))
    before = _shifted(points, -1)
    after = _shifted(points, 1)
    next_after = _shifted(points, 2)
    chord = after - points
    length = np.maximum(np.hypot(chord[:, 0], chord[:, 1]), 1e-9)
    is_line = np.zeros(len(points), np.bool_)
    for other, is_good in ((before, _shifted(good, -1)), (next_after, _shifted(good, 2))):
        away = other - points
        aside = np.abs(chord[:, 0] * away[:, 1] - chord[:, 1] * away[:, 0]) / length
        far = np.hypot(away[:, 0], away[:, 1])
        is_line |= is_good & (aside < _FLAT_M + _FLAT * far) & (length < _UNEVEN * far)
    chosen = good & _shifted(good, 1) & is_line & (length < _LONGEST_CHORD_M)
    return np.stack((points[chosen], after[chosen]), axis=1)


def _free_fan(scan: Scan, lidar: Lidar, pose: Pose) -> Array:
    """Return the outline of the area that the beams passed through, (n, 2) in the map frame."""
    reach = np.where(valid(scan), scan.ranges, 0.0).astype(np.float64)
    with np.errstate(invalid="ignore"):
        beyond = np.isposinf(scan.ranges) | (scan.ranges >= scan.range_max)
    if not (reach.any() or beyond.any()):
        return np.zeros((0, 2))
    run = beyond.copy()
    for shift in range(1, _NO_RETURN_RUN // 2 + 1):  # a single missing return is a sensor fault, not open space
        run &= _shifted(beyond, shift) & _shifted(beyond, -shift)
    reach[run] = scan.range_max
    both = np.minimum(reach, _shifted(reach, 1))
    directions = pose.heading + angles(scan)
    x, y = pose.ahead(lidar.x)
    first = np.column_stack((x + both * np.cos(directions), y + both * np.sin(directions)))
    following = _shifted(directions, 1)
    second = np.column_stack((x + both * np.cos(following), y + both * np.sin(following)))
    return np.stack((first, second), axis=1).reshape(-1, 2)


def _shifted(beams: NDArray[Any], by: int) -> NDArray[Any]:
    """Return, for every beam of a whole turn, the value ``by`` beams on; ``np.roll`` takes ten times as long."""
    return np.concatenate((beams[by:], beams[:by]))
