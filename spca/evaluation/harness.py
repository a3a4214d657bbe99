"""An evaluation from its folder to its results; whatever is finished is kept, wherever it was killed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from spca.common.encoding import json_text
from spca.common.files import locked
from spca.common.installation import OfApplication
from spca.common.jobs.dispatch import do_what_is_left
from spca.common.jobs.journal import Journal
from spca.common.jobs.work import Job, JobResult, Setup
from spca.evaluation.batches import PlayedBatch, PlayingSetup, batches_of
from spca.evaluation.episodes import Episode, Played
from spca.evaluation.eval_folder import EPISODES, EvaluationFolder

OnProgress = Callable[[str, int, int, int], None]
"""Called with what is being done, and the numbers of finished, all and successful pieces of it."""

_EPISODES: Final = "episodes"

J = TypeVar("J", bound=Job)
R = TypeVar("R", bound=JobResult)


class Harness:
    """Carries out an evaluation.

    Args:
        opened_player: given the folder, it returns a context whose value plays an episode.
    """

    def __init__(
        self,
        folder: EvaluationFolder,
        opened_player: OfApplication,
        workers: int = 1,
        on_progress: OnProgress = lambda *_: None,
    ) -> None:
        self._folder, self._opened_player = folder, opened_player
        self._workers, self._on_progress = workers, on_progress

    def run(self, episodes: Sequence[Episode]) -> tuple[Played, ...]:
        """Play what is left of the episodes, write the results and return them.

        Raises:
            SPCAError: the agent cannot be used, or a file cannot be written.
        """
        with locked(self._folder.path / "state", "evaluation"):
            played = self._play(episodes)
            lines = [json_text(each.to_dict()) for each in played]
            self._folder.write(EPISODES, "".join(f"{line}\n" for line in lines))
            return played

    def _play(self, episodes: Sequence[Episode]) -> tuple[Played, ...]:
        setup = PlayingSetup(self._folder.path, self._opened_player)

        def count(batches: Sequence[PlayedBatch]) -> tuple[int, int]:
            return sum(len(b.played) for b in batches), sum(each.pass1 for b in batches for each in b.played)

        jobs = batches_of(episodes)
        batches = self._stage(_EPISODES, setup, jobs, PlayedBatch.from_dict, count, len(episodes))
        return tuple(each for batch in batches for each in batch.played)

    def _stage(
        self,
        name: str,
        setup: Setup[J, R],
        jobs: Sequence[J],
        read: Callable[[Mapping[str, Any]], R],
        count: Callable[[Sequence[R]], tuple[int, int]],
        total: int,
    ) -> list[R]:
        """Do the jobs that the journal of this name lacks; return the results of all in their order.

        Args:
            count: how many pieces of work some results hold, and how many of them are successes.
            total: how many pieces there are.
        """
        header: dict[str, Any] = {"settings": {}, "tasks": [job.to_dict() for job in jobs]}
        path = self._folder.path / "state" / f"{name}.journal.jsonl"
        with Journal(path, header, read, resume=True, terms=setup.terms) as journal:
            finished, good = count(list(journal.finished.values()))
            self._on_progress(name, finished, total, good)
            for result in do_what_is_left(setup, jobs, journal, self._workers):
                more, better = count([result])
                finished, good = finished + more, good + better
                self._on_progress(name, finished, total, good)
            return [journal.finished[job.index] for job in jobs]

    def clean_up(self) -> None:
        """Remove the journals: the results are written."""
        for path in sorted(Path(self._folder.path / "state").glob("*.journal.jsonl")):
            path.unlink()
