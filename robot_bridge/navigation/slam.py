"""Simultaneous localisation and mapping: turn observations into a pose estimate and a map.

:class:`Slam` also answers queries on the map: the clearance around the robot and the path to a goal.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import Lidar, RobotConfig
from robot_bridge.contracts import REST, Estimate, Observation, Pose, Scan, wrap_angle
from robot_bridge.navigation.clearance import Clearance, KeepOut, clearance_around
from robot_bridge.navigation.localisation import Localisation
from robot_bridge.navigation.mapping import OccupancyMap
from robot_bridge.navigation.planning import Place, cost_grid, route
from robot_bridge.safety.geometry import transform_from_frame
from robot_bridge.safety.odometry import jump, odometry_fault
from robot_bridge.safety.scans import fault, returns

Array = NDArray[np.float64]

_NO_POINTS: Array = np.zeros((0, 2))
_KEYFRAME_M = 0.04
_KEYFRAME_RADIANS = 0.05
_BEYOND_GOAL_M = 1.0
_BEYOND_MAP_M = 10.0
"""Greatest distance, metres, of a goal from the seen area; a larger map costs memory and planning time."""


class Slam:
    """The map of the place and the robot's pose in it.

    ``map`` grows with every scan that matches the map. ``estimate`` belongs to the newest observation. ``scan`` is the
    newest usable scan, ``returns`` its points in the base frame, (n, 2). ``keep_outs`` count as obstacles.
    """

    def __init__(self, config: RobotConfig, start: Pose) -> None:
        self.map = OccupancyMap()
        self.estimate = Estimate(0.0, start, REST)
        self.scan: Scan | None = None
        self.returns: Array = _NO_POINTS
        self.keep_outs: tuple[KeepOut, ...] = ()
        self._config = config
        self._localisation = Localisation(config.lidar, start)
        self._points: Array = _NO_POINTS  # the returns in the map frame, (n, 2)
        self._keyframe: Pose | None = None  # pose of the last scan whose points the map remembers

    @property
    def middle(self) -> Place:
        """Return the (x, y) of the footprint's middle in the map frame."""
        return self.estimate.pose.ahead(self._config.body.centre)

    def update(self, observation: Observation) -> Estimate:
        """Process the new data of an observation and return the estimate; repeated data change nothing."""
        odometry = observation.odometry
        scan = observation.scan
        if odometry is None or odometry_fault(odometry, odometry.stamp, self._config):
            return self.estimate
        newest = self._localisation.odometry
        if jump(newest, odometry, self._config):
            self._localisation.restart_odometry(odometry)
        elif newest is None or odometry.stamp > newest.stamp:
            self._localisation.update_odometry(odometry)
        is_new = scan is not None and (self.scan is None or scan.stamp > self.scan.stamp)
        if scan is not None and is_new and not fault(scan, scan.stamp, self._config):
            self.scan = _within_range(scan, self._config.lidar)
            self._integrate_scan(self.scan)
        localisation = self._localisation
        self.estimate = Estimate(odometry.stamp, localisation.pose, odometry.twist, localisation.is_sure)
        return self.estimate

    def _integrate_scan(self, scan: Scan) -> None:
        """Correct the pose by a scan; if the scan does not contradict the map, write it into the map."""
        pose = self._localisation.update_scan(scan, self.map)
        self.returns = returns(scan, self._config.lidar)
        self._points = transform_from_frame(self.returns, pose)
        if self._localisation.is_doubtful:
            return
        is_keyframe = self._is_keyframe(pose)
        if is_keyframe:
            self._keyframe = pose
        self.map.integrate(scan, self._config.lidar, pose, remember_points=is_keyframe)

    def _is_keyframe(self, pose: Pose) -> bool:
        """Return whether the robot has moved far enough since the last keyframe to make this pose a keyframe."""
        last = self._keyframe
        if last is None or last.distance_to(pose.x, pose.y) > _KEYFRAME_M:
            return True
        return abs(wrap_angle(last.heading - pose.heading)) > _KEYFRAME_RADIANS

    def clearance(self, reach: float) -> Clearance:
        """Return the clearance within ``reach`` metres around the robot, from the map and the newest scan."""
        return clearance_around(self.estimate.pose, self.map, self._points, self.keep_outs, reach=reach)

    def way(self, goal: Place, tolerance: float) -> tuple[Place, ...] | None:
        """Return the places along the path to a goal, or None if no path leads to the goal.

        The path crosses unknown ground only if no path over known ground exists. There is no path to a goal more than
        :data:`_BEYOND_MAP_M` metres outside the seen area. The call may grow the map to include the goal.
        """
        if self.map.beyond(*goal) > _BEYOND_MAP_M:
            return None
        reach = tolerance + _BEYOND_GOAL_M
        self.map.cover(goal[0] - reach, goal[1] - reach, goal[0] + reach, goal[1] + reach)
        for allow_unknown in (False, True):
            costs = cost_grid(self.map, self._config, self._points, self.keep_outs, allow_unknown=allow_unknown)
            way = route(costs, self.middle, goal, tolerance)
            if way is not None:
                return way
        return None


def _within_range(scan: Scan, lidar: Lidar) -> Scan:
    """Return the scan without returns beyond the lidar's configured range.

    The driver may report a longer range, but the map grows to the farthest return.
    """
    if scan.range_max <= lidar.range_max:
        return scan
    ranges = np.where(scan.ranges > lidar.range_max, np.float32(np.inf), scan.ranges)
    return replace(scan, ranges=ranges, range_max=lidar.range_max)
