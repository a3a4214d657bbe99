"""Sense-Plan-Code-Act: the loop. ``python main.py --help`` lists the commands and flags of the program."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from spca.code import library
from spca.commands.program import run_program
from spca.common.installation import ApplicationFunction
from spca.contracts import (
    AgentSource,
    Checkpoint,
    CodeFailure,
    FailedPlan,
    LevelInfo,
    Plan,
    PlanFailure,
    PlanObjection,
    Snapshot,
    Status,
    TrustedPDDL,
)
from spca.errors import RestoreError, WorldError
from spca.llm.answer_tally import AnswerTally
from spca.protocols import EventSink, World
from spca.runs.level.compiled_planning import CompiledPlanning, Writers
from spca.runs.level.execution import Execution
from spca.runs.phases import Asking, LoopParts, Phases
from spca.runs.results import Attempt, LevelContext, LevelResult, Round

if TYPE_CHECKING:  # commands that ask no model need not wait for their imports
    from coderLLM import CoderLLM
    from plannerLLM import PlannerLLM
    from spca.code.regression import RegressionSuite
    from spca.plan.solver import Solver

MAX_SEMANTIC_RETRY: Final = 5
"""Times the code of one plan is rewritten and tried again."""
MAX_SPA_ROUNDS: Final = 5
"""Sense-plan-code-act rounds per level, those in which the planner had no plan left out."""


class Loop:
    """Sense, plan, code, act: until a level is solved or its rounds are used up.

    Args:
        emit: told of rounds, simulations and their durations.
        progress: told of the present round and phase.
        keep_copy: given the source that is about to be executed.
        writers: stored problem writers, tried before the planner is asked; None for none.
        tally: told of answers by planner and coder; it says when a level has asked often enough.

    Attributes:
        compiled: round 0, and the tally of the writers.
    """

    def __init__(
        self,
        planner: PlannerLLM,
        coder: CoderLLM,
        check: RegressionSuite,
        emit: EventSink,
        progress: Callable[[int, str], None],
        keep_copy: Callable[[AgentSource], None] = lambda _agent: None,
        writers: Writers | None = None,
        tally: AnswerTally | None = None,
    ) -> None:
        self._planner = planner
        self._emit = emit
        self._progress = progress
        self._tally = tally or AnswerTally()
        self._execution = Execution(coder, check, emit, progress, keep_copy)
        self.compiled = CompiledPlanning(writers, self._execution, emit)

    def run_level(
        self, world: World, info: LevelInfo, known: AgentSource, trusted: TrustedPDDL | None = None
    ) -> LevelResult:
        """Solve a level with at most :data:`MAX_SPA_ROUNDS` rounds; ``known`` is the library so far.

        The stored writers are tried first, in round 0.
        """
        level = LevelContext(world, info, known, trusted)
        rounds: list[Round] = []
        self._tally.begin_level()
        try:
            for each in self._play_rounds(level):
                rounds.append(each)  # what was played before an error counts
        except (WorldError, RestoreError) as error:
            rounds.append(Round(None, (), str(error), is_broken=True))
        return LevelResult.from_rounds(rounds, known, self._tally.barren_roles())

    def _play_rounds(self, level: LevelContext) -> Iterator[Round]:
        """Yield round 0, then rounds until one solves the level or no more are worth their calls."""
        latest = self.compiled.round(level)
        yield latest

        level = self.compiled.inform_level(level, latest)
        agent = latest.choose_kept_library(level.known)
        failed: list[FailedPlan] = []
        number = 0
        while not latest.solved and len(failed) < MAX_SPA_ROUNDS and not self._tally.is_exhausted:
            number += 1
            latest = self.run_round(level, number, agent, failed)
            yield latest

            if latest.plan is not None:
                failed.append(latest.make_failed_plan())
                agent = latest.choose_kept_library(agent)
            elif self._planner.has_given_up:
                return

    def run_round(self, level: LevelContext, number: int, agent: AgentSource, failed: Sequence[FailedPlan]) -> Round:
        """Sense and plan once, then code and act until the plan succeeds or its retries are used up."""
        self._emit("counter_inc", {"name": "spca_rounds"})
        start = level.world.checkpoint()
        snapshot = level.world.sense()

        self._progress(number, "plan")
        actions = library.action_listing(agent.text, snapshot.mission)
        plan = self._planner.plan(
            snapshot, level.info, actions, agent=agent, trusted=level.trusted, failed=failed, writers=level.writers
        )
        if isinstance(plan, PlanFailure):
            return Round(None, (), plan.reason, failure=plan)

        tries = level.find_earlier_attempt(plan, start)
        latest = self._code_and_act(level, number, plan, snapshot, start, agent, tries)
        if tries and tries[-1].outcome.status not in (Status.GOAL_NOT_REACHED, Status.SUCCESS):
            level.world.restore(start)
        return latest

    def _code_and_act(
        self,
        level: LevelContext,
        number: int,
        plan: Plan,
        snapshot: Snapshot,
        start: Checkpoint,
        agent: AgentSource,
        tries: list[Attempt],
    ) -> Round:
        """Write what the plan lacks and carry it out; rewrite it at most :data:`MAX_SEMANTIC_RETRY` times.

        Args:
            tries: of the same plan from the same state, so far; those of this round are added.
        """
        earlier = len(tries)
        reason = ""
        refused = ""  # why the latest code was not merged
        objection = ""
        failure: CodeFailure | None = None

        for attempt in range(1 + earlier, 2 + MAX_SEMANTIC_RETRY):
            agent = tries[-1].agent if tries else agent
            report = tries[-1].report if tries else ""
            error = "\n".join(filter(None, (report, refused)))
            patch = self._execution.implement(number, level, plan, snapshot, agent, error or None)

            if isinstance(patch, CodeFailure):
                failure = patch
                reason = refused = patch.reason
                if len(tries) == earlier and not patch.has_merged:
                    break  # the model has written nothing that could be executed: another plan may suit it better
                continue
            failure = None

            objection = patch.words if isinstance(patch, PlanObjection) else ""
            if isinstance(patch, PlanObjection) or any(patch.agent == tried.agent for tried in tries):
                break  # it is the plan that must change: the same code from the same state ends the same way

            if tries:
                level.world.restore(start)
            outcome = self._execution.act(number, level.world, plan, patch.agent)
            refused = ""
            tries.append(Attempt(number, attempt, start, plan, patch.agent, outcome))
            reason = tries[-1].reason
            if outcome.solved:
                break

        return Round(plan, tuple(tries), reason, objection, snapshot, failure=failure)


def make_planner(asking: Asking, solver: Solver, compiles: bool) -> PlannerLLM:
    """Return the planner; ``compiles``: whether problem writers are asked for."""
    from llmclient import ChatGPTClient
    from plannerLLM import PDDLOnly, PDDLResp, PlannerLLM

    models = asking.models
    ask = partial(
        ChatGPTClient,
        schema=PDDLResp if compiles else PDDLOnly,
        reasks=0,
        desk=asking.desk,
        limits=models.limits,
    )
    return PlannerLLM(
        models.planner,
        models.planner_small,
        solver,
        asking.emit,
        ask,
        compiles=compiles,
        wording=asking.wording,
        tally=asking.tally,
    )


def make_loop(asking: Asking, parts: LoopParts) -> Loop:
    """Return the loop, with the planner and the coder that it asks."""
    from coderLLM import CoderLLM
    from llmclient import ChatGPTClient

    ask = partial(ChatGPTClient, reasks=0, desk=asking.desk, limits=asking.models.limits)
    return Loop(
        make_planner(asking, parts.solver, parts.compiles),
        CoderLLM(asking.models.coder, asking.emit, ask, wording=asking.wording, tally=asking.tally),
        parts.regression,
        asking.emit,
        parts.progress,
        parts.keep_copy,
        parts.writers,
        asking.tally,
    )


def load_phases() -> Phases:
    """Import the phases and return them, for a command that plays levels."""
    from metrics_logger import MetricsLogger, register_signal_handlers
    from minigridenv import MiniGridEnv, check_ids, list_known_ids

    return Phases(
        make_world=MiniGridEnv,
        check_ids=check_ids,
        known_ids=list_known_ids,
        make_planner=make_planner,
        make_loop=make_loop,
        open_log=MetricsLogger,
        watch_signals=register_signal_handlers,
    )


def main(argv: Sequence[str] | None = None, programs: Mapping[str, str] = MappingProxyType({})) -> int:
    """Run the program; return the exit code.

    Args:
        argv: arguments; None takes those of the process.
        programs: what other programs do, by the word that calls them, which the caller looks for first.
    """
    return run_program(argv, ApplicationFunction("main", "load_phases"), programs)


if __name__ == "__main__":
    sys.exit(main())
