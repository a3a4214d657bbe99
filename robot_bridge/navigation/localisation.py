"""Localise the robot: correct odometry by matching scans against the map.

The method is an iterated extended Kalman filter over (x, y, heading). Odometry is the prediction, and a whole scan is
the measurement. The error of a return is its distance from the line of the nearest wall. A labelled distance transform
finds the nearest wall in one lookup. Where walls give no information, as along a corridor, the filter follows odometry
without extra code.

*Marks* are the measured points of the map. Marks that lie on no line are not used, because far walls have few marks at
first. Point-to-point matching would pair each beam with the mark that the same beam made. Such marks stand still while
the robot drives: the measured error was 0.8 degrees after 0.2 m.

``scipy.optimize.least_squares`` would solve the same problem, but would apply one robust loss to both scan and
odometry. Odometry must keep its full weight.
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

_MAX_MATCH_M = 0.4
_LOSS_SCALE_M = 0.04
_SCAN_SIGMA = 0.05  # metres, of one return; far above the sensor's noise because errors of neighbours correlate
_ON_WALL_M = 0.12
_MIN_POINTS = 30
_REFRESH_SCANS = 10
_EARLY_REFRESH_SCANS = 3
_FEW_LANDMARKS = 400
_NEIGHBOUR_CELLS = 3
_MAX_BAD_SCANS = 4
_SCANS_PER_SEARCH = 3
_SEARCH_STEP_M = 0.1
_SEARCH_HEADINGS = np.radians(np.arange(-60, 61, 4))
_FIT_SHARE = 0.6


@dataclass(frozen=True, slots=True, eq=False)
class Walls:
    """The map in the form that localisation needs: measured points, their normals, and the nearest point of every cell.

    ``points`` and ``normals`` are (n, 2). The normal of a point that lies on no line (pole, corner) is zero.

    The other arrays are (rows, columns). ``nearest`` is the index of the point nearest to the cell. ``distance`` is the
    distance to this point, metres. ``known`` says which cells a beam has reached.
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
    """Return the walls of a map for matching scans, or None if the map has too few points."""
    import cv2

    marks, points = grid.find_measured()
    if len(points) < _MIN_POINTS:
        return None
    distance, labels = cv2.distanceTransformWithLabels(
        (~marks).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    # OpenCV numbers the marks in its own order from 1 on, the points are in row-major order from 0 on.
    point_of_label = np.zeros(len(points) + 1, np.int32)
    point_of_label[labels[marks]] = np.arange(len(points), dtype=np.int32)
    nearest = point_of_label[labels]
    metres = np.asarray(distance * grid.resolution, np.float32)
    normals = _normals(marks, points - (grid.x, grid.y))
    return Walls(grid.x, grid.y, grid.resolution, nearest, metres, ~grid.unknown, points, normals)


def _normals(marks: NDArray[np.bool_], points: Array) -> Array:
    """Return the unit normal of the line through each point and its neighbours, (n, 2).

    The normal is zero if the points lie on no line. The line is the main axis of the points in the cells around,
    computed from the eigenvalues of their 2 x 2 covariance.
    """
    reach = _NEIGHBOUR_CELLS
    # Index of each cell's point; cells without a point have the index of the last row of ``moments``, which is zero.
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
    normal_angle = 0.5 * np.arctan2(2 * xy, xx - yy) + np.pi / 2
    spread = np.sqrt((xx - yy) ** 2 + 4 * xy**2)
    small_eigenvalue = (xx + yy - spread) / 2
    large_eigenvalue = (xx + yy + spread) / 2
    on_line = (n >= 3) & (small_eigenvalue < 0.1 * large_eigenvalue)
    directions = np.column_stack((np.cos(normal_angle), np.sin(normal_angle)))
    normals: Array = directions * on_line[:, None]
    return normals


def _match_points(walls: Walls, points: Array) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Return (residuals, normals, distances, known) of points (n, 2) in the map frame.

    ``residuals`` (n,) are the distances from the lines of the nearest walls, signed along ``normals`` (n, 2).
    ``distances`` (n,) are the distances from the nearest marks. ``known`` bool (n,) says which points lie in a known
    part of the map.
    """
    offsets = (points - (walls.x, walls.y)) / walls.resolution
    cells = np.floor(offsets).astype(np.intp)
    rows = cells[:, 1]
    columns = cells[:, 0]
    row_count, column_count = walls.nearest.shape
    inside = (cells >= 0).all(axis=1) & (rows < row_count) & (columns < column_count)
    cells[~inside] = 0  # also changes rows and columns, which are views of cells
    index = walls.nearest[rows, columns]
    known = inside & walls.known[rows, columns]

    delta = points - walls.points[index]
    distance = np.hypot(delta[:, 0], delta[:, 1])
    normals = walls.normals[index]
    distance[~inside] = np.inf
    residual = (normals * delta).sum(axis=1)
    return residual, normals, distance, known


def match_quality(walls: Walls, points: Array) -> tuple[float, int]:
    """Return (fraction on walls, count) for the returns that lie in a known part of the map.

    ``points`` (n, 2) are returns in the map frame. If the count is 0, the fraction is 1.
    """
    _, _, distance, known = _match_points(walls, points)
    known_count = int(np.count_nonzero(known))
    if not known_count:
        return 1.0, 0

    on_wall = known & (distance < _ON_WALL_M)
    share = float(np.count_nonzero(on_wall)) / known_count
    return share, known_count


def align(walls: Walls, points: Array, prior: Pose, covariance: Array) -> tuple[Pose, Array]:
    """Return (pose, covariance): the most probable pose given a scan and a prior, and its covariance (3, 3).

    ``points`` (n, 2) are the scan's returns in the base frame. The arguments ``prior`` and ``covariance`` come from
    odometry. The method is Gauss-Newton, with the Cauchy loss for the scan.
    """
    information = np.linalg.inv(covariance)
    mean = np.array([prior.x, prior.y, prior.heading])
    state = mean.copy()
    hessian = information
    for iteration in range(8):
        x, y, heading = state
        in_map = transform_from_frame(points, Pose(x, y, heading))
        residual, normals, distance, _ = _match_points(walls, in_map)
        max_distance = _MAX_MATCH_M if iteration < 3 else _MAX_MATCH_M / 2
        arm_x, arm_y = (in_map - (x, y)).T
        loss = 1.0 + (residual / _LOSS_SCALE_M) ** 2
        weights = (distance < max_distance) / loss / _SCAN_SIGMA**2
        normal_x, normal_y = normals.T
        jacobian = np.column_stack((normals, normal_y * arm_x - normal_x * arm_y))
        weighted = jacobian * weights[:, None]
        hessian = weighted.T @ jacobian + information
        descent = -(weighted.T @ residual) - information @ (state - mean)
        step = np.linalg.solve(hessian, descent)
        state = state + step

        moved = abs(step[:2]).max()
        if moved < 5e-4 and abs(step[2]) < 2e-4:
            break

    x, y, heading = state.tolist()
    return Pose(x, y, wrap_angle(heading)), np.linalg.inv(hessian)


class Localisation:
    """Estimates the robot's pose in the map frame from odometry and scans.

    If scans contradict the map, ``is_sure`` is False, and :meth:`update_scan` searches nearby for a pose at which the
    scan matches. ``quality`` is the fraction of points on walls in the last scan that matched.
    """

    def __init__(self, lidar: Lidar, start: Pose) -> None:
        self._lidar = lidar
        self._start = start
        self._origin: Pose | None = None  # of the odom frame in the map frame
        self._history: deque[Odometry] = deque(maxlen=64)  # oldest first
        self._last_scan_pose: Pose | None = None
        self._covariance: Array = np.diag([1e-4, 1e-4, 1e-5])
        self._walls: Walls | None = None
        self._walls_age = 0
        self._bad_scans = self._lost_scans = 0
        self.quality = 1.0

    @property
    def is_sure(self) -> bool:
        """Return whether scans match the map and the position is certain enough."""
        variance = self._covariance[:2, :2].trace()
        sigma_m = float(np.sqrt(variance))
        return self._bad_scans < _MAX_BAD_SCANS and sigma_m < 0.3

    @property
    def is_doubtful(self) -> bool:
        """Return whether recent scans contradicted the map, so that no scan may be written into the map."""
        return self._bad_scans > 0

    @property
    def odometry(self) -> Odometry | None:
        """Return the newest odometry, or None before the first odometry."""
        return self._history[-1] if self._history else None

    @property
    def pose(self) -> Pose:
        """Return the pose, in the map frame, at the time of the newest odometry."""
        if self._origin is None:
            return self._start
        return self._origin.compose(self._history[-1].pose)

    def update_odometry(self, odometry: Odometry) -> None:
        """Append an odometry reading, which must be newer than all readings before."""
        self._history.append(odometry)
        if self._origin is None:
            self._origin = _odom_origin(self._start, odometry.pose)

    def restart_odometry(self, odometry: Odometry) -> None:
        """Continue from the current estimate after the odometry has restarted at another pose."""
        pose = self.pose
        self._history.clear()
        self._history.append(odometry)
        self._origin = _odom_origin(pose, odometry.pose)

    def pose_at(self, stamp: float) -> Pose:
        """Return the pose, in the map frame, at the time ``stamp``, interpolated between odometry readings."""
        if self._origin is None:
            return self._start
        later = self._history[-1]
        for earlier in reversed(self._history):
            if earlier.stamp <= stamp:
                return self._origin.compose(_interpolate_pose(earlier, later, stamp))
            later = earlier
        return self._origin.compose(later.pose)  # the stamp is older than the whole history

    def update_scan(self, scan: Scan, grid: OccupancyMap) -> Pose:
        """Correct the pose by a scan; return the pose at which the scan was taken."""
        prior = self.pose_at(scan.stamp)
        self._grow_covariance(prior)
        points = returns(scan, self._lidar)
        self._refresh_walls(grid)
        if self._walls is None or len(points) < _MIN_POINTS:
            self._last_scan_pose = prior
            return prior
        pose, covariance = align(self._walls, points, prior, self._covariance)
        quality, known_count = match_quality(self._walls, transform_from_frame(points, pose))
        if known_count >= _MIN_POINTS and quality < 0.5:
            return self._handle_contradiction(points, prior)
        self._bad_scans = max(0, self._bad_scans - 1)
        self.quality = quality
        return self._accept_pose(prior, pose, covariance)

    def _refresh_walls(self, grid: OccupancyMap) -> None:
        """Build the walls from the map again every few scans, and more often while the map has few points."""
        has_few = self._walls is None or len(self._walls.points) < _FEW_LANDMARKS
        max_age = _EARLY_REFRESH_SCANS if has_few else _REFRESH_SCANS
        if self._walls is None or self._walls_age >= max_age:
            self._walls = walls_of(grid)
            self._walls_age = 0
        self._walls_age += 1

    def _handle_contradiction(self, points: Array, prior: Pose) -> Pose:
        """Return the pose to use after a scan that contradicts the map.

        Usually, this is the prior. If the robot is lost, a search runs every few scans. If the search finds a pose
        nearby at which the scan matches, this pose is used.
        """
        self._bad_scans = min(self._bad_scans + 1, 2 * _MAX_BAD_SCANS)
        self._last_scan_pose = prior
        self._lost_scans = 0 if self.is_sure else self._lost_scans + 1
        if self._walls is None or self._lost_scans % _SCANS_PER_SEARCH != 1:
            return prior
        found = search_pose(self._walls, points, prior)
        if found is None:
            return prior
        self._walls_age = _REFRESH_SCANS  # build the walls again at the next scan
        found_covariance = np.diag([0.01, 0.01, 0.01])
        pose, covariance = align(self._walls, points, found, found_covariance)
        return self._accept_pose(prior, pose, covariance)

    def _accept_pose(self, prior: Pose, pose: Pose, covariance: Array) -> Pose:
        """Move the odom frame in the map frame so that ``prior`` becomes ``pose``; return ``pose``."""
        if self._origin is not None:
            self._origin = _odom_origin(pose, prior.relative_to(self._origin))
        self._covariance = covariance
        self._last_scan_pose = pose
        return pose

    def _grow_covariance(self, prior: Pose) -> None:
        """Add to the covariance the uncertainty of odometry since the last scan.

        The constants are standard deviations: a fixed part in metres or radians, and parts per metre and per radian of
        motion.
        """
        reference = self._last_scan_pose or prior
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
    """Return the pose at which most returns lie on walls, or None if no pose fits well.

    The search covers all places within ``reach`` metres of ``around`` on either axis, and headings over a third of a
    turn.
    """
    sample = points[:: max(1, len(points) // 60)]
    step = max(1, round(_SEARCH_STEP_M / walls.resolution))
    max_offset = ceil(reach / walls.resolution / step) * step
    offsets = np.arange(-max_offset, max_offset + 1, step)  # cells, along x and along y
    # Cells are clipped to max_offset + 1 outside the map and shifted by max_offset, so the border contains all lookups.
    border = 2 * max_offset + 1
    is_on_wall = np.pad(walls.distance < _ON_WALL_M, border)
    width = is_on_wall.shape[1]
    # Shifts of the index into the flat array, (x offset, y offset, 1).
    shifts = (offsets[:, None] + offsets * width)[..., None]
    row_count, column_count = walls.distance.shape

    best = None
    best_share = _FIT_SHARE
    for turn in _SEARCH_HEADINGS:
        heading = around.heading + float(turn)
        in_map = transform_from_frame(sample, Pose(around.x, around.y, heading))
        cells = np.floor((in_map - (walls.x, walls.y)) / walls.resolution)
        near_rows = cells[:, 1].clip(-max_offset - 1, row_count + max_offset)
        near_columns = cells[:, 0].clip(-max_offset - 1, column_count + max_offset)
        rows = near_rows.astype(np.intp) + border
        columns = near_columns.astype(np.intp) + border
        shares = is_on_wall.ravel()[shifts + rows * width + columns].mean(axis=-1)

        best_index = np.unravel_index(int(shares.argmax()), shares.shape)
        if shares[best_index] > best_share:
            best_share = float(shares[best_index])
            x, y = (float(offsets[i]) * walls.resolution for i in best_index)
            best = Pose(around.x + x, around.y + y, wrap_angle(heading))
    return best


def _odom_origin(pose: Pose, odometry: Pose) -> Pose:
    """Return the origin of the odom frame in the map frame, given one pose in both frames.

    ``pose`` is in the map frame, ``odometry`` in the odom frame.
    """
    return pose.compose(Pose().relative_to(odometry))


def _interpolate_pose(earlier: Odometry, later: Odometry, stamp: float) -> Pose:
    """Return the pose at ``stamp``, between two readings; if ``stamp`` is later than both, return the later pose."""
    duration = later.stamp - earlier.stamp
    part = 0.0 if duration <= 0.0 else min(1.0, (stamp - earlier.stamp) / duration)
    step = later.pose.relative_to(earlier.pose)
    if hypot(step.x, step.y) < 1e-9 and abs(step.heading) < 1e-9:
        return earlier.pose
    moved = Pose(step.x * part, step.y * part, step.heading * part)
    return earlier.pose.compose(moved)
