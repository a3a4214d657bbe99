"""Navigation: where the robot is, what the place looks like, and how to drive to a goal in it.

One call of :meth:`Navigation.update` for every observation, one of :meth:`Navigation.twist` for every period of the
control loop. Nothing here reads a clock or draws a random number: the same observations give the same run.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Estimate, Frontier, NavGoalTarget, Observation, Pose, Twist, wrapped
from robot_bridge.navigation.clearance import KeepOut
from robot_bridge.navigation.driving import Driver, NavStatus
from robot_bridge.navigation.frontiers import FrontierFinder
from robot_bridge.navigation.maneuvers import Aim
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.navigation.planning import cost_grid, length_of
from robot_bridge.navigation.slam import Slam

__all__ = ["NavStatus", "Navigation"]

_HEADING_TOLERANCE = 0.11
_TURN_PLACE_M = 0.6
_FRONTIERS_S = 1.0


class Navigation:
    """SLAM, frontiers and driving of one robot, in the map frame.

    Args:
        config: of the robot.
        start: its pose in the map frame when it is switched on.
    """

    def __init__(self, config: RobotConfig, start: Pose) -> None:
        self._config = config
        self._slam = Slam(config, start)
        self._driver = Driver(config, self._slam)
        self._finder = FrontierFinder()
        self._found: tuple[float, tuple[Frontier, ...]] = (-_FRONTIERS_S, ())

    @property
    def estimate(self) -> Estimate:
        """Of the newest observation."""
        return self._slam.estimate

    @property
    def map(self) -> OccupancyMap:
        """What is free, occupied and unknown."""
        return self._slam.map

    @property
    def status(self) -> NavStatus:
        """What became of the last goal."""
        return self._driver.status

    def update(self, observation: Observation) -> Estimate:
        """Take in what is new in an observation; one that was seen already changes nothing."""
        return self._slam.update(observation)

    def twist(self, now: float) -> Twist:
        """What the goal wants now; REST without one. To be called once for every period of the control loop."""
        return self._driver.twist(now)

    def frontiers(self) -> tuple[Frontier, ...]:
        """Those that can be reached, the widest first; ids last as long as a frontier does. Found anew each second."""
        stamp = self.estimate.stamp
        if stamp - self._found[0] >= _FRONTIERS_S and self.map.shape[0]:
            costs = cost_grid(self.map, self._config, np.zeros((0, 2)), self._slam.keep_outs)
            self._found = stamp, self._finder.find(self.map, costs, self._slam.middle)
        return self._found[1]

    @property
    def frontiers_cut_off(self) -> int:
        """How many frontiers could be reached once, and cannot be now though nobody has looked behind them."""
        return self._finder.cut_off

    def way_to(self, x: float, y: float, tolerance: float = 0.25) -> float | None:
        """How many metres the way over the map to a place is, None where there is none."""
        way = self._slam.way((x, y), tolerance)
        return None if way is None else length_of(way)

    def avoid(self, areas: Iterable[KeepOut]) -> None:
        """From now on drive around these areas, and no longer around those given before."""
        self._slam.keep_outs = tuple(areas)

    def mark(self, points: ArrayLike) -> None:
        """From now on drive around these points, (n, 2) in the map frame: something is there that no lidar sees."""
        self._slam.map.fix(np.asarray(points, np.float64).reshape(-1, 2))
        self._found = (-_FRONTIERS_S, ())

    def go_to(self, goal: NavGoalTarget) -> bool:
        """Begin to drive to a goal; False, and nothing begins, where no way leads there."""
        if self._slam.way((goal.x, goal.y), goal.tolerance) is None:
            return False
        self._driver.begin(Aim(goal.x, goal.y, goal.tolerance, goal.heading, _HEADING_TOLERANCE))
        return True

    def turn(self, radians: float) -> bool:
        """Begin to turn about where the robot stands, by arcs or a multi-point turn; False, and nothing begins, where
        it cannot move at all."""
        if not self.map.shape[0] or not self._driver.can_move():
            return False
        heading = wrapped(self.estimate.pose.heading + radians)
        self._driver.begin(Aim(*self._slam.middle, _TURN_PLACE_M, heading, _HEADING_TOLERANCE), is_turn=True)
        return True

    def cancel(self) -> None:
        """Give the goal up and rest."""
        self._driver.end(NavStatus.IDLE)
