"""Continue without the model, depending on how long it has owed an answer: slow down, wait, explore alone, go home.

On its own the robot makes decisions in the form of a model's: the next frontier, and home at the end.
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
"""Returns the length of the way over the map to a place, metres, or None if no way is known."""
AVOIDED_S: Final = 30.0
"""A frontier that could not be reached is avoided for this long."""
MAX_FAILURES: Final = 3
"""A frontier is given up after this many failures."""
NO_FRONTIERS_S: Final = 10.0
"""Exploration is over if no frontier shows for this long."""
AT_HOME_M: Final = 0.5
_SAME_PLACE_M: Final = 0.7
_TURN_COST: Final = 0.4
"""Cost of turning, metres per radian, for a robot that cannot turn in place."""
_WIDTH_GAIN: Final = 0.5
_WIDEST: Final = 3.0
_BY_ITSELF: Final = frozenset({Tier.LOCAL_NAV, Tier.RETURN_HOME})


class LocalExploration:
    """Decides for the robot while no model does: the nearest frontier, wide ones and those ahead preferred.

    Args:
        home: where the robot returns to at the end, and in an outage.

    Attributes:
        is_over: every frontier is explored or given up, and the way home is done.
    """

    def __init__(self, home: Pose) -> None:
        self._home = home
        self._failures: list[tuple[float, float, float]] = []
        self.start_over()

    def start_over(self) -> None:
        """Start over: the outage is over and the model decides again, or the way home needs another try."""
        self.is_over = False
        self._is_homing = False
        self._went_home = False
        self._nothing_since: float | None = None

    def record_failure(self, x: float, y: float, now: float) -> None:
        """Record that a goal at this place could not be reached."""
        self._failures.append((x, y, now))

    def decide(
        self, state: View, tier: Tier, *, is_idle: bool, now: float, way_to: WayTo | None = None
    ) -> NavigationDecision | None:
        """Return the next decision, or None to continue; call regularly.

        ``way_to`` measures the way over the map; without it the straight distance counts, which ignores walls.
        """
        frontiers = state.frontiers
        pose = state.current_position
        has_any = any(len(self._failures_at(each)) < MAX_FAILURES for each in frontiers)
        if self._is_homing:
            self.is_over = is_idle and not has_any
            if self.is_over or not is_idle:
                return None
            self._is_homing = False
        if tier is Tier.RETURN_HOME and not self._went_home:
            self._went_home = True
            return _goal("retrace", now)
        if not is_idle or has_any:
            self._nothing_since = None
            open_ones = [each for each in frontiers if self._is_open(each, now)] if is_idle else []
            best = _cheapest(open_ones, pose, way_to)
            return _goal("frontier", now, best.id) if best else None
        return self._go_home(pose, now)

    def _go_home(self, pose: Pose, now: float) -> NavigationDecision | None:
        """Return the decision to drive home once no frontier has shown for a while."""
        if self._nothing_since is None:
            self._nothing_since = now
        if now - self._nothing_since < NO_FRONTIERS_S:
            return None
        if pose.distance_to(self._home.x, self._home.y) <= AT_HOME_M:
            self.is_over = True
            return None
        self._is_homing = True
        return _goal("retrace", now)

    def _failures_at(self, frontier: Frontier) -> list[float]:
        """Return the times at which this frontier could not be reached."""
        return [at for x, y, at in self._failures if hypot(x - frontier.x, y - frontier.y) <= _SAME_PLACE_M]

    def _is_open(self, frontier: Frontier, now: float) -> bool:
        failures = self._failures_at(frontier)
        return len(failures) < MAX_FAILURES and all(now - at >= AVOIDED_S for at in failures)


def _goal(goal_type: str, now: float, frontier_id: int | None = None) -> NavigationDecision:
    reason = "back to the start" if frontier_id is None else "the nearest frontier"
    parameters = {"goal_type": goal_type, "frontier_id": frontier_id, "x": None, "y": None, "reason": reason}
    return NavigationDecision(Tool.NAVIGATE_TO_GOAL.value, parameters, "exploration without a model", now)


def _cheapest(frontiers: Sequence[Frontier], pose: Pose, way_to: WayTo | None) -> Frontier | None:
    """Return the cheapest frontier; measure its way, which takes time, only while it could still be the cheapest."""
    best = None
    least = inf
    for each in sorted(frontiers, key=lambda each: (_cost(each, pose), each.id)):
        bound = _cost(each, pose)
        if bound >= least:
            break
        way = way_to(each.x, each.y) if way_to else None
        straight = pose.distance_to(each.x, each.y)
        cost = bound + max(0.0, way - straight) if way is not None else bound
        if cost < least:
            best = each
            least = cost
    return best


def _cost(frontier: Frontier, pose: Pose) -> float:
    distance = pose.distance_to(frontier.x, frontier.y)
    turn = abs(pose.bearing_to(frontier.x, frontier.y))
    return distance + _TURN_COST * turn - _WIDTH_GAIN * min(frontier.width_m, _WIDEST)


def redirect_to_frontier(
    decision: NavigationDecision, told: Sequence[KnownFrontier], frontiers: Sequence[Frontier]
) -> NavigationDecision:
    """Redirect a decision for a frontier that has disappeared since the model saw the list.

    While a model thinks, the robot sees more: a frontier moves, is split, or gets another id. ``told`` lists the
    frontiers as the memory has them, ``frontiers`` the current ones. The one nearest to the old place replaces it,
    because a refusal would make the robot stand until the model answers again. An id that was never listed is kept,
    and is refused later.
    """
    given: object = decision.parameters
    if not isinstance(given, Mapping):
        return decision
    wanted = given.get("frontier_id")
    if decision.tool_name != Tool.NAVIGATE_TO_GOAL or any(each.id == wanted for each in frontiers):
        return decision
    place = next((each.position for each in told if each.id == wanted), None)
    if place is None or given.get("goal_type") != "frontier" or not frontiers:
        return decision
    nearest = min(frontiers, key=lambda each: hypot(each.x - place[0], each.y - place[1]))
    return replace(decision, parameters={**given, "frontier_id": nearest.id})


class Fallback:
    """Slows or holds the controller according to the tier, and explores without the model if it does not answer.

    Args:
        controller: the robot's controller.
        watchdog: determines the tier.
        local: decides for the robot without a model.

    Attributes:
        tier: the tier at the last call of :meth:`watch`.
    """

    def __init__(self, controller: Controller, watchdog: LLMWatchdog, local: LocalExploration) -> None:
        self._controller = controller
        self._watchdog = watchdog
        self.local = local
        self.tier = Tier.CONTINUE

    def watch(self, owed_s: float, now: float, *, is_alone: bool) -> NavigationDecision | None:
        """Return the decision to carry out without the model now, or None to continue.

        ``owed_s``: how long an answer has been owed, seconds; ``is_alone``: whether no answer will ever come.
        """
        self._enter_tier(self._watchdog.evaluate(owed_s), owed_s)
        self._controller.hold("waiting for the model" if self.tier is Tier.STOP_WAIT else "")
        self._controller.pace = self._watchdog.pace(owed_s) if self.tier is Tier.CONTINUE else 1.0
        if not is_alone and self.tier not in _BY_ITSELF:
            self.local.start_over()
            return None
        controller = self._controller
        return self.local.decide(
            controller.state, self.tier, is_idle=controller.is_idle, now=now, way_to=controller.way_to
        )

    def rest(self) -> None:
        """Reset while a person controls the robot: no answer is owed, and local exploration starts over afterwards."""
        self._enter_tier(Tier.CONTINUE, 0.0)
        self._controller.pace = 1.0
        self.local.start_over()

    def _enter_tier(self, tier: Tier, owed_s: float) -> None:
        if tier is not self.tier:
            self._controller.note("tier", {"tier": tier.value, "owed_s": round(owed_s, 1)})
        self.tier = tier
