"""Sense-Plan-Code-Act: the loop and the program, whose commands and flags ``python main.py --help`` lists."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import frozen
import minigridenv
from coderLLM import Coded, CoderLLM
from llmclient import ChatGPTClient
from metrics_logger import MetricsLogger, register_signal_handlers
from plannerLLM import PDDLResp, PlannerLLM
from spca.code import library, regression
from spca.common import command
from spca.contracts import (
    AgentSource,
    CodeFailure,
    CodePatch,
    FailedPlan,
    LevelInfo,
    Outcome,
    Plan,
    PlanFailure,
    PlanObjection,
    Snapshot,
    Status,
    TrustedPDDL,
)
from spca.errors import RestoreError, WorldError
from spca.llm import feedback
from spca.plan.solver import Solver
from spca.protocols import EventSink, World
from spca.report import cli as looking
from spca.runs import cli, model_list, startup
from spca.runs.curriculum import Task
from spca.runs.display import Display
from spca.runs.recorder import Recorder
from spca.runs.results import Attempt, LevelContext, LevelResult, Round
from spca.sense import map_text

ROOT: Final = Path(__file__).resolve().parent
MAX_SEMANTIC_RETRY: Final = 5
"""Times the code of one plan is rewritten and tried again."""
MAX_SPA_ROUNDS: Final = 5
"""Sense-plan-code-act rounds per level."""


class Loop:
    """Sense, plan, code, act: until a level is solved or its rounds are used up.

    Args:
        emit: told of rounds, simulations and their durations.
        progress: told of the present round and phase.
        keep_copy: given the source that is about to be executed.
    """

    def __init__(
        self,
        planner: PlannerLLM,
        coder: CoderLLM,
        check: regression.RegressionSuite,
        emit: EventSink,
        progress: Callable[[int, str], None],
        keep_copy: Callable[[AgentSource], None] = lambda _agent: None,
    ) -> None:
        self._planner, self._coder, self._regression = planner, coder, check
        self._emit, self._progress, self._keep_copy = emit, progress, keep_copy

    def run_level(
        self, world: World, info: LevelInfo, known: AgentSource, trusted: TrustedPDDL | None = None
    ) -> LevelResult:
        """Solve a level with at most :data:`MAX_SPA_ROUNDS` rounds; ``known`` is the library so far."""
        level, agent = LevelContext(world, info, known, trusted), known
        rounds, failed = list[Round](), list[FailedPlan]()
        for number in range(1, MAX_SPA_ROUNDS + 1):
            self._emit("counter_inc", {"name": "spca_rounds"})
            try:
                this = self.run_round(level, number, agent, failed)
            except (WorldError, RestoreError) as error:
                this = Round(None, (), str(error))
            rounds.append(this)
            if this.plan is None or (this.outcome and this.outcome.solved):
                break
            failed.append(this.failed_plan())
            if failed[-1].status == Status.GOAL_NOT_REACHED:  # the plan was carried out: its code is worth keeping
                agent = this.attempts[-1].agent
        return LevelResult.of(rounds, known)

    def run_round(self, level: LevelContext, number: int, agent: AgentSource, failed: Sequence[FailedPlan]) -> Round:
        """Sense and plan once, then code and act until the plan succeeds or its retries are used up."""
        world = level.world
        start, snapshot = world.checkpoint(), world.sense()
        self._progress(number, "plan")
        actions = library.action_listing(agent.text, snapshot.mission)
        plan = self._planner.plan(snapshot, level.info, actions, agent=agent, trusted=level.trusted, failed=failed)
        if isinstance(plan, PlanFailure):
            return Round(None, (), plan.reason)
        tries, reason, report, refused = list[Attempt](), "", "", ""
        for attempt in range(1, 2 + MAX_SEMANTIC_RETRY):
            self._progress(number, "code")
            error = "\n".join(filter(None, (report, refused))) or None
            patch = self._implement(level, plan, snapshot, agent, error)
            if isinstance(patch, CodeFailure):
                reason = refused = patch.reason
                continue
            if isinstance(patch, PlanObjection) or any(patch.agent == tried.agent for tried in tries):
                break  # it is the plan that must change: the same code from the same state ends the same way
            if tries:
                world.restore(start)
            self._progress(number, "act")
            outcome = self._act(world, plan, patch.agent)
            agent, refused = patch.agent, ""
            tries.append(Attempt(number, attempt, start, plan, agent, outcome))
            reason = f"{outcome.status.value}: {outcome.message}"
            if outcome.solved:
                return Round(plan, tuple(tries), reason)
            report = feedback.failure_report(plan, outcome, library.method_at(agent.text))
        if tries and tries[-1].outcome.status is not Status.GOAL_NOT_REACHED:
            world.restore(start)
        return Round(plan, tuple(tries), reason, patch.words if isinstance(patch, PlanObjection) else "")

    def _implement(
        self, level: LevelContext, plan: Plan, snapshot: Snapshot, agent: AgentSource, error: str | None
    ) -> Coded:
        wanted = plan.actions if error else library.missing(agent.text, plan.actions)
        if not wanted:
            return CodePatch(agent, ())
        schemas, check = {schema.name: schema for schema in plan.schemas}, self._regression.against(level.known)
        state = map_text.agent_state(snapshot, level.info.skill, plan.objects)
        return self._coder.implement_actions(wanted, schemas, plan.text, state, error, agent=agent, check=check)

    def _act(self, world: World, plan: Plan, agent: AgentSource) -> Outcome:
        self._keep_copy(agent)
        self._emit("counter_inc", {"name": "simulation_runs"})
        started = time.perf_counter()
        outcome = world.run_sim(plan, agent)
        self._emit("duration", {"name": "sim_s", "seconds": time.perf_counter() - started})
        return outcome


class Run:
    """A run folder being filled: the loop over its levels, in worlds that ``make_world`` builds."""

    def __init__(self, prepared: startup.Prepared, make_world: Callable[..., World], display: Display) -> None:
        self._prepared, self._make_world, self._display = prepared, make_world, display
        self._settings, self._workspace = prepared.settings, prepared.workspace
        self._desk = prepared.make_desk()
        self.recorder = Recorder(prepared.folder, self._desk.ledger)
        self._regression = regression.RegressionSuite(make_world, enabled=self._settings.regression_check)

    def learn(self) -> None:
        """Go through the levels not yet finished; each is final once it is recorded."""
        recorder, tasks, started = self.recorder, self._prepared.tasks, time.monotonic()
        with self.opened(register_signal_handlers):
            self._display.begin(self._prepared.greeting, recorder.sandbox, recorder.finished, recorder.spent)
            try:
                for task in tasks[len(recorder.finished) :]:
                    self.level(task.index + 1, task)
            finally:
                summary = recorder.report(self._settings.seed, len(tasks))
                self._display.table(summary, time.monotonic() - started, str(self._prepared.folder.path))

    @contextmanager
    def opened(self, watch: Callable[[MetricsLogger], Callable[[], None]] = lambda _: lambda: None) -> Iterator[None]:
        """Hold what levels need until the block ends; ``watch`` is told of the log and returns how to undo that."""
        with ExitStack() as stack:
            folder, recorder = self._prepared.folder, self.recorder
            self._logger = stack.enter_context(MetricsLogger(folder.path, folder.run_id, recorder.spent_on))
            self._logger.repair(recorder.finished)
            stack.callback(watch(self._logger))
            solver = stack.enter_context(Solver(self._settings.engine))
            solver.warm()
            self._regression.extend(recorder.solved_levels())
            self._loop = self._joined(solver)
            self._workspace.save(recorder.agent, recorder.trusted)
            yield

    def _joined(self, solver: Solver) -> Loop:
        desk, models, emit = self._desk, self._prepared.models, self._display.telling(self._logger)
        self._display.attend(desk)
        client = partial(ChatGPTClient, reasks=0, desk=desk, servers=models.servers, limits=models.limits)
        planner = PlannerLLM(*models.names[:2], solver, emit, partial(client, schema=PDDLResp))
        progress, keep = desk.noting_rounds(self._display.phase), self._workspace.save_working_copy
        return Loop(planner, CoderLLM(models.names[2], emit, client), self._regression, emit, progress, keep)

    def level(self, number: int, task: Task) -> tuple[LevelResult, dict[str, Any]]:
        """Play a level and record it: its result and its summary. A world that cannot be had fails only the level."""
        settings, recorder, logger = self._settings, self.recorder, self._logger
        if recorder.enter(task.category):
            self._workspace.save(recorder.agent, None)
            if not settings.carry_over:
                self._regression.forget()
        self._display.level_started(number, task)
        logger.start_level(task.place(settings.seed), number)
        self._desk.begin_level(number, task.category, task.env_id, settings.seed)
        try:
            with closing(self._make_world(task.env_id, settings.seed, render=settings.render)) as world:
                result = self._loop.run_level(world, task.info(), recorder.agent, recorder.trusted)
        except WorldError as error:
            result = LevelResult(False, str(error), recorder.agent, None, ())
        with logger.uninterrupted():
            summary = recorder.finish(task, settings.seed, result, logger)
            self._display.level_ended(summary, result.failed_attempts)
            self._workspace.save(recorder.agent, recorder.trusted)
        self._regression.extend(recorder.solved_levels(since=number - 1))
        return result, summary


def learn(given: Mapping[str, Any], end: command.Ending) -> int:
    """Begin a run, or go on with one; the exit code."""
    with startup.started(given, ROOT, minigridenv.check_ids) as prepared:
        end.go_on = prepared.go_on
        settings, models, executor = prepared.settings, prepared.models, prepared.executor
        make_world = partial(minigridenv.MiniGridEnv, executor=executor, upstream_rules=settings.upstream_rules)
        Run(prepared, make_world, Display(prepared.tasks, paid=models.cost_money, quiet=settings.quiet)).learn()
    return end.code


COMMANDS: Final[Mapping[str, tuple[str, Callable[[Mapping[str, Any], command.Ending], int]]]] = {
    "run": ("learn the levels (default)", learn),
    "evaluate": ("what was learned, on unseen seeds", frozen.main),
    "list": ("categories and levels", lambda given, _end: startup.show_levels(given, ROOT)),
    "models": ("models that can be used here", lambda given, _end: model_list.main(given["arguments"], ROOT)),
    "doctor": ("whether sandbox and models are ready to use", lambda given, _end: startup.doctor(given, ROOT)),
    **{
        name: (text, lambda given, _end: looking.main(given["arguments"], ROOT, minigridenv.MiniGridEnv))
        for name, (text, *_) in looking.COMMANDS.items()
    },
}
"""What each command does, in words and by a function."""


def main(argv: Sequence[str] | None = None, outside: Mapping[str, str] | None = None) -> int:
    """The program; returns the exit code. ``outside``: what commands that its caller carries out do."""
    with command.Ending() as end:
        words = {name: text for name, (text, _) in COMMANDS.items()}
        given = cli.parse(argv, words, {*looking.COMMANDS, "models", "evaluate"}, outside)
        end.code = COMMANDS[given["command"]][1](given, end)
    return end.code


if __name__ == "__main__":
    sys.exit(main())
