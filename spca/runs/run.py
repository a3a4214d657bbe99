"""A run: plays its levels in order, beginning with the first unfinished level."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from spca.code.regression import RegressionSuite
from spca.common.command import ExitHandler
from spca.common.debug_log import log_to_folder
from spca.common.errors import SettingsError, UnusableModelError
from spca.errors import WorldError
from spca.llm.answer_tally import AnswerTally
from spca.llm.calls.budget import Caps
from spca.llm.calls.cache import Cache
from spca.llm.calls.desk import CallDesk
from spca.plan.solver import Solver
from spca.plugins.named import load_environment_modules
from spca.protocols import World
from spca.runs.curriculum import Task, select_tasks
from spca.runs.level.barren import flags_of_models, unusable_model
from spca.runs.models import Models
from spca.runs.phases import Asking, LevelLoop, LoopParts, Phases, PlayedWorldMaker, RunLog
from spca.runs.recording.folder import Begun, RunFolder
from spca.runs.recording.recorder import Recorder
from spca.runs.results import LevelResult
from spca.runs.screen.display import Display
from spca.runs.screen.lines import describe_run
from spca.runs.settings import Settings
from spca.runs.startup import Prepared, prepare_run
from spca.writers.library import WriterLibrary


class Run:
    """Plays levels and records the results in a run folder.

    Args:
        prepared: settings, folder, models and sandbox of the run.
        phases: the loop's phases, from the user's files at the top level.
        display: shows progress and results.
        make_world: builds worlds; by default, ``phases.make_world`` does.
    """

    def __init__(
        self,
        prepared: Prepared,
        phases: Phases,
        display: Display,
        make_world: Callable[..., World] | None = None,
    ) -> None:
        self._prepared = prepared
        self._phases = phases
        self._display = display
        self._settings = prepared.settings
        self._workspace = prepared.workspace
        self._make_world = partial(
            make_world or phases.make_world,
            executor=prepared.executor,
            upstream_rules=self._settings.upstream_rules,
            renaming=self._settings.renaming,
        )
        self._desk = make_desk(self._settings, prepared.models, prepared.caps, prepared.folder, prepared.asked_anew)
        self._regression = RegressionSuite(self._make_world, enabled=self._settings.regression_check)
        self._has_explained = False
        self.recorder = Recorder(prepared.folder, self._desk.ledger)

    def learn(self) -> None:
        """Play the unfinished levels in order. A level is final once its result is recorded.

        Raises:
            UnusableModelError: a model has given no usable answer in several levels in a row.
            UserError, BudgetReached: a model cannot be asked any more; the run can be resumed later.
        """
        recorder = self.recorder
        tasks = self._prepared.tasks
        started = time.monotonic()
        with self.open(self._phases.watch_signals):
            greeting = describe_run(self._prepared, os.environ)
            self._display.begin(greeting, recorder.sandbox, recorder.finished, recorder.spent)
            self._display.announce_replayed_levels(recorder.taken_back)
            try:
                for task in tasks[len(recorder.finished) :]:
                    self.play_level(task.index + 1, task)
                    if error := self.find_unusable_model():
                        recorder.pause(error, self._desk.calls_finished)
                        raise error
            finally:
                summary = recorder.report(self._settings.seed, len(tasks))
                seconds = time.monotonic() - started
                self._display.table(summary, seconds, str(self._prepared.folder.path))

    def find_unusable_model(self) -> UnusableModelError | None:
        """Return an error if a model has given no usable answer in several levels in a row, else None."""
        flags = flags_of_models(*self._settings.models.refs)
        return unusable_model(self.recorder.latest_asked, flags, self._desk.ledger.records)

    @contextmanager
    def open(self, watch: Callable[[RunLog], Callable[[], None]] = lambda _log: lambda: None) -> Iterator[None]:
        """Open the log, the solver and the problem writers, and make the loop; close all of them after the block.

        Args:
            watch: called with the log, for example to install signal handlers; returns a function for cleaning up.
        """
        folder = self._prepared.folder
        recorder = self.recorder
        with ExitStack() as stack:
            stack.enter_context(log_to_folder(folder.path))
            self._log = stack.enter_context(self._phases.open_log(folder.path, folder.run_id, recorder.spent_on))
            self._log.repair(recorder.finished)
            stack.callback(watch(self._log))

            solver = stack.enter_context(Solver(self._settings.engine))
            solver.warm()
            self._regression.extend(recorder.load_solved_levels(wants=self._regression.wants))
            library = WriterLibrary(self._prepared.executor, solver.solve, self._settings.body, self._make_world)
            self._writers = stack.enter_context(closing(library))
            self._writers.load(recorder.writers, recorder.rejection, recorder.accepted)

            self._loop = self._make_loop(solver)
            self._workspace.save(recorder.agent, recorder.trusted)
            yield

    def _make_loop(self, solver: Solver) -> LevelLoop:
        """Return the loop of the run, connected to the display."""
        self._display.attend(self._desk)
        settings = self._settings
        emit = self._display.telling(self._log)
        asking = Asking(settings.models, self._desk, settings.wording, AnswerTally(), emit)
        parts = LoopParts(
            solver=solver,
            compiles=settings.compile,
            regression=self._regression,
            progress=self._desk.noting_rounds(self._display.phase),
            keep_copy=self._workspace.save_working_copy,
            writers=self._writers,
        )
        return self._phases.make_loop(asking, parts)

    def play_level(self, number: int, task: Task) -> tuple[LevelResult, dict[str, Any]]:
        """Play a level and record it; return its result and its summary.

        If the world of the level cannot be built, the level counts as failed and the run goes on.

        Args:
            number: number of the level in the run, from 1.
        """
        settings = self._settings
        recorder = self.recorder
        seed = settings.seed if task.seed is None else task.seed
        is_new_category = recorder.enter(task.category)
        if is_new_category:
            self._workspace.save(recorder.agent, None)
            if not settings.carry_over:
                self._regression.forget()
                self._writers.load(())

        info = settings.renaming.level(task.info())
        self._display.level_started(number, task)
        self._log.start_level(task.place(seed), number)
        self._desk.begin_level(number, task.category, task.name, seed)
        episodes = 1
        try:
            with closing(self._make_world(task.spec, seed, render=settings.render)) as world:
                self._explain_one_life(world.one_life_reason)
                if not world.can_restore:
                    episodes = self._log.episodes
                result = self._loop.run_level(world, info, recorder.agent, recorder.trusted)
        except WorldError as error:
            result = LevelResult(False, str(error), recorder.agent, None, ())

        decision = self._loop.compiled.conclude(info, task.spec, seed, result)
        with self._log.delay_interrupts():
            summary = recorder.finish(task, seed, result, self._log, self._writers.versions, decision, episodes)
            self._display.level_ended(summary, result.failed_attempts)
            self._workspace.save(recorder.agent, recorder.trusted)
        self._regression.extend(recorder.load_solved_levels(number - 1, self._regression.wants))
        return result, summary

    def _explain_one_life(self, reason: str) -> None:
        """Say once that a world has one life, and what this means for the run; say nothing without a reason."""
        if reason and not self._has_explained:
            self._has_explained = True
            self._display.note(
                f"this world has one life ({reason}): rewritten methods are not tested on earlier levels"
            )


def play_run(
    exit_handler: ExitHandler,
    phases: Phases,
    settings: Settings,
    begun: Begun | None,
    greets: bool = True,
    *,
    imports_modules: bool = False,
) -> int:
    """Learn the levels that the settings select; return the exit code.

    Args:
        exit_handler: gets the command that resumes the run, to print the command if the run is interrupted.
        begun: the run to resume; None for a new run.
        greets: whether to begin with a line on the models and a line on the sandbox.
        imports_modules: whether to import the modules that the curriculum names in ids of the form ``module:Id-v0``.

    Raises:
        UserError: the run cannot start (no file was changed), or cannot go on.
    """
    tasks = select_tasks(settings, begun)
    if imports_modules:
        load_environment_modules(task.env_id for task in tasks)
    if begun is None:
        _try_first_world(tasks, phases.make_world, settings.seed)
    with prepare_run(settings, tasks, phases.check_ids, begun) as prepared:
        exit_handler.go_on = prepared.go_on
        display = Display(tasks, paid=prepared.models.cost_money, quiet=settings.quiet, greets=greets)
        Run(prepared, phases, display).learn()
    return exit_handler.code


def _try_first_world(tasks: Sequence[Task], make_world: PlayedWorldMaker, seed: int) -> None:
    """Build the world of the first level if a plugin makes it, so that a broken plugin ends the command at once.

    Raises:
        SettingsError: the world cannot be built.
    """
    for task in tasks[:1]:
        if task.world:
            try:
                make_world(task.spec, seed if task.seed is None else task.seed).close()
            except WorldError as error:
                raise SettingsError(f"--world {task.world}: {error}") from error


def make_desk(
    settings: Settings, models: Models, caps: Caps, folder: RunFolder, asked_anew: Mapping[str, int] | None = None
) -> CallDesk:
    """Return the desk that sends and records all calls of a run.

    Args:
        asked_anew: role -> number of first calls whose answers are not reused; see :class:`CallDesk`.

    Raises:
        UserError: the ledger cannot be read.
    """
    cache: Cache | None = None
    if settings.models.cache:
        cache = Cache(Path(settings.runs) / "llm_cache", models.catalogue.servers)
    return CallDesk(
        folder.path, folder.run_id, caps=caps, catalogue=models.catalogue, cache=cache, asked_anew=asked_anew
    )
