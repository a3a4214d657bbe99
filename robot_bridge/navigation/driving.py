"""Drive to a goal: compute a velocity for each period of the control loop.

Driving has two steps: a route over the map, and maneuvers of about two metres along it. The next maneuver is searched
for in portions before the end of the last is reached. If something new is in the way, the robot waits a little, since
it may walk on, then goes around it or backs away; it gives up only when nothing has helped for some seconds.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import hypot

import numpy as np
from numpy.typing import NDArray

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import REST, Pose, Twist, wrap_angle
from robot_bridge.navigation.following import Follower
from robot_bridge.navigation.maneuvers import COARSE, FINE, Aim, Effort, ManeuverPlanner, Search, Step
from robot_bridge.navigation.planning import length_of, point_along
from robot_bridge.navigation.slam import Slam

_REACH_M = 2.6
_HORIZON_M = 1.8
_RENEW_M = 0.8
_ON_WAY_M = 0.2
_ON_WAY_RADIANS = 0.6
_MARGIN = 0.05
_MIN_MARGIN = 0.035
_INNER = 0.6  # share of the tolerances that a maneuver aims for; the rest is for the error of following it
_MIN_TOLERANCE_M = 0.1
_NODES_A_PERIOD = 240
_RETRY_S = 0.4
_WAIT_S = 1.0
_STUCK_S = 2.5
_STUCK_M = 0.015
_STUCK_RADIANS = 0.03
_GIVE_UP_S = 8.0
_LOOK_AHEAD_M = 0.9
_SPACING_M = 0.05
_MOVING = 0.03


class NavStatus(StrEnum):
    """The state of the current or last goal."""

    IDLE = "idle"
    DRIVING = "driving"
    ARRIVED = "arrived"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The aim of the next maneuver and how hard to search; ``is_last``: it ends at the goal."""

    aim: Aim
    margin: float
    effort: Effort
    is_last: bool


@dataclass(frozen=True, slots=True)
class _Plan:
    """The steps to drive next, and whether they end at the goal."""

    steps: tuple[Step, ...]
    is_last: bool


class Driver:
    """Drives to one goal at a time; ``status`` is the state of the current or last goal."""

    def __init__(self, config: RobotConfig, slam: Slam) -> None:
        self.status = NavStatus.IDLE
        self._config = config
        self._slam = slam
        self._planner = ManeuverPlanner(config)
        self._follower = Follower(config)
        self._goal: Aim | None = None
        self._is_turn = self._is_last = self._is_stale = False
        self._thought: Generator[None, None, _Plan | None] | None = None
        self._now = self._retry_at = self._checked = 0.0
        self._waits_since: float | None = None
        self._progress: tuple[float, Pose] | None = None
        self._fails: tuple[float, Pose] | None = None
        self._banned = 0

    def begin(self, goal: Aim, *, is_turn: bool = False) -> None:
        """Take a new goal; the current maneuver continues until a way to the new goal is found.

        ``is_turn``: the goal is near the robot, so no route is needed.
        """
        self._goal = goal
        self._is_turn = is_turn
        self._is_stale = True
        self.status = NavStatus.DRIVING
        self._thought = self._waits_since = self._progress = self._fails = None
        self._retry_at = 0.0
        self._banned = 0

    def end(self, status: NavStatus) -> Twist:
        """Forget the goal, and rest."""
        self._follower.rest()
        self._goal = self._thought = None
        self.status = status
        return REST

    def can_move(self) -> bool:
        """Return whether the robot can take any step from here."""
        return self._search(_Attempt(Aim(*self._slam.middle, 0.0), _MIN_MARGIN, COARSE, False)).can_begin()

    def twist(self, now: float) -> Twist:
        """Return the velocity for the goal, REST without one; call once per period of the control loop."""
        period = max(0.0, min(now - self._now, 0.5))
        self._now = now
        if self._goal is None:
            return REST
        scan = self._slam.scan
        estimate = self._slam.estimate
        if scan is None or now - scan.stamp > self._config.zones.scan_timeout or not estimate.is_sure:
            return self._rest_or_give_up()
        if self._has_arrived(self._goal):
            return self.end(NavStatus.ARRIVED)
        if self._must_wait(scan.stamp):
            return REST
        if self._needs_plan():
            self._think_on(self._goal)
        if self._is_stuck():
            self._banned = self._follower.direction
            self._follower.rest()
            return self._rest_or_give_up()
        return self._follower.twist(estimate.pose, self._slam.returns, period)

    def _has_arrived(self, goal: Aim) -> bool:
        """Return whether the goal is met; with a heading, only once no current maneuver is being followed."""
        if not goal.is_met(self._slam.estimate.pose, self._config.body):
            return False
        return goal.heading is None or self._follower.is_done or self._is_stale

    def _is_stuck(self) -> bool:
        """Return whether the robot has not moved although it was commanded to for long."""
        pose = self._slam.estimate.pose
        if self._progress is None or self._follower.is_done or _have_parted(pose, self._progress[1]):
            self._progress = self._now, pose
        if self._now - self._progress[0] <= _STUCK_S:
            return False
        self._progress = None
        return True

    def _rest_or_give_up(self) -> Twist:
        """Rest; give up if the robot has not moved for long."""
        pose = self._slam.estimate.pose
        if self._fails is None or _have_parted(pose, self._fails[1]):
            self._fails = self._now, pose
        elif self._now - self._fails[0] > _GIVE_UP_S:
            self.end(NavStatus.BLOCKED)
        return REST

    def _must_wait(self, stamp: float) -> bool:
        """Return whether to wait for something new close by on the way; if it is farther away, plan again at once."""
        if self._checked != stamp:
            self._checked = stamp
            free = self._free_ahead()
            if free is None:
                self._waits_since = None
            elif self._waits_since is None and free > _LOOK_AHEAD_M / 2:
                self._is_stale = True
            elif self._waits_since is None:
                self._waits_since = self._now
        if self._waits_since is not None and self._now - self._waits_since > _WAIT_S:
            self._waits_since = None
            self._follower.rest()
        return self._waits_since is not None

    def _free_ahead(self) -> float | None:
        """Return how many metres of the planned way are free, or None if all of the next ones are."""
        ahead = self._follower.ahead(_LOOK_AHEAD_M, _SPACING_M)
        if not len(ahead):
            return None
        clearance = self._slam.clearance(_LOOK_AHEAD_M + self._config.body.front + 0.2)
        room = clearance.pose_clearances(ahead[:, 0], ahead[:, 1], ahead[:, 2], self._planner.circles)
        count = free_poses(room >= self._config.zones.padding)
        return None if count is None else count * _SPACING_M

    def _needs_plan(self) -> bool:
        return self._is_stale or self._follower.is_done or (not self._is_last and self._follower.remaining < _RENEW_M)

    def _think_on(self, goal: Aim) -> None:
        """Search for the next maneuver, one portion per period, and drive it once found."""
        if self._now < self._retry_at:
            return
        if self._thought is None:
            self._thought = self._thoughts(goal)
        try:
            next(self._thought)
        except StopIteration as over:
            self._thought = None
            self._take_plan(over.value)

    def _take_plan(self, plan: _Plan | None) -> None:
        if plan is None:
            self._retry_at = self._now + _RETRY_S
            self._banned = 0
            if self._follower.is_done or self._is_stale:
                self._follower.rest()
                self._rest_or_give_up()
        elif plan.is_last and not plan.steps:
            self.end(NavStatus.ARRIVED)
        else:
            self._follower.start(plan.steps)
            self._is_last = plan.is_last
            self._is_stale = False
            self._banned = 0

    def _thoughts(self, goal: Aim) -> Generator[None, None, _Plan | None]:
        """Make one attempt after the other until one finds a way."""
        for attempt in self._attempts(goal):
            yield
            search = self._search(attempt)
            while not search.run(_NODES_A_PERIOD):
                yield
            if search.steps is not None and (search.steps or attempt.is_last):
                return _Plan(search.steps, attempt.is_last)
        return None

    def _attempts(self, goal: Aim) -> Iterator[_Attempt]:
        if self._is_turn:
            yield from _final_attempts(goal)
            return
        way = self._slam.way((goal.x, goal.y), goal.tolerance)
        if way is None:
            return
        if length_of(way) <= _HORIZON_M:
            x, y = way[-1]
            tolerance = max(_MIN_TOLERANCE_M, goal.tolerance - hypot(x - goal.x, y - goal.y))
            yield from _final_attempts(Aim(x, y, tolerance, goal.heading, goal.heading_tolerance))
            return
        for horizon, margin, effort in (
            (_HORIZON_M, _MARGIN, COARSE),
            (_HORIZON_M / 2, _MARGIN, COARSE),
            (_HORIZON_M, _MIN_MARGIN, FINE),
        ):
            x, y, direction = point_along(way, horizon)
            yield _Attempt(Aim(x, y, _ON_WAY_M, direction, _ON_WAY_RADIANS), margin, effort, False)

    def _search(self, attempt: _Attempt) -> Search:
        estimate = self._slam.estimate
        return self._planner.search(
            estimate.pose,
            attempt.aim,
            self._slam.clearance(_REACH_M),
            margin=attempt.margin,
            curvature=self._follower.curvature,
            direction=self._follower.direction if abs(estimate.twist.linear) > _MOVING else 0,
            banned=self._banned,
            effort=attempt.effort,
        )


def free_poses(is_free: NDArray[np.bool_]) -> int | None:
    """Return how many poses of a way, bool (n,), come before the first blocked one; None if no pose is blocked.

    Blocked poses at the start do not count: the robot stands too near to something, and the way leads away from it.
    """
    begun = int(is_free.argmax())
    blocked = np.flatnonzero(~is_free[begun:])
    return begun + int(blocked[0]) if is_free[begun] and len(blocked) else None


def _final_attempts(goal: Aim) -> Iterator[_Attempt]:
    inner = Aim(goal.x, goal.y, goal.tolerance * _INNER, goal.heading, goal.heading_tolerance * _INNER)
    yield _Attempt(inner, _MARGIN, COARSE, True)
    yield _Attempt(inner, _MARGIN, FINE, True)
    outer = Aim(goal.x, goal.y, goal.tolerance * 0.9, goal.heading, goal.heading_tolerance * 0.9)
    yield _Attempt(outer, _MIN_MARGIN, COARSE, True)
    yield _Attempt(outer, _MIN_MARGIN, FINE, True)


def _have_parted(a: Pose, b: Pose) -> bool:
    """Return whether the robot really moved between two poses, beyond the jitter of the estimate."""
    return a.distance_to(b.x, b.y) > _STUCK_M or abs(wrap_angle(a.heading - b.heading)) > _STUCK_RADIANS
