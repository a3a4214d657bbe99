"""Navigation: localise the robot, map the place, and drive to goals on the map.

Call :meth:`Navigation.update` once per observation and :meth:`Navigation.twist` once per period of the control loop.
The module reads no clock and draws no random numbers, so the same observations give the same run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Frontier, NavGoalTarget, Pose, Twist, wrap_angle
from robot_bridge.navigation.driving import Driver, NavStatus
from robot_bridge.navigation.frontiers import FrontierFinder
from robot_bridge.navigation.maneuvers import Aim
from robot_bridge.navigation.planning import cost_grid, length_of
from robot_bridge.navigation.slam import Slam

_HEADING_TOLERANCE_RADIANS = 0.11
_TURN_TOLERANCE_M = 0.6
_FRONTIERS_PERIOD_S = 1.0


class Navigation(Slam):
    """SLAM, frontiers and driving of one robot, in the map frame.

    Args:
        config: the robot's configuration.
        start: the robot's pose in the map frame at the start of the run.
    """

    def __init__(self, config: RobotConfig, start: Pose) -> None:
        super().__init__(config, start)
        self._driver = Driver(config, self)
        self._finder = FrontierFinder()
        self._frontiers: tuple[float, tuple[Frontier, ...]] = (-_FRONTIERS_PERIOD_S, ())  # stamp and frontiers

    @property
    def status(self) -> NavStatus:
        """Return the state of the current or last goal."""
        return self._driver.status

    def twist(self, now: float) -> Twist:
        """Return the velocity towards the goal, or REST without a goal; call once per period of the control loop."""
        return self._driver.twist(now)

    def frontiers(self) -> tuple[Frontier, ...]:
        """Return the reachable frontiers, the widest first.

        The frontiers are searched for at most once a second. A frontier keeps its id from search to search.
        """
        stamp = self.estimate.stamp
        if stamp - self._frontiers[0] >= _FRONTIERS_PERIOD_S and self.map.shape[0]:
            costs = cost_grid(self.map, self._config, np.zeros((0, 2)), self.keep_outs)
            self._frontiers = stamp, self._finder.find(self.map, costs, self.middle)
        return self._frontiers[1]

    @property
    def frontiers_cut_off(self) -> int:
        """Return the number of frontiers that were returned before, still exist and are not reachable now."""
        return self._finder.cut_off

    def way_to(self, x: float, y: float, tolerance: float = 0.25) -> float | None:
        """Return the length of the path over the map to a place, metres, or None if no path exists."""
        way = self.way((x, y), tolerance)
        return None if way is None else length_of(way)

    def mark(self, points: ArrayLike) -> None:
        """Mark obstacles that the lidar does not see, at points (n, 2) in the map frame.

        All later paths avoid these points.
        """
        self.map.fix(np.asarray(points, np.float64).reshape(-1, 2))
        self._frontiers = (-_FRONTIERS_PERIOD_S, ())

    def go_to(self, goal: NavGoalTarget) -> bool:
        """Begin to drive to a goal and return True; if no path leads to the goal, return False and change nothing."""
        if self.way((goal.x, goal.y), goal.tolerance) is None:
            return False
        self._driver.begin(Aim(goal.x, goal.y, goal.tolerance, goal.heading, _HEADING_TOLERANCE_RADIANS))
        return True

    def turn(self, radians: float) -> bool:
        """Begin to turn by ``radians`` near the current place, by arcs or a multi-point turn; return True.

        If the robot cannot move at all, return False and change nothing.
        """
        if not self.map.shape[0] or not self._driver.can_move():
            return False
        heading = wrap_angle(self.estimate.pose.heading + radians)
        self._driver.begin(Aim(*self.middle, _TURN_TOLERANCE_M, heading, _HEADING_TOLERANCE_RADIANS), is_turn=True)
        return True

    def cancel(self) -> None:
        """Give up the goal and rest."""
        self._driver.end(NavStatus.IDLE)
