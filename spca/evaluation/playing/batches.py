"""Batches of episodes as jobs of worker processes; a batch has a few seeds of one environment id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar

from spca.common.jobs.work import TRIES, Job, JobMessages, Setup
from spca.common.plugins.plugin_records import PluginRecord
from spca.evaluation.episodes import Episode
from spca.plugins.named import load_same_plugins


class Line(Protocol):
    """The result of a stage for one episode, which is stored as one line of a file."""

    def to_dict(self) -> dict[str, Any]: ...
    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self: ...
    @classmethod
    def make_lost_result(cls, episode: Episode, how: str) -> Self:
        """Return the result for an episode whose worker process died; ``how`` describes the death."""


L = TypeVar("L", bound=Line)
OpenWorker: TypeAlias = Callable[[Path], AbstractContextManager[Callable[[Episode], L]]]
"""Function that takes the evaluation's folder and opens a context; the context's value is a function that handles one
episode.

Functions of this type are pickled and sent to worker processes.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Job):
    """A non-empty sequence of episodes of one environment id."""

    episodes: tuple[Episode, ...]


@dataclass(frozen=True, slots=True)
class BatchResult(Generic[L]):
    """The results for the episodes of a batch, in the order of the episodes."""

    task_id: str
    lines: tuple[L, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-compatible data."""
        return {"task_id": self.task_id, "lines": [each.to_dict() for each in self.lines]}


def batches_of(episodes: Sequence[Episode], size: int) -> tuple[Batch, ...]:
    """Return batches of at most ``size`` consecutive episodes of the same level, in the order of the
    episodes.
    """
    batches: list[Batch] = []
    for _, group in groupby(episodes, lambda each: each.spec.name):
        of_id = tuple(group)
        for first in range(0, len(of_id), size):
            part = of_id[first : first + size]
            name = f"{part[0].name}-{part[-1].seed}"
            batches.append(Batch(len(batches), name, episodes=part))
    return tuple(batches)


@dataclass(frozen=True, slots=True)
class BatchSetup(Setup[Batch, BatchResult[L]]):
    """Set-up of a worker process for one stage of an evaluation.

    Attributes:
        folder: the evaluation's folder.
        open_worker: opens the context whose value is the function that handles one episode.
        kind: class of the result for one episode.
        plugins: the plugins of the main process.
    """

    terms: ClassVar[JobMessages] = JobMessages("evaluation", "agent", "--runs", again="begin a new evaluation")

    folder: Path
    open_worker: OpenWorker[L]
    kind: type[L]
    verbose: bool = False
    plugins: tuple[PluginRecord, ...] = ()

    @contextmanager
    def start_worker(self) -> Iterator[Callable[[Batch], BatchResult[L]]]:
        load_same_plugins(self.plugins)
        with self.open_worker(self.folder) as handle_episode:
            yield lambda batch: BatchResult(batch.id, tuple(map(handle_episode, batch.episodes)))

    def make_lost_result(self, job: Batch, how: str) -> BatchResult[L]:
        reason = f"{how}, {TRIES} times"
        lines = [self.kind.make_lost_result(episode, reason) for episode in job.episodes]
        return BatchResult(job.id, tuple(lines))

    def read(self, data: Mapping[str, Any]) -> BatchResult[L]:
        """Restore a result from the output of :meth:`BatchResult.to_dict`.

        Raises:
            KeyError, TypeError, ValueError: the data does not describe a result.
        """
        return BatchResult(data["task_id"], tuple(map(self.kind.from_dict, data["lines"])))
