"""Episodes as jobs of worker processes: a batch is a few seeds of one id, played one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from spca.common.installation import OfApplication
from spca.common.jobs.work import TRIES, Job, Setup, Terms
from spca.evaluation.episodes import LOST, Episode, Played, Trial

SIZE: Final = 10
"""Episodes of a batch, at most: as many are played again after a kill; each batch waits for the disk once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(Job):
    """Episodes of one id, at least one."""

    episodes: tuple[Episode, ...]


@dataclass(frozen=True, slots=True)
class PlayedBatch:
    """How the episodes of a batch went, in their order."""

    task_id: str
    played: tuple[Played, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-compatible data."""
        return {"task_id": self.task_id, "played": [each.to_dict() for each in self.played]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the value of such data.

        Raises:
            KeyError, TypeError, ValueError: the data is something else.
        """
        return cls(data["task_id"], tuple(map(Played.from_dict, data["played"])))


def batches_of(episodes: Sequence[Episode], size: int = SIZE) -> tuple[Batch, ...]:
    """Return the batches of episodes in their order."""
    groups = (tuple(group) for _, group in groupby(episodes, lambda each: each.env_id))
    parts = [group[at : at + size] for group in groups for at in range(0, len(group), size)]
    return tuple(Batch(index, f"{part[0].name}-{part[-1].seed}", episodes=part) for index, part in enumerate(parts))


@dataclass(frozen=True, slots=True)
class PlayingSetup(Setup[Batch, PlayedBatch]):
    """How a worker prepares to play the episodes of an evaluation's folder.

    Attributes:
        opened_player: given the folder, it returns a context whose value plays an episode.
    """

    terms: ClassVar[Terms] = Terms("evaluation", "agent", "--runs")

    folder: Path
    opened_player: OfApplication
    verbose: bool = False

    @contextmanager
    def opened(self) -> Iterator[Callable[[Batch], PlayedBatch]]:
        with self.opened_player(self.folder) as play:
            yield lambda batch: PlayedBatch(batch.id, tuple(map(play, batch.episodes)))

    def lost(self, job: Batch, how: str) -> PlayedBatch:
        trial = Trial("", LOST, f"{how}, {TRIES} times")
        return PlayedBatch(job.id, tuple(Played(episode, (trial,)) for episode in job.episodes))
