"""Find frontiers: places where reachable free space borders on unknown space."""

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
_MAX_VIEW_M = 0.8
_MATCH_M = 0.7
_WIDE_M = 1.2


@dataclass(frozen=True, slots=True)
class _Cluster:
    """A cluster of connected frontier cells; lengths are in metres.

    ``middle`` is the frontier cell nearest to the mean of the cluster. ``place`` is the reachable place nearest to
    ``middle``. ``is_old`` says whether an earlier search has already found the cluster.
    """

    middle: Place
    place: Place
    width: float
    is_old: bool = False

    def distance_to(self, middle: Place) -> float:
        return hypot(middle[0] - self.middle[0], middle[1] - self.middle[1])


class FrontierFinder:
    """Finds frontiers and gives each frontier an id, which later searches keep.

    Attributes:
        cut_off: number of frontiers that were returned before, still exist and are not reachable now.
    """

    def __init__(self) -> None:
        self._known: dict[int, _Cluster] = {}  # id: cluster of the last search
        self._next_id = 1
        self._returned_before: dict[int, _Cluster] = {}  # id: cluster that at least two searches found
        self.cut_off = 0

    def find(self, grid: OccupancyMap, costs: CostGrid, start: Place) -> tuple[Frontier, ...]:
        """Return the frontiers that can be reached from ``start``, the widest first.

        A narrow frontier is returned only if a second search has found it, or if no other frontier exists. In a single
        search, a wall seen at a small angle often seems to have holes, which are not frontiers.

        Args:
            grid: the map.
            costs: costs of the same map, with unknown cells blocked.
            start: (x, y) of the footprint's middle in the map frame.
        """
        clusters, out_of_reach = _find_clusters(grid, _reachable_cells(costs, start))
        widest_first = sorted(clusters, key=lambda cluster: (-cluster.width, cluster.middle))
        self._known = self._assign_ids(widest_first)

        certain = {i: cluster for i, cluster in self._known.items() if cluster.is_old or cluster.width >= _WIDE_M}
        returned = certain or self._known
        self._returned_before |= {i: cluster for i, cluster in returned.items() if cluster.is_old}

        gone = [cluster for i, cluster in self._returned_before.items() if i not in self._known]
        cut_off = 0
        for middle in out_of_reach:
            cut_off += any(cluster.distance_to(middle) <= _MATCH_M for cluster in gone)
        self.cut_off = cut_off  # assigned once, because the explorer's thread reads it at any time

        return tuple(Frontier(i, *cluster.place, cluster.width) for i, cluster in returned.items())

    def _assign_ids(self, clusters: list[_Cluster]) -> dict[int, _Cluster]:
        """Return the clusters by id.

        A cluster near a known cluster gets the id of the known cluster. Other clusters get new ids.
        """
        by_id: dict[int, _Cluster] = {}
        unmatched = dict(self._known)
        for cluster in clusters:
            distances = {i: known.distance_to(cluster.middle) for i, known in unmatched.items()}
            nearest = min(distances, key=distances.__getitem__, default=0)  # ids start at 1, so 0 means none
            if nearest and distances[nearest] <= _match_distance(cluster, unmatched[nearest]):
                del unmatched[nearest]
                by_id[nearest] = replace(cluster, is_old=True)
            else:
                by_id[self._next_id] = cluster
                self._next_id += 1
        return by_id


def _match_distance(cluster: _Cluster, other: _Cluster) -> float:
    """Return the greatest distance between the middles of two clusters at which both are the same frontier, metres."""
    return max(_MATCH_M, min(cluster.width, other.width) / 2)


def _reachable_cells(costs: CostGrid, start: Place) -> NDArray[np.bool_]:
    """Return which cells can be reached from ``start``, bool (rows, columns)."""
    import cv2

    free = np.isfinite(open_start(costs, start)).astype(np.uint8)
    _, labels = cv2.connectedComponents(free, connectivity=4)
    reachable: NDArray[np.bool_] = labels == labels[costs.cell(start)]
    return reachable


def _find_clusters(grid: OccupancyMap, reachable: NDArray[np.bool_]) -> tuple[list[_Cluster], list[Place]]:
    """Return (clusters, middles): the reachable clusters, and the middles of the unreachable clusters.

    Frontier cells are known cells beside unknown cells, away from walls. Clusters smaller than ``_MIN_WIDTH_M`` are
    left out.
    """
    import cv2

    unknown = grid.unknown
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
    beside_unknown = cv2.dilate(unknown.astype(np.uint8), cross) > 0
    square = np.ones((2 * _WALL_CELLS + 1,) * 2, np.uint8)
    near_wall = cv2.dilate(grid.surfaces.astype(np.uint8), square) > 0
    is_frontier = (beside_unknown & ~unknown & ~near_wall).astype(np.uint8)
    count, labels, stats, middles = cv2.connectedComponentsWithStats(is_frontier, connectivity=8)

    reach = round(_MAX_VIEW_M / grid.resolution)
    clusters = []
    out_of_reach = []
    for number in range(1, count):  # component 0 is the background
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
        reachable_cell = _nearest_cell(reachable, row, column, reach)
        if reachable_cell is None:
            out_of_reach.append(middle)
        else:
            clusters.append(_Cluster(middle, grid.place(*reachable_cell), round(size, 2)))
    return clusters, out_of_reach


def _nearest_cell(cells: NDArray[np.bool_], row: int, column: int, reach: int) -> tuple[int, int] | None:
    """Return the (row, column) of the True cell nearest to a cell, or None if there is none within ``reach`` cells."""
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
