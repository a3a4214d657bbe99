"""One episode of a policy: plans from the observed state, and the primitives that carry them out."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spca.act.plan_execution import PlanExecution
from spca.body import Body
from spca.code import library
from spca.contracts import AgentSource, FailedPlan, Plan, Snapshot, Status
from spca.errors import WorldError
from spca.evaluation.episodes import Episode
from spca.evaluation.playing.player import Planning, normalise_reason
from spca.policy.observed_worlds import ObservedWorld, WorldStarter
from spca.protocols import Failed, Yielded

_LOG: Final = logging.getLogger(__name__)

MAX_PLANNINGS: Final = 20
"""How often a policy plans in an episode, each time from another state; after the last time, it only waits."""
WAITING_PRIMITIVES: Final = ("done", "noop", "no_op", "wait", "stay")
"""Names of primitives that change nothing, the best first; a policy without a further plan executes one of them."""


@dataclass(frozen=True, slots=True)
class PolicyLevel:
    """What a policy plays a level with.

    Attributes:
        episode: the level in words.
        agent: the library of actions.
        planning: where plans come from.
        start_world: begins an episode with its first observation.
    """

    episode: Episode
    agent: AgentSource
    planning: Planning
    start_world: WorldStarter


class PolicyEpisode:
    """An episode in the caller's environment.

    Args:
        level: what the level is played with.
        body: the body of the agent.
        observation, info: what the environment's reset returned.

    Attributes:
        world: the world as the observations show it.
        plan: the plan that is carried out now.
        failed: the plans that have ended although the episode went on.
        waiting_reason: why there is no plan; "" if there is one.

    Raises:
        WorldError: the observation cannot be read.
    """

    def __init__(self, level: PolicyLevel, body: Body, observation: Any, info: Mapping[str, Any]) -> None:
        self.world: ObservedWorld = level.start_world(observation, info)
        self.plan: Plan | None = None
        self.failed: list[FailedPlan] = []
        self.waiting_reason = ""
        self._level = level
        self._body = body
        self._chosen: int | None = None
        self._execution: PlanExecution | None = None
        self._plans: Iterator[tuple[str, Plan | str]] = iter(())
        self._planned_from = ""
        self._plannings = 0
        self._failed_before = 0  # number of failed plans when plans were listed last
        self._begun: set[tuple[str, str]] = set()

    def choose_primitive(self, observation: Any, info: Mapping[str, Any]) -> int:
        """Return the next primitive, after what followed the one before.

        Raises:
            WorldError: the observation cannot be read; or there is no further plan, and no primitive to wait with.
            SandboxError: generated code cannot be executed safely.
        """
        if self._chosen is not None:
            self.world.receive(self._chosen, observation, info)
        self._chosen = self._continue_plans()
        return self._chosen

    def close(self) -> None:
        """End the present plan; a second call does nothing."""
        if self._execution is not None:
            self._execution.close()
        self._execution = None
        self.plan = None

    def _continue_plans(self) -> int:
        """Return the next primitive of the present plan; if the plan has ended, that of the next plan."""
        execution = self._execution or self._begin_next_plan()
        while execution is not None:
            event = self.world.advance_plan(execution)
            if isinstance(event, Yielded):
                return event.step.code
            self._note_end(event if isinstance(event, Failed) else None)
            self.close()
            execution = self._begin_next_plan()
        return self._find_waiting_primitive()

    def _begin_next_plan(self) -> PlanExecution | None:
        """Begin the next plan that was not begun in the present state; return None if there is none."""
        snapshot = self.world.sense()
        state = repr(snapshot)
        if state != self._planned_from:
            self._plans = self._list_plans(snapshot)
            self._planned_from = state
        plan = self._choose_plan(state)
        # A model that is told of a failure may plan otherwise in the same state.
        while plan is None and self._level.planning.model and len(self.failed) > self._failed_before:
            self._plans = self._list_plans(snapshot)
            plan = self._choose_plan(state)
        if plan is None:
            return None
        self._begun.add((state, plan.text))
        self.plan = plan
        self.waiting_reason = ""
        self._execution = self.world.begin_plan(plan, self._level.agent)
        return self._execution

    def _list_plans(self, snapshot: Snapshot) -> Iterator[tuple[str, Plan | str]]:
        """Return the plans from the present state; none if the policy has planned too often."""
        self._failed_before = len(self.failed)
        if self._plannings == MAX_PLANNINGS:
            return iter([("", f"it has planned {MAX_PLANNINGS} times")])
        self._plannings += 1
        level = self._level
        return level.planning.list_plans(snapshot, level.episode, level.agent, self.failed)

    def _choose_plan(self, state: str) -> Plan | None:
        """Return the next plan that was not begun in the present state; None if there is none."""
        for planner, plan in self._plans:
            if isinstance(plan, str):
                self.waiting_reason = normalise_reason("; ".join(plan.splitlines()))
            elif (state, plan.text) not in self._begun and self._has_actions(plan):
                _LOG.debug("plan of %s: %s", planner, plan.text)
                return plan
        self.waiting_reason = self.waiting_reason or "no planner has a further plan"
        return None

    def _has_actions(self, plan: Plan) -> bool:
        """Return whether the library has all actions of a plan; if not, count the plan as failed."""
        missing = library.missing(self._level.agent.text, plan.actions)
        if missing:
            reason = f"the library lacks {', '.join(missing)}"
            self.failed.append(FailedPlan(plan.text, Status.MISSING_METHOD.value, reason))
        return not missing

    def _note_end(self, failure: Failed | None) -> None:
        """Count the present plan as failed, because the episode goes on after it.

        Args:
            failure: how the plan failed; None if it was carried out.
        """
        if self.plan is None:
            return
        status = Status.GOAL_NOT_REACHED
        message = "the plan was carried out, and the episode goes on"
        if failure is not None:
            status = failure.status
            message = failure.message
        found = self.world.pop_discoveries()
        self.failed.append(FailedPlan(self.plan.text, status.value, normalise_reason(message), found))

    def _find_waiting_primitive(self) -> int:
        names = self._body.interface.primitives
        for name in WAITING_PRIMITIVES:
            if name in names:
                return names.index(name)
        raise WorldError(f"the policy has no further plan, and the body {self._body.name} no primitive to wait with")
