"""Figures of an evaluation: shares by id and category, pooled, failures, and pairs with the bot (pure)."""

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
"""Ids of which most seeds give the world and the mission that they give under another id, too (minigrid 3.2): the two
differ in how they are judged, or not at all. They are one cluster."""


@dataclass(frozen=True, slots=True)
class Row:
    """Figures of a group of episodes, those that nothing can solve left out.

    Attributes:
        pass1: solved by the first plan, executed once.
        solved: solved by any trial.
        steps: primitives of the episodes that count for ``pass1``.
        unsolvable: episodes that were left out.
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
    """Figures of the ids of the curriculum, or of those outside it.

    Attributes:
        pooled: of all; ``interval`` is that of its share of ``pass1``, and ``interval_solved`` that of ``solved``, by a
            bootstrap that draws ids; None if there is no episode.
    """

    pooled: Row
    interval: Estimate | None
    interval_solved: Estimate | None
    categories: tuple[Row, ...]
    ids: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-compatible data."""
        rows = {name: [row.to_dict() for row in getattr(self, name)] for name in ("categories", "ids")}
        return {**asdict(self), "pooled": self.pooled.to_dict(), **rows}


@dataclass(frozen=True, slots=True)
class PairRow:
    """Episodes that both played: who solved them, and the steps of both where both did."""

    name: str
    both: int
    ours_only: int
    bots_only: int
    neither: int
    our_steps: int
    bots_steps: int

    @property
    def ratio(self) -> float | None:
        """Our steps over the bot's, None where no episode was solved by both."""
        return self.our_steps / self.bots_steps if self.bots_steps else None


@dataclass(frozen=True, slots=True)
class Versus:
    """Episodes that the bot can play: all, by category and by id.

    Attributes:
        interval: of the ratio of all steps, by a bootstrap that draws ids.
        reasons: why the bot failed, and how often.
        unsupported: episodes that it cannot play at all.
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
    """An episode that the first plan did not solve, and what is proven of it; None where nothing was looked for.

    Attributes:
        refuted_by: who solved it although it was proven that nothing can; "" if nobody did.
    """

    played: Played
    judged: Judged | None
    refuted_by: str = ""

    @property
    def proof(self) -> str:
        """``solvable``, ``unsolvable``, ``undecided``, or ``refuted``: a certificate that is wrong."""
        if self.refuted_by:
            return "refuted"
        return (self.judged.verdict.solvability if self.judged else Solvability.UNDECIDED).value

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-compatible data; ``replay`` is what the command ``replay`` takes after the evaluation."""
        played = self.played
        judged = self.judged
        return {
            "replay": played.episode.name,
            "category": played.episode.category,
            "failure": played.failure,
            "reason": played.reason,
            "planner": played.trials[0].planner,
            "solved_later": played.solved,
            "proof": self.proof,
            "refuted_by": self.refuted_by,
            "certificate": judged.verdict.reason if judged else "",
            "map": list(judged.verdict.map) if judged else [],
            "witness": list(judged.verdict.witness) if judged else [],
        }


@dataclass(frozen=True)
class Results:
    """All that an evaluation found, in the order of its episodes."""

    played: tuple[Played, ...]
    judged: tuple[Judged, ...] = ()
    bot: tuple[BotPlayed, ...] = ()

    @cached_property
    def failed(self) -> tuple[Failure, ...]:
        """Episodes that the first plan did not solve."""
        verdicts = {(each.env_id, each.seed): each for each in self.judged}
        failures = []
        for played in self.played:
            if not played.pass1:
                name = (played.env_id, played.seed)
                failures.append(Failure(played, verdicts.get(name), self._refuted.get(name, "")))
        return tuple(failures)

    @cached_property
    def inside(self) -> Block:
        """Figures of the ids that the curriculum has."""
        return self._summarize([each for each in self.played if not each.episode.outside])

    @cached_property
    def outside(self) -> Block:
        """Figures of the ids that the curriculum lacks."""
        return self._summarize([each for each in self.played if each.episode.outside])

    @cached_property
    def planners(self) -> Counter[str]:
        """Episodes by who made the first plan: "writers", or the name of a model; "" where nobody did."""
        made_by = (each.trials[0].planner for each in self.played)
        return Counter("writers" if _is_writer(name) else name for name in made_by)

    @cached_property
    def versus(self) -> Versus | None:
        """The pairs with the bot on ids that the curriculum has; None if there are none."""
        return self._versus([each for each in self.played if not each.episode.outside])

    @cached_property
    def versus_outside(self) -> Versus | None:
        """The pairs with the bot on ids that the curriculum lacks; None if there are none."""
        return self._versus([each for each in self.played if each.episode.outside])

    def to_dict(self) -> dict[str, Any]:
        """Return ``summary.json``."""
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

    @cached_property
    def _certified(self) -> frozenset[tuple[str, int]]:
        unsolvable = [each for each in self.judged if each.verdict.solvability is Solvability.UNSOLVABLE]
        return frozenset((each.env_id, each.seed) for each in unsolvable)

    @cached_property
    def _refuted(self) -> dict[tuple[str, int], str]:
        """Return who solved what is certified to be unsolvable: such a certificate is wrong."""
        solved = [(each.env_id, each.seed, "the bot") for each in self.bot if each.solved]
        solved += [(each.env_id, each.seed, f"attempt {each.attempts}") for each in self.played if each.solved]
        return {(env_id, seed): who for env_id, seed, who in solved if (env_id, seed) in self._certified}

    @cached_property
    def _unsolvable(self) -> frozenset[tuple[str, int]]:
        return self._certified - self._refuted.keys()

    def _drop_unsolvable(self, played: Iterable[Played]) -> list[Played]:
        """Return those that are not proven to be unsolvable."""
        return [each for each in played if (each.env_id, each.seed) not in self._unsolvable]

    def _versus(self, played: Sequence[Played]) -> Versus | None:
        if not (self.bot and played):
            return None
        bots = {(each.env_id, each.seed): each for each in self.bot}
        pairs = [(each, bots[each.env_id, each.seed]) for each in self._drop_unsolvable(played)]
        playable = [pair for pair in pairs if pair[1].is_supported]
        ids = _group_rows(playable, lambda pair: pair[0].env_id, _count_pairs)
        reasons = Counter(bot.reason for _, bot in playable if not bot.solved)
        return Versus(
            pooled=_count_pairs("all", playable),
            interval=_ratio((row.name, row.our_steps, row.bots_steps) for row in ids),
            categories=_group_rows(playable, lambda pair: pair[0].episode.category, _count_pairs),
            ids=ids,
            reasons=dict(reasons.most_common()),
            unsupported=len(pairs) - len(playable),
        )

    def _summarize(self, played: Sequence[Played]) -> Block:
        ids = _group_rows(played, lambda each: each.env_id, self._row)
        return Block(
            pooled=self._row("all", played),
            interval=_ratio((row.name, row.pass1.good, row.pass1.total) for row in ids),
            interval_solved=_ratio((row.name, row.solved.good, row.solved.total) for row in ids),
            categories=_group_rows(played, lambda each: each.episode.category, self._row),
            ids=ids,
        )

    def _row(self, name: str, played: Sequence[Played]) -> Row:
        counting = self._drop_unsolvable(played)
        total = len(counting)
        good = [each for each in counting if each.pass1]
        solved = sum(each.solved for each in counting)
        steps = sum(each.steps for each in good)
        return Row(name, Rate(len(good), total), Rate(solved, total), steps, len(played) - total)


def _is_writer(planner: str) -> bool:
    """Return whether it is a label such as ``unlock/v003``; a model may well be called ``openai/4``."""
    return re.fullmatch(r"[^/]+/v\d{3,}", planner) is not None


def _group_rows(items: Iterable[T], key: Callable[[T], str], row: Callable[[str, Sequence[T]], R]) -> tuple[R, ...]:
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return tuple(row(name, group) for name, group in groups.items())


def _ratio(ids: Iterable[tuple[str, int, int]]) -> Estimate | None:
    """Return the sum of the first numbers of ids over that of the second ones, as :func:`ratio_of_sums`."""
    clusters: dict[str, tuple[int, int]] = {}
    for name, above, below in ids:
        world = SAME_WORLDS.get(name, name)
        others = clusters.get(world, (0, 0))
        clusters[world] = others[0] + above, others[1] + below
    return ratio_of_sums(list(clusters.values()))


def _count_pairs(name: str, pairs: Sequence[tuple[Played, BotPlayed]]) -> PairRow:
    both = [(ours, bot) for ours, bot in pairs if ours.pass1 and bot.solved]
    ours_only = sum(ours.pass1 and not bot.solved for ours, bot in pairs)
    bots_only = sum(bot.solved and not ours.pass1 for ours, bot in pairs)
    neither = len(pairs) - len(both) - ours_only - bots_only
    our_steps = sum(ours.steps for ours, _ in both)
    bots_steps = sum(bot.steps for _, bot in both)
    return PairRow(name, len(both), ours_only, bots_only, neither, our_steps, bots_steps)
