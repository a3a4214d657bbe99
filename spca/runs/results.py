"""How attempts, rounds and levels ended: the values that the loop hands to those who record it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from spca.code import library
from spca.contracts import (
    AgentSource,
    Checkpoint,
    CodeFailure,
    FailedPlan,
    LevelInfo,
    Outcome,
    Plan,
    PlanFailure,
    Snapshot,
    Status,
    TrustedPDDL,
)
from spca.llm.feedback import failure_report
from spca.protocols import World
from spca.writers.stored import WriterFailure


class Culprit(StrEnum):
    """Who failed in a round that did not solve its level."""

    WRITER = "writer"
    """The stored problem writers of round 0 had no plan that solves it."""
    PLANNER = "planner"
    """The planner gave no valid plan."""
    PLAN = "plan"
    """The plan was carried out and the mission is not complete, or the coder sent it back."""
    CODE = "code"
    """No usable code was written, or the code raised, got stuck or ended the episode."""
    WORLD = "world"
    """The simulator refused to go on."""


_ROLES: Final = {"planner": Culprit.PLANNER, "coder": Culprit.CODE}


@dataclass(frozen=True, slots=True)
class LevelContext:
    """What stays the same while a level is played: its world, what the planner gets of it, library and PDDL before.

    From round 1 on ``tried`` are the attempts at plans of stored writers, and ``writers`` is what a planner is told of
    those.
    """

    world: World
    info: LevelInfo
    known: AgentSource
    trusted: TrustedPDDL | None
    tried: tuple[Attempt, ...] = ()
    writers: Mapping[str, Any] | None = None

    def find_earlier_attempt(self, plan: Plan, start: Checkpoint) -> list[Attempt]:
        """Return the attempt at the same steps from the same state in round 0, if any."""
        return [each for each in self.tried if each.plan.steps == plan.steps and each.start == start]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a plan: which round and try, from which state, with which code, and how it ended.

    Round 0 is that of stored writers, the others are those of a planner.
    """

    round: int
    number: int
    start: Checkpoint
    plan: Plan
    agent: AgentSource
    outcome: Outcome

    @property
    def reason(self) -> str:
        """How it ended, in words."""
        return f"{self.outcome.status.value}: {self.outcome.message}"

    @property
    def report(self) -> str:
        """What a coder is told of it."""
        return failure_report(self.plan, self.outcome, library.method_at(self.agent.text))


@dataclass(frozen=True, slots=True)
class Round:
    """One sense-plan-code-act round: its plan (None when none could be had), its attempts, and why it ended.

    ``reason`` is that of the last attempt, or why there was none;
    ``objection`` what the coder had against the plan then; ``snapshot`` is what was planned for, None where nothing was
    sensed; ``missed`` are the stored writers that did not help, in round 0. ``failure``: no plan or no code was
    obtained in the end; ``is_broken``: the world could not go on.
    """

    plan: Plan | None
    attempts: tuple[Attempt, ...]
    reason: str
    objection: str = ""
    snapshot: Snapshot | None = None
    missed: tuple[WriterFailure, ...] = ()
    failure: PlanFailure | CodeFailure | None = None
    is_broken: bool = False

    @property
    def culprit(self) -> Culprit | None:
        """Who failed; None where the level was solved, or nothing was tried."""
        if self.solved:
            return None
        if self.is_broken:
            return Culprit.WORLD
        if self.missed:
            return Culprit.WRITER
        if isinstance(self.failure, PlanFailure):
            return Culprit.PLANNER
        if self.plan is None:
            return None
        is_carried_out = self.outcome is not None and self.outcome.status is Status.GOAL_NOT_REACHED
        is_of_the_plan = self.objection or (is_carried_out and self.failure is None)
        return Culprit.PLAN if is_of_the_plan else Culprit.CODE

    @property
    def ending(self) -> str:
        """Why it ended, in words."""
        if self.objection:
            return f"the coder sent the plan back: {self.objection}"
        return self.reason or (self.attempts[-1].reason if self.attempts else "")

    @property
    def solved(self) -> bool:
        return bool(self.outcome and self.outcome.solved)

    def choose_kept_library(self, agent: AgentSource) -> AgentSource:
        """Return the library to go on with: the code of a plan that was carried out is worth keeping."""
        carried_out = self.outcome and self.outcome.status is Status.GOAL_NOT_REACHED
        return self.attempts[-1].agent if carried_out else agent

    @property
    def outcome(self) -> Outcome | None:
        """How the last attempt ended; None when nothing was executed."""
        return self.attempts[-1].outcome if self.attempts else None

    def make_failed_plan(self) -> FailedPlan:
        """Return the planner's feedback on the plan of this round, which did not solve the level."""
        never = "sent_back" if self.objection else Status.MISSING_METHOD.value
        status = self.outcome.status.value if self.outcome else never
        return FailedPlan(self.plan.text if self.plan else "", status, self.ending)


@dataclass(frozen=True, slots=True)
class LevelResult:
    """How a level ended.

    ``agent`` is the library to go on with: patched when solved, else as it was before the level. ``plan`` is the last
    plan, None if there never was one. ``rounds`` are all of them, from round 0 on, () where the level was not begun.
    ``unusable`` are the models that gave no usable answer, by role
    (:meth:`spca.llm.answer_tally.AnswerTally.barren_roles`).
    """

    solved: bool
    reason: str
    agent: AgentSource
    plan: Plan | None
    attempts: tuple[Attempt, ...]
    rounds: tuple[Round, ...] = ()
    unusable: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @classmethod
    def from_rounds(
        cls, rounds: Sequence[Round], known: AgentSource, unusable: Mapping[str, Mapping[str, Any]] | None = None
    ) -> LevelResult:
        """A level that ended with the last of ``rounds``; ``known`` is the library before it."""
        last = rounds[-1]
        attempts = tuple(dict.fromkeys(attempt for this in rounds for attempt in this.attempts))
        plan = next((this.plan for this in reversed(rounds) if this.plan), None)
        agent = attempts[-1].agent if last.solved else known
        reason = _reason(last, unusable or {})
        return cls(last.solved, reason, agent, plan, attempts, tuple(rounds), unusable or {})

    @property
    def culprits(self) -> tuple[Culprit, ...]:
        """Who failed in each round of a level that was not solved, in order; the last one decided."""
        if self.solved:
            return ()
        if not self.rounds:
            return (Culprit.WORLD,)
        named = [this.culprit for this in self.rounds]
        if len(self.unusable) == 1 and named[-1] is Culprit.WRITER:  # the level ended there for want of answers
            named.append(_ROLES[next(iter(self.unusable))])
        return tuple(culprit for culprit in named if culprit)

    @property
    def steps_total(self) -> int:
        """Primitives executed in all attempts, discarded ones included."""
        return sum(attempt.outcome.steps for attempt in self.attempts)

    @property
    def failed_attempts(self) -> tuple[Status, ...]:
        """How the attempts that did not solve the level ended, in order."""
        return tuple(attempt.outcome.status for attempt in self.attempts if not attempt.outcome.solved)

    @property
    def primitives(self) -> tuple[int, ...]:
        """The episode that counts: the last attempt after the state it began in."""
        if not self.attempts:
            return ()
        last = self.attempts[-1]
        return last.start.primitives + last.outcome.primitives


def _reason(last: Round, unusable: Mapping[str, Mapping[str, Any]]) -> str:
    """Why a level ended in words; where a role gave no usable answer, with its calls of all rounds."""
    failure = last.failure
    role = "planner" if isinstance(failure, PlanFailure) else "coder"
    if failure is None or role not in unusable:
        return last.ending
    return replace(failure, calls=unusable[role]["calls"]).reason


@dataclass(frozen=True, slots=True)
class DraftDecision:
    """What became of the writer that came with a level's plan: its label if it was accepted, else why it was not."""

    name: str
    label: str
    reason: str
