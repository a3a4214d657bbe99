"""Navigation: where the robot is, what the place looks like, and how to drive to a goal in it.

One call of :meth:`Navigation.update` for every observation, one of :meth:`Navigation.twist` for every period of the
control loop. Going somewhere is done in two steps: a route over the map, and maneuvers of about two metres along it
that are searched anew before their end is reached. Where something new is in the way the robot waits a little, since
it may walk on, then goes around it or backs away; only when nothing helps for some seconds it gives up.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from robot_bridge.clearance import Clearance, KeepOut, clearance_around
from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    REST,
    Estimate,
    Frontier,
    NavGoalTarget,
    Observation,
    Pose,
    Scan,
    Twist,
    wrapped,
)
from robot_bridge.following import Follower
from robot_bridge.frontiers import FrontierFinder
from robot_bridge.geometry import placed
from robot_bridge.localisation import Localisation
from robot_bridge.maneuvers import Aim, ManeuverPlanner, Search, Step
from robot_bridge.mapping import OccupancyMap
from robot_bridge.planning import Place, cost_grid, length_of, point_along, route
from robot_bridge.scans import fault, returns

_NO_POINTS = np.zeros((0, 2))

_HORIZON_M = 1.8
_RENEW_M = 0.8
_HEADING_TOLERANCE = 0.11
_TURN_PLACE_M = 0.6
_MARGINS = (0.05, 0.035)
_WAIT_S = 1.0
_STUCK_S = 2.5
_STUCK_M = 0.015
_GIVE_UP_S = 8.0
_FRONTIERS_S = 1.0
_RETRY_S = 0.4
_NODES_A_PERIOD = 240
_KEY_M, _KEY_RADIANS = 0.04, 0.05
_LOOK_AHEAD_M = 0.9


class NavStatus(StrEnum):
    """What became of the last goal."""

    IDLE = "idle"
    DRIVING = "driving"
    ARRIVED = "arrived"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to drive next, and whether the goal is at its end."""

    steps: tuple[Step, ...]
    is_last: bool


class Navigation:
    """SLAM, frontiers and driving of one robot, in the map frame.

    Args:
        config: of the robot.
        start: its pose in the map frame when it is switched on.
    """

    def __init__(self, config: RobotConfig, start: Pose) -> None:
        self.map = OccupancyMap()
        self.status = NavStatus.IDLE
        self._config = config
        self._start = start
        self._localisation = Localisation(config.lidar, start)
        self._estimate = Estimate(0.0, start, REST)
        self._scan: Scan | None = None
        self._points: NDArray[np.float64] = _NO_POINTS
        self._keyframe: Pose | None = None
        self._frontiers = FrontierFinder()
        self._found: tuple[float, tuple[Frontier, ...]] = (-1e9, ())
        self._keep_outs: tuple[KeepOut, ...] = ()
        self._planner = ManeuverPlanner(config)
        self._follower = Follower(config)
        self._goal: Aim | None = None
        self._is_turn = False
        self._is_last = False
        self._is_stale = False
        self._now = 0.0
        self._checked: Scan | None = None
        self._waits_since: float | None = None
        self._fails: tuple[float, Pose] | None = None
        self._thought: Generator[None, None, _Plan | None] | None = None
        self._retry_at = 0.0
        self._progress: tuple[float, Pose] = (0.0, start)
        self._banned = 0

    @property
    def estimate(self) -> Estimate:
        """Of the newest observation."""
        return self._estimate

    def update(self, observation: Observation) -> Estimate:
        """Take in what is new in an observation; one that was seen already changes nothing."""
        odometry, scan = observation.odometry, observation.scan
        if odometry is None:
            return self._estimate
        if odometry.stamp > self._estimate.stamp or self._localisation.odometry is None:
            self._localisation.update_odometry(odometry)
        is_new = scan is not None and (self._scan is None or scan.stamp > self._scan.stamp)
        if scan is not None and is_new and not fault(scan, scan.stamp, self._config):
            self._scan = scan
            self._look(scan)
        self._estimate = Estimate(odometry.stamp, self._localisation.pose, odometry.twist, self._localisation.is_sure)
        return self._estimate

    def _look(self, scan: Scan) -> None:
        pose = self._localisation.update_scan(scan, self.map)
        points = returns(scan, self._config.lidar)
        self._points = placed(points, pose)
        if not self._localisation.is_sure or self._localisation.is_doubtful:
            return
        last = self._keyframe
        is_key = (
            last is None
            or last.distance_to(pose.x, pose.y) > _KEY_M
            or abs(wrapped(last.heading - pose.heading)) > _KEY_RADIANS
        )
        if is_key:
            self._keyframe = pose
        self.map.integrate(scan, self._config.lidar, pose, remember_points=is_key)

    def frontiers(self) -> tuple[Frontier, ...]:
        """Those that can be reached, the widest first; ids last as long as the frontier does."""
        stamp = self._estimate.stamp
        if stamp - self._found[0] >= _FRONTIERS_S and self.map.shape[0]:
            costs = cost_grid(self.map, self._config, _NO_POINTS, self._keep_outs)
            self._found = stamp, self._frontiers.find(self.map, costs, self._middle())
        return self._found[1]

    def way_to(self, x: float, y: float, tolerance: float = 0.25) -> float | None:
        """How many metres the way over the map to a place is, None where there is none."""
        way = self._route((x, y), tolerance)
        return None if way is None else length_of(way)

    def avoid(self, areas: Iterable[KeepOut]) -> None:
        """From now on drive around these areas (and no longer around those given before)."""
        self._keep_outs = tuple(areas)

    def go_to(self, goal: NavGoalTarget) -> bool:
        """Begin to drive to a goal; False, and nothing begins, where no way leads there."""
        if not self.map.shape[0] or self._route((goal.x, goal.y), goal.tolerance) is None:
            return False
        self._begin(Aim(goal.x, goal.y, goal.tolerance, goal.heading, _HEADING_TOLERANCE))
        return True

    def turn(self, radians: float) -> bool:
        """Begin to turn, by arcs or a multi-point turn about where the robot stands; False where there is no room."""
        pose = self._estimate.pose
        x, y = pose.ahead(self._config.body.centre)
        aim = Aim(x, y, _TURN_PLACE_M, wrapped(pose.heading + radians), _HEADING_TOLERANCE)
        if not self.map.shape[0] or not self._has_any_step(aim):
            return False
        self._begin(aim, is_turn=True)
        return True

    def _has_any_step(self, aim: Aim) -> bool:
        search = self._search(aim, _MARGINS[-1])
        search.run(1)
        return not search.is_over or search.steps is not None

    def go_home(self) -> bool:
        """Begin to drive to where the robot was switched on; False where no way leads there."""
        x, y = self._start.ahead(self._config.body.centre)
        return self.go_to(NavGoalTarget(x, y))

    def cancel(self) -> None:
        """Give the goal up and rest."""
        self._end(NavStatus.IDLE)

    def twist(self, now: float) -> Twist:
        """What the goal wants now; REST without one. To be called once for every period of the control loop."""
        period, self._now = max(0.0, min(now - self._now, 0.5)), now
        if self.status is not NavStatus.DRIVING or self._goal is None:
            return REST
        scan = self._scan
        if scan is None or now - scan.stamp > self._config.zones.scan_timeout or not self._estimate.is_sure:
            return self._failed(now)
        if self._has_arrived(self._goal):
            return self._end(NavStatus.ARRIVED)
        if self._must_wait(now, scan):
            return REST
        if self._needs_plan():
            self._think_on(self._goal, now)
        return self._follow(now, period, scan)

    def _follow(self, now: float, period: float, scan: Scan) -> Twist:
        pose = self._estimate.pose
        since, where = self._progress
        if self._follower.is_done or _have_parted(pose, where):
            self._progress = now, pose
        elif now - since > _STUCK_S:
            self._banned = self._follower.direction
            self._progress = now, pose
            self._follower.rest()
            return self._failed(now)
        return self._follower.twist(pose, returns(scan, self._config.lidar), period)

    def _has_arrived(self, goal: Aim) -> bool:
        """Without a heading as soon as the place is reached, with one at the end of the maneuver."""
        pose, body = self._estimate.pose, self._config.body
        if not goal.is_met(pose, body):
            return False
        return goal.heading is None or self._follower.is_done or self._follower.remaining > 1.0

    def _begin(self, goal: Aim, *, is_turn: bool = False) -> None:
        """Take a new goal; what is being driven is driven on until there is a way to the new one."""
        self._goal, self._is_turn, self._is_stale = goal, is_turn, True
        self.status = NavStatus.DRIVING
        self._thought = self._waits_since = self._fails = None
        self._retry_at, self._banned = 0.0, 0
        self._progress = self._now, self._estimate.pose

    def _end(self, status: NavStatus) -> Twist:
        self._follower.rest()
        self._goal = self._thought = None
        self.status = status
        return REST

    def _failed(self, now: float) -> Twist:
        """Rest, and give up when nothing has moved the robot for long."""
        pose = self._estimate.pose
        if self._fails is None or _have_parted(pose, self._fails[1]):
            self._fails = now, pose
        elif now - self._fails[0] > _GIVE_UP_S:
            self._end(NavStatus.BLOCKED)
        return REST

    def _needs_plan(self) -> bool:
        return self._is_stale or self._follower.is_done or (not self._is_last and self._follower.remaining < _RENEW_M)

    def _must_wait(self, now: float, scan: Scan) -> bool:
        """Whether something new on the way is close: wait for it to go, then plan anew; plan at once if it is far."""
        if self._checked is not scan:
            self._checked = scan
            free = self._free_ahead()
            if free is None:
                self._waits_since = None
            elif free > _LOOK_AHEAD_M / 2 and self._waits_since is None:
                self._follower.rest()
            elif self._waits_since is None:
                self._waits_since = now
        if self._waits_since is None:
            return False
        if now - self._waits_since > _WAIT_S:
            self._waits_since = None
            self._follower.rest()
            return False
        return True

    def _free_ahead(self) -> float | None:
        """Metres of the planned way that are free, None where all of the next metres are."""
        ahead = self._follower.ahead(_LOOK_AHEAD_M)
        if not len(ahead):
            return None
        clearance = self._clearance(_LOOK_AHEAD_M + 0.5)
        room = clearance.of_poses(ahead[:, 0], ahead[:, 1], ahead[:, 2], self._planner.circles)
        blocked = np.flatnonzero(room < self._config.zones.padding)
        if not len(blocked) or blocked[0] == 0:
            return None
        return float(blocked[0]) * 0.05

    def _think_on(self, goal: Aim, now: float) -> None:
        """Search for the next maneuver, a portion in each period; drive it when it is found."""
        if now < self._retry_at:
            return
        if self._thought is None:
            self._thought = self._thoughts(goal)
        try:
            next(self._thought)
        except StopIteration as over:
            self._thought = None
            self._decided(over.value, now)

    def _decided(self, plan: _Plan | None, now: float) -> None:
        if plan is None:
            self._retry_at = now + _RETRY_S
            self._banned = 0
            if self._follower.is_done or self._is_stale:
                self._follower.rest()
                self._failed(now)
        elif plan.is_last and not plan.steps:
            self._end(NavStatus.ARRIVED)
        else:
            self._follower.start(plan.steps)
            self._is_last, self._is_stale, self._banned = plan.is_last, False, 0

    def _thoughts(self, goal: Aim) -> Generator[None, None, _Plan | None]:
        """Try one aim after the other, the best first."""
        for aim, margin, is_last in self._aims(goal):
            yield
            search = self._search(aim, margin)
            while not search.run(_NODES_A_PERIOD):
                yield
            if search.steps is not None and (search.steps or is_last):
                return _Plan(search.steps, is_last)
        return None

    def _aims(self, goal: Aim) -> Iterator[tuple[Aim, float, bool]]:
        """What the next maneuver may aim at, with which margin, and whether that is the goal itself."""
        if self._is_turn:
            yield from ((goal, margin, True) for margin in _MARGINS)
            return
        way = self._route((goal.x, goal.y), goal.tolerance)
        if way is None:
            return
        if length_of(way) <= _HORIZON_M:
            end = Aim(*way[-1], max(0.05, goal.tolerance * 0.6), goal.heading, goal.heading_tolerance * 0.7)
            yield from ((end, margin, True) for margin in _MARGINS)
            return
        for horizon, margin in ((_HORIZON_M, _MARGINS[0]), (_HORIZON_M / 2, _MARGINS[0]), (_HORIZON_M, _MARGINS[1])):
            x, y, direction = point_along(way, horizon)
            yield Aim(x, y, 0.2, direction, 0.6), margin, False

    def _search(self, aim: Aim, margin: float) -> Search:
        moving = self._follower.direction if abs(self._estimate.twist.linear) > 0.03 else 0
        return self._planner.search(
            self._estimate.pose,
            aim,
            self._clearance(),
            margin=margin,
            curvature=self._follower.curvature,
            direction=moving,
            banned=self._banned,
        )

    def _clearance(self, reach: float = 2.6) -> Clearance:
        return clearance_around(self._estimate.pose, self.map, self._points, self._keep_outs, reach=reach)

    def _route(self, goal: Place, tolerance: float) -> tuple[Place, ...] | None:
        """Over known ground where that is possible, else also where nothing is known."""
        middle = self._middle()
        reach = tolerance + 1.0
        self.map.cover(goal[0] - reach, goal[1] - reach, goal[0] + reach, goal[1] + reach)
        for allow_unknown in (False, True):
            costs = cost_grid(self.map, self._config, self._points, self._keep_outs, allow_unknown=allow_unknown)
            way = route(costs, middle, goal, tolerance)
            if way is not None:
                return way
        return None

    def _middle(self) -> Place:
        return self._estimate.pose.ahead(self._config.body.centre)


def _have_parted(a: Pose, b: Pose) -> bool:
    """Whether the robot has moved from one pose to the other, rather than trembled."""
    return a.distance_to(b.x, b.y) > _STUCK_M or abs(wrapped(a.heading - b.heading)) > 0.03
