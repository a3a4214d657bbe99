"""Episodes as jobs of worker processes: a batch is a few seeds of one id, done one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, Self, TypeAlias, TypeVar

from spca.common.jobs.work import TRIES, Job, JobMessages, Setup
from spca.evaluation.episodes import Episode


class Line(Protocol):
    """What was found of an episode; a line of a file."""

    def to_dict(self) -> dict[str, Any]: ...
    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self: ...
    @classmethod
    def lost(cls, episode: Episode, how: str) -> Self:
        """Return what is known of an episode whose worker process died."""


L = TypeVar("L", bound=Line)
OpenWorker: TypeAlias = Callable[[Path], AbstractContextManager[Callable[[Episode], L]]]
"""Given the folder, it returns a context whose value deals with one episode; it is sent to processes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Job):
    """Episodes of one id, at least one."""

    episodes: tuple[Episode, ...]


@dataclass(frozen=True, slots=True)
class BatchResult(Generic[L]):
    """What was found of the episodes of a batch, in their order."""

    task_id: str
    lines: tuple[L, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-compatible data."""
        return {"task_id": self.task_id, "lines": [each.to_dict() for each in self.lines]}


def batches_of(episodes: Sequence[Episode], size: int) -> tuple[Batch, ...]:
    """Return the batches of episodes in their order; ``size`` is that of the largest."""
    groups = (tuple(group) for _, group in groupby(episodes, lambda each: each.env_id))
    parts = [group[at : at + size] for group in groups for at in range(0, len(group), size)]
    return tuple(Batch(index, f"{part[0].name}-{part[-1].seed}", episodes=part) for index, part in enumerate(parts))


@dataclass(frozen=True, slots=True)
class BatchSetup(Setup[Batch, BatchResult[L]]):
    """How a worker prepares for the episodes of an evaluation.

    Attributes:
        folder: of the evaluation.
        open_worker: opens what deals with an episode.
        kind: of the lines.
    """

    terms: ClassVar[JobMessages] = JobMessages("evaluation", "agent", "--runs", again="begin a new evaluation")

    folder: Path
    open_worker: OpenWorker[L]
    kind: type[L]
    verbose: bool = False

    @contextmanager
    def opened(self) -> Iterator[Callable[[Batch], BatchResult[L]]]:
        with self.open_worker(self.folder) as do:
            yield lambda batch: BatchResult(batch.id, tuple(map(do, batch.episodes)))

    def lost(self, job: Batch, how: str) -> BatchResult[L]:
        return BatchResult(job.id, tuple(self.kind.lost(each, f"{how}, {TRIES} times") for each in job.episodes))

    def read(self, data: Mapping[str, Any]) -> BatchResult[L]:
        """Return the value of what :meth:`BatchResult.to_dict` made of one.

        Raises:
            KeyError, TypeError, ValueError: the data is something else.
        """
        return BatchResult(data["task_id"], tuple(map(self.kind.from_dict, data["lines"])))
