"""Values of a frozen evaluation: the episodes to be played, how each went, and what is known of it from elsewhere.

Lines of files end with ``seconds``, the only part that another evaluation of the same may have otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, Final, Self

from spca.contracts import LevelInfo, Status
from spca.evaluation.playing.peer import UNSUPPORTED
from spca.evaluation.proof.certifying import Solvability, Verdict

NO_PLAN: Final = "no_plan"
"""Status of a trial for which nobody had a valid plan."""
WORLD_ERROR: Final = "world_error"
"""Status of a trial that the simulator ended, or did not let begin."""
LOST: Final = "lost"
"""Status of a trial whose worker process died."""


@dataclass(frozen=True, slots=True)
class Episode:
    """An environment and a seed to be played; ``index`` counts from 0 in the order of (id, seed).

    ``outside`` means that the curriculum of the run lacks the id; category, skill and level are then those that the
    planner is told all the same.
    """

    index: int
    env_id: str
    seed: int
    category: str
    skill: str
    level: str
    outside: bool = False

    @property
    def name(self) -> str:
        """``BabyAI-GoToObj-v0:1003``, which ``replay`` takes too."""
        return f"{self.env_id}:{self.seed}"

    def info(self) -> LevelInfo:
        """Return what planner and writers get of it."""
        return LevelInfo(self.category, self.skill, self.level)


@dataclass(frozen=True, slots=True)
class Trial:
    """A plan and its execution from the beginning of the episode.

    Attributes:
        planner: label of the stored writer (``unlock/v003``), or name of the model; "" if nobody had a plan.
        status: a :class:`~spca.contracts.Status`, or one of this module.
        reason: why it failed, "" for a success.
        plan: its calls as text.
        acted: for each of the calls that were carried out the codes of its :class:`~spca.contracts.Primitive`.
        corrections: what of the simulator's own judgement was corrected.
        end_hash: of the state in which it ended, "" if nothing was executed.
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
        """Return the value of what :func:`dataclasses.asdict` made of one, also after JSON.

        Raises:
            KeyError, TypeError: the data is something else.
        """
        lists = {name: tuple(map(str, data[name])) for name in ("plan", "corrections")}
        return cls(**{**data, **lists, "acted": tuple(map(tuple, data["acted"]))})


@dataclass(frozen=True, slots=True)
class Played:
    """How an episode went: its trials, at least one; each but the first began after an undo of the one before."""

    episode: Episode
    trials: tuple[Trial, ...]
    seconds: float = 0.0

    @property
    def env_id(self) -> str:
        return self.episode.env_id

    @property
    def seed(self) -> int:
        return self.episode.seed

    @property
    def pass1(self) -> bool:
        """Whether the first plan succeeded, executed once, nothing undone."""
        return self.trials[0].solved

    @property
    def solved(self) -> bool:
        """Whether any trial succeeded."""
        return self.trials[-1].solved

    @property
    def attempts(self) -> int:
        return len(self.trials)

    @property
    def steps(self) -> int:
        """Primitives of the first trial, which pass@1 is about."""
        return self.trials[0].steps

    @property
    def failure(self) -> str:
        """Status of the first trial, "" if it succeeded."""
        return "" if self.pass1 else self.trials[0].status

    @property
    def reason(self) -> str:
        """Why the first trial failed, "" if it succeeded."""
        return self.trials[0].reason

    def to_dict(self) -> dict[str, Any]:
        """Return the line of ``episodes.jsonl``."""
        flat = {"pass1": self.pass1, "solved": self.solved, "steps": self.steps, "failure": self.failure}
        trials = [asdict(each) for each in self.trials]
        return {**asdict(self.episode), **flat, "trials": trials, "seconds": round(self.seconds, 4)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the value of such a line.

        Raises:
            KeyError, TypeError, ValueError: the data is something else.
        """
        episode = Episode(*(data[name] for name in Episode.__slots__))
        trials = tuple(map(Trial.from_dict, data["trials"]))
        if not trials:
            raise ValueError("an episode without a trial")
        return cls(episode, trials, float(data["seconds"]))

    @classmethod
    def lost(cls, episode: Episode, how: str) -> Self:
        """Return what is known of an episode whose worker process died."""
        return cls(episode, (Trial("", LOST, how),))


@dataclass(frozen=True, slots=True)
class Judged:
    """What a search with full information proved of an episode that failed."""

    env_id: str
    seed: int
    verdict: Verdict
    seconds: float = 0.0

    @property
    def is_decided(self) -> bool:
        return self.verdict.solvability is not Solvability.UNDECIDED

    def to_dict(self) -> dict[str, Any]:
        """Return the line of ``proofs.jsonl``."""
        return {"env_id": self.env_id, "seed": self.seed, **asdict(self.verdict), "seconds": round(self.seconds, 4)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the value of such a line.

        Raises:
            KeyError, TypeError, ValueError: the data is something else.
        """
        lists = {name: tuple(data[name]) for name in ("witness", "map")}
        verdict = Verdict(Solvability(data["solvability"]), data["reason"], **lists)
        return cls(data["env_id"], data["seed"], verdict, float(data["seconds"]))

    @classmethod
    def lost(cls, episode: Episode, how: str) -> Self:
        """Return what is known of an episode whose worker process died."""
        return cls(episode.env_id, episode.seed, Verdict(Solvability.UNDECIDED, how))


@dataclass(frozen=True, slots=True)
class BotPlayed:
    """How the bot of BabyAI did in an episode: its primitives, and why it failed, "" where it did not."""

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
        """Return the line of ``bot.jsonl``."""
        return {**asdict(self), "seconds": round(self.seconds, 4)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the value of such a line.

        Raises:
            KeyError, TypeError: the data is something else.
        """
        return cls(*(data[name] for name in cls.__slots__))

    @classmethod
    def lost(cls, episode: Episode, how: str) -> Self:
        """Return what is known of an episode whose worker process died."""
        return cls(episode.env_id, episode.seed, False, 0, how)
