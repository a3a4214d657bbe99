"""CODE and ACT for one plan: have what its library lacks written, then carry it out; for the loop and for round 0."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, Protocol

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
from spca.sense import map_text


class Coder(Protocol):
    """What is needed of ``coderLLM.CoderLLM``."""

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
    ) -> CodePatch | CodeFailure | PlanObjection: ...


class Execution:
    """Codes and acts.

    Args:
        emit: told of simulations and their durations.
        progress: told of the present round and phase.
        keep_copy: given the source that is about to be executed.
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
        """Return the agent with what ``plan`` lacks; with an ``error`` all that it uses is written anew."""
        self.progress(number, "code")
        wanted = plan.actions if error else library.missing(agent.text, plan.actions)
        if not wanted:
            return CodePatch(agent, ())
        schemas = {schema.name: schema for schema in plan.schemas}
        check = self._regression.against(level.known)
        state = map_text.agent_state(snapshot, level.info.skill, plan.objects)
        return self._coder.implement_actions(wanted, schemas, plan.text, state, error, agent=agent, check=check)

    def act(self, number: int, world: World, plan: Plan, agent: AgentSource) -> Outcome:
        """Carry ``plan`` out in round ``number``."""
        self.progress(number, "act")
        self._keep_copy(agent)
        self._emit("counter_inc", {"name": "simulation_runs"})
        started = time.perf_counter()
        outcome = world.run_sim(plan, agent)
        self._emit("duration", {"name": "sim_s", "seconds": time.perf_counter() - started})
        return outcome
