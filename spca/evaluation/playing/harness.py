"""An evaluation from its folder to its results; whatever is finished is kept, wherever it was killed."""

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
from spca.common.files import LARGEST, locked, make_folder, read_text, remove_torn_files
from spca.common.jobs.dispatch import do_what_is_left
from spca.common.jobs.journal import Journal
from spca.errors import ResumeError
from spca.evaluation.episodes import BotPlayed, Episode, Judged, Played
from spca.evaluation.eval_folder import SUMMARY, EvaluationFolder
from spca.evaluation.options import EMBEDDED, NO_MODEL
from spca.evaluation.playing.batches import BatchSetup, L, OpenWorker, batches_of
from spca.evaluation.playing.workers import open_bot, open_player, open_prover
from spca.evaluation.summary import Results
from spca.runs.phases import LoadPhases

_LOG: Final = logging.getLogger(__name__)

OnProgress = Callable[[str, int, int, int], None]
"""Called with what is being done, and the numbers of finished, all and successful episodes of it."""


@dataclass(frozen=True, slots=True)
class Stage(Generic[L]):
    """A pass over episodes.

    Attributes:
        name: of its files.
        kind: of its lines.
        is_good: whether a line is what one hopes for.
        size: episodes of a batch, at most: as many are done again after a kill, and each batch waits for the disk once.
    """

    name: str
    kind: type[L]
    is_good: Callable[[L], bool]
    size: int

    def read(self, folder: EvaluationFolder) -> tuple[L, ...]:
        """Return the lines of a finished evaluation, () where there was nothing to do.

        Raises:
            ResumeError: they cannot be read.
        """
        path = folder.path / f"{self.name}.jsonl"
        if not path.exists():
            return ()
        try:
            lines = read_text(path, LARGEST).splitlines()
            return tuple(self.kind.from_dict(json.loads(line)) for line in lines)
        except (SPCAError, KeyError, TypeError, ValueError, RecursionError) as error:
            raise ResumeError(f"{path} cannot be read: {error}") from error


PLAYING: Final = Stage("episodes", Played, lambda line: line.pass1, 10)
PROVING: Final = Stage("proofs", Judged, lambda line: line.is_decided, 1)
PEER: Final = Stage("bot", BotPlayed, lambda line: line.solved, 10)


class Harness:
    """Carries out an evaluation.

    Args:
        workers: how many processes play; None for one for each processor, or one where a model is asked.
    """

    def __init__(
        self,
        folder: EvaluationFolder,
        load_phases: LoadPhases,
        workers: int | None = None,
        on_progress: OnProgress = lambda *_: None,
    ) -> None:
        self._folder = folder
        self._load_phases = load_phases
        is_asked = folder.settings.planner_model not in (EMBEDDED, NO_MODEL)
        self._workers = workers or (1 if is_asked else len(os.sched_getaffinity(0)))
        self._on_progress = on_progress

    def run(self, episodes: Sequence[Episode]) -> Results:
        """Do what is left, write the results and return them.

        Raises:
            SPCAError: the agent cannot be used, or a file cannot be written.
        """
        folder = self._folder
        make_folder(folder.path / "state")
        with locked(folder.path / "state", "evaluation"), log_to_folder(folder.path):
            remove_torn_files(folder.path)
            found = results(folder) if folder.is_finished else self._found(episodes)
            for path in sorted((folder.path / "state").glob("*.journal.jsonl")):
                path.unlink()
        return found

    def _found(self, episodes: Sequence[Episode]) -> Results:
        """Carry out every stage and write the summary, which makes the evaluation final."""
        played = self._done(PLAYING, partial(open_player, self._load_phases), episodes)
        failed = [each.episode for each in played if not each.pass1]
        judged = self._done(PROVING, partial(open_prover, self._load_phases), failed)
        bot = self._done(PEER, open_bot, episodes) if self._folder.settings.versus else ()
        found = Results(played, judged, bot)
        self._folder.finish(found.to_dict())
        return found

    def _done(self, stage: Stage[L], open_worker: OpenWorker[L], episodes: Sequence[Episode]) -> tuple[L, ...]:
        """Do the episodes that the journal of a stage lacks; write the lines of all, and return them."""
        setup = BatchSetup(self._folder.path, open_worker, stage.kind)
        jobs = batches_of(episodes, stage.size)
        header: dict[str, Any] = {"settings": {}, "tasks": [job.to_dict() for job in jobs]}
        path = self._folder.path / "state" / f"{stage.name}.journal.jsonl"
        with Journal(path, header, setup.read, resume=True, terms=setup.terms) as journal:
            lines = [line for done in journal.finished.values() for line in done.lines]
            finished = len(lines)
            good = sum(map(stage.is_good, lines))
            _LOG.info("%s: %d of %d episodes are finished", stage.name, finished, len(episodes))
            self._on_progress(stage.name, finished, len(episodes), good)
            for done in do_what_is_left(setup, jobs, journal, self._workers):
                finished = finished + len(done.lines)
                good = good + sum(map(stage.is_good, done.lines))
                self._on_progress(stage.name, finished, len(episodes), good)
            found = tuple(line for job in jobs for line in journal.finished[job.index].lines)
        self._folder.write(f"{stage.name}.jsonl", "".join(f"{json_text(line.to_dict())}\n" for line in found))
        return found


def results(folder: EvaluationFolder) -> Results:
    """Return what is in the files of a finished evaluation.

    Raises:
        ResumeError: they cannot be read, or are not those that it was finished with.
    """
    found = Results(PLAYING.read(folder), PROVING.read(folder), PEER.read(folder))
    try:
        same = _counts(found.to_dict()) == _counts(folder.summary())
    except (KeyError, TypeError):
        same = False
    if not same:
        raise ResumeError(f"{folder.path}: its lines are not those that {SUMMARY} was made of: begin a new evaluation")
    return found


def _counts(summary: Mapping[str, Any]) -> Any:
    """Return what a summary counts; intervals may be computed otherwise one day."""
    blocks = [summary[name] for name in ("curriculum", "outside", "bot", "bot_outside")]
    counts = {"ids": [block and block["ids"] for block in blocks], "episodes": summary["episodes"]}
    counts["failed"] = [(each["replay"], each["failure"], each["proof"]) for each in summary["failed"]]
    return json.loads(json_text(counts))
