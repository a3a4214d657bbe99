"""One evaluation, from its settings to its results file; an interruption loses no finished task."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Final

from gridworld.adapters.plugins import loaded_plugins
from gridworld.errors import EvaluationError
from gridworld.evaluation.metrics import BenchmarkEvaluationResult, EvaluationResult, TaskBenchmarkResult, TierMetrics
from gridworld.evaluation.models.asked import asks_people
from gridworld.evaluation.models.registry import ModelEntry
from gridworld.evaluation.options import RunningOptions
from gridworld.evaluation.results.results_file import write_results
from gridworld.evaluation.running.kept_calls import KeptCalls
from gridworld.evaluation.running.settings import Settings, tasks_of
from gridworld.evaluation.running.tasks import DISTRIBUTIONS, EvaluationTask
from gridworld.evaluation.running.worker_setup import LOST, WorkerSetup
from gridworld.runner.encoding import json_text
from spca.common.debug_log import log_to_folder
from spca.common.installation import applications
from spca.common.jobs.dispatch import do_what_is_left
from spca.common.jobs.journal import Journal, difference
from spca.common.jobs.progress import OnProgress
from spca.common.jobs.versions import find_versions, utc_now
from spca.common.source_state import describe_changed_source, read_source_state

OnFound = Callable[[int, int], None]
"""Called with (number of finished tasks, number of all tasks) if an interrupted evaluation goes on."""

_UNSAFE: Final = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True, slots=True)
class Evaluated:
    """A finished evaluation.

    Attributes:
        benchmark: the metrics over all tasks.
        tiers: the metrics per tier; None unless the benchmark is "tiers".
        output: the results file.
        earlier: words that say since when the results have existed; "" if the results are new.
    """

    benchmark: BenchmarkEvaluationResult
    tiers: EvaluationResult | None
    output: Path
    earlier: str = ""


class Evaluation:
    """An evaluation of one model. The constructor checks settings, tasks and model; :meth:`run` plays.

    Attributes:
        output: the results file.
        finished: number of finished tasks; also correct after an interruption.
        can_go_on: whether the files that an interrupted :meth:`run` keeps allow another :meth:`run` to go on.
        warnings: lines for the user, such as one for each task file with unused content.

    Raises:
        GridworldError: a setting, a task or the model cannot be used.
    """

    def __init__(self, settings: Settings, entry: ModelEntry, running: RunningOptions) -> None:
        max_workers = 1 if asks_people(settings.model) else entry.max_workers
        if max_workers is not None and running.workers > max_workers:
            raise EvaluationError(f"model {settings.model} runs in at most {max_workers} process: --workers 1")
        self._settings = settings
        self._entry = entry
        self._running = running
        self.warnings: list[str] = []
        self._tasks = tasks_of(settings, strict=running.strict, warnings=self.warnings)
        self._setup = WorkerSetup(settings, entry.factory, running.verbose, plugins=loaded_plugins())
        model = self._setup.model()
        self._model_name = model.model_name
        self._model_details = dict(model.describe())
        self.output = _resolve_link(running.output or self._default_output())
        self._calls = KeptCalls(_name_calls_folder(self.output) if entry.admit else None)
        self._setup = replace(self._setup, books=str(self._calls.path or ""))
        if entry.admit is not None:
            _require_distinct(self._tasks)
            self.warnings += entry.admit(self._setup.request())
        self.finished = 0
        self.can_go_on = False

    def run(self, on_progress: OnProgress = lambda *_: None, on_found: OnFound = lambda *_: None) -> Evaluated:
        """Play the tasks that are not finished yet, write the results file and return the results.

        If a results file with the same settings and tasks exists, nothing is played and the results in the file are
        returned. The option ``overwrite`` plays all tasks again.

        Args:
            on_progress: called after each task with three numbers of tasks: finished, all and solved.
            on_found: called once if an interrupted evaluation goes on.

        Raises:
            GridworldError: the model cannot be used, a file cannot be written, or the results file belongs to another
                evaluation.
        """
        exists = _require_file_or_nothing(self.output)
        header = {
            "settings": self._settings.to_dict(),
            "tasks": [task.to_dict() for task in self._tasks],
            "started": utc_now(),
            **read_source_state(applications()).to_dict(),
        }
        # The journal records each finished task until the results file is written.
        journal_path = self.output.with_name(f"{self.output.name}.partial.jsonl")
        overwrite = self._running.overwrite
        was_interrupted = journal_path.exists()
        is_finished = exists and not was_interrupted
        if is_finished and not overwrite:
            return self._load_earlier(header)
        starts_anew = not (was_interrupted or self._running.resume or overwrite)
        if starts_anew:
            self._calls.check()
        with (
            Journal(
                journal_path,
                header,
                TaskBenchmarkResult.from_dict,
                self._entry.may_change,
                resume=True,
                overwrite=overwrite,
                terms=WorkerSetup.terms,
            ) as journal,
            log_to_folder(self.output.parent),
        ):
            if overwrite:
                self._calls.remove()
            if journal.finished:
                on_found(len(journal.finished), len(self._tasks))
            try:
                self._play(journal, on_progress)  # adds results to ``journal.finished``, by index of the task
                self._require_played(journal.finished.values())
            finally:
                self.finished = sum(not _is_lost(result) for result in journal.finished.values())
                self.can_go_on = bool(self.finished) or self._calls.are_paid_for()
                if not self.can_go_on:
                    journal.remove()
                    self._calls.remove()
            results = [journal.finished[task.index] for task in self._tasks]
            evaluated = self._write(results, journal.header)
            journal.remove()
        return evaluated

    def _play(self, journal: Journal[TaskBenchmarkResult], on_progress: OnProgress) -> None:
        """Play every task that the journal does not hold yet, and record each result in the journal."""
        solved = sum(result.success for result in journal.finished.values())
        on_progress(len(journal.finished), len(self._tasks), solved)
        answered = any(result.steps_taken for result in journal.finished.values())
        setup = replace(self._setup, answered=answered)
        running = self._running
        with closing(do_what_is_left(setup, self._tasks, journal, running.workers, running.executor)) as playing:
            for result in playing:
                solved += result.success
                on_progress(len(journal.finished), len(self._tasks), solved)

    @staticmethod
    def _require_played(results: Collection[TaskBenchmarkResult]) -> None:
        """Check that a task was played, because a result without played tasks must not look like a score.

        Raises:
            EvaluationError: the workers died on every task.
        """
        if results and all(map(_is_lost, results)):
            first = next(iter(results))
            why = first.episode.info["model_error"]
            raise EvaluationError(f"no task was played, so there is no score: {why}")

    def _write(self, results: list[TaskBenchmarkResult], header: Mapping[str, Any]) -> Evaluated:
        """Write the results file and return the finished evaluation; ``header`` is the header of the journal."""
        evaluated = self._summarise(results)
        data = evaluated.benchmark.to_dict()
        task_results = data.pop("task_results")
        if evaluated.tiers is not None:
            data |= evaluated.tiers.to_dict()
        source = read_source_state(applications())
        run = {
            **header,
            **describe_changed_source(header, source),
            "finished": utc_now(),
            "versions": find_versions(*DISTRIBUTIONS),
            "model": self._model_details,
        }
        write_results(self.output, {**data, "run": run, "task_results": task_results})
        return evaluated

    def _summarise(self, results: list[TaskBenchmarkResult]) -> Evaluated:
        benchmark = BenchmarkEvaluationResult.of(self._settings.benchmark_name, self._model_name, results)
        tiers = None
        if self._settings.tasks.benchmark == "tiers":
            tiers = EvaluationResult.of(self._model_name, _by_tier(self._tasks, results))
        return Evaluated(benchmark, tiers, self.output)

    def _load_earlier(self, header: Mapping[str, Any]) -> Evaluated:
        """Return the finished evaluation from the existing results file.

        Raises:
            EvaluationError: the file belongs to another evaluation, or is not a results file.
        """
        ways_out = f"choose another --output, such as {self._free_output()}, or --overwrite it"
        try:
            earlier = BenchmarkEvaluationResult.load(self.output)
        except EvaluationError as error:
            raise EvaluationError(f"{error}; {ways_out}") from error
        different = difference(earlier.run, header, self._entry.may_change)
        expected_ids = [task.spec.task_id for task in self._tasks]
        ids = [result.task_id for result in earlier.task_results]
        if not different and ids != expected_ids:
            different = "its results are not of the tasks that it names"
        if different:
            raise EvaluationError(f"{self.output}: is of another evaluation: {different}; {ways_out}")
        self.finished = len(earlier.task_results)
        return replace(self._summarise(earlier.task_results), earlier=_describe_earlier(earlier.run))

    def _free_output(self) -> Path:
        """Return the first unused path among ``<name>_2``, ``<name>_3``, ... beside the output."""
        stem = self.output.stem
        names = (self.output.with_name(f"{stem}_{number}{self.output.suffix}") for number in count(2))
        return next(name for name in names if not os.path.lexists(name))

    def _default_output(self) -> Path:
        tiling = self._settings.tasks.tiling
        ending = "" if tiling == "square" else f"_{tiling}"
        name = f"{self._model_name}_{self._settings.benchmark_name}{ending}"
        stem = _UNSAFE.sub("_", name).lstrip(".")[:150]
        return Path("results") / f"{stem}.json"


def _describe_earlier(run: Mapping[str, Any]) -> str:
    """Return words that say since when the results have existed.

    The words also say if a different version of this program's source made the results.
    """
    finished = run.get("finished")
    since = f"since {finished}" if isinstance(finished, str) else "before"
    hashes = run.get("hashes")
    product = hashes.get("product") if isinstance(hashes, Mapping) else None
    if product == read_source_state(applications()).product:
        return since
    return f"{since}, made by {'an unknown' if product is None else 'another'} source of this program"


def _require_distinct(tasks: Iterable[EvaluationTask]) -> None:
    """Check that every file holds a different task, because the calls of equal tasks would be kept in one folder.

    Raises:
        EvaluationError: two files hold the same task.
    """
    files: dict[str, str] = {}
    for task in tasks:
        first = files.setdefault(json_text(task.spec.to_dict()), task.file)
        if first != task.file:
            raise EvaluationError(f"{task.file}: is the same task as {first}: remove one, or give it another task_id")


def _is_lost(result: TaskBenchmarkResult) -> bool:
    """Return whether a task was not played because the worker process died at every attempt."""
    return result.episode.info.get(LOST) is True


def _name_calls_folder(output: Path) -> Path:
    """Return the absolute path of the folder, beside a results file, in which the model's calls are kept."""
    return output.with_name(f"{output.name.removesuffix('.json')}.calls").resolve()


def _resolve_link(path: Path) -> Path:
    """Return the target of a symbolic link, because writing to the link would replace the link. Return other paths
    unchanged.
    """
    return Path(os.path.realpath(path)) if os.path.islink(path) else path


def _require_file_or_nothing(output: Path) -> bool:
    """Return whether the results file exists.

    Raises:
        EvaluationError: the path is something else, such as a folder or a device, or cannot be reached.
    """
    try:
        mode = output.stat().st_mode
    except FileNotFoundError:
        return False
    except OSError as error:
        raise EvaluationError(f"{output}: cannot be written: {error.strerror or error}") from error
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "not a regular file"
        raise EvaluationError(f"{output}: is {kind}; --output names a file")
    return True


def _by_tier(tasks: Iterable[EvaluationTask], results: Iterable[TaskBenchmarkResult]) -> dict[int, TierMetrics]:
    """Return the metrics of each tier; tasks and results are in the same order."""
    episodes: dict[int, list[Any]] = {}
    for task, result in zip(tasks, results, strict=True):
        if task.tier is not None:
            episodes.setdefault(task.tier, []).append(result.episode)
    return {tier: TierMetrics.of(tier, of_tier) for tier, of_tier in episodes.items()}
