"""Going on without the model as far as it makes the robot wait: more slowly, standing, by itself, home.

By itself the robot explores in the same words as a model's decisions: the next frontier, and home at the end.
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
"""Metres of the way over the map to a place, None where none is known."""
AVOIDED_S: Final = 30.0
"""So long a frontier that could not be reached is left alone."""
MOST_FAILURES: Final = 3
"""So often a frontier is tried before it is given up."""
NO_FRONTIERS_S: Final = 10.0
"""So long no frontier may show before nothing is left."""
AT_HOME_M: Final = 0.5
_SAME_PLACE_M: Final = 0.7
_TURN_COST: Final = 0.4
"""Metres that a radian of turning is worth to a robot that cannot turn in place."""
_WIDTH_GAIN: Final = 0.5
_WIDEST: Final = 3.0


class FrontierChoice:
    """Picks the nearest frontier, wide ones and those ahead preferred; remembers what could not be reached."""

    def __init__(self) -> None:
        self._failures: list[tuple[float, float, float]] = []

    def failed(self, x: float, y: float, now: float) -> None:
        """A frontier at this place could not be reached."""
        self._failures.append((x, y, now))

    def decide(
        self, frontiers: Sequence[Frontier], pose: Pose, now: float, way_to: WayTo | None = None
    ) -> NavigationDecision | None:
        """The decision to drive to one of ``frontiers``, None where there is none that is worth trying now.

        ``way_to`` measures the way over the map; without it the distance counts, which sees through walls.
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
        """Whether there is one that has not been given up."""
        return any(self._failed_at(each) < MOST_FAILURES for each in frontiers)

    def _is_open(self, frontier: Frontier, now: float) -> bool:
        near = [at for x, y, at in self._failures if hypot(x - frontier.x, y - frontier.y) <= _SAME_PLACE_M]
        return len(near) < MOST_FAILURES and all(now - at >= AVOIDED_S for at in near)

    def _failed_at(self, frontier: Frontier) -> int:
        return sum(hypot(x - frontier.x, y - frontier.y) <= _SAME_PLACE_M for x, y, _ in self._failures)


def way_home(now: float) -> NavigationDecision:
    """The decision to drive back to the start."""
    parameters = {"goal_type": "retrace", "frontier_id": None, "x": None, "y": None, "reason": "back to the start"}
    return NavigationDecision(Tool.NAVIGATE_TO_GOAL.value, parameters, "exploration without a model", now)


class LocalExploration:
    """What the robot does by itself while no model tells it what to do.

    Args:
        home: where it comes back to.
        returns_home: False: it stays where it is in the end, and in an outage.

    Attributes:
        choice: of frontiers.
        is_over: nothing is left to explore that has not been given up, and the robot has been on its way home.
        has_given_up: whether frontiers were left then.
    """

    def __init__(self, home: Pose, *, returns_home: bool = True) -> None:
        self._home, self._returns_home = home, returns_home
        self.choice = FrontierChoice()
        self.is_over = self.has_given_up = False
        self._is_homing = self._went_home = False
        self._nothing_since: float | None = None

    def interrupted(self) -> None:
        """The model decides again: an outage is over. Or the way home is to be tried again."""
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
        """What is to be done now, None to go on as it is; called every so often."""
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
    """A decision for a frontier that is no longer there since the model was told of it, for what is left of it.

    While a model thinks the robot sees more: a frontier moves on, is split, or gets another id. ``told`` are the
    frontiers as the memory lists them, ``frontiers`` those of now. The one nearest to where it was is taken for it:
    to refuse would make the robot stand until the model has thought again. An id that was never told stays as it is,
    and is refused.
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
    """Ways are measured, which takes time, only while a straight one could still be the cheapest."""
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
    """Holds or slows the controller by the tier, and explores where no answer is to be had.

    Args:
        controller: of the robot.
        executor: whose watchdog tells the tier.
        local: what the robot does by itself.
        note: tells the journal of every new tier.

    Attributes:
        tier: of the last look.
    """

    def __init__(self, controller: Controller, executor: SafetyExecutor, local: LocalExploration, note: Note) -> None:
        self._controller, self._executor, self._local, self._note = controller, executor, local, note
        self.tier = Tier.CONTINUE

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to explore without a model."""
        return self._local.is_over

    @property
    def has_given_up(self) -> bool:
        """Whether it is over though frontiers are left."""
        return self._local.has_given_up

    def try_again(self) -> None:
        """What is over is not: look for frontiers again, and for the way home."""
        self._local.interrupted()

    def watch(self, owed_s: float, now: float, *, is_alone: bool) -> NavigationDecision | None:
        """What the robot is to do by itself now, None to go on as it is.

        ``owed_s`` is for how long an answer has been owed; ``is_alone`` whether none will ever come.
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
        """A person has the robot: nothing is owed, and what it did by itself is begun again afterwards."""
        self._enter(Tier.CONTINUE, 0.0)
        self._controller.pace = 1.0
        self._local.interrupted()

    def was_blocked(self, x: float, y: float, now: float) -> None:
        """A goal could not be reached."""
        self._local.choice.failed(x, y, now)

    def _enter(self, tier: Tier, owed_s: float) -> None:
        if tier is not self.tier:
            self._note("tier", {"tier": tier.value, "owed_s": round(owed_s, 1)})
        self.tier = tier
