"""CODE and ACT for one plan: let the coder write the missing actions, then execute the plan in the world.

The loop does this for plans of the planner, and round 0 does this for plans of stored problem writers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol

from spca.body import Body
from spca.code import library
from spca.code.regression import RegressionSuite
from spca.contracts import (
    ActionSchema,
    AgentSource,
    CodeFailure,
    CodePatch,
    Outcome,
    Plan,
    PlanObjection,
    Snapshot,
)
from spca.protocols import EventSink, RegressionCheck, World
from spca.runs.results import LevelContext


def describe_for_coder(snapshot: Snapshot, body: Body, skill: str = "", names: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a coder is shown of a snapshot: the planner's state, with the level's skill in place of its mission.

    Methods must not depend on a mission. The coder still has to know which words of the mission mean the objects of the
    plan, because a method is called with their ``names``.

    Args:
        skill: the skill that the level teaches.
        names: names of the objects in the plan.
    """
    words = body.names.find_object_words(snapshot.mission, names)
    return {"skill": skill, **({"mission_words": words} if words else {}), **snapshot.shown}


class Coder(Protocol):
    """The part of ``coderLLM.CoderLLM`` that execution calls."""

    def implement_actions(
        self,
        actions: Collection[str],
        pddl_schemas: Mapping[str, ActionSchema],
        plan_str: str,
        agent_state: Mapping[str, Any],
        past_error_log: str | None,
        /,
        *,
        agent: AgentSource,
        check: RegressionCheck | None = None,
    ) -> CodePatch | CodeFailure | PlanObjection:
        """Return ``agent`` with new code for ``actions``; or why no code was obtained; or why the plan is wrong."""
        ...


class Execution:
    """Lets the coder write code for a plan, and executes the plan in a world.

    Args:
        check: the regression check on rewritten methods.
        emit: receives an event for each simulation and its duration.
        progress: called with the number of the round and the name of the phase when a phase begins.
        keep_copy: called with the agent's source before the source is executed.
    """

    def __init__(
        self,
        coder: Coder,
        check: RegressionSuite,
        emit: EventSink,
        progress: Callable[[int, str], None],
        keep_copy: Callable[[AgentSource], None] = lambda _agent: None,
    ) -> None:
        self._coder = coder
        self._regression = check
        self._emit = emit
        self.progress = progress
        self._keep_copy = keep_copy

    def implement(
        self, number: int, level: LevelContext, plan: Plan, snapshot: Snapshot, agent: AgentSource, error: str | None
    ) -> CodePatch | CodeFailure | PlanObjection:
        """Return ``agent`` with the actions of ``plan`` that the agent lacks; or why no code was obtained.

        If the last attempt has failed with ``error``, the coder rewrites all actions of ``plan``.
        """
        self.progress(number, "code")
        wanted = plan.actions if error else library.missing(agent.text, plan.actions)
        if not wanted:
            return CodePatch(agent, ())
        schemas = {schema.name: schema for schema in plan.schemas}
        check = self._regression.against(level.known)
        state = describe_for_coder(snapshot, level.world.body, level.info.skill, plan.objects)
        if error and not level.world.can_restore:
            state["goes_on"] = True
        return self._coder.implement_actions(wanted, schemas, plan.text, state, error, agent=agent, check=check)

    def act(self, number: int, world: World, plan: Plan, agent: AgentSource) -> Outcome:
        """Execute ``plan`` in round ``number`` and return the outcome."""
        self.progress(number, "act")
        self._keep_copy(agent)
        self._emit("counter_inc", {"name": "simulation_runs"})
        started = time.perf_counter()
        outcome = world.run_sim(plan, agent)
        self._emit("duration", {"name": "sim_s", "seconds": time.perf_counter() - started})
        return outcome
