"""Turn a model's decision into a target for the control loop: read it, then check it against the sensors.

::

    NavigationDecision -> readable? -> young enough? -> not blocked again and again? -> room for it? -> Target

Nothing is published here. A stop is never refused. Any other decision that cannot be carried out becomes a stop with a
reason for the model. Accepted decisions are still subject to the safety chain, on every tick.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from math import degrees, dist, isfinite, radians
from typing import Final

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import (
    REST,
    Direction,
    ExecutionResult,
    NavGoalTarget,
    NavigationDecision,
    ObserveTarget,
    Pose,
    Speed,
    StopReason,
    StopTarget,
    Target,
    Tool,
    TurnTarget,
    VelocityTarget,
    wrap_angle,
)
from robot_bridge.control.state import View
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.tools import (
    CheckPathClear,
    MoveToward,
    NavigateToGoal,
    ObserveScene,
    Parameters,
    Refusal,
    ReportDiscovery,
    Rotate,
    StopRobot,
    read,
)
from robot_bridge.decisions.watchdog import LLMWatchdog, NetworkMonitor
from robot_bridge.safety.path_check import check_path, swept_clearance, twist_toward
from robot_bridge.safety.scans import fault

REJECT_M: Final = 0.5
"""A move towards something nearer is refused."""
SLOW_M: Final = 1.0
"""A move towards something nearer is slow."""
NEAR_ENOUGH: Final = 0.2
"""Metres within which the footprint's middle counts as being at a place."""
NOTHING_TO_DRIVE: Final = VelocityTarget(REST, 0.0)
"""Target of a decision that only asks or reports: the robot continues what it is doing."""


@dataclass(slots=True)
class _Blocked:
    count: int
    last: float


class BlockedActionMemory:
    """Blocked actions: each may be retried ``max_retries`` times; it is forgotten ``cooldown_s`` after its last block.

    ``now`` returns seconds of the robot's clock.
    """

    def __init__(self, now: Callable[[], float], cooldown_s: float = 15.0, max_retries: int = 2) -> None:
        self._now = now
        self._cooldown = cooldown_s
        self._max_retries = max_retries
        self._blocked: dict[str, _Blocked] = {}

    def should_allow(self, decision: NavigationDecision) -> tuple[bool, str]:
        """Return whether it may be tried, and a line for the model: why not, or that it was blocked before, or ""."""
        self._forget_expired()
        key = action_key(decision)
        entry = self._blocked.get(key)
        if entry is None:
            return True, ""
        if entry.count <= self._max_retries:
            return True, f"{key} was blocked {entry.count}x lately"
        wait = entry.last + self._cooldown - self._now()
        return False, f"{key} was blocked {entry.count} times: choose something else, it is closed for {wait:.0f} s"

    def record_blocked(self, decision: NavigationDecision) -> None:
        """Count a block of this action."""
        self._forget_expired()
        entry = self._blocked.setdefault(action_key(decision), _Blocked(0, 0.0))
        entry.count = entry.count + 1
        entry.last = self._now()

    def _forget_expired(self) -> None:
        horizon = self._now() - self._cooldown
        self._blocked = {key: entry for key, entry in self._blocked.items() if entry.last > horizon}


def action_key(decision: NavigationDecision) -> str:
    """Return ``tool:direction_or_degrees``; for a goal its kind, and its frontier or coordinates in whole metres."""
    given = decision.parameters
    if decision.tool_name != Tool.NAVIGATE_TO_GOAL:
        detail = given.get("direction", given.get("degrees", ""))
        return f"{decision.tool_name}:{detail}"

    kind = given.get("goal_type")
    parts = [decision.tool_name, str(kind)]
    if kind == "frontier":
        parts.append(f"{given['frontier_id']:.0f}")
    elif kind != "retrace":
        parts.append(f"{given['x']:.0f}")
        parts.append(f"{given['y']:.0f}")
    return ":".join(parts)


class SafetyExecutor:
    """Turns decisions into targets.

    Args:
        now: returns seconds of the robot's clock.
        config: the robot's configuration.
        home: where the rear axle was at the start, in the map frame; the origin by default.
    """

    def __init__(self, now: Callable[[], float], config: RobotConfig | None = None, home: Pose | None = None) -> None:
        self._config = config or RobotConfig()
        self._home = home or Pose()
        self.blocked_actions = BlockedActionMemory(now)
        self.watchdog = LLMWatchdog()
        self.network_monitor = NetworkMonitor(now)

    def execute_decision(self, decision: NavigationDecision, vm: View, memory: ExplorationMemory) -> ExecutionResult:
        """Return the target of a decision for the control loop; the result holds the decision as it was read."""
        admitted = self._admit(decision, vm)
        if isinstance(admitted, ExecutionResult):
            return admitted
        return self._translate(*admitted, vm, memory)

    def execute_pose(self, goal: NavGoalTarget, why: str, vm: View) -> ExecutionResult:
        """Check a pose in the map frame, which no tool can express; the target of the result is ``goal`` itself.

        The result's decision is a rotation if the footprint's middle is already there and a heading is wanted.
        """
        pose = vm.current_position
        heading = goal.heading
        off = dist(pose.ahead(self._config.body.centre), (goal.x, goal.y))
        decision = drive(goal.x, goal.y, why, vm.now)
        if heading is not None and not isfinite(heading):
            return _refuse(decision, f"the heading of a pose must be a finite number, not {heading}")
        if heading is not None and off <= NEAR_ENOUGH:
            decision = turn(heading - pose.heading, why, vm.now)

        admitted = self._admit(decision, vm)
        if isinstance(admitted, ExecutionResult):
            return admitted
        decision, _ = admitted
        return _accept(decision, goal)

    def _admit(self, decision: NavigationDecision, vm: View) -> tuple[NavigationDecision, Parameters] | ExecutionResult:
        """Return the decision as read with its parameters, or the result if it is refused or a stop."""
        parameters = read(decision)
        if isinstance(parameters, Refusal):
            given: object = decision.parameters
            if not isinstance(given, Mapping):
                decision = replace(decision, parameters={})
            if decision.tool_name == Tool.STOP_ROBOT:
                return self._execute_stop(decision, StopRobot(reason=StopReason.UNCERTAIN))
            return _refuse(decision, parameters.reason)

        decision = replace(decision, parameters=parameters.model_dump(mode="json"))
        if isinstance(parameters, StopRobot):
            return self._execute_stop(decision, parameters)
        age = vm.now - decision.timestamp
        if not -1.0 <= age <= self._config.limits.decision_expiry:
            return _refuse(decision, f"decision expired: it is about what was seen {age:.1f} s ago")
        is_allowed, warning = self.blocked_actions.should_allow(decision)
        if not is_allowed:
            return _refuse(decision, warning)
        return decision, parameters

    def _translate(
        self, decision: NavigationDecision, parameters: Parameters, vm: View, memory: ExplorationMemory
    ) -> ExecutionResult:
        match parameters:
            case MoveToward():
                result = self._execute_move(decision, parameters, vm)
            case NavigateToGoal():
                result = self._execute_navigate(decision, parameters, vm)
            case Rotate():
                result = self._execute_rotate(decision, parameters)
            case ObserveScene():
                result = self._execute_observe(decision, parameters)
            case CheckPathClear():
                result = self._execute_check_path(decision, parameters, vm)
            case ReportDiscovery():
                result = self._execute_report(decision, parameters, vm, memory)
            case StopRobot():
                result = self._execute_stop(decision, parameters)
        return result

    def _pre_validate(
        self, decision: NavigationDecision, obstacle_distances: Mapping[str, float]
    ) -> tuple[bool, NavigationDecision, str]:
        """Return whether there is room for a ``move_toward``, the decision as it may be carried out, and a reason.

        The reason says what was changed or why there is no room. An unknown direction counts as blocked.
        """
        direction = decision.parameters["direction"]
        clearance = obstacle_distances.get(direction, 0.0)
        if not clearance >= REJECT_M:
            return False, decision, f"blocked: obstacle {clearance:.2f} m {direction}, {REJECT_M} m are needed"
        if clearance < SLOW_M and decision.parameters["speed"] != Speed.SLOW:
            slow = replace(decision, parameters={**decision.parameters, "speed": Speed.SLOW.value})
            return True, slow, f"slowed down: obstacle {clearance:.2f} m {direction}"
        return True, decision, ""

    def _execute_move(self, decision: NavigationDecision, parameters: MoveToward, vm: View) -> ExecutionResult:
        scan = vm.latest_scan
        problem = fault(scan, vm.now, self._config)
        if scan is None or problem:
            return _refuse(decision, f"the lidar cannot be used: {problem}")

        direction = parameters.direction
        twist = twist_toward(direction, parameters.speed, self._config.body)
        swept = swept_clearance(scan, direction, twist, self._config)
        nearest = min(vm.obstacle_distances.get(direction.value, 0.0), swept)
        is_free, decision, reason = self._pre_validate(decision, {direction.value: nearest})
        if not is_free:
            self.blocked_actions.record_blocked(decision)
            return _refuse(decision, reason)

        # The decision may have been slowed down.
        twist = twist_toward(direction, Speed(decision.parameters["speed"]), self._config.body)
        return ExecutionResult(VelocityTarget(twist, parameters.duration_s), decision, True, reason)

    def _execute_navigate(self, decision: NavigationDecision, parameters: NavigateToGoal, vm: View) -> ExecutionResult:
        if parameters.goal_type == "retrace":
            x, y = self._home.ahead(self._config.body.centre)
            return _accept(decision, NavGoalTarget(x, y))
        if parameters.goal_type == "frontier":
            known = {frontier.id: frontier for frontier in vm.frontiers}
            frontier = known.get(parameters.frontier_id if parameters.frontier_id is not None else -1)
            if frontier is None:
                listed = ", ".join(map(str, list(known)[:10])) or "none"
                return _refuse(decision, f"there is no frontier {parameters.frontier_id} now; there are: {listed}")
            return _accept(decision, NavGoalTarget(frontier.x, frontier.y))
        if parameters.x is None or parameters.y is None:
            return _refuse(decision, "goal_type coordinates needs numbers for x and y, not null")
        return _accept(decision, NavGoalTarget(parameters.x, parameters.y))

    def _execute_rotate(self, decision: NavigationDecision, parameters: Rotate) -> ExecutionResult:
        return _accept(decision, TurnTarget(radians(parameters.degrees)))

    def _execute_stop(self, decision: NavigationDecision, parameters: StopRobot) -> ExecutionResult:
        return _accept(decision, StopTarget(parameters.reason.value))

    def _execute_observe(self, decision: NavigationDecision, parameters: ObserveScene) -> ExecutionResult:
        return _accept(decision, ObserveTarget(parameters.focus))

    def _execute_check_path(
        self, decision: NavigationDecision, parameters: CheckPathClear, vm: View
    ) -> ExecutionResult:
        scan = vm.latest_scan
        problem = fault(scan, vm.now, self._config)
        if scan is None or problem:
            return _refuse(decision, f"the lidar cannot be used: {problem}")
        found = check_path(scan, Direction(parameters.direction), parameters.distance_m, self._config)
        data = asdict(found) | {"obstacle_distance_m": round(found.obstacle_distance_m, 2)}
        return ExecutionResult(NOTHING_TO_DRIVE, decision, True, data=data)

    def _execute_report(
        self, decision: NavigationDecision, parameters: ReportDiscovery, vm: View, memory: ExplorationMemory
    ) -> ExecutionResult:
        notes = parameters.notes or ""
        memory.record_discovery(parameters.label, notes, parameters.significance, vm.current_position)
        return ExecutionResult(NOTHING_TO_DRIVE, decision, True, data={"noted": parameters.label})


def drive(x: float, y: float, why: str, now: float) -> NavigationDecision:
    """Return the decision to go to a place in the map frame."""
    tool = Tool.NAVIGATE_TO_GOAL
    goal = {"goal_type": "coordinates", "frontier_id": None, "x": round(x, 3), "y": round(y, 3), "reason": why}
    reasoning = f"{why}: {tool} ({x:.2f}, {y:.2f})"
    return NavigationDecision(tool.value, goal, reasoning, now)


def turn(by: float, why: str, now: float) -> NavigationDecision:
    """Return the decision to turn by radians, counter-clockwise; the nearest multiple of 45 degrees is said."""
    by = wrap_angle(by)
    eighths = round(degrees(by) / 45)
    if eighths == 0:
        eighths = 1 if by > 0 else -1
    steps = eighths * 45
    reasoning = f"{why}: {Tool.ROTATE} {steps}"
    return NavigationDecision(Tool.ROTATE.value, {"degrees": steps}, reasoning, now)


def _accept(decision: NavigationDecision, target: Target) -> ExecutionResult:
    return ExecutionResult(target, decision, True)


def _refuse(decision: NavigationDecision, reason: str) -> ExecutionResult:
    return ExecutionResult(StopTarget(reason), decision, False, reason)
