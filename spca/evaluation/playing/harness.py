"""Execution of an evaluation in stages; a journal stores finished episodes, so that an evaluation can be resumed."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Generic

from spca.common.debug_log import log_to_folder
from spca.common.encoding import json_text
from spca.common.errors import SPCAError
from spca.common.files import MAX_RUN_FILE_BYTES, lock_folder, make_folder, read_text, remove_torn_files
from spca.common.jobs.dispatch import do_what_is_left
from spca.common.jobs.journal import Journal
from spca.errors import ResumeError
from spca.evaluation.episodes import BotPlayed, Episode, Judged, Played
from spca.evaluation.eval_folder import SUMMARY, EvaluationFolder
from spca.evaluation.options import EMBEDDED, NO_MODEL
from spca.evaluation.playing.batches import BatchSetup, L, OpenWorker, batches_of
from spca.evaluation.playing.workers import open_bot, open_player, open_prover
from spca.evaluation.summary import Results
from spca.plugins.loaded import loaded_plugins
from spca.runs.phases import LoadPhases

_LOG: Final = logging.getLogger(__name__)

OnProgress = Callable[[str, int, int, int], None]
"""Function that receives the name of a stage and three numbers of episodes: finished, all, and successful."""


@dataclass(frozen=True, slots=True)
class Stage(Generic[L]):
    """A pass over episodes: play them, prove whether they can be solved, or have the bot play them.

    Attributes:
        name: name of the stage's files, without extension.
        kind: class of the stage's result for one episode.
        is_good: whether a result is a success.
        size: largest number of episodes in a batch. If the evaluation is killed, each worker loses at most one batch.
            Each batch waits for the disk once.
    """

    name: str
    kind: type[L]
    is_good: Callable[[L], bool]
    size: int

    def read(self, folder: EvaluationFolder) -> tuple[L, ...]:
        """Return the stage's results in a finished evaluation; () if the stage has no file.

        Raises:
            ResumeError: the stage's file cannot be read.
        """
        path = folder.path / f"{self.name}.jsonl"
        if not path.exists():
            return ()
        try:
            lines = read_text(path, MAX_RUN_FILE_BYTES).splitlines()
            return tuple(self.kind.from_dict(json.loads(line)) for line in lines)
        except (SPCAError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ResumeError(f"{path} cannot be read: {error}") from error


PLAYING: Final = Stage("episodes", Played, lambda line: line.pass1, 10)
PROVING: Final = Stage("proofs", Judged, lambda line: line.is_decided, 1)
PEER: Final = Stage("bot", BotPlayed, lambda line: line.solved, 10)


class Harness:
    """Carries out an evaluation.

    Args:
        workers: number of processes. None stands for one process if a model is asked, and otherwise for one process for
            each processor.
        executor: a key of :data:`spca.common.jobs.dispatch.ENGINES`.
    """

    def __init__(
        self,
        folder: EvaluationFolder,
        load_phases: LoadPhases,
        workers: int | None = None,
        on_progress: OnProgress = lambda *_: None,
        executor: str = "local",
    ) -> None:
        self._folder = folder
        self._load_phases = load_phases
        asks_model = folder.settings.planner_model not in (EMBEDDED, NO_MODEL)
        default_workers = 1 if asks_model else len(os.sched_getaffinity(0))
        self._workers = workers or default_workers
        self._on_progress = on_progress
        self._executor = executor

    def run(self, episodes: Sequence[Episode]) -> Results:
        """Carry out the unfinished part of the evaluation, write the results and return them.

        If the evaluation is already finished, only read the results. In both cases, delete the journals.

        Raises:
            SPCAError: the agent cannot be used, or a file cannot be written.
        """
        folder = self._folder
        state = folder.path / "state"
        make_folder(state)
        with lock_folder(state, "evaluation"), log_to_folder(folder.path):
            remove_torn_files(folder.path)
            evaluation_results = results(folder) if folder.is_finished else self._carry_out(episodes)
            for journal in sorted(state.glob("*.journal.jsonl")):
                journal.unlink()
        return evaluation_results

    def _carry_out(self, episodes: Sequence[Episode]) -> Results:
        """Carry out every stage, write the summary, which marks the evaluation as finished, and return the results."""
        played = self._run_stage(PLAYING, partial(open_player, self._load_phases), episodes)
        failed = [each.episode for each in played if not each.pass1]
        judged = self._run_stage(PROVING, partial(open_prover, self._load_phases), failed)
        bot = self._run_stage(PEER, open_bot, episodes) if self._folder.settings.versus else ()
        evaluation_results = Results(played, judged, bot)
        self._folder.finish(evaluation_results.to_dict())
        return evaluation_results

    def _run_stage(self, stage: Stage[L], open_worker: OpenWorker[L], episodes: Sequence[Episode]) -> tuple[L, ...]:
        """Handle the episodes that the stage's journal lacks; then write and return the results of all episodes."""
        setup = BatchSetup(self._folder.path, open_worker, stage.kind, plugins=loaded_plugins())
        jobs = batches_of(episodes, stage.size)
        header: dict[str, Any] = {"settings": {}, "tasks": [job.to_dict() for job in jobs]}
        path = self._folder.path / "state" / f"{stage.name}.journal.jsonl"
        with Journal(path, header, setup.read, resume=True, terms=setup.terms) as journal:
            lines = [line for result in journal.finished.values() for line in result.lines]
            finished = len(lines)
            good = sum(map(stage.is_good, lines))
            _LOG.info("%s: %d of %d episodes are finished", stage.name, finished, len(episodes))
            self._on_progress(stage.name, finished, len(episodes), good)
            for result in do_what_is_left(setup, jobs, journal, self._workers, self._executor):
                finished += len(result.lines)
                good += sum(map(stage.is_good, result.lines))
                self._on_progress(stage.name, finished, len(episodes), good)
            in_order = tuple(line for job in jobs for line in journal.finished[job.index].lines)

        texts = [f"{json_text(line.to_dict())}\n" for line in in_order]
        self._folder.write(f"{stage.name}.jsonl", "".join(texts))
        return in_order


def results(folder: EvaluationFolder) -> Results:
    """Return the results of a finished evaluation, read from its files.

    Raises:
        ResumeError: a file cannot be read, or the files contradict ``summary.json``.
    """
    stored = Results(PLAYING.read(folder), PROVING.read(folder), PEER.read(folder))
    try:
        is_consistent = _extract_counts(stored.to_dict()) == _extract_counts(folder.summary())
    except (KeyError, TypeError):
        is_consistent = False
    if not is_consistent:
        raise ResumeError(f"{folder.path}: its lines are not those that {SUMMARY} was made of: begin a new evaluation")
    return stored


def _extract_counts(summary: Mapping[str, Any]) -> Any:
    """Return the counts in a summary, without intervals, because a later version may compute intervals differently."""
    blocks = [summary[name] for name in ("curriculum", "outside", "bot", "bot_outside")]
    counts: dict[str, Any] = {"episodes": summary["episodes"]}
    counts["ids"] = [block and block["ids"] for block in blocks]  # None for a comparison that was not made
    counts["failed"] = [(each["replay"], each["failure"], each["proof"]) for each in summary["failed"]]
    # Through JSON, tuples of a new summary become lists, as in a summary that was read from a file.
    return json.loads(json_text(counts))
