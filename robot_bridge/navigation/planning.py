"""Plan the cheapest path over the map for the footprint's middle, by A* on costs that grow near obstacles.

The path says where to go, not how to drive. :mod:`robot_bridge.navigation.maneuvers` finds drivable arcs along the
path.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import atan2, hypot

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.navigation.clearance import KeepOut
from robot_bridge.navigation.mapping import OccupancyMap

Array = NDArray[np.float64]
Place = tuple[float, float]

_COMFORT_M = 0.5
_MAX_NEAR_COST = 8.0
_UNKNOWN_COST = 4.0
_MARGIN_M = 0.02
_OPEN_START_M = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class CostGrid:
    """The cost per metre in each cell of a map, float32 (rows, columns): at least 1, or inf if blocked.

    ``x``, ``y`` is the lower left corner in the map frame; row 0 is at the lowest y. ``resolution`` is the edge of a
    cell, metres.
    """

    costs: NDArray[np.float32]
    resolution: float
    x: float
    y: float

    def cell(self, place: Place) -> tuple[int, int]:
        """Return the (row, column) of the cell that contains a place.

        If the place is outside the map, return the nearest cell.
        """
        rows, columns = self.cells(np.array([place]))
        return int(rows[0]), int(columns[0])

    def cells(self, places: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return (rows, columns), each (n,), of the cells that contain the places (n, 2).

        For a place outside the map, the cell is the nearest cell of the map.
        """
        offsets = (places - (self.x, self.y)) / self.resolution
        cells = np.floor(offsets).astype(np.intp)
        row_count, column_count = self.costs.shape
        rows = cells[:, 1].clip(0, row_count - 1)
        columns = cells[:, 0].clip(0, column_count - 1)
        return rows, columns

    def place(self, row: int, column: int) -> Place:
        """Return the (x, y) of the middle of a cell."""
        x = self.x + (column + 0.5) * self.resolution
        y = self.y + (row + 0.5) * self.resolution
        return x, y

    def between(self, start: Place, end: Place) -> float:
        """Return the mean cost on the straight line between two places; inf if the line is blocked."""
        count = max(2, round(_distance(start, end) / self.resolution) + 1)
        samples = np.linspace(start, end, count)
        return float(self.costs[self.cells(samples)].mean())


def _distance(start: Place, end: Place) -> float:
    return hypot(end[0] - start[0], end[1] - start[1])


def cost_grid(
    grid: OccupancyMap,
    config: RobotConfig,
    returns: Array,
    keep_outs: Sequence[KeepOut] = (),
    *,
    allow_unknown: bool = False,
) -> CostGrid:
    """Return the costs of cells for the footprint's middle; the costs do not depend on the robot's heading.

    Args:
        grid: the map.
        config: the robot's configuration.
        returns: returns of the newest scan, (n, 2) in the map frame: obstacles that may not be in the map yet.
        keep_outs: areas that must not be entered.
        allow_unknown: whether a path may cross cells that no beam has reached.
    """
    import cv2

    blocked = grid.occupied.astype(np.uint8)
    offsets = (returns - (grid.x, grid.y)) / grid.resolution
    cells = np.floor(offsets).astype(np.intp)
    rows, columns = grid.shape
    inside = ((cells >= 0) & (cells < (columns, rows))).all(axis=1)
    cells = cells[inside]
    blocked[cells[:, 1], cells[:, 0]] = 1
    for area in keep_outs:
        row, column = grid.cell(area.x, area.y)
        radius = round(area.radius / grid.resolution)
        cv2.circle(blocked, (column, row), radius, 1, -1)

    distance = cv2.distanceTransform(1 - blocked, cv2.DIST_L2, 5) * grid.resolution
    min_distance = config.body.half_width + config.zones.padding + _MARGIN_M
    comfort = max(_COMFORT_M, 2 * min_distance)
    nearness = np.clip((comfort - distance) / (comfort - min_distance), 0.0, 1.0)
    costs = 1.0 + _MAX_NEAR_COST * nearness * nearness
    costs[grid.unknown] = costs[grid.unknown] + _UNKNOWN_COST if allow_unknown else np.inf
    costs[distance < min_distance] = np.inf
    return CostGrid(costs.astype(np.float32), grid.resolution, grid.x, grid.y)


def route(costs: CostGrid, start: Place, goal: Place, tolerance: float) -> tuple[Place, ...] | None:
    """Return the places along the cheapest path, including the start and the end; None if no path exists.

    The path ends at the free cell nearest to the goal. This cell must lie within ``tolerance`` metres of the goal.
    """
    import pyastar2d  # type: ignore[import-untyped]

    weights = open_start(costs, start)
    end = _nearest_free_cell(costs, weights, goal, tolerance)
    if end is None:
        return None
    begin = costs.cell(start)
    cells = pyastar2d.astar_path(weights, begin, end, allow_diagonal=True)
    if cells is None:
        return None
    last = goal if costs.cell(goal) == end else costs.place(*end)
    between = [costs.place(int(row), int(column)) for row, column in cells[1:-1]]
    return _straighten_way(costs, weights, [start, *between, last])


def length_of(places: Sequence[Place]) -> float:
    """Return the length of a path, metres."""
    return sum(_distance(a, b) for a, b in pairwise(places))


def point_along(places: Sequence[Place], distance: float) -> tuple[float, float, float]:
    """Return (x, y, direction) after ``distance`` metres of a path, or at its end if the path is shorter."""
    left = distance
    for start, end in pairwise(places):
        length = _distance(start, end)
        if length > left:
            part = left / length
            x = start[0] + (end[0] - start[0]) * part
            y = start[1] + (end[1] - start[1]) * part
            return x, y, _direction(start, end)
        left -= length

    last = places[-1]
    before = places[-2] if len(places) > 1 else last
    return last[0], last[1], _direction(before, last)


def _direction(start: Place, end: Place) -> float:
    return atan2(end[1] - start[1], end[0] - start[0])


def open_start(costs: CostGrid, start: Place) -> NDArray[np.float32]:
    """Return a copy of the costs, (rows, columns), in which a path can lead out of a blocked start.

    The start may be blocked because the robot stands too near to an obstacle. In this case, blocked cells within
    ``_OPEN_START_M`` of the start become expensive but free.
    """
    row, column = costs.cell(start)
    weights = costs.costs.copy()
    if np.isfinite(weights[row, column]):
        return weights
    reach = round(_OPEN_START_M / costs.resolution)
    top = max(0, row - reach)
    left = max(0, column - reach)
    window = weights[top : row + reach + 1, left : column + reach + 1]
    window[~np.isfinite(window)] = 4 * _MAX_NEAR_COST
    return weights


def _nearest_free_cell(
    costs: CostGrid, weights: NDArray[np.float32], goal: Place, tolerance: float
) -> tuple[int, int] | None:
    """Return the (row, column) of the free cell nearest to the goal, or None if no free cell is within tolerance."""
    reach = int(np.ceil(tolerance / costs.resolution))
    row, column = costs.cell(goal)
    top = max(0, row - reach)
    left = max(0, column - reach)
    window = weights[top : row + reach + 1, left : column + reach + 1]
    rows, columns = np.nonzero(np.isfinite(window))
    if not len(rows):
        return None

    goal_x, goal_y = goal
    x = costs.x + (columns + left + 0.5) * costs.resolution - goal_x
    y = costs.y + (rows + top + 0.5) * costs.resolution - goal_y
    distance = np.hypot(x, y)
    best = int(distance.argmin())
    if distance[best] > tolerance + costs.resolution:
        return None
    return int(rows[best]) + top, int(columns[best]) + left


def _straighten_way(costs: CostGrid, weights: NDArray[np.float32], places: Sequence[Place]) -> tuple[Place, ...]:
    """Return the path as few straight pieces; a piece replaces several places if it costs no more.

    From each place, the length of the piece, counted in places, is doubled as long as the piece costs no more than the
    path.
    """
    cost_along = _accumulate_costs(costs, weights, np.array(places))
    straightened = [places[0]]
    index = 0
    last = len(places) - 1
    while index < last:
        step = 1
        while index + 2 * step <= last:
            end = index + 2 * step
            cost_around = float(cost_along[end] - cost_along[index])
            if not _is_shortcut_cheap(costs, places[index], places[end], cost_around):
                break
            step *= 2
        index = min(index + step, last)
        straightened.append(places[index])
    return tuple(straightened)


def _accumulate_costs(costs: CostGrid, weights: NDArray[np.float32], places: Array) -> Array:
    """Return the accumulated cost of the path up to each place, (n,).

    A piece of the path joins a place with the next but one, so that the stairs of the grid do not count as length.
    Therefore costs of places with even indices count from place 0, and costs of places with odd indices from place 1.
    The difference of two costs is meaningful only if the places are an even number apart.
    """
    weight = weights[costs.cells(places)].astype(np.float64)
    dx, dy = (places[2:] - places[:-2]).T
    length = np.hypot(dx, dy)
    weight_sum = weight[2:] + weight[1:-1] + weight[:-2]
    pieces = length * weight_sum / 3

    total = np.zeros(len(places))
    total[2::2] = np.cumsum(pieces[::2])
    total[3::2] = np.cumsum(pieces[1::2])
    return total


def _is_shortcut_cheap(costs: CostGrid, start: Place, end: Place, cost_around: float) -> bool:
    direct = costs.between(start, end) * _distance(start, end)
    return direct <= cost_around * 1.02 + 1e-6
