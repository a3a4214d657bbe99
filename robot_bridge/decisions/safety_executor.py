"""Turn a model's decision into a target for the control loop, after reading and checking the decision.

::

    NavigationDecision -> readable? -> young enough? -> not blocked again and again? -> room for it? -> Target

This module sends no command to the robot. A stop is never refused. Any other decision that cannot be carried out
becomes a stop with a reason for the model. Accepted decisions are still subject to the safety chain, on every tick.
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
"""A move towards an obstacle nearer than this is refused."""
SLOW_M: Final = 1.0
"""A move towards an obstacle nearer than this is slow."""
NEAR_ENOUGH: Final = 0.2
"""Within this distance, in metres, the footprint's middle counts as being at a place."""
NOTHING_TO_DRIVE: Final = VelocityTarget(REST, 0.0)
"""Target of a decision that only asks or reports; the action under way continues."""


@dataclass(slots=True)
class _Blocked:
    count: int
    last: float


class BlockedActionMemory:
    """Memory of actions that were blocked.

    A blocked action may be retried ``max_retries`` times. It is forgotten ``cooldown_s`` seconds after its last block.
    ``now`` returns the time of the robot's clock in seconds.
    """

    def __init__(self, now: Callable[[], float], cooldown_s: float = 15.0, max_retries: int = 2) -> None:
        self._now = now
        self._cooldown = cooldown_s
        self._max_retries = max_retries
        self._blocked: dict[str, _Blocked] = {}

    def should_allow(self, decision: NavigationDecision) -> tuple[bool, str]:
        """Return whether a decision may be carried out, and a line for the model.

        The line says why a decision is refused, or that an allowed decision was blocked before. Otherwise the line is
        "".
        """
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
        """Record that the action of a decision was blocked."""
        self._forget_expired()
        entry = self._blocked.setdefault(action_key(decision), _Blocked(0, 0.0))
        entry.count += 1
        entry.last = self._now()

    def _forget_expired(self) -> None:
        horizon = self._now() - self._cooldown
        self._blocked = {key: entry for key, entry in self._blocked.items() if entry.last > horizon}


def action_key(decision: NavigationDecision) -> str:
    """Return a key that is equal for decisions that are blocked by the same obstacle.

    The key is ``tool:direction_or_degrees``. For a goal, the key holds the kind of goal, and the frontier or the
    coordinates in whole metres.
    """
    parameters = decision.parameters
    if decision.tool_name != Tool.NAVIGATE_TO_GOAL:
        detail = parameters.get("direction", parameters.get("degrees", ""))
        return f"{decision.tool_name}:{detail}"

    kind = parameters.get("goal_type")
    parts = [decision.tool_name, str(kind)]
    if kind == "frontier":
        parts.append(f"{parameters['frontier_id']:.0f}")
    elif kind != "retrace":
        parts.append(f"{parameters['x']:.0f}")
        parts.append(f"{parameters['y']:.0f}")
    return ":".join(parts)


class SafetyExecutor:
    """Executor that turns decisions into targets.

    Args:
        now: returns the time of the robot's clock in seconds.
        config: the robot's configuration.
        home: pose of the rear axle at the start, in the map frame; the origin by default.
    """

    def __init__(self, now: Callable[[], float], config: RobotConfig | None = None, home: Pose | None = None) -> None:
        self._config = config or RobotConfig()
        self._home = home or Pose()
        self.blocked_actions = BlockedActionMemory(now)
        self.watchdog = LLMWatchdog()
        self.network_monitor = NetworkMonitor(now)

    def execute_decision(self, decision: NavigationDecision, vm: View, memory: ExplorationMemory) -> ExecutionResult:
        """Check a decision and return its target for the control loop, with the decision's checked parameters."""
        admitted = self._admit(decision, vm)
        if isinstance(admitted, ExecutionResult):
            return admitted
        return self._translate(*admitted, vm, memory)

    def execute_pose(self, goal: NavGoalTarget, why: str, vm: View) -> ExecutionResult:
        """Check a goal with a heading, which no tool can express; the target of the result is ``goal`` itself.

        The result's decision is the most similar call of a tool. If a heading is wanted and the footprint's middle is
        already at the place, the call is a rotation, else a drive to the place.
        """
        pose = vm.current_position
        heading = goal.heading
        middle = pose.ahead(self._config.body.centre)
        distance = dist(middle, (goal.x, goal.y))
        decision = drive(goal.x, goal.y, why, vm.now)
        if heading is not None and not isfinite(heading):
            return _refuse(decision, f"the heading of a pose must be a finite number, not {heading}")
        if heading is not None and distance <= NEAR_ENOUGH:
            decision = turn(heading - pose.heading, why, vm.now)

        admitted = self._admit(decision, vm)
        if isinstance(admitted, ExecutionResult):
            return admitted
        decision, _ = admitted
        return _accept(decision, goal)

    def _admit(self, decision: NavigationDecision, vm: View) -> tuple[NavigationDecision, Parameters] | ExecutionResult:
        """Return the decision and its checked parameters.

        If the decision is refused or a stop, return the result instead.
        """
        parameters = read(decision)
        if isinstance(parameters, Refusal):
            unchecked: object = decision.parameters
            if not isinstance(unchecked, Mapping):
                decision = replace(decision, parameters={})
            if decision.tool_name == Tool.STOP_ROBOT:  # a stop is never refused, even with invalid parameters
                return self._execute_stop(decision, StopRobot(reason=StopReason.UNCERTAIN))
            return _refuse(decision, parameters.reason)

        decision = replace(decision, parameters=parameters.model_dump(mode="json"))
        if isinstance(parameters, StopRobot):
            return self._execute_stop(decision, parameters)
        age = vm.now - decision.timestamp
        is_current = -1.0 <= age <= self._config.limits.decision_expiry
        if not is_current:
            return _refuse(decision, f"decision expired: it is about what was seen {age:.1f} s ago")
        is_allowed, warning = self.blocked_actions.should_allow(decision)
        if not is_allowed:
            return _refuse(decision, warning)
        return decision, parameters

    def _translate(
        self, decision: NavigationDecision, parameters: Parameters, vm: View, memory: ExplorationMemory
    ) -> ExecutionResult:
        """Return the executor's result for a readable and current decision; the type of the parameters decides how."""
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
        """Check whether there is room for a ``move_toward``.

        An unknown direction counts as blocked.

        Returns:
            Whether there is room; the decision, slowed down if an obstacle is near; and a reason. The reason says why
            there is no room or what was changed, or is "" for an unchanged decision.
        """
        direction = decision.parameters["direction"]
        clearance = obstacle_distances.get(direction, 0.0)
        if not clearance >= REJECT_M:  # also true for NaN
            return False, decision, f"blocked: obstacle {clearance:.2f} m {direction}, {REJECT_M} m are needed"
        if clearance < SLOW_M and decision.parameters["speed"] != Speed.SLOW:
            slow = replace(decision, parameters={**decision.parameters, "speed": Speed.SLOW.value})
            return True, slow, f"slowed down: obstacle {clearance:.2f} m {direction}"
        return True, decision, ""

    def _execute_move(self, decision: NavigationDecision, parameters: MoveToward, vm: View) -> ExecutionResult:
        """Return a velocity target, at a lower speed if an obstacle is near; refuse the move if there is no room."""
        scan = vm.latest_scan
        problem = fault(scan, vm.now, self._config)
        if scan is None or problem:
            return _refuse(decision, f"the lidar cannot be used: {problem}")

        direction = parameters.direction
        twist = twist_toward(direction, parameters.speed, self._config.body)
        swept = swept_clearance(scan, direction, twist, self._config)
        clearance = min(vm.obstacle_distances.get(direction.value, 0.0), swept)
        is_free, decision, reason = self._pre_validate(decision, {direction.value: clearance})
        if not is_free:
            self.blocked_actions.record_blocked(decision)
            return _refuse(decision, reason)

        # The check may have slowed the decision down.
        twist = twist_toward(direction, Speed(decision.parameters["speed"]), self._config.body)
        return ExecutionResult(VelocityTarget(twist, parameters.duration_s), decision, True, reason)

    def _execute_navigate(self, decision: NavigationDecision, parameters: NavigateToGoal, vm: View) -> ExecutionResult:
        """Return the start, a listed frontier or the given coordinates as a goal; refuse an unknown frontier."""
        if parameters.goal_type == "retrace":
            x, y = self._home.ahead(self._config.body.centre)
            return _accept(decision, NavGoalTarget(x, y))
        if parameters.goal_type == "frontier":
            frontier = next((known for known in vm.frontiers if known.id == parameters.frontier_id), None)
            if frontier is None:
                ids = [str(known.id) for known in vm.frontiers[:10]]
                listed = ", ".join(ids) or "none"
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
        """Return whether the path is clear, as data of a result that does not move the robot."""
        scan = vm.latest_scan
        problem = fault(scan, vm.now, self._config)
        if scan is None or problem:
            return _refuse(decision, f"the lidar cannot be used: {problem}")
        check = check_path(scan, Direction(parameters.direction), parameters.distance_m, self._config)
        data = asdict(check) | {"obstacle_distance_m": round(check.obstacle_distance_m, 2)}
        return ExecutionResult(NOTHING_TO_DRIVE, decision, True, data=data)

    def _execute_report(
        self, decision: NavigationDecision, parameters: ReportDiscovery, vm: View, memory: ExplorationMemory
    ) -> ExecutionResult:
        notes = parameters.notes or ""
        memory.record_discovery(parameters.label, notes, parameters.significance, vm.current_position)
        return ExecutionResult(NOTHING_TO_DRIVE, decision, True, data={"noted": parameters.label})


def drive(x: float, y: float, why: str, now: float) -> NavigationDecision:
    """Return the decision to drive to a place in the map frame."""
    tool = Tool.NAVIGATE_TO_GOAL
    place = {"x": round(x, 3), "y": round(y, 3)}
    goal = {"goal_type": "coordinates", "frontier_id": None, **place, "reason": why}
    reasoning = f"{why}: {tool} ({x:.2f}, {y:.2f})"
    return NavigationDecision(tool.value, goal, reasoning, now)


def turn(by: float, why: str, now: float) -> NavigationDecision:
    """Return the decision to turn counter-clockwise by an angle in radians.

    The decision holds the nearest multiple of 45 degrees other than 0, because the tool accepts no other angles.
    """
    by = wrap_angle(by)
    eighths = round(degrees(by) / 45)
    if eighths == 0:
        eighths = 1 if by > 0 else -1
    turn_deg = eighths * 45
    reasoning = f"{why}: {Tool.ROTATE} {turn_deg}"
    return NavigationDecision(Tool.ROTATE.value, {"degrees": turn_deg}, reasoning, now)


def _accept(decision: NavigationDecision, target: Target) -> ExecutionResult:
    return ExecutionResult(target, decision, True)


def _refuse(decision: NavigationDecision, reason: str) -> ExecutionResult:
    return ExecutionResult(StopTarget(reason), decision, False, reason)
