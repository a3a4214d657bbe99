"""Clearance: the distance from a place to the nearest obstacle, on a fine grid around the robot.

Circles cover the footprint. A pose is free if the clearance at the middle of every circle is at least the circle's
radius.

Cells are 2 cm wide. With the map's cells of 5 cm, half of the room that the robot has in a 1 m corridor would be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, hypot

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Body
from robot_bridge.contracts import Pose
from robot_bridge.navigation.mapping import OccupancyMap

Array = NDArray[np.float64]

CELL_M = 0.02
_CIRCLES_PER_WIDTH = 2.7


@dataclass(frozen=True, slots=True)
class KeepOut:
    """A disc that the footprint must not enter, because of a danger that no sensor sees (lava).

    The middle ``x``, ``y`` and the ``radius`` are in metres, in the map frame.
    """

    x: float
    y: float
    radius: float


@dataclass(frozen=True, slots=True, eq=False)
class Circles:
    """Circles of equal ``radius`` that together cover a footprint; lengths are in metres.

    The middles lie on the robot's long axis. ``ahead`` (n,) is the distance of each middle ahead of the rear axle.
    """

    ahead: Array
    radius: float


def circles_of(body: Body) -> Circles:
    """Return a few circles that together cover the footprint and little more."""
    length = body.front + body.rear
    count = max(1, ceil(_CIRCLES_PER_WIDTH * length / (2 * body.half_width)))
    spacing = length / count
    ahead = np.array([-body.rear + spacing * (i + 0.5) for i in range(count)])
    radius = hypot(spacing / 2, body.half_width)
    return Circles(ahead, radius)


@dataclass(frozen=True, slots=True, eq=False)
class Clearance:
    """The distance from every cell of a square grid to the nearest obstacle, in the map frame.

    ``metres`` is float32 (rows, columns) with row 0 at the lowest y; ``x``, ``y`` is the lower left corner of the
    square.
    """

    x: float
    y: float
    metres: NDArray[np.float32]

    @property
    def size(self) -> float:
        """Return the edge length of the square, metres."""
        return float(self.metres.shape[0] * CELL_M)

    def clearance_at(self, xs: Array, ys: Array) -> NDArray[np.float32]:
        """Return the clearance at each place (x, y), metres, in the shape of ``xs``; 0 outside the square."""
        columns = np.floor((xs - self.x) / CELL_M).astype(np.intp)
        rows = np.floor((ys - self.y) / CELL_M).astype(np.intp)
        count = self.metres.shape[0]
        inside = (columns >= 0) & (rows >= 0) & (columns < count) & (rows < count)
        # The factor ``inside`` moves indices outside the square to cell (0, 0) and sets their clearance to 0.
        clearances: NDArray[np.float32] = self.metres[rows * inside, columns * inside] * inside
        return clearances

    def pose_clearances(self, xs: Array, ys: Array, headings: Array, circles: Circles) -> Array:
        """Return the free room around the footprint at each of n poses, metres (n,).

        The room is negative if an obstacle is inside the footprint.
        """
        cos = np.cos(headings)[:, None]
        sin = np.sin(headings)[:, None]
        x = xs[:, None] + cos * circles.ahead
        y = ys[:, None] + sin * circles.ahead
        nearest = self.clearance_at(x, y).min(axis=1)
        room: Array = nearest.astype(np.float64) - circles.radius
        return room

    def pose_clearance(self, pose: Pose, circles: Circles) -> float:
        """Return the free room around the footprint at one pose, metres; negative if an obstacle is inside."""
        x = np.array([pose.x])
        y = np.array([pose.y])
        heading = np.array([pose.heading])
        return float(self.pose_clearances(x, y, heading, circles)[0])


def clearance_around(
    pose: Pose,
    grid: OccupancyMap,
    returns: Array,
    keep_outs: Sequence[KeepOut] = (),
    *,
    reach: float = 2.6,
) -> Clearance:
    """Return the clearance in a square around a pose, from the map and the newest scan.

    Args:
        pose: middle of the square.
        grid: the map.
        returns: returns of the newest scan, (n, 2) in the map frame.
        keep_outs: discs that count as obstacles.
        reach: half of the square's edge, metres.
    """
    import cv2

    count = round(2 * reach / CELL_M)
    x = pose.x - reach
    y = pose.y - reach
    free = np.ones((count, count), np.uint8)
    mapped = grid.obstacles_in(x, y, x + 2 * reach, y + 2 * reach)
    points = np.concatenate((mapped, returns))
    cells = np.floor((points - (x, y)) / CELL_M).astype(np.intp)
    cells = cells[((cells >= 0) & (cells < count)).all(axis=1)]
    free[cells[:, 1], cells[:, 0]] = 0
    for area in keep_outs:
        column = floor((area.x - x) / CELL_M)
        row = floor((area.y - y) / CELL_M)
        cv2.circle(free, (column, row), round(area.radius / CELL_M), 0, -1)

    in_cells = cv2.distanceTransform(free, cv2.DIST_L2, 5)
    metres = np.asarray(in_cells, np.float32) * np.float32(CELL_M)
    return Clearance(x, y, metres)
