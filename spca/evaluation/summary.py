"""Figures of an evaluation: success rates, failures, and comparison with the bot (no input or output)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, TypeVar

from spca.common.statistics import Estimate, Rate, ratio_of_sums
from spca.evaluation.episodes import BotPlayed, Judged, Played
from spca.evaluation.proof.certifying import Solvability

T = TypeVar("T")
R = TypeVar("R")

SAME_WORLDS: Final[Mapping[str, str]] = {
    "BabyAI-KeyCorridorS6R3-v0": "BabyAI-KeyCorridor-v0",
    "BabyAI-OpenDoorDebug-v0": "BabyAI-OpenDoor-v0",
    "BabyAI-OpenDoorsOrderN2Debug-v0": "BabyAI-OpenDoorsOrderN2-v0",
    "BabyAI-OpenDoorsOrderN4Debug-v0": "BabyAI-OpenDoorsOrderN4-v0",
    "BabyAI-OpenRedBlueDoorsDebug-v0": "BabyAI-OpenRedBlueDoors-v0",
    "BabyAI-PickupDistDebug-v0": "BabyAI-PickupDist-v0",
    "BabyAI-SynthSeq-v0": "BabyAI-BossLevel-v0",
    "MiniGrid-UnlockPickup-v0": "BabyAI-UnlockPickup-v0",
}
"""Pairs of ids that give the same world and mission for most seeds (minigrid 3.2).

The environments of a pair may be judged by different rules. Both ids belong to one cluster of the bootstrap, because
their episodes are not independent.
"""


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of a group of episodes; ``pass1``, ``solved`` and ``steps`` ignore episodes proven to be unsolvable.

    Attributes:
        pass1: rate of episodes that the first trial solved.
        solved: rate of episodes that any trial solved.
        steps: sum of the primitives in the episodes that the first trial solved.
        unsolvable: number of the ignored episodes.
    """

    name: str
    pass1: Rate
    solved: Rate
    steps: int
    unsolvable: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-compatible data."""
        return asdict(self) | {"pass1": self.pass1.to_dict(), "solved": self.solved.to_dict()}


@dataclass(frozen=True, slots=True)
class Block:
    """Figures of all ids in the curriculum, or of all ids outside the curriculum.

    Attributes:
        pooled: figures of all episodes.
        interval: value of ``pooled.pass1`` and its interval by a bootstrap that resamples ids; None if there is no
            episode.
        interval_solved: value of ``pooled.solved`` and its interval by the same bootstrap.
        categories: figures by category.
        ids: figures by environment id.
    """

    pooled: Row
    interval: Estimate | None
    interval_solved: Estimate | None
    categories: tuple[Row, ...]
    ids: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-compatible data."""
        return {
            **asdict(self),
            "pooled": self.pooled.to_dict(),
            "categories": [row.to_dict() for row in self.categories],
            "ids": [row.to_dict() for row in self.ids],
        }


@dataclass(frozen=True, slots=True)
class PairRow:
    """Numbers of episodes that both we (the frozen agent) and the bot played, by who solved them.

    Attributes:
        our_steps, bots_steps: primitives in the episodes that both solved.
    """

    name: str
    both: int
    ours_only: int
    bots_only: int
    neither: int
    our_steps: int
    bots_steps: int

    @property
    def ratio(self) -> float | None:
        """Our steps divided by the bot's steps; None if both solved no episode in common."""
        return self.our_steps / self.bots_steps if self.bots_steps else None


@dataclass(frozen=True, slots=True)
class Versus:
    """Comparison with the bot on the episodes that the bot can play.

    Attributes:
        pooled: counts of all these episodes.
        interval: our steps divided by the bot's steps, with an interval by a bootstrap that resamples ids; None if
            there is no ratio.
        categories: counts by category.
        ids: counts by environment id.
        reasons: number of the bot's failures by reason.
        unsupported: number of the episodes that the bot cannot play.
    """

    pooled: PairRow
    interval: Estimate | None
    categories: tuple[PairRow, ...]
    ids: tuple[PairRow, ...]
    reasons: Mapping[str, int]
    unsupported: int

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-compatible data."""
        return {**asdict(self), "ratio": self.pooled.ratio}


@dataclass(frozen=True, slots=True)
class Failure:
    """An episode that the first trial did not solve.

    Attributes:
        judged: the verdict on whether the episode can be solved; None if no proof was attempted.
        refuted_by: if the verdict "unsolvable" is wrong, the bot or the attempt that solved the episode; else "".
    """

    played: Played
    judged: Judged | None
    refuted_by: str = ""

    @property
    def proof(self) -> str:
        """The verdict: ``solvable``, ``unsolvable``, ``undecided``, or ``refuted`` if the certificate is wrong."""
        if self.refuted_by:
            return "refuted"
        solvability = self.judged.verdict.solvability if self.judged else Solvability.UNDECIDED
        return solvability.value

    def to_dict(self) -> dict[str, Any]:
        """Return the failure as JSON-compatible data; the key ``replay`` is an argument of the command ``replay``."""
        played = self.played
        verdict = self.judged.verdict if self.judged else None
        return {
            "replay": played.episode.name,
            "category": played.episode.category,
            "failure": played.failure,
            "reason": played.reason,
            "planner": played.trials[0].planner,
            "solved_later": played.solved,
            "proof": self.proof,
            "refuted_by": self.refuted_by,
            "certificate": verdict.reason if verdict else "",
            "map": list(verdict.map) if verdict else [],
            "witness": list(verdict.witness) if verdict else [],
        }


@dataclass(frozen=True)
class Results:
    """All results of an evaluation; each tuple is in the order of the episodes."""

    played: tuple[Played, ...]
    judged: tuple[Judged, ...] = ()
    bot: tuple[BotPlayed, ...] = ()

    @cached_property
    def failed(self) -> tuple[Failure, ...]:
        """Episodes that the first trial did not solve."""
        verdicts = {(each.env_id, each.seed): each for each in self.judged}
        failures = []
        for played in self.played:
            if not played.pass1:
                key = (played.env_id, played.seed)
                refuted_by = self._refuted.get(key, "")
                failures.append(Failure(played, verdicts.get(key), refuted_by))
        return tuple(failures)

    @cached_property
    def inside(self) -> Block:
        """Figures of the ids that the curriculum has."""
        return self._summarize(self._select_played(outside=False))

    @cached_property
    def outside(self) -> Block:
        """Figures of the ids that the curriculum lacks."""
        return self._summarize(self._select_played(outside=True))

    @cached_property
    def planners(self) -> Counter[str]:
        """Number of episodes by who made the first plan: "writers", the name of a model, or "" for no plan."""
        first_planners = (each.trials[0].planner for each in self.played)
        return Counter("writers" if _is_writer(name) else name for name in first_planners)

    @cached_property
    def versus(self) -> Versus | None:
        """Comparison with the bot on the ids that the curriculum has; None if the bot played no such episode."""
        return self._versus(self._select_played(outside=False))

    @cached_property
    def versus_outside(self) -> Versus | None:
        """Comparison with the bot on the ids that the curriculum lacks; None if the bot played no such episode."""
        return self._versus(self._select_played(outside=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the content of ``summary.json``."""
        return {
            "episodes": len(self.played),
            "planners": dict(self.planners),
            "curriculum": self.inside.to_dict(),
            "outside": self.outside.to_dict(),
            "failures": dict(Counter(each.played.failure for each in self.failed)),
            "failed": [each.to_dict() for each in self.failed],
            "bot": self.versus.to_dict() if self.versus else None,
            "bot_outside": self.versus_outside.to_dict() if self.versus_outside else None,
        }

    def _select_played(self, *, outside: bool) -> list[Played]:
        """Return the episodes with ids outside the curriculum if ``outside`` is set, else those with ids inside."""
        return [each for each in self.played if each.episode.outside == outside]

    @cached_property
    def _certified(self) -> frozenset[tuple[str, int]]:
        """Pairs (id, seed) of the episodes with a certificate of unsolvability, which may be wrong."""
        unsolvable = [each for each in self.judged if each.verdict.solvability is Solvability.UNSOLVABLE]
        return frozenset((each.env_id, each.seed) for each in unsolvable)

    @cached_property
    def _refuted(self) -> dict[tuple[str, int], str]:
        """For each episode (id, seed) that was solved despite a certificate of unsolvability: the bot or attempt that
        solved it.
        """
        solvers = {(each.env_id, each.seed): "the bot" for each in self.bot if each.solved}
        for played in self.played:
            if played.solved:
                solvers[played.env_id, played.seed] = f"attempt {played.attempts}"
        return {key: solver for key, solver in solvers.items() if key in self._certified}

    @cached_property
    def _unsolvable(self) -> frozenset[tuple[str, int]]:
        """Pairs (id, seed) of the episodes with a certificate of unsolvability that no solution refutes."""
        return self._certified - self._refuted.keys()

    def _drop_unsolvable(self, played: Iterable[Played]) -> list[Played]:
        """Return the episodes that are not proven to be unsolvable."""
        return [each for each in played if (each.env_id, each.seed) not in self._unsolvable]

    def _versus(self, played: Sequence[Played]) -> Versus | None:
        """Return a comparison with the bot's results; None if the bot did not play or ``played`` is empty."""
        if not (self.bot and played):
            return None
        bots = {(each.env_id, each.seed): each for each in self.bot}
        pairs = [(each, bots[each.env_id, each.seed]) for each in self._drop_unsolvable(played)]
        supported = [(ours, bot) for ours, bot in pairs if bot.is_supported]
        ids = _group_rows(supported, lambda pair: pair[0].env_id, _count_pairs)
        categories = _group_rows(supported, lambda pair: pair[0].episode.category, _count_pairs)
        reasons = Counter(bot.reason for _, bot in supported if not bot.solved)
        steps = [(row.name, row.our_steps, row.bots_steps) for row in ids]
        return Versus(
            pooled=_count_pairs("all", supported),
            interval=_estimate_ratio(steps),
            categories=categories,
            ids=ids,
            reasons=dict(reasons.most_common()),
            unsupported=len(pairs) - len(supported),
        )

    def _summarize(self, played: Sequence[Played]) -> Block:
        """Return the figures of episodes: pooled, by category and by id."""
        ids = _group_rows(played, lambda each: each.env_id, self._row)
        categories = _group_rows(played, lambda each: each.episode.category, self._row)
        pass1 = [(row.name, row.pass1.good, row.pass1.total) for row in ids]
        solved = [(row.name, row.solved.good, row.solved.total) for row in ids]
        pooled = self._row("all", played)
        return Block(pooled, _estimate_ratio(pass1), _estimate_ratio(solved), categories, ids)

    def _row(self, name: str, played: Sequence[Played]) -> Row:
        """Return the figures of a group of episodes."""
        counted = self._drop_unsolvable(played)
        total = len(counted)
        solved_first = [each for each in counted if each.pass1]
        solved = sum(each.solved for each in counted)
        steps = sum(each.steps for each in solved_first)
        return Row(name, Rate(len(solved_first), total), Rate(solved, total), steps, len(played) - total)


def _is_writer(planner: str) -> bool:
    """Return whether a planner's name is the label of a writer, such as ``unlock/v003``.

    Names of models can look similar, such as ``openai/4``.
    """
    return re.fullmatch(r"[^/]+/v\d{3,}", planner) is not None


def _group_rows(items: Iterable[T], key: Callable[[T], str], row: Callable[[str, Sequence[T]], R]) -> tuple[R, ...]:
    """Group items by ``key`` in order of first appearance, and return ``row(name, group)`` of each group."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return tuple(row(name, group) for name, group in groups.items())


def _estimate_ratio(terms: Iterable[tuple[str, int, int]]) -> Estimate | None:
    """Return the sum of numerators divided by the sum of denominators, with a bootstrap interval.

    If the denominators add up to 0, return None.

    Args:
        terms: (environment id, numerator, denominator); ids of :data:`SAME_WORLDS` are added up to one cluster.
    """
    clusters: dict[str, tuple[int, int]] = {}
    for env_id, numerator, denominator in terms:
        cluster = SAME_WORLDS.get(env_id, env_id)
        numerators, denominators = clusters.get(cluster, (0, 0))
        clusters[cluster] = numerators + numerator, denominators + denominator
    return ratio_of_sums(list(clusters.values()))


def _count_pairs(name: str, pairs: Sequence[tuple[Played, BotPlayed]]) -> PairRow:
    """Count the episodes that both, only we, only the bot, or neither solved, and return the counts.

    We have solved an episode if our first trial succeeded.

    Args:
        pairs: (our result, bot's result) for each episode.
    """
    both = [(ours, bot) for ours, bot in pairs if ours.pass1 and bot.solved]
    ours_only = sum(ours.pass1 and not bot.solved for ours, bot in pairs)
    bots_only = sum(bot.solved and not ours.pass1 for ours, bot in pairs)
    neither = len(pairs) - len(both) - ours_only - bots_only
    our_steps = sum(ours.steps for ours, _ in both)
    bots_steps = sum(bot.steps for _, bot in both)
    return PairRow(name, len(both), ours_only, bots_only, neither, our_steps, bots_steps)
