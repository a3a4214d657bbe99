"""How attempts, rounds and levels ended: the values that the loop hands to those who record it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spca.contracts import AgentSource, Checkpoint, FailedPlan, LevelInfo, Outcome, Plan, Status, TrustedPDDL
from spca.protocols import World


@dataclass(frozen=True, slots=True)
class LevelContext:
    """What stays the same while a level is played: its world, what the planner gets of it, library and PDDL before."""

    world: World
    info: LevelInfo
    known: AgentSource
    trusted: TrustedPDDL | None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One execution of a plan: which round and try, from which state, with which code, and how it ended."""

    round: int
    number: int
    start: Checkpoint
    plan: Plan
    agent: AgentSource
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Round:
    """One sense-plan-code-act round: its plan (None when none could be had), its attempts, and why it ended.

    ``reason`` is that of the last attempt, or why there was none;
    ``objection`` what the coder had against the plan then.
    """

    plan: Plan | None
    attempts: tuple[Attempt, ...]
    reason: str
    objection: str = ""

    @property
    def ending(self) -> str:
        """Why it ended, in words."""
        return f"the coder sent the plan back: {self.objection}" if self.objection else self.reason

    @property
    def outcome(self) -> Outcome | None:
        """How the last attempt ended; None when nothing was executed."""
        return self.attempts[-1].outcome if self.attempts else None

    def failed_plan(self) -> FailedPlan:
        """Return the planner's feedback on the plan of this round, which did not solve the level."""
        never = "sent_back" if self.objection else Status.MISSING_METHOD.value
        status = self.outcome.status.value if self.outcome else never
        return FailedPlan(self.plan.text if self.plan else "", status, self.ending)


@dataclass(frozen=True, slots=True)
class LevelResult:
    """How a level ended.

    ``agent`` is the library to go on with: patched when solved, else as it was before the level. ``plan`` is the last
    plan, None if there never was one.
    """

    solved: bool
    reason: str
    agent: AgentSource
    plan: Plan | None
    attempts: tuple[Attempt, ...]

    @classmethod
    def of(cls, rounds: Sequence[Round], known: AgentSource) -> LevelResult:
        """A level that ended with the last of ``rounds``; ``known`` is the library before it."""
        solved = bool(rounds[-1].outcome and rounds[-1].outcome.solved)
        attempts = tuple(attempt for this in rounds for attempt in this.attempts)
        plan = next((this.plan for this in reversed(rounds) if this.plan), None)
        return cls(solved, rounds[-1].ending, attempts[-1].agent if solved else known, plan, attempts)

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
