"""Simultaneous localisation and mapping: turn observations into an estimate and a map, and answer queries on both."""

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
_KEY_M = 0.04
_KEY_RADIANS = 0.05
_BEYOND_GOAL_M = 1.0
_BEYOND_MAP_M = 10.0
"""How far outside the seen area a goal may lie: the map must grow to it, which costs memory and planning time."""


class Slam:
    """The map of the place and the robot's pose in it.

    ``map`` grows with every scan that matches it; ``estimate`` is that of the newest observation; ``scan`` is the
    newest usable one, ``returns`` its points in the base frame, (n, 2). ``keep_outs`` count as obstacles.
    """

    def __init__(self, config: RobotConfig, start: Pose) -> None:
        self.map = OccupancyMap()
        self.estimate = Estimate(0.0, start, REST)
        self.scan: Scan | None = None
        self.returns: Array = _NO_POINTS
        self.keep_outs: tuple[KeepOut, ...] = ()
        self._config = config
        self._localisation = Localisation(config.lidar, start)
        self._points: Array = _NO_POINTS
        self._keyframe: Pose | None = None

    @property
    def middle(self) -> Place:
        """Return where the footprint's middle is."""
        return self.estimate.pose.ahead(self._config.body.centre)

    def update(self, observation: Observation) -> Estimate:
        """Take in the new data of an observation; a repeated one changes nothing."""
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
            self._look(self.scan)
        where = self._localisation
        self.estimate = Estimate(odometry.stamp, where.pose, odometry.twist, where.is_sure)
        return self.estimate

    def _look(self, scan: Scan) -> None:
        where = self._localisation
        pose = where.update_scan(scan, self.map)
        self.returns = returns(scan, self._config.lidar)
        self._points = transform_from_frame(self.returns, pose)
        if where.is_doubtful:
            return
        last = self._keyframe
        turned = 0.0 if last is None else abs(wrap_angle(last.heading - pose.heading))
        is_key = last is None or last.distance_to(pose.x, pose.y) > _KEY_M or turned > _KEY_RADIANS
        if is_key:
            self._keyframe = pose
        self.map.integrate(scan, self._config.lidar, pose, remember_points=is_key)

    def clearance(self, reach: float) -> Clearance:
        """Return the clearance within ``reach`` metres around the robot, from the map and the newest scan."""
        return clearance_around(self.estimate.pose, self.map, self._points, self.keep_outs, reach=reach)

    def way(self, goal: Place, tolerance: float) -> tuple[Place, ...] | None:
        """Return the places along the way to a goal, over known ground if possible, else also over unknown ground.

        Return None if there is no way or the goal lies more than :data:`_BEYOND_MAP_M` outside the seen area."""
        if self.map.beyond(*goal) > _BEYOND_MAP_M:
            return None
        reach = tolerance + _BEYOND_GOAL_M
        self.map.cover(goal[0] - reach, goal[1] - reach, goal[0] + reach, goal[1] + reach)
        for allow_unknown in (False, True):
            costs = cost_grid(self.map, self._config, self._points, self.keep_outs, allow_unknown=allow_unknown)
            found = route(costs, self.middle, goal, tolerance)
            if found is not None:
                return found
        return None


def _within_range(scan: Scan, lidar: Lidar) -> Scan:
    """Return the scan without returns beyond the lidar's configured range, whatever its driver says.

    The map is as large as the farthest return."""
    if scan.range_max <= lidar.range_max:
        return scan
    ranges = np.where(scan.ranges > lidar.range_max, np.float32(np.inf), scan.ranges)
    return replace(scan, ranges=ranges, range_max=lidar.range_max)
