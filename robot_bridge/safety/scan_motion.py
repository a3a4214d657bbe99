"""Measure how a robot moved between two scans, and which parts of the scan did not move with the robot (pure).

Lines are fitted to straight pieces of the earlier scan. Every return of the later scan is compared with two lines. The
*expected* line is where the return should lie if the robot moved as odometry says. The *old* line is the line that the
same beam met in the earlier scan. A working lidar gives distance zero from the expected line. A lidar that repeats
itself gives distance zero from the old line. Where the two distances hardly differ, as along a wall, a return says
nothing. Therefore each beam is weighted by the difference of its two distances.
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
_LINE_HALF_LENGTH_M = 0.1
"""A line is fitted to the returns within this distance on either side of a beam."""
_MIN_BEAMS_PER_SIDE = 3
_MAX_BEAMS_PER_SIDE = 12
"""Least and greatest number of beams on either side to which a line is fitted."""
_MAX_BEND = 2.0
"""Greatest standard deviation of the returns from their line, as a multiple of the lidar's noise."""
_MAX_ALONG_M = 0.3
"""Greatest distance along the line, metres, of a return from the middle of the line."""
_OUTLIER_M = 0.15
_MIN_BEAMS = 6
_REGULARISATION = 1e-3
"""Term that keeps the uncertainty finite in directions that no wall constrains."""


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """A scan as lines in the base frame, with one row for each of the n beams.

    ``points`` (n, 2) are the returns; ``is_good`` (n,) says which returns are valid. A line is fitted to the beam's
    return and its neighbours: ``middles`` and ``normals`` (n, 2) belong to this line. ``is_line`` (n,) says whether the
    returns lie on the line.
    """

    points: Array
    is_good: NDArray[np.bool_]
    middles: Array
    normals: Array
    is_line: NDArray[np.bool_]


def lines_of(scan: Scan, lidar: Lidar) -> Lines:
    """Return the lines of a scan over a whole turn."""
    is_good = valid(scan)
    reach = np.where(is_good, scan.ranges, 0.0).astype(np.float64)
    directions = angles(scan)
    point_x = lidar.x + reach * np.cos(directions)
    point_y = reach * np.sin(directions)
    points = np.column_stack((point_x, point_y))

    step = max(abs(scan.angle_increment), 1e-6)
    beam_spacing = np.maximum(reach, 0.05) * step
    half = np.ceil(_LINE_HALF_LENGTH_M / beam_spacing).astype(np.intp)
    half = half.clip(_MIN_BEAMS_PER_SIDE, _MAX_BEAMS_PER_SIDE)

    # Moments of the points around each beam. The direction of least variance is the line's normal; the least and the
    # greatest variance are the eigenvalues of the 2 x 2 covariance.
    weights = is_good.astype(np.float64)
    x = points[:, 0] * weights
    y = points[:, 1] * weights
    moments = np.stack((weights, x, y, x * x, x * y, y * y))
    number, sum_x, sum_y, sum_xx, sum_xy, sum_yy = _window_sums(moments, half)
    count = np.maximum(number, 1.0)
    mx = sum_x / count
    my = sum_y / count
    xx = sum_xx / count - mx * mx
    xy = sum_xy / count - mx * my
    yy = sum_yy / count - my * my
    mean_variance = (xx + yy) / 2
    half_difference = np.hypot((xx - yy) / 2, xy)
    least_variance = mean_variance - half_difference
    greatest_variance = mean_variance + half_difference
    normal_angle = np.arctan2(2 * xy, xx - yy) / 2 + np.pi / 2

    is_straight = least_variance <= (_MAX_BEND * lidar.noise) ** 2
    is_line = is_good & (number >= 1.6 * half) & is_straight
    is_line &= greatest_variance > 4 * np.maximum(least_variance, 1e-8)
    middles = np.column_stack((mx, my))
    normals = np.column_stack((np.cos(normal_angle), np.sin(normal_angle)))
    return Lines(points, is_good, middles, normals, is_line)


def _window_sums(columns: Array, half: NDArray[np.intp]) -> Array:
    """Return, for every row and beam, the sum of the row's values in the window around the beam, (rows, beams).

    The window of a beam reaches ``half`` (beams,) beams to either side. Past the end of the scan, the window continues
    at the beginning. ``half`` is at most ``_MAX_BEAMS_PER_SIDE``. Sums are differences of cumulative sums.
    """
    count = columns.shape[1]
    last = columns[:, -_MAX_BEAMS_PER_SIDE:]
    first = columns[:, :_MAX_BEAMS_PER_SIDE]
    wrapped = np.concatenate((last, columns, first), axis=1)
    zeros = np.zeros((len(columns), 1))
    cumulative = np.concatenate((zeros, np.cumsum(wrapped, axis=1)), axis=1)

    beams = np.arange(count) + _MAX_BEAMS_PER_SIDE
    until_window_end = cumulative[:, beams + half + 1]
    until_window_start = cumulative[:, beams - half]
    return until_window_end - until_window_start


@dataclass(frozen=True, slots=True, eq=False)
class ScanComparison:
    """The comparison of two scans, with one row for each of the n beams of the later scan.

    ``still`` (n,) is the signed distance of the return from the old line, metres. ``moved`` (n,) is its signed distance
    from the expected line, metres. ``normals`` (n, 2) are the normals of the expected lines. ``places`` (n, 2) are the
    later returns in the earlier base frame. ``counts`` (n,) says which beams count: both lines are known and near.
    ``noise`` is the noise of one return, metres.
    """

    still: Array
    moved: Array
    normals: Array
    places: Array
    counts: NDArray[np.bool_]
    noise: float


def compare_scans(earlier: Lines, later: Lines, step: Pose, lidar: Lidar) -> ScanComparison:
    """Compare two scans; ``step`` is the later base pose relative to the earlier base pose, according to odometry."""
    count = len(earlier.points)
    places = transform_from_frame(later.points, step)
    directions = np.arctan2(places[:, 1], places[:, 0] - lidar.x)
    bearings = directions - lidar.angle_min
    beams = np.rint(bearings / (2 * np.pi / count)).astype(np.intp) % count
    # Distance from the old line, which the same beam met.
    still = ((later.points - earlier.middles) * earlier.normals).sum(axis=1)

    # Distance from the expected line, which the earlier beam towards the return's place met.
    normals = earlier.normals[beams]
    from_middle = places - earlier.middles[beams]
    moved = (from_middle * normals).sum(axis=1)
    offset_x, offset_y = from_middle.T
    normal_x, normal_y = normals.T
    along_line = np.abs(offset_x * normal_y - offset_y * normal_x)

    has_lines = earlier.is_line & earlier.is_line[beams]
    counts = later.is_good & has_lines & (along_line <= _MAX_ALONG_M)
    still_distance = np.abs(still)
    moved_distance = np.abs(moved)
    counts &= np.minimum(still_distance, moved_distance) <= _OUTLIER_M
    counts &= np.maximum(still_distance, moved_distance) <= 2 * _OUTLIER_M
    return ScanComparison(still, moved, normals, places, counts, lidar.noise)


def shares(comparison: ScanComparison, groups: Array) -> tuple[Array, Array]:
    """Return (fractions, deviations), both (m,), of odometry's motion as each group of beams saw it.

    A fraction of 1 means all of the motion, 0 no motion. The standard deviation of a fraction is inf if the group is
    inconclusive. ``groups`` (m, n) is 1 where a beam belongs to a group, else 0. The fraction is a least-squares fit
    over the beams of the group.
    """
    separation = np.where(comparison.counts, comparison.still - comparison.moved, 0.0)
    still = np.where(comparison.counts, comparison.still, 0.0)
    weight = groups @ (separation * separation)
    beams = groups @ comparison.counts.astype(np.float64)

    divisor = np.maximum(weight, 1e-12)
    share = groups @ (separation * still) / divisor
    deviation = comparison.noise / np.sqrt(divisor)
    conclusive_deviation = np.where(beams >= _MIN_BEAMS, deviation, inf)
    return share, conclusive_deviation


def fit_travelled_share(comparison: ScanComparison, step: Pose) -> tuple[float, float]:
    """Return (fraction, deviation): the fraction of odometry's distance that the whole scan saw, and its deviation.

    The deviation is a standard deviation. If the scan is inconclusive, the result is (0, inf). The motion is fitted to
    the lines by iteratively reweighted least squares over all returns; outliers get little weight.
    """
    distance = hypot(step.x, step.y)
    chosen = comparison.counts
    if distance < 1e-6 or chosen.sum() < 3 * _MIN_BEAMS:
        return 0.0, inf
    normals = comparison.normals[chosen]
    places = comparison.places[chosen]
    distances = comparison.moved[chosen]
    normal_x, normal_y = normals.T
    x, y = places.T
    jacobian = np.column_stack((normals, normal_y * x - normal_x * y))

    way = np.array((step.x, step.y, 0.0)) / distance
    weight: Array = np.ones(len(jacobian))
    for _ in range(3):
        weighted = jacobian * weight[:, None]
        normal_matrix = jacobian.T @ weighted + np.eye(3) * _REGULARISATION
        inverse: Array = np.asarray(np.linalg.inv(normal_matrix), np.float64)
        correction = -inverse @ (weighted.T @ distances)  # (x, y, heading) to add to odometry's step
        residual = (distances + jacobian @ correction) / (3 * comparison.noise)
        weight = np.asarray(1 / (1 + residual**2), np.float64)

    deviation = comparison.noise * sqrt(float(way @ inverse @ way)) / distance
    return 1 + float(way @ correction) / distance, deviation


@lru_cache(maxsize=4)
def groups_of(beams: int) -> Array:
    """Return the groups of beams, (m, beams): 1 where a beam belongs to a group, else 0.

    The rows are the sectors, the even beams, the odd beams and all beams, in this order.
    """
    index = np.arange(beams)
    sectors = [(index * SECTORS) // beams == number for number in range(SECTORS)]
    even = index % 2 == 0
    odd = index % 2 == 1
    return np.array([*sectors, even, odd, index >= 0], np.float64)
