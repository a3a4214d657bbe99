"""Compiled planning in the loop: round 0 of a level, and what a level's end says of its writers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, Protocol

from spca.code.regression import SolvedLevel
from spca.common.text import one_line
from spca.contracts import (
    AgentSource,
    Checkpoint,
    CodePatch,
    LevelInfo,
    Plan,
    PlanObjection,
    ProblemWriter,
    Snapshot,
    Status,
)
from spca.errors import RestoreError
from spca.llm.feedback import shorten_middle
from spca.protocols import EventSink, World
from spca.runs.level.execution import Execution
from spca.runs.results import Attempt, DraftDecision, LevelContext, LevelResult, Round
from spca.writers.stored import Case, Miss, StoredWriter, WriterFailure, writer_state

_MAX_PLAN: Final = 400
MAX_EXECUTED: Final = 2
"""Plans of stored writers that a level is tried with; what a writer refuses is free."""


class Writers(Protocol):
    """What is needed of :class:`spca.writers.library.WriterLibrary`."""

    @property
    def stored(self) -> Sequence[StoredWriter]: ...

    def plans(self, snapshot: Snapshot, level: LevelInfo, /) -> Iterator[Plan | WriterFailure]: ...

    def tally(self, label: str, category: str, /, *, solved: Case | None) -> None: ...

    def blame(self, missed: Sequence[WriterFailure], category: str, /) -> None: ...

    def consider(self, draft: ProblemWriter, case: Case, agent: AgentSource, born: str, /) -> str: ...

    def describe_writers(self, missed: Sequence[WriterFailure], level: LevelInfo, /) -> dict[str, Any] | None: ...


class CompiledPlanning:
    """Tries a run's problem writers before a model is asked, and keeps their tally.

    Args:
        writers: of the run; None without compiled planning.
        execution: codes and acts.
        emit: told of every writer that was tried, and of every new one.
    """

    def __init__(self, writers: Writers | None, execution: Execution, emit: EventSink) -> None:
        self._writers = writers
        self._execution = execution
        self._emit = emit

    def round(self, level: LevelContext) -> Round:
        """Round 0: carry out plans of stored writers until one succeeds, at most :data:`MAX_EXECUTED`.

        What fails is undone. Where it cannot be, a plan that was carried out to its end is the last one tried.

        Raises:
            WorldError: the world cannot go on.
            RestoreError: what failed halfway cannot be undone.
        """
        if self._writers is None or not self._writers.stored:
            return Round(None, (), "")
        self._execution.progress(0, "plan")
        self._emit("writers_tried", {"stored": [stored.label for stored in self._writers.stored]})
        start = level.world.checkpoint()
        snapshot = level.world.sense()
        taken = list[Plan]()
        tries = list[Attempt]()
        missed = list[WriterFailure]()
        for made in self._time_plans(self._writers.plans(snapshot, level.info)):
            if isinstance(made, WriterFailure):
                miss: WriterFailure | None = made
            elif any(made.steps == plan.steps for plan in taken):
                missed.append(
                    WriterFailure(made.writer, Miss.FAILED, "its plan is that of another writer, which has failed")
                )
                continue
            else:
                taken.append(made)
                miss = self._try_plan(level, made, snapshot, start, tries)
            self._emit("compiled_plan", _describe_tried(made, miss))
            missed += [miss] if miss else []
            if miss is None:
                break
            is_undone = self._undone(level.world, start, tries)
            if not is_undone or len(taken) == MAX_EXECUTED:
                break

        solved = bool(tries) and tries[-1].outcome.solved
        reason = missed[-1].reason if missed and not solved else ""
        last_plan = taken[-1] if taken else None
        return Round(last_plan, tuple(tries), reason, snapshot=snapshot, missed=tuple(missed))

    def _time_plans(self, plans: Iterator[Plan | WriterFailure]) -> Iterator[Plan | WriterFailure]:
        while True:
            started = time.perf_counter()
            made = next(plans, None)
            self._emit("duration", {"name": "compile_s", "seconds": time.perf_counter() - started})
            if made is None:
                return
            yield made

    def _try_plan(
        self, level: LevelContext, plan: Plan, snapshot: Snapshot, start: Checkpoint, tries: list[Attempt]
    ) -> WriterFailure | None:
        """Add the attempt at ``plan`` to ``tries``; return why it does not help, None if the level is solved."""
        patch = self._execution.implement(0, level, plan, snapshot, level.known, None)
        if not isinstance(patch, CodePatch):
            why = f"the coder sent the plan back: {patch.words}" if isinstance(patch, PlanObjection) else patch.reason
            return _make_failure(plan, why)
        outcome = self._execution.act(0, level.world, plan, patch.agent)
        tries.append(Attempt(0, len(tries) + 1, start, plan, patch.agent, outcome))
        return None if outcome.solved else _make_failure(plan, outcome.message)

    def _undone(self, world: World, start: Checkpoint, tries: Sequence[Attempt]) -> bool:
        """Undo the last attempt; return False where the world cannot, and planning goes on from what was done."""
        if not tries or world.checkpoint() == start:
            return True
        try:
            world.restore(start)
        except RestoreError:
            if tries[-1].outcome.status is not Status.GOAL_NOT_REACHED:
                raise
            return False
        return True

    def inform_level(self, level: LevelContext, tried: Round) -> LevelContext:
        """Return ``level`` with what its later rounds have to know of round 0."""
        told = self._writers.describe_writers(tried.missed, level.info) if self._writers else None
        return replace(level, tried=tried.attempts, writers=told)

    def conclude(self, level: LevelInfo, env_id: str, seed: int, result: LevelResult) -> DraftDecision | None:
        """Tally the writers that were tried on a finished level, and consider the one that came with its plan.

        A writer is not blamed for a plan that a model then gave too, and has solved the level if that plan did.
        """
        if self._writers is None or not result.rounds:
            return None
        tried, *later = result.rounds
        case = _case(level, env_id, seed, result) if result.solved else None
        for attempt in tried.attempts:
            steps = attempt.plan.steps
            if case and case.solved.plan.steps == steps and case.solved.checkpoint == attempt.start:
                self._writers.tally(attempt.plan.writer, level.category, solved=case)
            elif not any(this.plan and this.plan.steps == steps for this in later):
                self._writers.tally(attempt.plan.writer, level.category, solved=None)
        self._writers.blame(tried.missed, level.category)
        draft = case.solved.plan.draft if case else None
        if case is None or draft is None:
            return None
        reason = self._writers.consider(draft, case, result.agent, f"{level.category}/{env_id}")
        labels = {stored.writer.name: stored.label for stored in reversed(self._writers.stored)}
        label = labels.get(draft.name, "")
        considered = DraftDecision(draft.name, "" if reason else label, reason)
        self._emit("writer", asdict(considered))
        return considered


def _make_failure(plan: Plan, why: str) -> WriterFailure:
    plan_text = shorten_middle(plan.text, _MAX_PLAN)
    return WriterFailure(plan.writer, Miss.FAILED, one_line(f"{plan_text}: {why}"))


def _describe_tried(made: Plan | WriterFailure, miss: WriterFailure | None) -> dict[str, object]:
    """Return what the event of a tried writer says."""
    label = made.writer if isinstance(made, Plan) else made.label
    if miss is None:
        return {"writer": label, "miss": "", "reason": ""}
    return {"writer": label, "miss": miss.miss.value, "reason": miss.reason}


def _case(level: LevelInfo, env_id: str, seed: int, result: LevelResult) -> Case | None:
    last = result.attempts[-1]
    snapshot = result.rounds[-1].snapshot
    if snapshot is None:
        return None
    solved = SolvedLevel(env_id, seed, last.start, last.plan)
    return Case(writer_state(snapshot, level), last.plan.problem, solved)
