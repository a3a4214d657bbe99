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
"""How often the code of one plan is rewritten and executed again."""
MAX_SPA_ROUNDS: Final = 5
"""Most sense-plan-code-act rounds in a row that discover nothing; round 0 and rounds without a plan do not count."""
MAX_PLANS: Final = 20
"""Most rounds with a plan per level, rounds that discover something included."""


class Loop:
    """Plays levels: senses, plans, codes and acts until a level is solved or its rounds are used up.

    Round 0 of a level asks no planner: it tries the plans of stored problem writers. Rounds 1, 2 ... ask the planner.

    Args:
        check: the regression check on rewritten methods.
        emit: receives an event for each round and each simulation.
        progress: called with the number of the round and the name of the phase when a phase begins.
        keep_copy: called with the agent's source before the source is executed.
        writers: stored problem writers, tried before the planner is asked; None without stored writers.
        tally: counts usable and unusable answers, and decides when a level makes no more calls of models.

    Attributes:
        compiled: plays round 0, and keeps the tally of the writers.
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
        """Play a level: round 0 with the stored writers, then rounds with the planner; return the result.

        Args:
            known: the agent before the level.
            trusted: PDDL of the last success in the level's category.
        """
        level = LevelContext(world, info, known, trusted)
        rounds: list[Round] = []
        self._tally.begin_level()
        try:
            for played in self._play_rounds(level):
                rounds.append(played)  # one by one, so that an error loses only its own round
        except (WorldError, RestoreError) as error:
            rounds.append(Round(None, (), str(error), is_broken=True))
        return LevelResult.from_rounds(rounds, known, self._tally.barren_roles())

    def _play_rounds(self, level: LevelContext) -> Iterator[Round]:
        """Yield round 0, then more rounds until the level is solved or more rounds are not worth their calls."""
        latest = self.compiled.round(level)
        yield latest
        if latest.solved:
            return

        # Later rounds know the attempts of round 0, and the planner is told about the writers.
        level = self.compiled.add_round_zero(level, latest)
        agent = latest.choose_kept_library(level.known)
        failed: list[FailedPlan] = []
        fruitless = 0  # rounds in a row that discovered nothing
        number = 0
        while fruitless < MAX_SPA_ROUNDS and len(failed) < MAX_PLANS and not self._tally.is_exhausted:
            if latest.outcome and level.has_ended(latest.outcome):
                return
            number += 1
            latest = self.run_round(level, number, agent, failed)
            yield latest
            if latest.solved:
                return

            if latest.plan is not None:
                failed.append(latest.make_failed_plan())
                fruitless = level.count_fruitless(fruitless, latest)
                agent = latest.choose_kept_library(agent)
            elif self._planner.has_given_up:
                return

    def run_round(self, level: LevelContext, number: int, agent: AgentSource, failed: Sequence[FailedPlan]) -> Round:
        """Sense and plan once, then code and act until the plan succeeds or its retries are used up.

        Args:
            number: number of the round, from 1.
            agent: the agent before the round.
            failed: failed plans of earlier rounds, oldest first.
        """
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

        played = self._code_and_act(level, number, plan, snapshot, start, agent)
        if played.attempts:
            # After a plan that was executed to its end, the next round begins where the plan ended.
            is_carried_out = played.attempts[-1].outcome.status in (Status.GOAL_NOT_REACHED, Status.SUCCESS)
            if not is_carried_out:
                level.return_to(start)
        return played

    def _code_and_act(
        self, level: LevelContext, number: int, plan: Plan, snapshot: Snapshot, start: Checkpoint, agent: AgentSource
    ) -> Round:
        """Let the coder write the code of a plan, and execute the plan; repeat both with the report on the failure.

        There are at most 1 + :data:`MAX_SEMANTIC_RETRY` attempts. Each begins in the state ``start``; in a world with
        one life, in the state that the attempt before has reached. If round 0 executed the same plan from the same
        state, its attempts are taken over as the first ones, and the coder goes on from their code and report.

        Args:
            start: state of the world before the plan.
            agent: the agent before the plan.
        """
        attempts = level.find_round_zero_attempts(plan, start)
        taken_over = len(attempts)
        reason = ""  # why the latest attempt or code failed; it stays when the loop ends without another one
        refusal = ""  # why the latest code of the coder was not accepted
        objection = ""
        failure: CodeFailure | None = None

        for attempt in range(taken_over + 1, MAX_SEMANTIC_RETRY + 2):
            if attempts:
                agent = attempts[-1].agent
            report = attempts[-1].describe_failure(level.world.body) if attempts else ""
            error = "\n".join(filter(None, (report, refusal)))
            patch = self._execution.implement(number, level, plan, snapshot, agent, error or None)

            if isinstance(patch, CodeFailure):
                failure = patch
                reason = refusal = patch.reason
                has_executed = len(attempts) > taken_over
                if not has_executed and not patch.has_merged:
                    break  # the coder cannot write valid code for this plan, but perhaps for another plan
                continue  # ask again with the reason of the refusal
            failure = None

            if isinstance(patch, PlanObjection):
                objection = patch.words
                break
            is_repeated = any(patch.agent == tried.agent for tried in attempts)
            if is_repeated:
                break  # the same code from the same state fails in the same way, so only another plan can help

            if attempts:
                level.return_to(start)
            outcome = self._execution.act(number, level.world, plan, patch.agent)
            refusal = ""
            attempts.append(Attempt(number, attempt, start, plan, patch.agent, outcome))
            reason = attempts[-1].reason
            if outcome.solved or level.has_ended(outcome) or attempts[-1].is_discovery:
                break
            start, snapshot = level.find_next_start(start, snapshot)

        return Round(plan, tuple(attempts), reason, objection, snapshot, failure=failure)


def make_planner(asking: Asking, solver: Solver, compiles: bool) -> PlannerLLM:
    """Return the planner; ``compiles`` says whether the planner is asked for problem writers."""
    from llmclient import ChatGPTClient
    from plannerLLM import PDDLOnly, PDDLResp, PlannerLLM

    models = asking.models
    client_for = partial(
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
        client_for,
        compiles=compiles,
        wording=asking.wording,
        tally=asking.tally,
    )


def make_loop(asking: Asking, parts: LoopParts) -> Loop:
    """Return the loop with a new planner and a new coder."""
    from coderLLM import CoderLLM
    from llmclient import ChatGPTClient

    client_for = partial(ChatGPTClient, reasks=0, desk=asking.desk, limits=asking.models.limits)
    planner = make_planner(asking, parts.solver, parts.compiles)
    coder = CoderLLM(asking.models.coder, asking.emit, client_for, wording=asking.wording, tally=asking.tally)
    return Loop(
        planner,
        coder,
        parts.regression,
        asking.emit,
        parts.progress,
        parts.keep_copy,
        parts.writers,
        asking.tally,
    )


def load_phases() -> Phases:
    """Import the phases and return them; called only by commands that play levels."""
    from metrics_logger import MetricsLogger, register_signal_handlers
    from minigridenv import MiniGridEnv, check_ids, list_known_ids
    from spca.runs.worlds import dispatch_worlds

    return Phases(
        make_world=dispatch_worlds(MiniGridEnv),
        check_ids=check_ids,
        known_ids=list_known_ids,
        make_planner=make_planner,
        make_loop=make_loop,
        open_log=MetricsLogger,
        watch_signals=register_signal_handlers,
    )


def main(argv: Sequence[str] | None = None, programs: Mapping[str, str] = MappingProxyType({})) -> int:
    """Run the program and return the exit code.

    Args:
        argv: arguments of the command line; None for the arguments of the process.
        programs: command -> description of a further program, for ``--help``; the caller runs these programs itself.
    """
    return run_program(argv, ApplicationFunction("main", "load_phases"), programs)


if __name__ == "__main__":
    sys.exit(main())
