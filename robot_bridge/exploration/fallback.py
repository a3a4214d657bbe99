"""Continue without the model: slow down, wait, explore alone or drive home, depending on how long an answer is owed.

Decisions that the robot makes alone have the form of a model's decisions. Each decision is to drive to a frontier, or
to drive home.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import hypot, inf
from typing import Final

from robot_bridge.contracts import Frontier, NavigationDecision, Pose, Tier, Tool
from robot_bridge.control.controller import Controller
from robot_bridge.control.state import View
from robot_bridge.decisions.memory.memory_state import KnownFrontier
from robot_bridge.decisions.watchdog import LLMWatchdog

WayTo = Callable[[float, float], float | None]
"""Function that returns the length of the path to a place (x, y) in metres, or None if no path is known."""
AVOIDED_S: Final = 30.0
"""A frontier that could not be reached is avoided for this long."""
MAX_FAILURES: Final = 3
"""A frontier is given up after this many failures."""
NO_FRONTIERS_S: Final = 10.0
"""If no frontier shows for this long, the exploration is over."""
AT_HOME_M: Final = 0.5
"""Within this distance of the start, the robot is at home."""
_SAME_PLACE_M: Final = 0.7
"""A failure within this distance of a frontier, in metres, counts as a failure to reach the frontier."""
_TURN_COST: Final = 0.4
"""Cost of turning, in metres per radian, for a robot that cannot turn in place."""
_WIDTH_GAIN: Final = 0.5
"""Metres of driving that each metre of a frontier's width is worth."""
_MAX_USEFUL_WIDTH_M: Final = 3.0
"""A frontier that is wider than this, in metres, costs as much as if it had this width."""
_ALONE_TIERS: Final = frozenset({Tier.LOCAL_NAV, Tier.RETURN_HOME})
"""Tiers in which the robot decides alone."""


class LocalExploration:
    """Decision maker without a model, which prefers frontiers that are near, wide and ahead.

    Args:
        home: pose to which the robot returns at the end, and in an outage.

    Attributes:
        is_over: whether every frontier is explored or given up, and the drive home has ended.
    """

    def __init__(self, home: Pose) -> None:
        self._home = home
        self._failures: list[tuple[float, float, float]] = []  # x, y, time
        self.start_over()

    def start_over(self) -> None:
        """Reset everything except the recorded failures, because an outage is over or the drive home is tried again."""
        self.is_over = False
        self._is_homing = False
        self._has_returned_in_outage = False
        self._nothing_since: float | None = None

    def record_failure(self, x: float, y: float, now: float) -> None:
        """Record that a goal at a place in the map frame could not be reached."""
        self._failures.append((x, y, now))

    def decide(
        self, state: View, tier: Tier, *, is_idle: bool, now: float, way_to: WayTo | None = None
    ) -> NavigationDecision | None:
        """Return the next decision, or None if the robot is to continue.

        This method must be called in every step of the decision loop. ``way_to`` measures the path to a frontier.
        Without ``way_to``, the straight distance counts, which ignores walls.
        """
        frontiers = state.frontiers
        pose = state.current_position
        has_frontier = any(len(self._failures_at(frontier)) < MAX_FAILURES for frontier in frontiers)
        if self._is_homing:
            self.is_over = is_idle and not has_frontier
            if self.is_over or not is_idle:
                return None
            self._is_homing = False  # the drive home has ended, but there are frontiers again
        if tier is Tier.RETURN_HOME and not self._has_returned_in_outage:
            self._has_returned_in_outage = True
            return _make_goal("retrace", now)
        if not is_idle:
            self._nothing_since = None
            return None
        if has_frontier:
            self._nothing_since = None
            open_frontiers = [frontier for frontier in frontiers if self._is_open(frontier, now)]
            best = _find_cheapest(open_frontiers, pose, way_to)
            return _make_goal("frontier", now, best.id) if best else None
        return self._go_home(pose, now)

    def _go_home(self, pose: Pose, now: float) -> NavigationDecision | None:
        """Return the decision to drive home once no frontier has shown for ``NO_FRONTIERS_S``; None before.

        If the robot is already at home, set ``is_over`` and return None.
        """
        if self._nothing_since is None:
            self._nothing_since = now
        if now - self._nothing_since < NO_FRONTIERS_S:
            return None
        if pose.distance_to(self._home.x, self._home.y) <= AT_HOME_M:
            self.is_over = True
            return None
        self._is_homing = True
        return _make_goal("retrace", now)

    def _failures_at(self, frontier: Frontier) -> list[float]:
        """Return the times at which a frontier could not be reached."""
        times = []
        for x, y, time in self._failures:
            if hypot(x - frontier.x, y - frontier.y) <= _SAME_PLACE_M:
                times.append(time)
        return times

    def _is_open(self, frontier: Frontier, now: float) -> bool:
        """Return whether the robot may try a frontier: the frontier is not given up, and no failure there is recent."""
        failures = self._failures_at(frontier)
        is_given_up = len(failures) >= MAX_FAILURES
        is_avoided = any(now - time < AVOIDED_S for time in failures)
        return not is_given_up and not is_avoided


def _make_goal(goal_type: str, now: float, frontier_id: int | None = None) -> NavigationDecision:
    """Return the decision to drive to a frontier ("frontier") or home ("retrace")."""
    reason = "back to the start" if frontier_id is None else "the nearest frontier"
    parameters = {"goal_type": goal_type, "frontier_id": frontier_id, "x": None, "y": None, "reason": reason}
    return NavigationDecision(Tool.NAVIGATE_TO_GOAL.value, parameters, "exploration without a model", now)


def _find_cheapest(frontiers: Sequence[Frontier], pose: Pose, way_to: WayTo | None) -> Frontier | None:
    """Return the frontier with the least cost, or None if there are no frontiers.

    The straight cost is a lower bound of the cost, because a path is never shorter than the straight line. Measuring a
    path takes time, so the search ends as soon as a frontier's lower bound reaches the least cost so far.
    """
    best = None
    least_cost = inf
    by_straight_cost = sorted(frontiers, key=lambda frontier: (_straight_cost(frontier, pose), frontier.id))
    for frontier in by_straight_cost:
        bound = _straight_cost(frontier, pose)
        if bound >= least_cost:
            break
        path_length = way_to(frontier.x, frontier.y) if way_to else None
        cost = bound
        if path_length is not None:
            straight = pose.distance_to(frontier.x, frontier.y)
            cost = bound + max(0.0, path_length - straight)
        if cost < least_cost:
            best = frontier
            least_cost = cost
    return best


def _straight_cost(frontier: Frontier, pose: Pose) -> float:
    """Return the cost of a straight drive to a frontier, in metres.

    The cost is the distance, plus a cost of turning, minus a gain for the frontier's width.
    """
    distance = pose.distance_to(frontier.x, frontier.y)
    turn = abs(pose.bearing_to(frontier.x, frontier.y))
    return distance + _TURN_COST * turn - _WIDTH_GAIN * min(frontier.width_m, _MAX_USEFUL_WIDTH_M)


def redirect_to_frontier(
    decision: NavigationDecision, told: Sequence[KnownFrontier], frontiers: Sequence[Frontier]
) -> NavigationDecision:
    """Return a decision, redirected if its frontier has disappeared since the model saw the list of frontiers.

    While a model thinks, the robot sees more, and a frontier may move, be split, or get another id. ``told`` holds the
    frontiers that the model was shown, and ``frontiers`` holds the current frontiers. The decision is redirected to the
    current frontier that is nearest to the old frontier's place. If the decision were refused instead, the robot would
    stand until the model answers again. A decision for an id that was never listed does not change, and is refused
    later.
    """
    parameters: object = decision.parameters
    if not isinstance(parameters, Mapping):
        return decision
    wanted_id = parameters.get("frontier_id")
    still_exists = any(frontier.id == wanted_id for frontier in frontiers)
    if decision.tool_name != Tool.NAVIGATE_TO_GOAL or still_exists:
        return decision
    place = next((known.position for known in told if known.id == wanted_id), None)
    if place is None or parameters.get("goal_type") != "frontier" or not frontiers:
        return decision
    x, y = place
    nearest = min(frontiers, key=lambda frontier: hypot(frontier.x - x, frontier.y - y))
    return replace(decision, parameters={**parameters, "frontier_id": nearest.id})


class Fallback:
    """Supervisor of the controller while the model owes an answer.

    Depending on the tier, the supervisor slows the robot down, holds the robot, or explores without the model.

    Args:
        controller: the robot's controller.
        watchdog: determines the tier.
        local: makes decisions without a model.

    Attributes:
        tier: the tier at the last call of :meth:`watch`.
    """

    def __init__(self, controller: Controller, watchdog: LLMWatchdog, local: LocalExploration) -> None:
        self._controller = controller
        self._watchdog = watchdog
        self.local = local
        self.tier = Tier.CONTINUE

    def watch(self, owed_s: float, now: float, *, is_alone: bool) -> NavigationDecision | None:
        """Set the controller's hold and pace for the tier, and return the decision to carry out without the model.

        Return None if the robot is to continue. ``owed_s`` is how long an answer has been owed, in seconds;
        ``is_alone`` says that no answer will ever come.
        """
        self._enter_tier(self._watchdog.evaluate(owed_s), owed_s)
        self._controller.hold("waiting for the model" if self.tier is Tier.STOP_WAIT else "")
        self._controller.pace = self._watchdog.pace(owed_s) if self.tier is Tier.CONTINUE else 1.0
        if not is_alone and self.tier not in _ALONE_TIERS:
            self.local.start_over()
            return None
        controller = self._controller
        return self.local.decide(
            controller.state, self.tier, is_idle=controller.is_idle, now=now, way_to=controller.way_to
        )

    def rest(self) -> None:
        """Reset the tier, the pace and local exploration, because a person controls the robot and no answer is owed."""
        self._enter_tier(Tier.CONTINUE, 0.0)
        self._controller.pace = 1.0
        self.local.start_over()

    def _enter_tier(self, tier: Tier, owed_s: float) -> None:
        if tier is not self.tier:
            self._controller.note("tier", {"tier": tier.value, "owed_s": round(owed_s, 1)})
        self.tier = tier
