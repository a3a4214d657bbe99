"""Continue without the model, depending on how long it has owed an answer: slow down, wait, explore alone, go home.

On its own the robot makes decisions in the form of a model's: the next frontier, and home at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import hypot, inf
from typing import Any, Final

from robot_bridge.contracts import Frontier, NavigationDecision, Pose, Tier, Tool
from robot_bridge.control.controller import Controller
from robot_bridge.decisions.safety_executor import SafetyExecutor
from robot_bridge.exploration.statistics import Note

WayTo = Callable[[float, float], float | None]
"""Returns the length of the way over the map to a place, metres, or None if no way is known."""
AVOIDED_S: Final = 30.0
"""A frontier that could not be reached is avoided for this long."""
MOST_FAILURES: Final = 3
"""A frontier is given up after this many failures."""
NO_FRONTIERS_S: Final = 10.0
"""Exploration is over if no frontier shows for this long."""
AT_HOME_M: Final = 0.5
_SAME_PLACE_M: Final = 0.7
_TURN_COST: Final = 0.4
"""Cost of turning, metres per radian, for a robot that cannot turn in place."""
_WIDTH_GAIN: Final = 0.5
_WIDEST: Final = 3.0


class FrontierChoice:
    """Picks the nearest frontier, wide ones and those ahead preferred; remembers what could not be reached."""

    def __init__(self) -> None:
        self._failures: list[tuple[float, float, float]] = []

    def failed(self, x: float, y: float, now: float) -> None:
        """Record that a frontier at this place could not be reached."""
        self._failures.append((x, y, now))

    def decide(
        self, frontiers: Sequence[Frontier], pose: Pose, now: float, way_to: WayTo | None = None
    ) -> NavigationDecision | None:
        """Return the decision to drive to the best frontier, or None if none is worth trying now.

        ``way_to`` measures the way over the map; without it the straight distance counts, which ignores walls.
        """
        chosen = _cheapest([each for each in frontiers if self._is_open(each, now)], pose, way_to)
        if chosen is None:
            return None
        parameters = {
            "goal_type": "frontier",
            "frontier_id": chosen.id,
            "x": None,
            "y": None,
            "reason": "the nearest frontier",
        }
        return NavigationDecision(Tool.NAVIGATE_TO_GOAL.value, parameters, "exploration without a model", now)

    def has_any(self, frontiers: Sequence[Frontier]) -> bool:
        """Return whether any frontier has not been given up."""
        return any(self._failed_at(each) < MOST_FAILURES for each in frontiers)

    def _is_open(self, frontier: Frontier, now: float) -> bool:
        near = [at for x, y, at in self._failures if hypot(x - frontier.x, y - frontier.y) <= _SAME_PLACE_M]
        return len(near) < MOST_FAILURES and all(now - at >= AVOIDED_S for at in near)

    def _failed_at(self, frontier: Frontier) -> int:
        return sum(hypot(x - frontier.x, y - frontier.y) <= _SAME_PLACE_M for x, y, _ in self._failures)


def way_home(now: float) -> NavigationDecision:
    """Return the decision to drive back to the start."""
    parameters = {"goal_type": "retrace", "frontier_id": None, "x": None, "y": None, "reason": "back to the start"}
    return NavigationDecision(Tool.NAVIGATE_TO_GOAL.value, parameters, "exploration without a model", now)


class LocalExploration:
    """Decides for the robot while no model does.

    Args:
        home: where the robot returns to.
        returns_home: False if it stays where it is at the end, and in an outage.

    Attributes:
        choice: chooses frontiers.
        is_over: every frontier is explored or given up, and the way home is done or not wanted.
        has_given_up: whether frontiers were left at that point.
    """

    def __init__(self, home: Pose, *, returns_home: bool = True) -> None:
        self._home, self._returns_home = home, returns_home
        self.choice = FrontierChoice()
        self.is_over = self.has_given_up = False
        self._is_homing = self._went_home = False
        self._nothing_since: float | None = None

    def interrupted(self) -> None:
        """Start over: the outage is over and the model decides again, or the way home needs another try."""
        self.is_over = self._is_homing = self._went_home = False
        self._nothing_since = None

    def decide(
        self,
        frontiers: Sequence[Frontier],
        pose: Pose,
        tier: Tier,
        *,
        is_idle: bool,
        now: float,
        way_to: WayTo | None = None,
    ) -> NavigationDecision | None:
        """Return the next decision, or None to continue; call regularly."""
        if self._is_homing and not is_idle:
            return None
        if self._is_homing and not self.choice.has_any(frontiers):
            self._end(frontiers)
            return None
        self._is_homing = False
        if tier is Tier.RETURN_HOME and not self._went_home and self._returns_home:
            self._went_home = True
            return way_home(now)
        decision = self.choice.decide(frontiers, pose, now, way_to) if is_idle else None
        if not is_idle or decision is not None or self.choice.has_any(frontiers):
            self._nothing_since = None
            return decision
        return self._nothing_is_left(frontiers, pose, now)

    def _end(self, frontiers: Sequence[Frontier]) -> None:
        self.is_over, self.has_given_up = True, bool(frontiers)

    def _nothing_is_left(self, frontiers: Sequence[Frontier], pose: Pose, now: float) -> NavigationDecision | None:
        if self._nothing_since is None:
            self._nothing_since = now
        if now - self._nothing_since < NO_FRONTIERS_S:
            return None
        if not self._returns_home or pose.distance_to(self._home.x, self._home.y) <= AT_HOME_M:
            self._end(frontiers)
            return None
        self._is_homing = True
        return way_home(now)


def same_frontier(
    decision: NavigationDecision, told: Sequence[Mapping[str, Any]], frontiers: Sequence[Frontier]
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
    place = next((each["position"] for each in told if each["id"] == wanted), None)
    if place is None or given.get("goal_type") != "frontier" or not frontiers:
        return decision
    nearest = min(frontiers, key=lambda each: hypot(each.x - place[0], each.y - place[1]))
    return replace(decision, parameters={**given, "frontier_id": nearest.id})


def _cheapest(frontiers: Sequence[Frontier], pose: Pose, way_to: WayTo | None) -> Frontier | None:
    """Return the cheapest frontier; measure its way, which takes time, only while it could still be the cheapest."""
    best, least = None, inf
    for each in sorted(frontiers, key=lambda each: (_cost(each, pose), each.id)):
        bound = _cost(each, pose)
        if bound >= least:
            break
        way = way_to(each.x, each.y) if way_to else None
        straight = pose.distance_to(each.x, each.y)
        cost = bound + max(0.0, way - straight) if way is not None else bound
        if cost < least:
            best, least = each, cost
    return best


def _cost(frontier: Frontier, pose: Pose) -> float:
    distance = pose.distance_to(frontier.x, frontier.y)
    turn = abs(pose.bearing_to(frontier.x, frontier.y))
    return distance + _TURN_COST * turn - _WIDTH_GAIN * min(frontier.width_m, _WIDEST)


_BY_ITSELF = frozenset({Tier.LOCAL_NAV, Tier.RETURN_HOME})


class Fallback:
    """Slows or holds the controller according to the tier, and explores without the model if it does not answer.

    Args:
        controller: the robot's controller.
        executor: its watchdog determines the tier.
        local: decides for the robot without a model.
        note: records every new tier in the journal.

    Attributes:
        tier: the tier at the last call of :meth:`watch`.
    """

    def __init__(self, controller: Controller, executor: SafetyExecutor, local: LocalExploration, note: Note) -> None:
        self._controller, self._executor, self._local, self._note = controller, executor, local, note
        self.tier = Tier.CONTINUE

    @property
    def is_over(self) -> bool:
        """Return whether nothing is left to explore without a model."""
        return self._local.is_over

    @property
    def has_given_up(self) -> bool:
        """Return whether it is over although frontiers are left."""
        return self._local.has_given_up

    def try_again(self) -> None:
        """Continue after all: look for frontiers again, and try the way home again."""
        self._local.interrupted()

    def watch(self, owed_s: float, now: float, *, is_alone: bool) -> NavigationDecision | None:
        """Return the decision to carry out without the model now, or None to continue.

        ``owed_s``: how long an answer has been owed, seconds; ``is_alone``: whether no answer will ever come.
        """
        self._enter(self._executor.watchdog.evaluate(owed_s), owed_s)
        self._controller.hold("waiting for the model" if self.tier is Tier.STOP_WAIT else "")
        self._controller.pace = self._executor.watchdog.pace(owed_s) if self.tier is Tier.CONTINUE else 1.0
        if not is_alone and self.tier not in _BY_ITSELF:
            self._local.interrupted()
            return None
        state = self._controller.state
        return self._local.decide(
            state.frontiers,
            state.current_position,
            self.tier,
            is_idle=self._controller.is_idle,
            now=now,
            way_to=self._controller.way_to,
        )

    def rest(self) -> None:
        """Reset while a person controls the robot: no answer is owed, and local exploration starts over afterwards."""
        self._enter(Tier.CONTINUE, 0.0)
        self._controller.pace = 1.0
        self._local.interrupted()

    def was_blocked(self, x: float, y: float, now: float) -> None:
        """Record that a goal could not be reached."""
        self._local.choice.failed(x, y, now)

    def _enter(self, tier: Tier, owed_s: float) -> None:
        if tier is not self.tier:
            self._note("tier", {"tier": tier.value, "owed_s": round(owed_s, 1)})
        self.tier = tier
