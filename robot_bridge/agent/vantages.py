"""Where to look from: a robot sees ahead of it only, an agent of a grid world is shown a whole window (pure).

What of the window is not yet known is looked at from where the robot can drive to: the middles of cells first, then,
for what can only be seen at an angle, places beside them. Then it comes back. So all that the agent is shown was seen.
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
LOOK_COST = 4
"""Of a quarter turn and of waiting for a picture, in metres driven."""
_NEAREST = 0.8
_MAX_DISTANCE = 6.8
"""Metres from middle to middle at which floor and things of a cell are recognised."""
_MARGIN = 0.07
"""Radians by which the middle of a cell must lie inside the camera's view."""
_NEARBY = 2.6
"""Metres from which something is looked at from beside the middle of a cell, straight on."""
_ASIDE = (0.0, -0.2, 0.2, -0.3, 0.3)
_ROOM = 0.24
"""Metres around the robot's middle that must be free where it is to turn to anything."""
_SIGN = 0.15
"""Half the width of a sign, metres."""
_BEFORE = 0.35
"""Metres before the middle of a cell at which a line of sight to it may end: a thing hides its own middle."""


def visible_words(at: Pose4, words: dict[Cell, str]) -> dict[Cell, str]:
    """Return the words of the window at a pose that light reaches; "unseen" stops it.

    ``words`` holds the window's cells.
    """
    clear = np.zeros((VIEW, VIEW), bool)
    cells = list(window(*at))
    for forward, across, cell in cells:
        clear[forward, across] = is_see_through(words[cell])
    clear[0, VIEW // 2] = True
    seen = spread_light(clear)
    return {cell: words[cell] for forward, across, cell in cells if seen[forward, across]}


def is_see_through(word: str) -> bool:
    """Return whether what lies behind is seen: not behind walls and shut doors, nor behind what is not known."""
    return word not in ("wall", "unseen") and not word.endswith((" closed", " locked"))


@dataclass(frozen=True, slots=True)
class Vantage:
    """Where the footprint's middle is to be, map frame, and the heading; ``shows`` the unknown cells in view there."""

    x: float
    y: float
    heading: float
    shows: frozenset[Cell]

    @property
    def place(self) -> tuple[float, float, float]:
        """The pose alone."""
        return self.x, self.y, self.heading


Tried = tuple[tuple[float, float, float], Cell]
"""A pose, and what was to be seen from there."""


class Vantages:
    """Poses from which unknown cells would come into view.

    Args:
        chart: the occupancy map.
        terrain: its cells.
        lattice: where they lie.
        camera: of the robot.
        closed: cells that must not be entered.
        tried: what was in view in vain.
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
        """Return the pose that shows most of the ``unknown`` cells for the effort, or None if none shows any."""
        found = None
        most = 0.0
        for cost, pose in self._reachable(at):
            effort = cost + LOOK_COST
            # Poses come with growing cost: none that follows can be worth more.
            if len(unknown) / effort <= most:
                break
            cell, direction = pose
            place = (*self._lattice.middle(cell), heading_of(direction))
            untried = (target for target in unknown if (place, target) not in self._tried)
            views = frozenset(target for target in untried if self.shows(pose, target))
            worth = len(views) / effort
            if worth > most:
                found = Vantage(*place, views)
                most = worth
        return found or self._find_beside(at, unknown)

    def shows(self, pose: Pose4, cell: Cell) -> bool:
        """Return whether the camera would see a cell from there, or the lidar if that has not met it yet."""
        here, direction = pose
        x, y = self._lattice.middle(here)
        to_x, to_y = self._lattice.middle(cell)
        if self._terrain.ground_at(cell) is Ground.UNKNOWN and here != cell:
            around = ((0.0, 0.0), (0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3))
            return any(self._is_free(x, y, to_x + dx, to_y + dy, 0.0) for dx, dy in around)

        distance = hypot(to_x - x, to_y - y)
        if not _NEAREST <= distance <= _MAX_DISTANCE:
            return False
        bearing = wrap_angle(atan2(to_y - y, to_x - x) - heading_of(direction))
        return abs(bearing) <= self._half_view and self._is_free(x, y, to_x, to_y, _BEFORE)

    def _find_beside(self, at: Pose4, unknown: Collection[Cell]) -> Vantage | None:
        """Return the nearest place beside the middle of a cell from which a sign in a cell would be seen whole."""
        cells = dict.fromkeys(cell for _, (cell, _) in self._reachable(at))
        for cell, target, dx, dy in product(cells, unknown, _ASIDE, _ASIDE):
            x, y = self._lattice.middle(cell)
            x = x + dx
            y = y + dy
            to_x, to_y = self._lattice.middle(target)
            if not _NEAREST <= hypot(to_x - x, to_y - y) <= _NEARBY:
                continue
            heading = atan2(to_y - y, to_x - x)
            vantage = Vantage(x, y, heading, frozenset({target}))
            is_tried = (vantage.place, target) in self._tried
            if not is_tried and self._sees_sign(vantage, to_x, to_y):
                return vantage
        return None

    def _sees_sign(self, vantage: Vantage, to_x: float, to_y: float) -> bool:
        dx = -_SIGN * sin(vantage.heading)
        dy = _SIGN * cos(vantage.heading)
        if self._is_occupied_around(vantage.x, vantage.y):
            return False
        points = ((to_x + side * dx, to_y + side * dy) for side in (-1, 0, 1))
        return all(self._is_free(vantage.x, vantage.y, *point, _BEFORE) for point in points)

    def _is_occupied_around(self, x: float, y: float) -> bool:
        size = self._chart.resolution
        reach = ceil(_ROOM / size)
        column = int((x - self._chart.x) / size)
        row = int((y - self._chart.y) / size)
        rows = slice(max(0, row - reach), row + reach + 1)
        columns = slice(max(0, column - reach), column + reach + 1)
        return bool((self._codes[rows, columns] >= OCCUPIED).any())

    def _is_free(self, x: float, y: float, to_x: float, to_y: float, before: float) -> bool:
        """Return whether nothing is known to stand on a line, up to ``before`` metres from its end."""
        distance = hypot(to_x - x, to_y - y)
        end = max(0.0, 1 - before / max(distance, 1e-9))
        share = np.linspace(0.0, end, 1 + ceil(distance / 0.04))
        along_x = x + share * (to_x - x)
        along_y = y + share * (to_y - y)

        chart = self._chart
        columns = np.floor((along_x - chart.x) / chart.resolution).astype(np.int64)
        rows = np.floor((along_y - chart.y) / chart.resolution).astype(np.int64)
        height, width = self._codes.shape
        inside = (rows >= 0) & (columns >= 0) & (rows < height) & (columns < width)
        codes = self._codes[rows[inside], columns[inside]]
        return not bool((codes >= OCCUPIED).any())

    def _reachable(self, at: Pose4) -> Iterator[tuple[int, Pose4]]:
        """Yield poses with what it costs to get there, the nearest first (Dijkstra's algorithm)."""
        pending = [(0, at)]
        done = set[Pose4]()
        while pending:
            cost, pose = heapq.heappop(pending)
            if pose in done:
                continue
            done.add(pose)
            yield cost, pose
            cell, direction = pose
            for turn in (1, 3):
                heapq.heappush(pending, (cost + TURN_COST, (cell, (direction + turn) % 4)))
            ahead = next_cell(cell, direction)
            if self._terrain.ground_at(ahead) is Ground.FREE and ahead not in self._closed:
                heapq.heappush(pending, (cost + 1, (ahead, direction)))
