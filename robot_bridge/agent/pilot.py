"""Primitives of an agent as decisions, and the pilot that has them carried out.

Every motion is a NavigationDecision: it passes the executor, the controller and the safety chain like those of a model.
A quarter turn of the agent is a turn on the robot's own scale: to a heading in the same cell, by as many arcs as the
cell has room for. So the executor is asked for a pose, not only for a place.
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
from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Episode, Executor, Failed, Finished, Yielded

TOLERANCE: Final = 0.08
"""Metres from the middle of a cell that are aimed at."""
FACING: Final = radians(15)
"""Radians from its heading with which the robot counts as standing in a cell."""
PATIENCE_S: Final = 90.0
PAUSE_S: Final = 1.0
"""Before another try: what bars the way may be something that the map has not forgotten yet."""


@dataclass(slots=True)
class Narrated:
    """An Executor that tells which step of the plan asks for the next primitive."""

    inner: Executor
    tell: Callable[[str], None]

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]) -> Episode:
        """Begin, as the Executor that it wraps."""
        episode = self.inner.start(agent, steps, previous)
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
    """Has decisions carried out, tick by tick.

    Args:
        controller: of the robot.
        executor: every decision passes it.
        memory: is told of findings.
        ticked: called after every period of the control loop.

    Attributes:
        doing: what is being done, in the agent's words; the log reads it before every decision.
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
        """Believed pose of the rear axle."""
        return self._controller.navigation.estimate.pose

    @property
    def middle(self) -> tuple[float, float]:
        """Believed place of the footprint's middle."""
        return self.pose.ahead(self._controller.config.body.centre)

    def wait(self, until: Callable[[], bool], seconds: float) -> bool:
        """Tick, at rest, until something holds; False when it did not in that time."""
        end = self.state.now + seconds
        while not until():
            if self.state.now >= end:
                return False
            self._tick()
        return True

    def rest(self) -> bool:
        """Wait until the robot stands still; False when it does not."""
        return self.wait(self._is_still, 2.0)

    def _is_still(self) -> bool:
        odometry = self.state.latest_odom
        return odometry is not None and abs(odometry.twist.linear) < 0.01

    def look(self) -> None:
        """Stand still until a picture was taken at rest."""
        self._decide(Tool.OBSERVE_SCENE, {"focus": "objects"})

    def report(self, label: str, notes: str) -> None:
        """Tell the operator."""
        found = {"label": label, "notes": notes, "significance": "point_of_interest"}
        self._decide(Tool.REPORT_DISCOVERY, found, f" {label}")

    def go(self, x: float, y: float, heading: float) -> bool:
        """Drive the footprint's middle to a pose in the map frame; return whether it stands so then.

        Where no maneuver leads straight to it, as in a narrow dead end, the robot turns where it stands first, then
        tries to get to the place whatever the heading, and turns there.
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
        if not self._stands(goal, heading):
            self._approach(goal)
        return self._stands(goal, heading)

    def _approach(self, goal: NavGoalTarget) -> None:
        """Carry out one decision, and pause if it came to nothing."""
        result = self._carry_out(self._executor.execute_pose(goal, self.doing, self.state))
        if not result.success:
            self.wait(lambda: False, PAUSE_S)

    def _stands(self, goal: NavGoalTarget, heading: float) -> bool:
        off = dist(self.middle, (goal.x, goal.y))
        return off <= NEAR_ENOUGH and abs(wrap_angle(heading - self.pose.heading)) <= FACING

    def _decide(self, tool: Tool, parameters: Mapping[str, object], detail: str = "") -> None:
        state = self.state
        decision = NavigationDecision(tool.value, parameters, f"{self.doing}: {tool}{detail}", state.now)
        self._carry_out(self._executor.execute_decision(decision, state, self._memory))

    def _carry_out(self, execution: ExecutionResult) -> ActionResult:
        return self._controller.run(execution, PATIENCE_S, self._ticked)

    def _tick(self) -> None:
        self._controller.tick()
        self._ticked()
