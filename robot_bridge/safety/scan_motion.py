"""Measure how a robot moved between two scans, and which parts of the scan did not move with it (pure).

Straight pieces of the earlier scan are lines. Every return of the later scan is compared with two of them: the line
where it should lie if the robot moved as odometry says, and the line that its own beam met before. A working lidar
gives a first distance of zero; one that repeats itself, a second distance of zero. Where the two hardly differ, as
along a wall, a return says nothing: each beam is weighted by how well it separates the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import hypot, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Lidar
from robot_bridge.contracts import Pose, Scan
from robot_bridge.safety.geometry import transform_from_frame
from robot_bridge.safety.scans import angles, valid

Array = NDArray[np.float64]

SECTORS = 12
_HALF_M = 0.1
"""A line is fitted to the returns within this distance to either side of a beam."""
_MIN_BEAMS_PER_SIDE = 3
_MAX_BEAMS_PER_SIDE = 12
"""Least and greatest number of beams to either side."""
_BENT = 2.0
"""How far returns may lie off their line, as a multiple of the lidar's noise."""
_BESIDE_M = 0.3
"""How far along the line a return may lie from the beam for which the line was fitted."""
_OUTLIER_M = 0.15
_MIN_BEAMS = 6
_REGULAR = 1e-3
"""Keeps the uncertainty finite in directions that no wall constrains."""


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """A scan as lines, in the base frame: for each beam its return, its line's middle and normal, (n, 2) each.

    ``is_line`` (n,): the beam and its neighbours lie on a line.
    """

    points: Array
    is_good: NDArray[np.bool_]
    middles: Array
    normals: Array
    is_line: NDArray[np.bool_]


def lines_of(scan: Scan, lidar: Lidar) -> Lines:
    """Return the lines of a scan over a whole turn."""
    good = valid(scan)
    reach = np.where(good, scan.ranges, 0.0).astype(np.float64)
    directions = angles(scan)
    point_x = lidar.x + reach * np.cos(directions)
    point_y = reach * np.sin(directions)
    points = np.column_stack((point_x, point_y))

    step = max(abs(scan.angle_increment), 1e-6)
    beam_spacing = np.maximum(reach, 0.05) * step
    half = np.ceil(_HALF_M / beam_spacing).astype(np.intp)
    half = half.clip(_MIN_BEAMS_PER_SIDE, _MAX_BEAMS_PER_SIDE)

    # Moments of the points around each beam; the direction of least variance is the line's normal.
    weights = good.astype(np.float64)
    x = points[:, 0] * weights
    y = points[:, 1] * weights
    moments = np.stack((weights, x, y, x * x, x * y, y * y))
    number, sum_x, sum_y, sum_xx, sum_xy, sum_yy = _windows(moments, half)
    count = np.maximum(number, 1.0)
    mx = sum_x / count
    my = sum_y / count
    xx = sum_xx / count - mx * mx
    xy = sum_xy / count - mx * my
    yy = sum_yy / count - my * my
    spread = (xx + yy) / 2
    skew = np.hypot((xx - yy) / 2, xy)
    small = spread - skew
    across = np.arctan2(2 * xy, xx - yy) / 2 + np.pi / 2

    is_straight = small <= (_BENT * lidar.noise) ** 2
    is_line = good & (number >= 1.6 * half) & is_straight
    is_line &= spread + skew > 4 * np.maximum(small, 1e-8)
    middles = np.column_stack((mx, my))
    normals = np.column_stack((np.cos(across), np.sin(across)))
    return Lines(points, good, middles, normals, is_line)


def _windows(columns: Array, half: NDArray[np.intp]) -> Array:
    """Return for every row and beam the sum over the beams from ``half`` before to ``half`` after, around the turn."""
    count = columns.shape[1]
    last = columns[:, -_MAX_BEAMS_PER_SIDE:]
    first = columns[:, :_MAX_BEAMS_PER_SIDE]
    around = np.concatenate((last, columns, first), axis=1)
    zeros = np.zeros((len(columns), 1))
    sums = np.concatenate((zeros, np.cumsum(around, axis=1)), axis=1)

    beams = np.arange(count) + _MAX_BEAMS_PER_SIDE
    until_end = sums[:, beams + half + 1]
    until_begin = sums[:, beams - half]
    return until_end - until_begin


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """Two scans compared, for each beam of the later one.

    ``still`` (n,): metres from the line that the beam met before; ``moved`` (n,): metres from the line it should meet
    now; ``normals`` (n, 2): normal of that line; ``places`` (n, 2): where the return should lie. ``counts`` (n,): both
    lines are known and near. ``noise``: noise of one return, metres.
    """

    still: Array
    moved: Array
    normals: Array
    places: Array
    counts: NDArray[np.bool_]
    noise: float


def compare_scans(earlier: Lines, later: Lines, step: Pose, lidar: Lidar) -> Compared:
    """Compare two scans; ``step`` is the later base pose relative to the earlier one, according to odometry."""
    count = len(earlier.points)
    places = transform_from_frame(later.points, step)
    directions = np.arctan2(places[:, 1], places[:, 0] - lidar.x)
    bearings = directions - lidar.angle_min
    beams = np.rint(bearings / (2 * np.pi / count)).astype(np.intp) % count
    still = ((later.points - earlier.middles) * earlier.normals).sum(axis=1)

    normals = earlier.normals[beams]
    away = places - earlier.middles[beams]
    moved = (away * normals).sum(axis=1)
    away_x, away_y = away.T
    normal_x, normal_y = normals.T
    beside = np.abs(away_x * normal_y - away_y * normal_x)

    has_lines = earlier.is_line & earlier.is_line[beams]
    counts = later.is_good & has_lines & (beside <= _BESIDE_M)
    still_off = np.abs(still)
    moved_off = np.abs(moved)
    counts &= np.minimum(still_off, moved_off) <= _OUTLIER_M
    counts &= np.maximum(still_off, moved_off) <= 2 * _OUTLIER_M
    return Compared(still, moved, normals, places, counts, lidar.noise)


def shares(found: Compared, groups: Array) -> tuple[Array, Array]:
    """Return the share of odometry's motion that each group of beams saw, (m,), and its standard deviation, (m,).

    A share of 1 is all motion, 0 no motion; the deviation is inf if a group cannot tell. ``groups`` (m, n): 0 or 1."""
    separation = np.where(found.counts, found.still - found.moved, 0.0)
    still = np.where(found.counts, found.still, 0.0)
    weight = groups @ (separation * separation)
    beams = groups @ found.counts.astype(np.float64)

    divisor = np.maximum(weight, 1e-12)
    share = groups @ (separation * still) / divisor
    deviation = found.noise / np.sqrt(divisor)
    spread = np.where(beams >= _MIN_BEAMS, deviation, inf)
    return share, spread


def fit_travelled_share(found: Compared, step: Pose) -> tuple[float, float]:
    """Return the share of odometry's way that the whole scan saw, and its standard deviation, inf if it cannot tell.

    The motion is fitted to the lines by least squares over all returns; outliers get little weight.
    """
    distance = hypot(step.x, step.y)
    chosen = found.counts
    if distance < 1e-6 or chosen.sum() < 3 * _MIN_BEAMS:
        return 0.0, inf
    normals = found.normals[chosen]
    places = found.places[chosen]
    off = found.moved[chosen]
    normal_x, normal_y = normals.T
    x, y = places.T
    rows = np.column_stack((normals, normal_y * x - normal_x * y))

    way = np.array((step.x, step.y, 0.0)) / distance
    weight: Array = np.ones(len(rows))
    for _ in range(3):
        weighted = rows * weight[:, None]
        normal_matrix = rows.T @ weighted + np.eye(3) * _REGULAR
        inverse: Array = np.asarray(np.linalg.inv(normal_matrix), np.float64)
        missing = -inverse @ (weighted.T @ off)
        residual = (off + rows @ missing) / (3 * found.noise)
        weight = np.asarray(1 / (1 + residual**2), np.float64)

    spread = found.noise * sqrt(float(way @ inverse @ way)) / distance
    return 1 + float(way @ missing) / distance, spread


@lru_cache(maxsize=4)
def groups_of(beams: int) -> Array:
    """Return the groups of a scan, (m, beams) of 0 and 1: its sectors, the even beams, the odd beams, all beams."""
    index = np.arange(beams)
    sectors = [(index * SECTORS) // beams == number for number in range(SECTORS)]
    even = index % 2 == 0
    odd = index % 2 == 1
    return np.array([*sectors, even, odd, index >= 0], np.float64)
