"""Localise the robot: correct odometry by matching scans against the map.

This is an iterated extended Kalman filter over (x, y, heading). The prediction is odometry, the measurement is a whole
scan: every return is compared with the wall nearest to where it should lie (point to line, by one lookup in a labelled
distance transform). Where walls give no information, as along a corridor, the filter follows odometry by itself.

Marks that lie on no line give no information either. Far walls are marked sparsely at first, and matching mark to mark
would match beam to beam, which stand still while the robot drives: measured error 0.8 degrees after 0.2 m.

``scipy.optimize.least_squares`` would do the same sums, but it applies one robust loss to scan and odometry alike, and
odometry must keep its full weight.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil, cos, hypot, sin

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Lidar
from robot_bridge.contracts import Odometry, Pose, Scan, wrap_angle
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.safety.geometry import transform_from_frame
from robot_bridge.safety.scans import returns

Array = NDArray[np.float64]

_GATE_M = 0.4
_LOSS_M = 0.04
_SCAN_SIGMA = 0.05  # of one return: far above the sensor's noise, because errors of neighbouring returns correlate
_MATCH_M = 0.12
_MIN_JUDGED = 30
_REFRESH_SCANS = 10
_REFRESH_EARLY = 3
_FEW_LANDMARKS = 400
_NEIGHBOUR_CELLS = 3
_BAD_SCANS = 4
_SEARCH_SCANS = 3
_SEARCH_M = 0.1
_SEARCH_TURNS = np.radians(np.arange(-60, 61, 4))
_FIT_SHARE = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Walls:
    """The map as localisation uses it: for every cell the nearest measured point and the normal there.

    ``nearest`` (rows, columns) is an index into ``points`` (n, 2) and ``normals`` (n, 2); a normal is zero without a
    line (poles, corners). ``distance`` is in metres.
    """

    x: float
    y: float
    resolution: float
    nearest: NDArray[np.int32]
    distance: NDArray[np.float32]
    known: NDArray[np.bool_]
    points: Array
    normals: Array


def walls_of(grid: OccupancyMap) -> Walls | None:
    """Return the walls to match scans against, or None while the map has too few points."""
    import cv2

    marks, points = grid.find_measured()
    if len(points) < _MIN_JUDGED:
        return None
    distance, labels = cv2.distanceTransformWithLabels(
        (~marks).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    order = np.zeros(len(points) + 1, np.int32)
    order[labels[marks]] = np.arange(len(points), dtype=np.int32)
    nearest = order[labels]
    metres = np.asarray(distance * grid.resolution, np.float32)
    normals = _normals(marks, points - (grid.x, grid.y))
    return Walls(grid.x, grid.y, grid.resolution, nearest, metres, ~grid.unknown, points, normals)


def _normals(marks: NDArray[np.bool_], points: Array) -> Array:
    """Return the normals of the lines through points and their neighbours, (n, 2); zero without a line."""
    reach = _NEIGHBOUR_CELLS
    height, width = marks.shape
    index = np.full((height + 2 * reach, width + 2 * reach), len(points), np.int32)
    rows, columns = np.nonzero(marks)
    index[rows + reach, columns + reach] = np.arange(len(points))
    x = points[:, 0]
    y = points[:, 1]
    moments = np.zeros((len(points) + 1, 6))
    ones = np.ones(len(points))
    moments[:-1] = np.column_stack((ones, x, y, x * x, x * y, y * y))
    total = np.zeros((len(points), 6))
    for down in range(2 * reach + 1):
        for aside in range(2 * reach + 1):
            total += moments[index[rows + down, columns + aside]]
    n, sx, sy, sxx, sxy, syy = total.T
    xx = sxx / n - (sx / n) ** 2
    xy = sxy / n - sx * sy / n**2
    yy = syy / n - (sy / n) ** 2
    angle = 0.5 * np.arctan2(2 * xy, xx - yy) + np.pi / 2
    spread = np.sqrt((xx - yy) ** 2 + 4 * xy**2)
    small = (xx + yy - spread) / 2
    large = (xx + yy + spread) / 2
    on_line = (n >= 3) & (small < 0.1 * large)
    directions = np.column_stack((np.cos(angle), np.sin(angle)))
    normals: Array = directions * on_line[:, None]
    return normals


def _match_points(walls: Walls, points: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Return distances across walls (n,), the walls' normals (n, 2), distances to the nearest mark (n,), and which
    points lie in the known map (n,)."""
    offsets = (points - (walls.x, walls.y)) / walls.resolution
    cells = np.floor(offsets).astype(np.intp)
    rows = cells[:, 1]
    columns = cells[:, 0]
    row_count, column_count = walls.nearest.shape
    inside = (cells >= 0).all(axis=1) & (rows < row_count) & (columns < column_count)
    cells[~inside] = 0  # rows and columns are views, so they follow
    index = walls.nearest[rows, columns]
    known = inside & walls.known[rows, columns]

    delta = points - walls.points[index]
    distance = np.hypot(delta[:, 0], delta[:, 1])
    normals = walls.normals[index]
    distance[~inside] = np.inf
    return (normals * delta).sum(axis=1), normals, distance, known


def match_quality(walls: Walls, points: Array) -> tuple[float, int]:
    """Return the share of returns in the known map that lie on walls, and their number; points are in the map frame."""
    _, _, distance, known = _match_points(walls, points)
    judged = int(np.count_nonzero(known))
    if not judged:
        return 1.0, 0

    matching = known & (distance < _MATCH_M)
    return float(np.count_nonzero(matching)) / judged, judged


def align(walls: Walls, points: Array, prior: Pose, covariance: Array) -> tuple[Pose, Array]:
    """Return the most probable pose and its covariance (3, 3), given returns in the base frame (n, 2) and a prior."""
    information = np.linalg.inv(covariance)
    mean = np.array([prior.x, prior.y, prior.heading])
    state = mean.copy()
    hessian = information
    for turn in range(8):
        x, y, heading = state
        there = transform_from_frame(points, Pose(x, y, heading))
        residual, normals, distance, _ = _match_points(walls, there)
        gate = _GATE_M if turn < 3 else _GATE_M / 2
        arm_x, arm_y = (there - (x, y)).T
        loss = 1.0 + (residual / _LOSS_M) ** 2
        weights = (distance < gate) / loss / _SCAN_SIGMA**2
        normal_x, normal_y = normals.T
        jacobian = np.column_stack((normals, normal_y * arm_x - normal_x * arm_y))
        weighted = jacobian * weights[:, None]
        hessian = weighted.T @ jacobian + information
        gradient = -(weighted.T @ residual) - information @ (state - mean)
        step = np.linalg.solve(hessian, gradient)
        state = state + step

        moved = abs(step[:2]).max()
        if moved < 5e-4 and abs(step[2]) < 2e-4:
            break

    x, y, heading = state.tolist()
    return Pose(x, y, wrap_angle(heading)), np.linalg.inv(hessian)


class Localisation:
    """Estimates the robot's pose in the map frame from odometry and scans.

    ``is_sure`` is False while the scans contradict the map; then :meth:`update_scan` searches nearby for a pose at
    which they match.
    """

    def __init__(self, lidar: Lidar, start: Pose) -> None:
        self._lidar = lidar
        self._start = start
        self._origin: Pose | None = None
        self._history: deque[Odometry] = deque(maxlen=64)
        self._reference: Pose | None = None
        self._covariance: Array = np.diag([1e-4, 1e-4, 1e-5])
        self._walls: Walls | None = None
        self._age = 0
        self._bad = self._lost = 0
        self.quality = 1.0

    @property
    def is_sure(self) -> bool:
        """Return whether scans match the map, and odometry has not been uncorrected for too long."""
        variance = self._covariance[:2, :2].trace()
        return self._bad < _BAD_SCANS and float(np.sqrt(variance)) < 0.3

    @property
    def is_doubtful(self) -> bool:
        """Return whether recent scans contradicted the map: then scans must not be written into it."""
        return self._bad > 0

    @property
    def odometry(self) -> Odometry | None:
        """Return the newest odometry, or None."""
        return self._history[-1] if self._history else None

    @property
    def pose(self) -> Pose:
        """Return the pose at the newest odometry."""
        if self._origin is None:
            return self._start
        return self._origin.compose(self._history[-1].pose)

    def update_odometry(self, odometry: Odometry) -> None:
        """Take in a measurement that is newer than the last."""
        self._history.append(odometry)
        if self._origin is None:
            self._origin = _frame(self._start, odometry.pose)

    def restart_odometry(self, odometry: Odometry) -> None:
        """Continue from the current estimate after odometry has restarted at another pose."""
        pose = self.pose
        self._history.clear()
        self._history.append(odometry)
        self._origin = _frame(pose, odometry.pose)

    def pose_at(self, stamp: float) -> Pose:
        """Return the pose at the time of a scan, interpolated between the nearest odometry readings."""
        if self._origin is None:
            return self._start
        later = self._history[-1]
        for earlier in reversed(self._history):
            if earlier.stamp <= stamp:
                return self._origin.compose(_interpolate_pose(earlier, later, stamp))
            later = earlier
        return self._origin.compose(later.pose)

    def update_scan(self, scan: Scan, grid: OccupancyMap) -> Pose:
        """Correct the pose by a scan and return the pose at which the scan was taken."""
        prior = self.pose_at(scan.stamp)
        self._spread(prior)
        points = returns(scan, self._lidar)
        few = self._walls is None or len(self._walls.points) < _FEW_LANDMARKS
        if self._walls is None or self._age >= (_REFRESH_EARLY if few else _REFRESH_SCANS):
            self._walls = walls_of(grid)
            self._age = 0
        self._age += 1
        if self._walls is None or len(points) < _MIN_JUDGED:
            self._reference = prior
            return prior
        pose, covariance = align(self._walls, points, prior, self._covariance)
        quality, judged = match_quality(self._walls, transform_from_frame(points, pose))
        if judged >= _MIN_JUDGED and quality < 0.5:
            return self._handle_contradiction(points, prior)
        self._bad = max(0, self._bad - 1)
        self.quality = quality
        return self._accept_pose(prior, pose, covariance)

    def _handle_contradiction(self, points: Array, prior: Pose) -> Pose:
        self._bad = min(self._bad + 1, 2 * _BAD_SCANS)
        self._reference = prior
        self._lost = 0 if self.is_sure else self._lost + 1
        if self._walls is None or self._lost % _SEARCH_SCANS != 1:
            return prior
        found = search_pose(self._walls, points, prior)
        if found is None:
            return prior
        self._age = _REFRESH_SCANS
        found_covariance = np.diag([0.01, 0.01, 0.01])
        pose, covariance = align(self._walls, points, found, found_covariance)
        return self._accept_pose(prior, pose, covariance)

    def _accept_pose(self, prior: Pose, pose: Pose, covariance: Array) -> Pose:
        if self._origin is not None:
            self._origin = _frame(pose, prior.relative_to(self._origin))
        self._covariance = covariance
        self._reference = pose
        return pose

    def _spread(self, prior: Pose) -> None:
        """Let the uncertainty grow with the motion by odometry alone since the last scan."""
        reference = self._reference or prior
        moved = prior.distance_to(reference.x, reference.y)
        turned = abs(wrap_angle(prior.heading - reference.heading))
        along = 0.001 + 0.1 * moved + 0.02 * turned
        rotation = 0.001 + 0.05 * moved + 0.1 * turned
        c = cos(prior.heading)
        s = sin(prior.heading)
        axes = np.array([[c, -s], [s, c]])
        growth = np.zeros((3, 3))
        variances = np.diag([along**2, (0.5 * along) ** 2])
        growth[:2, :2] = axes @ variances @ axes.T
        growth[2, 2] = rotation**2
        self._covariance = self._covariance + growth


def search_pose(walls: Walls, points: Array, around: Pose, reach: float = 1.0) -> Pose | None:
    """Return the pose near a lost one at which most returns lie on walls, or None if no pose fits well."""
    sample = points[:: max(1, len(points) // 60)]
    step = max(1, round(_SEARCH_M / walls.resolution))
    most = ceil(reach / walls.resolution / step) * step
    offsets = np.arange(-most, most + 1, step)
    # The border is as wide as the offsets on either side of it, so no lookup falls outside.
    border = 2 * most + 1
    marks = np.pad(walls.distance < _MATCH_M, border)
    width = marks.shape[1]
    shifts = (offsets[:, None] + offsets * width)[..., None]
    row_count, column_count = walls.distance.shape

    best = None
    best_share = _FIT_SHARE
    for turn in _SEARCH_TURNS:
        heading = around.heading + float(turn)
        there = transform_from_frame(sample, Pose(around.x, around.y, heading))
        cells = np.floor((there - (walls.x, walls.y)) / walls.resolution)
        near_rows = cells[:, 1].clip(-most - 1, row_count + most)
        near_columns = cells[:, 0].clip(-most - 1, column_count + most)
        rows = near_rows.astype(np.intp) + border
        columns = near_columns.astype(np.intp) + border
        share = marks.ravel()[shifts + rows * width + columns].mean(axis=-1)

        at = np.unravel_index(int(share.argmax()), share.shape)
        if share[at] > best_share:
            best_share = float(share[at])
            x, y = (float(offsets[i]) * walls.resolution for i in at)
            best = Pose(around.x + x, around.y + y, wrap_angle(heading))
    return best


def _frame(pose: Pose, odometry: Pose) -> Pose:
    """Return the origin of the odom frame in the map frame."""
    return pose.compose(Pose().relative_to(odometry))


def _interpolate_pose(earlier: Odometry, later: Odometry, stamp: float) -> Pose:
    gap = later.stamp - earlier.stamp
    part = 0.0 if gap <= 0.0 else min(1.0, (stamp - earlier.stamp) / gap)
    step = later.pose.relative_to(earlier.pose)
    if hypot(step.x, step.y) < 1e-9 and abs(step.heading) < 1e-9:
        return earlier.pose
    moved = Pose(step.x * part, step.y * part, step.heading * part)
    return earlier.pose.compose(moved)
