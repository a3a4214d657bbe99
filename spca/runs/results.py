"""Results of attempts, rounds and levels, which the loop returns to be recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

from spca.body import Body
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
    """The part that failed in a round that did not solve its level."""

    WRITER = "writer"
    """The stored problem writers of round 0 gave no plan that solves the level."""
    PLANNER = "planner"
    """The planner gave no valid plan."""
    PLAN = "plan"
    """The plan was executed to its end and the mission is not complete, or the coder sent the plan back."""
    CODE = "code"
    """No usable code was written, or the code raised, got stuck or ended the episode."""
    WORLD = "world"
    """The simulator refused to go on."""


_CULPRIT_OF_ROLE: Final = {"planner": Culprit.PLANNER, "coder": Culprit.CODE}


@dataclass(frozen=True, slots=True)
class LevelContext:
    """The values that all rounds of a level share.

    Attributes:
        info: what the planner is told about the level.
        known: the library (agent source) before the level.
        trusted: PDDL that solved an earlier level of the category, if any.
        tried: the attempts of round 0; () during round 0.
        writers: description of the problem writers for the planner; None during round 0, or if there is none.
    """

    world: World
    info: LevelInfo
    known: AgentSource
    trusted: TrustedPDDL | None
    tried: tuple[Attempt, ...] = ()
    writers: Mapping[str, Any] | None = None

    def has_ended(self, outcome: Outcome) -> bool:
        """Return whether an attempt has ended the only life of the world, so that no other attempt is possible."""
        return outcome.status is Status.REWARD_FAILED and not self.world.can_restore

    def return_to(self, start: Checkpoint) -> None:
        """Restore ``start``; in a world with one life, stay in the state reached.

        Raises:
            RestoreError: the state cannot be restored, although the world restores states.
        """
        if self.world.can_restore:
            self.world.restore(start)

    def find_next_start(self, start: Checkpoint, snapshot: Snapshot) -> tuple[Checkpoint, Snapshot]:
        """Return the state in which the next attempt begins, and its snapshot.

        Args:
            start: the state in which the last attempt began; the next one begins there too if it can be restored.
            snapshot: the snapshot of ``start``.
        """
        if self.world.can_restore:
            return start, snapshot
        return self.world.checkpoint(), self.world.sense()

    def count_fruitless(self, before: int, played: Round) -> int:
        """Return the number of rounds in a row that discovered nothing, after a round with a plan.

        In a world with one life, a round that executed no primitive does not count, because it has changed nothing.

        Args:
            before: the number before the round.
        """
        if played.found:
            return 0
        has_acted = any(attempt.outcome.steps for attempt in played.attempts)
        counts = has_acted or self.world.can_restore
        return before + 1 if counts else before

    def find_round_zero_attempts(self, plan: Plan, start: Checkpoint) -> list[Attempt]:
        """Return the attempts of round 0 that executed the same steps from the same state; there is at most one."""
        return [attempt for attempt in self.tried if attempt.plan.steps == plan.steps and attempt.start == start]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a plan.

    Attributes:
        round: number of the round: 0 for plans of stored problem writers, from 1 on for plans of the planner.
        number: number of the attempt in its round, from 1.
        start: state in which the attempt began.
        agent: source of the code that was executed.
    """

    round: int
    number: int
    start: Checkpoint
    plan: Plan
    agent: AgentSource
    outcome: Outcome

    @property
    def is_discovery(self) -> bool:
        """Whether the plan was carried out and discovered something, so that its code needs no mending."""
        return self.outcome.status is Status.GOAL_NOT_REACHED and bool(self.outcome.found)

    @property
    def reason(self) -> str:
        """Status and message of the outcome."""
        return f"{self.outcome.status.value}: {self.outcome.message}"

    def describe_failure(self, body: Body) -> str:
        """Return the description of the failure for the coder."""
        return failure_report(self.plan, self.outcome, body, library.method_at(self.agent.text))


@dataclass(frozen=True, slots=True)
class Round:
    """One sense-plan-code-act round.

    Attributes:
        plan: the last plan of the round; None if no plan was obtained.
        reason: why the round ended, in words; "" if the last attempt tells why.
        objection: why the coder sent the plan back; "" if the coder did not send it back.
        snapshot: the planner's input; None if the world was not sensed.
        missed: in round 0, the failures of stored problem writers.
        failure: set if the round ended because no plan or no code was obtained; else None.
        is_broken: whether the round ended because the world could not go on.
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
        """The part that failed; None if the level was solved, or if no plan was made and nothing failed."""
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
        plan_failed = self._was_executed_to_end and self.failure is None
        return Culprit.PLAN if self.objection or plan_failed else Culprit.CODE

    @property
    def _was_executed_to_end(self) -> bool:
        """Whether the last attempt executed its whole plan without completing the mission."""
        return self.outcome is not None and self.outcome.status is Status.GOAL_NOT_REACHED

    @property
    def ending(self) -> str:
        """Why the round ended, in words."""
        if self.objection:
            return f"the coder sent the plan back: {self.objection}"
        if self.reason or not self.attempts:
            return self.reason
        return self.attempts[-1].reason

    @property
    def solved(self) -> bool:
        return bool(self.outcome and self.outcome.solved)

    def choose_kept_library(self, agent: AgentSource) -> AgentSource:
        """Return the library for the next round: the code of the last attempt, or ``agent``.

        The code of the last attempt is kept if it executed its whole plan, because then the plan is at fault.
        """
        return self.attempts[-1].agent if self._was_executed_to_end else agent

    @property
    def outcome(self) -> Outcome | None:
        """Outcome of the last attempt; None if no attempt was made."""
        return self.attempts[-1].outcome if self.attempts else None

    @property
    def found(self) -> tuple[str, ...]:
        """What the attempts saw or changed for the first time, each once."""
        return tuple(dict.fromkeys(name for attempt in self.attempts for name in attempt.outcome.found))

    def make_failed_plan(self) -> FailedPlan:
        """Return the feedback for the planner on the plan of this round, which did not solve the level."""
        status_without_attempt = "sent_back" if self.objection else Status.MISSING_METHOD.value
        status = self.outcome.status.value if self.outcome else status_without_attempt
        return FailedPlan(self.plan.text if self.plan else "", status, self.ending, self.found)


@dataclass(frozen=True, slots=True)
class LevelResult:
    """The result of a level.

    Attributes:
        reason: why the level ended, in words.
        agent: the library for the next level: with new code if the level was solved, else as before the level.
        plan: the last plan; None if no round made a plan.
        attempts: the attempts of all rounds, in order.
        rounds: all rounds, from round 0 on; () if the world could not be built.
        unusable: role -> data on a model without a usable answer
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
        """Return the result of a level that ended with the last of ``rounds``.

        Args:
            known: the library before the level.
            unusable: see :class:`LevelResult`.
        """
        last = rounds[-1]
        # dict.fromkeys drops duplicates, because a later round may contain an attempt of round 0 again.
        attempts = tuple(dict.fromkeys(attempt for played in rounds for attempt in played.attempts))
        plan = next((played.plan for played in reversed(rounds) if played.plan), None)
        agent = attempts[-1].agent if last.solved else known
        unusable = unusable or {}
        reason = _describe_ending(last, unusable)
        return cls(last.solved, reason, agent, plan, attempts, tuple(rounds), unusable)

    @property
    def culprits(self) -> tuple[Culprit, ...]:
        """The culprit of each failed round, in order; () if the level was solved.

        The last culprit is the one because of which the level failed.
        """
        if self.solved:
            return ()
        if not self.rounds:
            return (Culprit.WORLD,)
        culprits = [played.culprit for played in self.rounds]
        ended_without_answers = len(self.unusable) == 1 and culprits[-1] is Culprit.WRITER
        if ended_without_answers:  # the level ended after round 0, so that no later round names the failed role
            [role] = self.unusable
            culprits.append(_CULPRIT_OF_ROLE[role])
        return tuple(culprit for culprit in culprits if culprit)

    @property
    def steps_total(self) -> int:
        """Number of primitives executed in all attempts, failed attempts included."""
        return sum(attempt.outcome.steps for attempt in self.attempts)

    @property
    def failed_attempts(self) -> tuple[Status, ...]:
        """Statuses of the attempts that did not solve the level, in order."""
        return tuple(attempt.outcome.status for attempt in self.attempts if not attempt.outcome.solved)

    @property
    def primitives(self) -> tuple[int, ...]:
        """Primitives of the last episode, from the reset of the world to the end of the last attempt."""
        if not self.attempts:
            return ()
        last = self.attempts[-1]
        return last.start.primitives + last.outcome.primitives


def _describe_ending(last: Round, unusable: Mapping[str, Mapping[str, Any]]) -> str:
    """Return why a level ended with the ``last`` round, in words.

    If the failed role gave no usable answer in the level, the text counts the calls of all rounds.
    """
    failure = last.failure
    role = "planner" if isinstance(failure, PlanFailure) else "coder"
    if failure is None or role not in unusable:
        return last.ending
    return replace(failure, calls=unusable[role]["calls"]).reason


@dataclass(frozen=True, slots=True)
class DraftDecision:
    """The decision on a draft, which is a problem writer that came with the plan of a level.

    Attributes:
        name: name of the draft.
        label: label of the new stored writer; "" if the draft was rejected.
        reason: why the draft was rejected; "" if the draft was accepted.
    """

    name: str
    label: str
    reason: str
