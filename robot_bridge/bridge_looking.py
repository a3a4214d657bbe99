"""Where to look from: a robot sees ahead of it only, an agent of a grid world is shown a whole window (pure).

What of the window is not yet known is looked at from poses (cell, direction) that the robot can drive to, the nearest
first; then it comes back. So everything that the agent is shown was seen.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterator
from math import atan2, ceil, hypot

import numpy as np

from robot_bridge.bridge_map import OCCUPIED, VIEW, Cell, Ground, Lattice, Occupancy, Terrain, beyond, heading_of
from robot_bridge.bridge_map import lit as lit_by
from robot_bridge.bridge_map import window as window_of
from robot_bridge.config import Camera
from robot_bridge.contracts import wrapped

Pose4 = tuple[Cell, int]
"""A cell and one of the four directions."""

TURN_COST, LOOK_COST = 2, 4
"""Of a quarter turn and of waiting for a picture, in metres driven."""
_NEAREST, _FARTHEST = 0.8, 6.8
"""Metres from middle to middle at which floor and things of a cell are recognised."""
_MARGIN = 0.07
"""Radians by which the middle of a cell must lie inside the camera's view."""
_BEFORE = 0.35
"""Metres before the middle of a cell at which a line of sight to it may end: a thing hides its own middle."""


def shown(at: Pose4, words: dict[Cell, str]) -> dict[Cell, str]:
    """The words of the window at a pose that light reaches; "unseen" stops it. ``words`` holds the window's cells."""
    clear = np.zeros((VIEW, VIEW), bool)
    cells = list(window_of(*at))
    for forward, across, cell in cells:
        clear[forward, across] = is_see_through(words[cell])
    clear[0, VIEW // 2] = True
    seen = lit_by(clear)
    return {cell: words[cell] for forward, across, cell in cells if seen[forward, across]}


def is_see_through(word: str) -> bool:
    """Whether what lies behind is seen: not behind walls and shut doors, nor behind what is not known."""
    return word not in ("wall", "unseen") and not word.endswith((" closed", " locked"))


class Vantages:
    """Poses from which unknown cells would come into view.

    Args:
        chart: the occupancy map.
        terrain: its cells.
        lattice: where they lie.
        camera: of the robot.
    """

    def __init__(self, chart: Occupancy, terrain: Terrain, lattice: Lattice, camera: Camera) -> None:
        self._codes, self._chart = chart.codes, chart
        self._terrain, self._lattice = terrain, lattice
        self._half_view = atan2(camera.width / 2, camera.focal) - _MARGIN

    def best(
        self, at: Pose4, unknown: Collection[Cell], closed: Collection[Cell], tried: Collection[tuple[Pose4, Cell]]
    ) -> tuple[Pose4, frozenset[Cell]] | None:
        """The pose that shows most of the ``unknown`` cells for the effort, and those; None when none shows any.

        Args:
            closed: cells that must not be entered.
            tried: what was in view in vain.
        """
        found, most = None, 0.0
        for cost, pose in self._reachable(at, closed):
            if len(unknown) / (cost + LOOK_COST) <= most:
                break
            views = frozenset(c for c in unknown if (pose, c) not in tried and self.shows(pose, c))
            worth = len(views) / (cost + LOOK_COST)
            if worth > most:
                found, most = (pose, views), worth
        return found

    def shows(self, pose: Pose4, cell: Cell) -> bool:
        """Whether the camera would see a cell from there, or the lidar where that has not met it yet."""
        x, y = self._lattice.middle(pose[0])
        to_x, to_y = self._lattice.middle(cell)
        if self._terrain.at(cell) is Ground.UNKNOWN and pose[0] != cell:
            around = ((0.0, 0.0), (0.3, 0.3), (0.3, -0.3), (-0.3, 0.3), (-0.3, -0.3))
            return any(self._is_free(x, y, to_x + dx, to_y + dy, 0.0) for dx, dy in around)
        distance = hypot(to_x - x, to_y - y)
        bearing = wrapped(atan2(to_y - y, to_x - x) - heading_of(pose[1]))
        in_view = _NEAREST <= distance <= _FARTHEST and abs(bearing) <= self._half_view
        return in_view and self._is_free(x, y, to_x, to_y, _BEFORE)

    def _is_free(self, x: float, y: float, to_x: float, to_y: float, before: float) -> bool:
        distance = hypot(to_x - x, to_y - y)
        share = np.linspace(0.0, max(0.0, 1 - before / max(distance, 1e-9)), 1 + ceil(distance / 0.04))
        columns = np.floor((x + share * (to_x - x) - self._chart.x) / self._chart.resolution).astype(np.int64)
        rows = np.floor((y + share * (to_y - y) - self._chart.y) / self._chart.resolution).astype(np.int64)
        inside = (rows >= 0) & (columns >= 0) & (rows < self._codes.shape[0]) & (columns < self._codes.shape[1])
        return not bool((self._codes[rows[inside], columns[inside]] >= OCCUPIED).any())

    def _reachable(self, at: Pose4, closed: Collection[Cell]) -> Iterator[tuple[int, Pose4]]:
        """Poses with what it costs to get there, the nearest first."""
        pending, done = [(0, at)], set[Pose4]()
        while pending:
            cost, pose = heapq.heappop(pending)
            if pose in done:
                continue
            done.add(pose)
            yield cost, pose
            cell, direction = pose
            for turn in (1, 3):
                heapq.heappush(pending, (cost + TURN_COST, (cell, (direction + turn) % 4)))
            ahead = beyond(cell, direction)
            if self._terrain.at(ahead) is Ground.FREE and ahead not in closed:
                heapq.heappush(pending, (cost + 1, (ahead, direction)))
