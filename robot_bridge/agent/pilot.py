"""The pilot, which turns an agent's primitives into decisions and has the decisions carried out.

Every motion is a NavigationDecision. Like a model's decision, it passes the executor, the controller and the safety
chain. For a quarter turn of the agent, the robot drives arcs within its cell until it has the new heading. Therefore
the goal given to the executor is a pose, not only a place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import dist, radians
from typing import Final

from robot_bridge.contracts import (
    ActionResult,
    ExecutionResult,
    NavGoalTarget,
    NavigationDecision,
    Pose,
    Tool,
    wrap_angle,
)
from robot_bridge.control.controller import Controller
from robot_bridge.control.state import View
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.decisions.safety_executor import NEAR_ENOUGH, SafetyExecutor
from spca.body import Body
from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Episode, Executor, Failed, Finished, Yielded

TOLERANCE: Final = 0.08
"""Distance from the middle of a cell, in metres, at which a drive to the cell ends."""
FACING: Final = radians(15)
"""Greatest error of the heading, in radians, with which the robot counts as standing at a pose."""
PATIENCE_S: Final = 90.0
"""Longest time for carrying out a decision."""
PAUSE_S: Final = 1.0
"""Pause after a failed drive, in seconds; during the pause, the map can forget an obstacle that is gone."""


@dataclass(slots=True)
class Narrated:
    """Executor that passes the text of the current plan step to ``tell`` before every primitive."""

    inner: Executor
    tell: Callable[[str], None]

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int], body: Body) -> Episode:
        """Start an episode of the wrapped Executor."""
        episode = self.inner.start(agent, steps, previous, body)
        return _NarratedEpisode(episode, tuple(map(str, steps)), self.tell)


@dataclass(slots=True)
class _NarratedEpisode:
    inner: Episode
    steps: tuple[str, ...]
    tell: Callable[[str], None]

    @property
    def printed(self) -> str:
        return self.inner.printed

    def advance(self, view: AgentView) -> Yielded | Finished | Failed:
        event = self.inner.advance(view)
        if isinstance(event, Yielded):
            self.tell(self.steps[event.step.position])
        return event

    def close(self) -> None:
        self.inner.close()


class Pilot:
    """Driver that has decisions carried out, tick by tick.

    Args:
        controller: the robot's controller.
        executor: checks every decision.
        memory: records reported discoveries.
        ticked: called after every period of the control loop.

    Attributes:
        doing: current activity in the agent's words; becomes part of every decision's reasoning in the log.
    """

    def __init__(
        self, controller: Controller, executor: SafetyExecutor, memory: ExplorationMemory, ticked: Callable[[], None]
    ) -> None:
        self.doing = ""
        self._controller = controller
        self._executor = executor
        self._memory = memory
        self._ticked = ticked

    @property
    def state(self) -> View:
        return self._controller.state

    @property
    def pose(self) -> Pose:
        """Estimated pose of the rear axle in the map frame."""
        return self._controller.navigation.estimate.pose

    @property
    def middle(self) -> tuple[float, float]:
        """Estimated place of the footprint's middle in the map frame."""
        return self.pose.ahead(self._controller.config.body.centre)

    def wait(self, until: Callable[[], bool], seconds: float) -> bool:
        """Return whether ``until`` returns True within ``seconds``; meanwhile, run the control loop without a goal."""
        end = self.state.now + seconds
        while not until():
            if self.state.now >= end:
                return False
            self._tick()
        return True

    def rest(self) -> bool:
        """Wait until the robot stands still; return False if the robot still moves after 2 s."""
        return self.wait(self._is_still, 2.0)

    def _is_still(self) -> bool:
        odometry = self.state.latest_odom
        return odometry is not None and abs(odometry.twist.linear) < 0.01

    def look(self) -> None:
        """Stand still until the camera has taken a picture at rest."""
        self._decide(Tool.OBSERVE_SCENE, {"focus": "objects"})

    def report(self, label: str, notes: str) -> None:
        """Report a discovery to the operator."""
        discovery = {"label": label, "notes": notes, "significance": "point_of_interest"}
        self._decide(Tool.REPORT_DISCOVERY, discovery, f" {label}")

    def go(self, x: float, y: float, heading: float) -> bool:
        """Drive the footprint's middle to a pose in the map frame; return whether the robot reached the pose.

        If the drive fails, as in a narrow dead end, first turn to the heading at the present place and drive again. If
        this also fails, drive to (``x``, ``y``) with any heading and turn to the heading at that place.
        """
        goal = NavGoalTarget(x, y, heading, TOLERANCE)
        if self._reach(goal, heading):
            return True
        self._reach(NavGoalTarget(*self.middle, heading, TOLERANCE), heading)
        if self._reach(goal, heading):
            return True
        self._approach(NavGoalTarget(x, y, None, TOLERANCE))
        return self._reach(goal, heading)

    def _reach(self, goal: NavGoalTarget, heading: float) -> bool:
        """Drive to the goal unless the robot is already there; return whether the robot reached the goal."""
        if not self._is_at(goal, heading):
            self._approach(goal)
        return self._is_at(goal, heading)

    def _approach(self, goal: NavGoalTarget) -> None:
        """Carry out the decision to drive to the goal; pause if the drive fails."""
        result = self._carry_out(self._executor.execute_pose(goal, self.doing, self.state))
        if not result.success:
            self.wait(lambda: False, PAUSE_S)

    def _is_at(self, goal: NavGoalTarget, heading: float) -> bool:
        distance = dist(self.middle, (goal.x, goal.y))
        turn = wrap_angle(heading - self.pose.heading)
        return distance <= NEAR_ENOUGH and abs(turn) <= FACING

    def _decide(self, tool: Tool, parameters: Mapping[str, object], detail: str = "") -> None:
        state = self.state
        decision = NavigationDecision(tool.value, parameters, f"{self.doing}: {tool}{detail}", state.now)
        self._carry_out(self._executor.execute_decision(decision, state, self._memory))

    def _carry_out(self, execution: ExecutionResult) -> ActionResult:
        return self._controller.run(execution, PATIENCE_S, self._ticked)

    def _tick(self) -> None:
        self._controller.tick()
        self._ticked()
