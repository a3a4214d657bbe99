"""Values of a frozen evaluation: an episode, its trials, the verdict on whether it can be solved, and the bot's result.

Each line of a result file ends with ``seconds``, the only value that differs when the same evaluation is repeated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any, Final, Self

from spca.contracts import LevelInfo, LevelSpec, Status
from spca.evaluation.playing.babyai_bot import UNSUPPORTED
from spca.evaluation.proof.certifying import Solvability, Verdict

NO_PLAN: Final = "no_plan"
"""Status of a trial for which neither a writer nor the model had a valid plan."""
WORLD_ERROR: Final = "world_error"
"""Status of a trial that an error of the simulator ended or prevented."""
LOST: Final = "lost"
"""Status of a trial whose worker process died."""


@dataclass(frozen=True, slots=True)
class Episode:
    """An environment and a seed to be played.

    Attributes:
        index: position among the episodes of the evaluation, from 0.
        category, skill, level: description of the environment's level for the planner.
        outside: whether ``env_id`` is missing from the curriculum of the run.
        kwargs, mission, world: see :class:`spca.contracts.LevelSpec`.
    """

    index: int
    env_id: str
    seed: int
    category: str
    skill: str
    level: str
    outside: bool = False
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    mission: str = ""
    world: str = ""

    @property
    def spec(self) -> LevelSpec:
        """What the world of the episode is built from, besides the seed."""
        return LevelSpec(self.env_id, self.kwargs, self.mission, self.world)

    @property
    def name(self) -> str:
        """Level and seed, such as ``BabyAI-GoToObj-v0:1003``; the command ``replay`` accepts the same text."""
        return f"{self.spec.name}:{self.seed}"

    def to_dict(self) -> dict[str, Any]:
        """Return the episode as a JSON-compatible object; arguments and mission only if there are any."""
        values = {name: getattr(self, name) for name in _PLAIN_FIELDS}
        return values | self.spec.describe_extras()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Restore the value from the output of :meth:`to_dict`.

        Raises:
            KeyError, TypeError, ValueError: the data does not describe an episode.
        """
        spec = LevelSpec.from_record(data)
        plain = {name: data[name] for name in _PLAIN_FIELDS}
        return cls(**plain, kwargs=spec.kwargs, mission=spec.mission, world=spec.world)

    def info(self) -> LevelInfo:
        """Return the description of the episode's level that the planner and the writers receive."""
        return LevelInfo(self.category, self.skill, self.level)


_PLAIN_FIELDS: Final = ("index", "env_id", "seed", "category", "skill", "level", "outside")
"""Names of the fields that every recorded episode has."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A plan and its execution from the beginning of the episode.

    Attributes:
        planner: label of the stored writer (``unlock/v003``), or name of the model; "" if there was no plan.
        status: a :class:`~spca.contracts.Status`, or a status constant of this module.
        reason: why the trial failed; "" for a success.
        plan: calls of the plan as text.
        acted: one tuple for each executed call, with the codes of the :class:`~spca.contracts.Primitive` values that
            the call yielded.
        corrections: names of the simulator's judgements that were corrected during the trial.
        end_hash: hash of the last state; "" if nothing was executed.
    """

    planner: str
    status: str
    reason: str = ""
    plan: tuple[str, ...] = ()
    acted: tuple[tuple[int, ...], ...] = ()
    corrections: tuple[str, ...] = ()
    end_hash: str = ""

    @property
    def solved(self) -> bool:
        return self.status == Status.SUCCESS

    @property
    def primitives(self) -> tuple[int, ...]:
        return tuple(chain.from_iterable(self.acted))

    @property
    def steps(self) -> int:
        return sum(map(len, self.acted))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Restore a trial from the output of :func:`dataclasses.asdict`, which may have passed through JSON.

        Raises:
            KeyError, TypeError: the data does not describe a trial.
        """
        lists = {name: tuple(map(str, data[name])) for name in ("plan", "corrections")}
        return cls(**{**data, **lists, "acted": tuple(map(tuple, data["acted"]))})


@dataclass(frozen=True, slots=True)
class Played:
    """An episode and its trials, of which there is at least one. Only the last trial can be a success.

    Attributes:
        one_life: whether each trial goes on from where the last one ended, because the world cannot go back. All trials
            then are one attempt. In other worlds every trial starts from the beginning of the episode.
    """

    episode: Episode
    trials: tuple[Trial, ...]
    seconds: float = 0.0
    one_life: bool = False

    @property
    def _first_attempt(self) -> tuple[Trial, ...]:
        """The trials before which nothing was undone."""
        return self.trials if self.one_life else self.trials[:1]

    @property
    def env_id(self) -> str:
        """Name of the level: the environment id, with a suffix if the level has arguments."""
        return self.episode.spec.name

    @property
    def seed(self) -> int:
        return self.episode.seed

    @property
    def pass1(self) -> bool:
        """Whether the first attempt succeeded."""
        return self._first_attempt[-1].solved

    @property
    def solved(self) -> bool:
        """Whether any trial succeeded."""
        return self.trials[-1].solved

    @property
    def attempts(self) -> int:
        return len(self.trials)

    @property
    def steps(self) -> int:
        """Number of primitives of the first attempt."""
        return sum(trial.steps for trial in self._first_attempt)

    @property
    def failure(self) -> str:
        """Status of the first attempt; "" if the first attempt succeeded."""
        return "" if self.pass1 else self._first_attempt[-1].status

    @property
    def reason(self) -> str:
        """Why the first attempt failed; "" if the first attempt succeeded."""
        return self._first_attempt[-1].reason

    def to_dict(self) -> dict[str, Any]:
        """Return the episode's line of ``episodes.jsonl``, as a JSON-compatible object."""
        figures = {"pass1": self.pass1, "solved": self.solved, "steps": self.steps, "failure": self.failure}
        trials = [asdict(each) for each in self.trials]
        life = {"one_life": True} if self.one_life else {}
        return {**self.episode.to_dict(), **figures, **life, "trials": trials, "seconds": round(self.seconds, 4)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Restore the value from a line of ``episodes.jsonl``.

        Raises:
            KeyError, TypeError, ValueError: the data is no line of ``episodes.jsonl``.
        """
        episode = Episode.from_dict(data)
        trials = tuple(map(Trial.from_dict, data["trials"]))
        if not trials:
            raise ValueError("an episode without a trial")
        return cls(episode, trials, float(data["seconds"]), data.get("one_life") is True)

    @classmethod
    def make_lost_result(cls, episode: Episode, how: str) -> Self:
        """Return the result for an episode whose worker process died; ``how`` describes the death."""
        return cls(episode, (Trial("", LOST, how),))


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict on a failed episode, found by a search that knows the whole grid."""

    env_id: str
    seed: int
    verdict: Verdict
    seconds: float = 0.0

    @property
    def is_decided(self) -> bool:
        return self.verdict.solvability is not Solvability.UNDECIDED

    def to_dict(self) -> dict[str, Any]:
        """Return the episode's line of ``proofs.jsonl``, as a JSON-compatible object."""
        seconds = round(self.seconds, 4)
        return {"env_id": self.env_id, "seed": self.seed, **asdict(self.verdict), "seconds": seconds}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Restore the value from a line of ``proofs.jsonl``.

        Raises:
            KeyError, TypeError, ValueError: the data is no line of ``proofs.jsonl``.
        """
        lists = {name: tuple(data[name]) for name in ("witness", "map")}
        verdict = Verdict(Solvability(data["solvability"]), data["reason"], **lists)
        return cls(data["env_id"], data["seed"], verdict, float(data["seconds"]))

    @classmethod
    def make_lost_result(cls, episode: Episode, how: str) -> Self:
        """Return the result for an episode whose worker process died; ``how`` describes the death."""
        return cls(episode.spec.name, episode.seed, Verdict(Solvability.UNDECIDED, how))


@dataclass(frozen=True, slots=True)
class BotPlayed:
    """The result of an episode that the bot of BabyAI played.

    Attributes:
        steps: number of primitives that the bot carried out.
        reason: why the bot failed; "" for a success.
    """

    env_id: str
    seed: int
    solved: bool
    steps: int
    reason: str = ""
    seconds: float = 0.0

    @property
    def is_supported(self) -> bool:
        """Whether the bot can play this environment at all."""
        return self.reason != UNSUPPORTED

    def to_dict(self) -> dict[str, Any]:
        """Return the episode's line of ``bot.jsonl``, as a JSON-compatible object."""
        return {**asdict(self), "seconds": round(self.seconds, 4)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Restore the value from a line of ``bot.jsonl``.

        Raises:
            KeyError, TypeError: the data is no line of ``bot.jsonl``.
        """
        return cls(*(data[name] for name in cls.__slots__))

    @classmethod
    def make_lost_result(cls, episode: Episode, how: str) -> Self:
        """Return the result for an episode whose worker process died; ``how`` describes the death."""
        return cls(episode.spec.name, episode.seed, False, 0, how)
