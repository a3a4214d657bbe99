"""Success rates by hops, with confidence intervals (pure).

* TSR, the task success rate: the share of episodes in which every milestone latched, in one life.
* MSR, the milestone success rate: the share of all milestones of the episodes that latched.

Intervals are Wilson's at 95 % (:mod:`spca.common.statistics`). The interval of the MSR assumes independent milestones;
those of one scene are not independent, so it is somewhat too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from explorer.evaluation.results import Episode
from spca.common.statistics import Rate
from spca.common.text import counted


@dataclass(frozen=True, slots=True)
class HopMetrics:
    """Figures of the episodes in scenes with one number of hops.

    Attributes:
        hops: number of hops, None for all together.
        tsr: task success rate in one life.
        tsr_restored: task success rate with restores allowed.
        steps: mean over all lives; ``calls``, ``tokens`` and ``cost`` likewise.
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
        """Return the figures of at least one episode."""
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
        """Return the figures as JSON-compatible data."""
        data = {}
        for name in self.__slots__:
            value = getattr(self, name)
            data[name] = value.to_dict() if isinstance(value, Rate) else value
        return data


def by_hops(episodes: Iterable[Episode]) -> tuple[HopMetrics, ...]:
    """Return the figures for each number of hops, in order, then for all together; () for no episodes."""
    groups: dict[int, list[Episode]] = {}
    for episode in episodes:
        groups.setdefault(episode.hops, []).append(episode)
    if not groups:
        return ()
    rows = [HopMetrics.from_episodes(hops, groups[hops]) for hops in sorted(groups)]
    together = HopMetrics.from_episodes(None, list(chain.from_iterable(groups.values())))
    return (*rows, together)


def by_model(episodes: Iterable[Episode]) -> dict[str, tuple[HopMetrics, ...]]:
    """Return the figures of each model, by name; see :func:`by_hops`."""
    models: dict[str, list[Episode]] = {}
    for episode in episodes:
        models.setdefault(episode.model, []).append(episode)
    return {model: by_hops(models[model]) for model in sorted(models)}


def rate_lines(episodes: Iterable[Episode]) -> Iterator[str]:
    """Yield a line for each model and number of hops; texts of the episodes are not escaped."""
    for model, rows in by_model(episodes).items():
        for row in rows:
            hops = "all" if row.hops is None else counted(row.hops, "hop")
            played = counted(row.tsr.total, "episode")
            yield f"{model}, {hops}: {played}, TSR {row.tsr}, MSR {row.msr}"
