"""Choose poses from which the robot looks at cells that are still unknown (pure).

A robot sees only what lies ahead, but an agent of a grid world is shown a whole window. Therefore the robot looks at
the unknown cells of the window from poses that it can reach, and then drives back. Poses in the middle of a cell are
tried first. Poses beside the middle are tried afterwards, because some unknown cells can be seen only at an angle.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import product
from math import atan2, ceil, cos, hypot, sin

import numpy as np

from robot_bridge.agent.cells import OCCUPIED, VIEW, Cell, Ground, Lattice, Terrain, next_cell, spread_light, window
from robot_bridge.config import Camera
from robot_bridge.contracts import wrap_angle
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.twin.worlds.levels import heading_of

Pose4 = tuple[Cell, int]
"""A cell and one of the four directions."""

TURN_COST = 2
"""Cost of a quarter turn, in metres driven."""
LOOK_COST = 4
"""Cost of waiting for a picture, in metres driven."""
_MIN_DISTANCE = 0.8
_MAX_DISTANCE = 6.8
"""The camera recognises floor and things at distances from ``_MIN_DISTANCE`` to ``_MAX_DISTANCE``.

Distances are in metres, from the robot's middle to the middle of the cell.
"""
_MARGIN = 0.07
"""The direction to the middle of a cell must be at least this far inside the camera's view, in radians."""
_MAX_BESIDE_DISTANCE = 2.6
"""Greatest distance, in metres, from a pose beside the middle of a cell to the middle of the cell that is looked at."""
_OFFSETS = (0.0, -0.2, 0.2, -0.3, 0.3)
"""Offsets of poses from the middle of a cell along each axis, in metres; the poses are tried in this order."""
_TURN_ROOM = 0.24
"""Metres around the robot's middle that must be free so that the robot can turn there."""
_HALF_SIGN = 0.15
"""Half the width of a sign, in metres."""
_HALF_THING = 0.35
"""A line of sight to a cell ends this far before the cell's middle, in metres, because a thing hides its middle."""


def visible_words(at: Pose4, words: dict[Cell, str]) -> dict[Cell, str]:
    """Return the entries of ``words`` for the cells that light reaches in the window at the pose ``at``.

    ``words`` holds the word of every cell in the window. Unseen cells let no light through.
    """
    clear = np.zeros((VIEW, VIEW), bool)
    cells = list(window(*at))
    for forward, across, cell in cells:
        clear[forward, across] = is_see_through(words[cell])
    clear[0, VIEW // 2] = True
    is_lit = spread_light(clear)
    return {cell: words[cell] for forward, across, cell in cells if is_lit[forward, across]}


def is_see_through(word: str) -> bool:
    """Return whether light passes through a cell with this word; walls, shut doors and unseen cells stop light."""
    return word not in ("wall", "unseen") and not word.endswith((" closed", " locked"))


@dataclass(frozen=True, slots=True)
class Vantage:
    """Pose of the footprint's middle in the map frame; ``shows`` holds the unknown cells in view from this pose."""

    x: float
    y: float
    heading: float
    shows: frozenset[Cell]

    @property
    def place(self) -> tuple[float, float, float]:
        """The pose as (x, y, heading)."""
        return self.x, self.y, self.heading


Tried = tuple[tuple[float, float, float], Cell]
"""A pose (x, y, heading) and a cell that the robot looked at from this pose."""


class Vantages:
    """Finder of poses from which unknown cells would come into view.

    Args:
        chart: the occupancy map.
        terrain: the classes of the cells of ``chart``.
        lattice: the grid of cells.
        camera: the robot's camera.
        closed: cells that must not be entered.
        tried: pairs of a pose and a cell; the cell stayed unknown after a look from the pose, so the look is not
            repeated.
    """

    def __init__(
        self,
        chart: OccupancyMap,
        terrain: Terrain,
        lattice: Lattice,
        camera: Camera,
        closed: Collection[Cell] = (),
        tried: Collection[Tried] = (),
    ) -> None:
        self._codes = chart.codes
        self._chart = chart
        self._terrain = terrain
        self._lattice = lattice
        self._closed = closed
        self._tried = tried
        self._half_view = atan2(camera.width / 2, camera.focal) - _MARGIN

    def best(self, at: Pose4, unknown: Collection[Cell]) -> Vantage | None:
        """Return the pose that shows the most cells of ``unknown`` per effort, or None if no pose shows any of them.

        The robot is at ``at``. The effort of a pose is the cost of driving to the pose and of waiting for a picture.
        """
        best = None
        best_worth = 0.0
        for cost, pose in self._reachable(at):
            effort = cost + LOOK_COST
            # Costs grow, so no later pose can be worth more, even a pose that shows all unknown cells.
            if len(unknown) / effort <= best_worth:
                break
            cell, direction = pose
            place = (*self._lattice.middle(cell), heading_of(direction))
            untried = (target for target in unknown if (place, target) not in self._tried)
            views = frozenset(target for target in untried if self.shows(pose, target))
            worth = len(views) / effort
            if worth > best_worth:
                best = Vantage(*place, views)
                best_worth = worth
        return best or self._find_beside(at, unknown)

    def shows(self, pose: Pose4, cell: Cell) -> bool:
        """Return whether a look from the pose would show the cell.

        If the lidar has not classified the cell yet, a free line from the lidar to a part of the cell suffices.
        Otherwise the camera must see the cell.
        """
        here, direction = pose
        x, y = self._lattice.middle(here)
        to_x, to_y = self._lattice.middle(cell)
        if self._terrain.ground_at(cell) is Ground.UNKNOWN and here != cell:
            around = ((0.0, 0.0), (0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3))
            return any(self._is_free(x, y, to_x + dx, to_y + dy, 0.0) for dx, dy in around)

        distance = hypot(to_x - x, to_y - y)
        if not _MIN_DISTANCE <= distance <= _MAX_DISTANCE:
            return False
        direction_to_cell = atan2(to_y - y, to_x - x)
        bearing = wrap_angle(direction_to_cell - heading_of(direction))
        is_in_view = abs(bearing) <= self._half_view
        return is_in_view and self._is_free(x, y, to_x, to_y, _HALF_THING)

    def _find_beside(self, at: Pose4, unknown: Collection[Cell]) -> Vantage | None:
        """Return the nearest pose, beside the middle of a reachable cell, that shows a whole sign in an unknown cell.

        Return None if there is no such pose.
        """
        cells = dict.fromkeys(cell for _, (cell, _) in self._reachable(at))
        for cell, target, dx, dy in product(cells, unknown, _OFFSETS, _OFFSETS):
            x, y = self._lattice.middle(cell)
            x += dx
            y += dy
            to_x, to_y = self._lattice.middle(target)
            if not _MIN_DISTANCE <= hypot(to_x - x, to_y - y) <= _MAX_BESIDE_DISTANCE:
                continue
            heading = atan2(to_y - y, to_x - x)
            vantage = Vantage(x, y, heading, frozenset({target}))
            is_tried = (vantage.place, target) in self._tried
            if not is_tried and self._sees_sign(vantage, to_x, to_y):
                return vantage
        return None

    def _sees_sign(self, vantage: Vantage, to_x: float, to_y: float) -> bool:
        """Return whether the robot has room at a pose and would see the middle and both edges of a sign.

        The sign is at (``to_x``, ``to_y``), and the pose must face the sign.
        """
        if self._is_occupied_around(vantage.x, vantage.y):
            return False
        # From the middle of the sign to its left edge.
        edge_x = -_HALF_SIGN * sin(vantage.heading)
        edge_y = _HALF_SIGN * cos(vantage.heading)
        points = ((to_x + side * edge_x, to_y + side * edge_y) for side in (-1, 0, 1))
        return all(self._is_free(vantage.x, vantage.y, *point, _HALF_THING) for point in points)

    def _is_occupied_around(self, x: float, y: float) -> bool:
        """Return whether the map shows an obstacle so near to a place that the robot could not turn there."""
        size = self._chart.resolution
        reach = ceil(_TURN_ROOM / size)
        column = int((x - self._chart.x) / size)
        row = int((y - self._chart.y) / size)
        rows = slice(max(0, row - reach), row + reach + 1)
        columns = slice(max(0, column - reach), column + reach + 1)
        return bool((self._codes[rows, columns] >= OCCUPIED).any())

    def _is_free(self, x: float, y: float, to_x: float, to_y: float, before: float) -> bool:
        """Return whether a line crosses only free or unknown points of the map.

        The line goes from (``x``, ``y``) to (``to_x``, ``to_y``); its last ``before`` metres are ignored.
        """
        distance = hypot(to_x - x, to_y - y)
        end = max(0.0, 1 - before / max(distance, 1e-9))
        share = np.linspace(0.0, end, 1 + ceil(distance / 0.04))
        along_x = x + share * (to_x - x)
        along_y = y + share * (to_y - y)

        chart = self._chart
        columns = np.floor((along_x - chart.x) / chart.resolution).astype(np.int64)
        rows = np.floor((along_y - chart.y) / chart.resolution).astype(np.int64)
        height, width = self._codes.shape
        has_row = (rows >= 0) & (rows < height)
        has_column = (columns >= 0) & (columns < width)
        is_on_map = has_row & has_column
        codes = self._codes[rows[is_on_map], columns[is_on_map]]
        return not bool((codes >= OCCUPIED).any())

    def _reachable(self, at: Pose4) -> Iterator[tuple[int, Pose4]]:
        """Yield (cost of driving from ``at``, pose) for every reachable pose, by growing cost.

        The costs are found with Dijkstra's algorithm.
        """
        pending = [(0, at)]
        done: set[Pose4] = set()
        while pending:
            cost, pose = heapq.heappop(pending)
            if pose in done:
                continue
            done.add(pose)
            yield cost, pose
            cell, direction = pose
            for quarter_turns in (1, 3):
                turned = (direction + quarter_turns) % 4
                heapq.heappush(pending, (cost + TURN_COST, (cell, turned)))
            ahead = next_cell(cell, direction)
            if self._terrain.ground_at(ahead) is Ground.FREE and ahead not in self._closed:
                heapq.heappush(pending, (cost + 1, (ahead, direction)))
