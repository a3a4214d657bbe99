"""Find frontiers: where known free space that the robot can reach meets the unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import hypot

import numpy as np
from numpy.typing import NDArray

from robot_bridge.contracts import Frontier
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.navigation.planning import CostGrid, Place, open_start

_MIN_WIDTH_M = 0.3
_WALL_CELLS = 2
_VIEW_M = 0.8
_SAME_M = 0.7
_WIDE_M = 1.2


@dataclass(frozen=True, slots=True)
class _Found:
    """A cluster of frontier cells: its middle, the free place before it and its length."""

    middle: Place
    place: Place
    width: float
    is_old: bool = False

    def distance_to(self, middle: Place) -> float:
        return hypot(middle[0] - self.middle[0], middle[1] - self.middle[1])


class FrontierFinder:
    """Finds frontiers and gives each a lasting id.

    Attributes:
        cut_off: number of frontiers that were returned before and are not reachable any more.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Found] = {}
        self._next = 1
        self._told: dict[int, _Found] = {}
        self.cut_off = 0

    def find(self, grid: OccupancyMap, costs: CostGrid, start: Place) -> tuple[Frontier, ...]:
        """Return the frontiers that can be reached from ``start``, the widest first.

        Narrow ones count only when found a second time, or if there are no others: a wall seen along its length is
        full of holes for a moment, which are not frontiers.

        Args:
            grid: the map.
            costs: costs of the same map, with unknown cells blocked.
            start: where the footprint's middle is.
        """
        clusters, out_of_reach = _clusters(grid, _reachable(costs, start))
        found = sorted(clusters, key=lambda f: (-f.width, f.middle))
        self._known = self._assign_ids(found)

        sure = {i: f for i, f in self._known.items() if f.is_old or f.width >= _WIDE_M}
        told = sure or self._known
        self._told |= {i: f for i, f in told.items() if f.is_old}

        gone = [f for i, f in self._told.items() if i not in self._known]
        self.cut_off = 0
        for middle in out_of_reach:
            self.cut_off += any(f.distance_to(middle) <= _SAME_M for f in gone)

        return tuple(Frontier(i, *f.place, f.width) for i, f in told.items())

    def _assign_ids(self, found: list[_Found]) -> dict[int, _Found]:
        named: dict[int, _Found] = {}
        left = dict(self._known)
        for cluster in found:
            near = {i: other.distance_to(cluster.middle) for i, other in left.items()}
            best = min(near, key=near.__getitem__, default=0)
            if best and near[best] <= _match_distance(cluster, left[best]):
                del left[best]
                named[best] = replace(cluster, is_old=True)
            else:
                named[self._next] = cluster
                self._next += 1
        return named


def _match_distance(cluster: _Found, other: _Found) -> float:
    """Return within how many metres two clusters count as the same frontier."""
    return max(_SAME_M, min(cluster.width, other.width) / 2)


def _reachable(costs: CostGrid, start: Place) -> NDArray[np.bool_]:
    """Return the cells that a way leads to, bool (rows, columns)."""
    import cv2

    free = np.isfinite(open_start(costs, start)).astype(np.uint8)
    _, labels = cv2.connectedComponents(free, connectivity=4)
    reachable: NDArray[np.bool_] = labels == labels[costs.cell(start)]
    return reachable


def _clusters(grid: OccupancyMap, reachable: NDArray[np.bool_]) -> tuple[list[_Found], list[Place]]:
    """Return the reachable frontiers, and the middles of the others."""
    import cv2

    unknown = grid.unknown
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
    beside = cv2.dilate(unknown.astype(np.uint8), cross) > 0
    square = np.ones((2 * _WALL_CELLS + 1,) * 2, np.uint8)
    walls = cv2.dilate(grid.surfaces.astype(np.uint8), square) > 0
    edge = (beside & ~unknown & ~walls).astype(np.uint8)
    count, labels, stats, middles = cv2.connectedComponentsWithStats(edge, connectivity=8)

    reach = round(_VIEW_M / grid.resolution)
    found = []
    others = []
    for number in range(1, count):
        x, y, width, height, _ = (int(v) for v in stats[number])
        size = hypot(width, height) * grid.resolution
        if size < _MIN_WIDTH_M:
            continue

        window = labels[y : y + height, x : x + width]
        rows, columns = np.nonzero(window == number)
        mean_column, mean_row = middles[number]
        from_mean = np.hypot(rows - (mean_row - y), columns - (mean_column - x))
        central = int(from_mean.argmin())
        row = int(rows[central]) + y
        column = int(columns[central]) + x

        middle = grid.place(row, column)
        place = _nearest(reachable, row, column, reach)
        if place is None:
            others.append(middle)
        else:
            found.append(_Found(middle, grid.place(*place), round(size, 2)))
    return found, others


def _nearest(cells: NDArray[np.bool_], row: int, column: int, reach: int) -> tuple[int, int] | None:
    """Return the nearest of the cells within ``reach`` cells, or None."""
    top = max(0, row - reach)
    left = max(0, column - reach)
    window = cells[top : row + reach + 1, left : column + reach + 1]
    rows, columns = np.nonzero(window)
    if not len(rows):
        return None
    distance = np.hypot(rows + top - row, columns + left - column)
    best = int(distance.argmin())
    if distance[best] > reach:
        return None
    return int(rows[best]) + top, int(columns[best]) + left
