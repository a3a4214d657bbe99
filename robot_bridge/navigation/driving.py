"""Drive to a goal: compute a velocity for each period of the control loop.

Driving has two levels: a route over the map, and maneuvers of about two metres along the route. The search for the next
maneuver is spread over several periods, while the robot still drives the current maneuver.

If a new obstacle blocks the path, the robot waits a little, because the obstacle may move on. After the wait, the robot
drives around the obstacle or backs away. The robot gives up only after some seconds without motion.
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

_CLEARANCE_REACH_M = 2.6
_HORIZON_M = 1.8
_PLAN_NEXT_M = 0.8
_ON_WAY_TOLERANCE_M = 0.2
_ON_WAY_TOLERANCE_RADIANS = 0.6
_MARGIN_M = 0.05
_MIN_MARGIN_M = 0.035
_AIM_SHARE = 0.6  # share of the tolerances that the search uses; the follower's error may use the remaining share
_MIN_TOLERANCE_M = 0.1
_NODES_PER_PERIOD = 240
_RETRY_S = 0.4
_WAIT_S = 1.0
_STUCK_S = 2.5
_STUCK_M = 0.015
_STUCK_RADIANS = 0.03
_GIVE_UP_S = 8.0
_LOOK_AHEAD_M = 0.9
_SPACING_M = 0.05
_MOVING_SPEED = 0.03


class NavStatus(StrEnum):
    """The state of the current or last goal."""

    IDLE = "idle"
    DRIVING = "driving"
    ARRIVED = "arrived"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The parameters of one search: its target, the room to keep, and its effort.

    ``margin`` is the room to keep around the footprint, metres. ``is_last`` says whether the maneuver ends at the goal.
    """

    aim: Aim
    margin: float
    effort: Effort
    is_last: bool


@dataclass(frozen=True, slots=True)
class _Plan:
    """The steps to drive next; ``is_last`` says whether the steps end at the goal."""

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
        self._is_turn = self._ends_at_goal = self._is_plan_stale = False
        self._planning: Generator[None, None, _Plan | None] | None = None  # the search in progress
        self._now = self._retry_at = self._checked_stamp = 0.0
        self._waiting_since: float | None = None
        # (time, pose) of the robot's last motion, and of the moment since which the robot rests without a way.
        self._last_motion: tuple[float, Pose] | None = None
        self._failing_since: tuple[float, Pose] | None = None
        self._banned_direction = 0  # of the first step of the next maneuver: +1 forward, -1 reverse, 0 none

    def begin(self, goal: Aim, *, is_turn: bool = False) -> None:
        """Set a new goal; until a path to the new goal is found, continue the current maneuver.

        If ``is_turn`` is True, the goal is near the robot, so the search needs no route.
        """
        self._goal = goal
        self._is_turn = is_turn
        self._is_plan_stale = True
        self.status = NavStatus.DRIVING
        self._planning = self._waiting_since = self._last_motion = self._failing_since = None
        self._retry_at = 0.0
        self._banned_direction = 0

    def end(self, status: NavStatus) -> Twist:
        """Forget the goal, set the status and return REST."""
        self._follower.rest()
        self._goal = self._planning = None
        self.status = status
        return REST

    def can_move(self) -> bool:
        """Return whether the robot can take at least one step from its current pose."""
        here = Aim(*self._slam.middle, 0.0)
        return self._search(_Attempt(here, _MIN_MARGIN_M, COARSE, False)).can_begin()

    def twist(self, now: float) -> Twist:
        """Return the velocity towards the goal, or REST without a goal; call once per period of the control loop."""
        period = max(0.0, min(now - self._now, 0.5))
        self._now = now
        if self._goal is None:
            return REST
        scan = self._slam.scan
        estimate = self._slam.estimate
        is_scan_fresh = scan is not None and now - scan.stamp <= self._config.zones.scan_timeout
        if scan is None or not is_scan_fresh or not estimate.is_sure:
            return self._rest_or_give_up()
        if self._has_arrived(self._goal):
            return self.end(NavStatus.ARRIVED)
        if self._must_wait(scan.stamp):
            return REST
        if self._needs_plan():
            self._continue_planning(self._goal)  # may start the follower on a new plan or end the goal
        if self._is_stuck():  # the next maneuver must start in the other direction
            self._banned_direction = self._follower.direction
            self._follower.rest()
            return self._rest_or_give_up()
        return self._follower.twist(estimate.pose, self._slam.returns, period)

    def _has_arrived(self, goal: Aim) -> bool:
        """Return whether the robot has arrived: its pose meets the goal.

        If the goal has a heading, the current maneuver must also be finished, or the plan must be stale.
        """
        if not goal.is_met(self._slam.estimate.pose, self._config.body):
            return False
        return goal.heading is None or self._follower.is_done or self._is_plan_stale

    def _is_stuck(self) -> bool:
        """Return whether the robot has not moved for ``_STUCK_S`` although the follower commanded motion.

        If the result is True, the measurement of this time starts again.
        """
        pose = self._slam.estimate.pose
        if self._last_motion is None or self._follower.is_done or _has_moved(pose, self._last_motion[1]):
            self._last_motion = self._now, pose
        if self._now - self._last_motion[0] <= _STUCK_S:
            return False
        self._last_motion = None
        return True

    def _rest_or_give_up(self) -> Twist:
        """Return REST; if the robot has not moved for ``_GIVE_UP_S`` seconds, end the goal as BLOCKED."""
        pose = self._slam.estimate.pose
        if self._failing_since is None or _has_moved(pose, self._failing_since[1]):
            self._failing_since = self._now, pose
        elif self._now - self._failing_since[0] > _GIVE_UP_S:
            self.end(NavStatus.BLOCKED)
        return REST

    def _must_wait(self, stamp: float) -> bool:
        """Return whether the robot must wait because a new obstacle blocks the path close ahead.

        If the obstacle is farther away, mark the plan as stale, so that the search for a new plan starts at once.
        ``stamp`` identifies the scan, so that every scan is checked once. After ``_WAIT_S`` seconds, forget the
        maneuver and stop waiting.
        """
        if self._checked_stamp != stamp:
            self._checked_stamp = stamp
            free_m = self._free_distance_ahead()
            if free_m is None:
                self._waiting_since = None
            elif self._waiting_since is None and free_m > _LOOK_AHEAD_M / 2:
                self._is_plan_stale = True
            elif self._waiting_since is None:
                self._waiting_since = self._now
        if self._waiting_since is not None and self._now - self._waiting_since > _WAIT_S:
            self._waiting_since = None
            self._follower.rest()
        return self._waiting_since is not None

    def _free_distance_ahead(self) -> float | None:
        """Return the length of the planned path before the first blocked pose, metres.

        Return None if no pose ahead is blocked.
        """
        ahead = self._follower.ahead(_LOOK_AHEAD_M, _SPACING_M)
        if not len(ahead):
            return None
        clearance = self._slam.clearance(_LOOK_AHEAD_M + self._config.body.front + 0.2)
        room = clearance.pose_clearances(ahead[:, 0], ahead[:, 1], ahead[:, 2], self._planner.circles)
        count = count_free_poses(room >= self._config.zones.padding)
        return None if count is None else count * _SPACING_M

    def _needs_plan(self) -> bool:
        """Return whether to search for the next maneuver now."""
        if self._is_plan_stale or self._follower.is_done:
            return True
        return not self._ends_at_goal and self._follower.remaining < _PLAN_NEXT_M

    def _continue_planning(self, goal: Aim) -> None:
        """Continue the search for the next maneuver by one portion; if the search ends, start the plan found."""
        if self._now < self._retry_at:
            return
        if self._planning is None:
            self._planning = self._plan_maneuver(goal)
        try:
            next(self._planning)
        except StopIteration as result:
            self._planning = None
            self._start_plan(result.value)

    def _start_plan(self, plan: _Plan | None) -> None:
        """Pass the steps of the plan to the follower; if no plan was found (None), schedule the next search.

        If the plan has no steps because the robot is at the goal already, end the goal as ARRIVED.
        """
        if plan is None:
            self._retry_at = self._now + _RETRY_S
            self._banned_direction = 0
            if self._follower.is_done or self._is_plan_stale:
                self._follower.rest()
                self._rest_or_give_up()
        elif plan.is_last and not plan.steps:  # the robot is at the goal already
            self.end(NavStatus.ARRIVED)
        else:
            self._follower.start(plan.steps)
            self._ends_at_goal = plan.is_last
            self._is_plan_stale = False
            self._banned_direction = 0

    def _plan_maneuver(self, goal: Aim) -> Generator[None, None, _Plan | None]:
        """Search with one attempt after another until an attempt finds steps; return the plan, or None.

        Yield after each portion of a search.
        """
        for attempt in self._plan_attempts(goal):
            yield
            search = self._search(attempt)
            while not search.run(_NODES_PER_PERIOD):
                yield
            if search.steps is not None and (search.steps or attempt.is_last):
                return _Plan(search.steps, attempt.is_last)
        return None

    def _plan_attempts(self, goal: Aim) -> Iterator[_Attempt]:
        """Yield the attempts, the cheapest first.

        Attempts for a near goal end at the goal. Attempts for a far goal end at places along the route to the goal.
        """
        if self._is_turn:
            yield from _final_attempts(goal)
            return
        way = self._slam.way((goal.x, goal.y), goal.tolerance)
        if way is None:
            return
        if length_of(way) <= _HORIZON_M:
            # The way may end beside the goal; the distance between end and goal reduces the tolerance.
            x, y = way[-1]
            tolerance = max(_MIN_TOLERANCE_M, goal.tolerance - hypot(x - goal.x, y - goal.y))
            yield from _final_attempts(Aim(x, y, tolerance, goal.heading, goal.heading_tolerance))
            return
        for horizon, margin, effort in (
            (_HORIZON_M, _MARGIN_M, COARSE),
            (_HORIZON_M / 2, _MARGIN_M, COARSE),
            (_HORIZON_M, _MIN_MARGIN_M, FINE),
        ):
            x, y, direction = point_along(way, horizon)
            yield _Attempt(Aim(x, y, _ON_WAY_TOLERANCE_M, direction, _ON_WAY_TOLERANCE_RADIANS), margin, effort, False)

    def _search(self, attempt: _Attempt) -> Search:
        """Return a search, not yet begun, for the attempt from the current pose, steering and direction."""
        estimate = self._slam.estimate
        is_moving = abs(estimate.twist.linear) > _MOVING_SPEED
        return self._planner.search(
            estimate.pose,
            attempt.aim,
            self._slam.clearance(_CLEARANCE_REACH_M),
            margin=attempt.margin,
            curvature=self._follower.curvature,
            direction=self._follower.direction if is_moving else 0,
            banned=self._banned_direction,
            effort=attempt.effort,
        )


def count_free_poses(is_free: NDArray[np.bool_]) -> int | None:
    """Return how many poses of a path come before the first blocked pose, or None if no pose is blocked.

    ``is_free`` is bool (n,), in driving order. Blocked poses at the start do not count as blocked. If the robot stands
    too near to an obstacle, such a path leads away from the obstacle. If all poses are blocked, the result is None,
    too.
    """
    first_free = int(is_free.argmax())
    if not is_free[first_free]:
        return None
    blocked = np.flatnonzero(~is_free[first_free:])
    return first_free + int(blocked[0]) if len(blocked) else None


def _final_attempts(goal: Aim) -> Iterator[_Attempt]:
    """Yield attempts that end at the goal, from the strictest tolerance and margin to the loosest."""
    inner = Aim(goal.x, goal.y, goal.tolerance * _AIM_SHARE, goal.heading, goal.heading_tolerance * _AIM_SHARE)
    yield _Attempt(inner, _MARGIN_M, COARSE, True)
    yield _Attempt(inner, _MARGIN_M, FINE, True)
    outer = Aim(goal.x, goal.y, goal.tolerance * 0.9, goal.heading, goal.heading_tolerance * 0.9)
    yield _Attempt(outer, _MIN_MARGIN_M, COARSE, True)
    yield _Attempt(outer, _MIN_MARGIN_M, FINE, True)


def _has_moved(a: Pose, b: Pose) -> bool:
    """Return whether the difference of two poses is greater than the jitter of the pose estimate."""
    return a.distance_to(b.x, b.y) > _STUCK_M or abs(wrap_angle(a.heading - b.heading)) > _STUCK_RADIANS
