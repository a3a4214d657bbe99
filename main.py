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
from coderLLM import CoderLLM
from llmclient import ChatGPTClient
from metrics_logger import MetricsLogger, register_signal_handlers
from plannerLLM import MAX_RETRIES, PDDLOnly, PDDLResp, PlannerLLM
from spca.code import library, regression
from spca.common import command
from spca.common.errors import UnusableModelError
from spca.contracts import (
    AgentSource,
    CodeFailure,
    FailedPlan,
    LevelInfo,
    PlanFailure,
    PlanObjection,
    Status,
    TrustedPDDL,
)
from spca.errors import RestoreError, WorldError
from spca.evaluation.ablations import study
from spca.evaluation.looking import look
from spca.llm.answer_tally import AnswerTally
from spca.plan.solver import Solver
from spca.protocols import EventSink, World
from spca.report import cli as looking
from spca.runs import cli, model_list, startup
from spca.runs.curriculum import Task
from spca.runs.display import Display
from spca.runs.level.barren import flags_of_models, unusable_model
from spca.runs.level.compiled_planning import CompiledPlanning, Writers
from spca.runs.level.execution import Execution
from spca.runs.recorder import Recorder
from spca.runs.results import Attempt, LevelContext, LevelResult, Round
from spca.writers.library import WriterLibrary

ROOT: Final = Path(__file__).resolve().parent
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
        check: regression.RegressionSuite,
        emit: EventSink,
        progress: Callable[[int, str], None],
        keep_copy: Callable[[AgentSource], None] = lambda _agent: None,
        writers: Writers | None = None,
        tally: AnswerTally | None = None,
    ) -> None:
        self._planner, self._emit, self._progress = planner, emit, progress
        self._tally = tally or AnswerTally()
        self._execution = Execution(coder, check, emit, progress, keep_copy)
        self.compiled = CompiledPlanning(writers, self._execution, emit)

    def run_level(
        self, world: World, info: LevelInfo, known: AgentSource, trusted: TrustedPDDL | None = None
    ) -> LevelResult:
        """Solve a level with at most :data:`MAX_SPA_ROUNDS` rounds; ``known`` is the library so far.

        The stored writers are tried first, in round 0.
        """
        level, rounds = LevelContext(world, info, known, trusted), list[Round]()
        self._tally.begin_level()
        try:
            rounds.extend(self._rounds(level))  # which keeps those before an error
        except (WorldError, RestoreError) as error:
            rounds.append(Round(None, (), str(error), is_broken=True))
        return LevelResult.of(rounds, known, self._tally.barren_roles())

    def _rounds(self, level: LevelContext) -> Iterator[Round]:
        yield (this := self.compiled.round(level))
        level, agent, failed = self.compiled.informed(level, this), this.kept(level.known), list[FailedPlan]()
        number = 0
        while not this.solved and len(failed) < MAX_SPA_ROUNDS and not self._tally.is_exhausted:
            number += 1
            yield (this := self.run_round(level, number, agent, failed))
            if this.plan is not None:
                failed.append(this.failed_plan())
                agent = this.kept(agent)
            elif self._tally.unusable_in_a_row("planner") > MAX_RETRIES:
                return

    def run_round(self, level: LevelContext, number: int, agent: AgentSource, failed: Sequence[FailedPlan]) -> Round:
        """Sense and plan once, then code and act until the plan succeeds or its retries are used up."""
        self._emit("counter_inc", {"name": "spca_rounds"})
        world, execution = level.world, self._execution
        start, snapshot = world.checkpoint(), world.sense()
        self._progress(number, "plan")
        actions = library.action_listing(agent.text, snapshot.mission)
        plan = self._planner.plan(
            snapshot, level.info, actions, agent=agent, trusted=level.trusted, failed=failed, writers=level.writers
        )
        if isinstance(plan, PlanFailure):
            return Round(None, (), plan.reason, failure=plan)
        tries, reason, refused, objection = level.tried_before(plan, start), "", "", ""
        failure, earlier = None, len(tries)
        for attempt in range(1 + len(tries), 2 + MAX_SEMANTIC_RETRY):
            agent = tries[-1].agent if tries else agent
            error = "\n".join(filter(None, (tries[-1].report if tries else "", refused))) or None
            patch = execution.implement(number, level, plan, snapshot, agent, error)
            if isinstance(patch, CodeFailure):
                failure, reason = patch, patch.reason
                refused = reason
                if len(tries) == earlier and not patch.has_merged:
                    break  # the model has written nothing that could be executed: another plan may suit it better
                continue
            failure = None
            objection = patch.words if isinstance(patch, PlanObjection) else ""
            if isinstance(patch, PlanObjection) or any(patch.agent == tried.agent for tried in tries):
                break  # it is the plan that must change: the same code from the same state ends the same way
            if tries:
                world.restore(start)
            outcome, refused = execution.act(number, world, plan, patch.agent), ""
            tries.append(Attempt(number, attempt, start, plan, patch.agent, outcome))
            reason = tries[-1].reason
            if outcome.solved:
                break
        if tries and tries[-1].outcome.status not in (Status.GOAL_NOT_REACHED, Status.SUCCESS):
            world.restore(start)
        return Round(plan, tuple(tries), reason, objection, snapshot, failure=failure)


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
            self._display.played_again(recorder.taken_back)
            try:
                for task in tasks[len(recorder.finished) :]:
                    self.level(task.index + 1, task)
                    if error := self.unusable_model():
                        recorder.pause(error, self._desk.calls_finished)
                        raise error
            finally:
                summary = recorder.report(self._settings.seed, len(tasks))
                self._display.table(summary, time.monotonic() - started, str(self._prepared.folder.path))

    def unusable_model(self) -> UnusableModelError | None:
        """Return the error that pauses the run, once a model has given no usable answer in several levels in a row."""
        flags = flags_of_models(*self._settings.models.refs)
        return unusable_model(self.recorder.finished, flags, self._desk.ledger.records)

    @contextmanager
    def opened(self, watch: Callable[[MetricsLogger], Callable[[], None]] = lambda _: lambda: None) -> Iterator[None]:
        """Hold what levels need until the block ends; ``watch`` is told of the log and returns how to undo that."""
        with ExitStack() as stack:
            folder, recorder, executor = self._prepared.folder, self.recorder, self._prepared.executor
            self._logger = stack.enter_context(MetricsLogger(folder.path, folder.run_id, recorder.spent_on))
            self._logger.repair(recorder.finished)
            stack.callback(watch(self._logger))
            solver = stack.enter_context(Solver(self._settings.engine))
            solver.warm()
            self._regression.extend(recorder.solved_levels())
            self._writers = stack.enter_context(closing(WriterLibrary(executor, solver.solve, self._make_world)))
            self._writers.load(recorder.writers, recorder.rejection, recorder.accepted)
            self._loop = self._joined(solver)
            self._workspace.save(recorder.agent, recorder.trusted)
            yield

    def _joined(self, solver: Solver) -> Loop:
        desk, models, emit = self._desk, self._settings.models, self._display.telling(self._logger)
        self._display.attend(desk)
        client = partial(ChatGPTClient, reasks=0, desk=desk, limits=models.limits)
        compiles, wording = self._settings.compile, self._settings.wording
        asker = partial(client, schema=PDDLResp if compiles else PDDLOnly)
        tally = AnswerTally()
        roles = (models.planner, models.planner_small)
        planner = PlannerLLM(*roles, solver, emit, asker, compiles=compiles, wording=wording, tally=tally)
        progress, keep = desk.noting_rounds(self._display.phase), self._workspace.save_working_copy
        coder = CoderLLM(models.coder, emit, client, wording=wording, tally=tally)
        return Loop(planner, coder, self._regression, emit, progress, keep, self._writers, tally)

    def level(self, number: int, task: Task) -> tuple[LevelResult, dict[str, Any]]:
        """Play a level and record it: its result and its summary. A world that cannot be had fails only the level."""
        settings, recorder, logger = self._settings, self.recorder, self._logger
        if recorder.enter(task.category):
            self._workspace.save(recorder.agent, None)
            if not settings.carry_over:
                self._regression.forget()
                self._writers.load(())
        info = settings.renaming.level(task.info())
        self._display.level_started(number, task)
        logger.start_level(task.place(settings.seed), number)
        self._desk.begin_level(number, task.category, task.env_id, settings.seed)
        try:
            with closing(self._make_world(task.env_id, settings.seed, render=settings.render)) as world:
                result = self._loop.run_level(world, info, recorder.agent, recorder.trusted)
        except WorldError as error:
            result = LevelResult(False, str(error), recorder.agent, None, ())
        considered = self._loop.compiled.conclude(info, task.env_id, settings.seed, result)
        with logger.uninterrupted():
            summary = recorder.finish(task, settings.seed, result, logger, self._writers.versions, considered)
            self._display.level_ended(summary, result.failed_attempts)
            self._workspace.save(recorder.agent, recorder.trusted)
        self._regression.extend(recorder.solved_levels(since=number - 1))
        return result, summary


def learn(given: Mapping[str, Any], end: command.Ending, greets: bool = True) -> int:
    """Begin a run, or go on with one, having told of models and sandbox if it ``greets``; the exit code."""
    with startup.started(given, ROOT, minigridenv.check_ids) as prepared:
        end.go_on, settings, executor = prepared.go_on, prepared.settings, prepared.executor
        make_world = partial(minigridenv.MiniGridEnv, executor=executor, **settings.of_worlds)
        paid, quiet = prepared.models.cost_money, settings.quiet
        Run(prepared, make_world, Display(prepared.tasks, paid=paid, quiet=quiet, greets=greets)).learn()
    return end.code


COMMANDS: Final[Mapping[str, tuple[str, Callable[[Mapping[str, Any], command.Ending], int]]]] = {
    "run": ("learn the levels (default)", learn),
    "evaluate": ("what was learned, on unseen seeds", frozen.main),
    "ablations": ("what each part is worth", lambda given, end: study.main(given, end, ROOT, learn, frozen.main)),
    "list": ("categories and levels", lambda given, _end: startup.show_levels(given, ROOT)),
    "models": ("models that can be used here", lambda given, _end: model_list.main(given["arguments"], ROOT)),
    "doctor": ("whether sandbox and models are ready to use", lambda given, _end: startup.doctor(given, ROOT)),
    **{
        name: (text, lambda given, _end: looking.main(given["arguments"], ROOT, minigridenv.MiniGridEnv, look))
        for name, (text, *_) in looking.COMMANDS.items()
    },
}
"""What each command does, in words and by a function."""


def main(argv: Sequence[str] | None = None, outside: Mapping[str, str] | None = None) -> int:
    """The program; returns the exit code. ``outside``: what commands that its caller carries out do."""
    with command.Ending() as end:
        words = {name: text for name, (text, _) in COMMANDS.items()}
        given = cli.parse(argv, words, {*looking.COMMANDS, "models", "evaluate", "ablations"}, outside)
        end.code = COMMANDS[given["command"]][1](given, end)
    return end.code


if __name__ == "__main__":
    sys.exit(main())
