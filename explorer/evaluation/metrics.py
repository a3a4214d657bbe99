"""Success rates by number of hops, with confidence intervals; pure functions.

* TSR, the task success rate, is the fraction of episodes in which every milestone latched without a restore. A restore
  takes the player back to an earlier state and so begins another life.
* MSR, the milestone success rate, is the fraction of milestones that latched, among all milestones of all episodes.

Intervals are Wilson's at 95 % (:mod:`spca.common.statistics`). The interval of the MSR assumes independent milestones.
Because the milestones of one scene depend on each other, this interval is somewhat too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from explorer.evaluation.results import Episode
from spca.common.statistics import Rate
from spca.common.text import format_count


@dataclass(frozen=True, slots=True)
class HopMetrics:
    """Statistics of the episodes in scenes with the same number of hops.

    Attributes:
        hops: number of hops, or None for the episodes of all scenes.
        tsr: task success rate without restores.
        tsr_restored: task success rate with restores allowed.
        msr: milestone success rate.
        steps: mean number of steps of an episode, over all its lives.
        calls, tokens, cost: means per episode of the model calls, their tokens and their cost in USD.
        refuted: number of episodes that refute the certificate of their scene.
        failed: number of episodes that ended with an error of the agent.
    """

    hops: int | None
    tsr: Rate
    tsr_restored: Rate
    msr: Rate
    steps: float
    calls: float
    tokens: float
    cost: float
    refuted: int
    failed: int

    @classmethod
    def from_episodes(cls, hops: int | None, episodes: Sequence[Episode]) -> HopMetrics:
        """Return the statistics of episodes; there must be at least one episode."""
        count = len(episodes)
        return cls(
            hops=hops,
            tsr=Rate(sum(each.solved and not each.restores for each in episodes), count),
            tsr_restored=Rate(sum(each.solved for each in episodes), count),
            msr=Rate(sum(len(each.latched) for each in episodes), sum(each.hops for each in episodes)),
            steps=math.fsum(each.steps for each in episodes) / count,
            calls=math.fsum(each.calls for each in episodes) / count,
            tokens=math.fsum(each.tokens for each in episodes) / count,
            cost=math.fsum(each.cost for each in episodes) / count,
            refuted=sum(each.certificate_refuted for each in episodes),
            failed=sum(bool(each.error) for each in episodes),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as JSON-compatible data."""
        data = {}
        for name in self.__slots__:
            value = getattr(self, name)
            data[name] = value.to_dict() if isinstance(value, Rate) else value
        return data


def by_hops(episodes: Iterable[Episode]) -> tuple[HopMetrics, ...]:
    """Return the statistics for each number of hops, in ascending order, followed by the statistics of all episodes.

    The result is empty if there are no episodes.
    """
    groups: dict[int, list[Episode]] = {}
    for episode in episodes:
        groups.setdefault(episode.hops, []).append(episode)
    if not groups:
        return ()
    rows = [HopMetrics.from_episodes(hops, groups[hops]) for hops in sorted(groups)]
    total = HopMetrics.from_episodes(None, list(chain.from_iterable(groups.values())))
    return (*rows, total)


def by_model(episodes: Iterable[Episode]) -> dict[str, tuple[HopMetrics, ...]]:
    """Return model -> result of :func:`by_hops` for the episodes of the model, sorted by the name of the model."""
    models: dict[str, list[Episode]] = {}
    for episode in episodes:
        models.setdefault(episode.model, []).append(episode)
    return {model: by_hops(models[model]) for model in sorted(models)}


def rate_lines(episodes: Iterable[Episode]) -> Iterator[str]:
    """Yield a line of text for each model and number of hops; the names of models are not escaped."""
    for model, rows in by_model(episodes).items():
        for row in rows:
            hops = "all" if row.hops is None else format_count(row.hops, "hop")
            played = format_count(row.tsr.total, "episode")
            yield f"{model}, {hops}: {played}, TSR {row.tsr}, MSR {row.msr}"
