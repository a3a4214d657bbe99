"""Planning by stored problem writers (compiled planning): round 0 of a level, and the tally of writers."""

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
    LevelSpec,
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
"""Largest number of characters of a plan that the reason of a failure quotes."""
MAX_EXECUTED: Final = 2
"""Largest number of stored writers' plans that are executed in one level. A writer without a plan does not count."""


class Writers(Protocol):
    """The part of :class:`spca.writers.library.WriterLibrary` that compiled planning calls."""

    @property
    def stored(self) -> Sequence[StoredWriter]: ...

    def plans(self, snapshot: Snapshot, level: LevelInfo, /) -> Iterator[Plan | WriterFailure]: ...

    def tally(self, label: str, category: str, /, *, solved: Case | None) -> None: ...

    def blame(self, missed: Sequence[WriterFailure], category: str, /) -> None: ...

    def consider(self, draft: ProblemWriter, case: Case, agent: AgentSource, born: str, /) -> str: ...

    def describe_writers(self, missed: Sequence[WriterFailure], level: LevelInfo, /) -> dict[str, Any] | None: ...


class CompiledPlanning:
    """Tries the problem writers of a run before a model is asked, and keeps the tally of each writer.

    Args:
        writers: problem writers of the run; None without compiled planning.
        execution: writes missing code for a plan, and executes the plan.
        emit: receives an event for every writer that was tried, and for every new writer.
    """

    def __init__(self, writers: Writers | None, execution: Execution, emit: EventSink) -> None:
        self._writers = writers
        self._execution = execution
        self._emit = emit

    def round(self, level: LevelContext) -> Round:
        """Play round 0: execute at most :data:`MAX_EXECUTED` plans of stored writers, until a plan solves the level.

        The world is restored after each plan that fails. If a plan was executed to its end and the world cannot be
        restored, no further plan is tried.

        Raises:
            WorldError: the world cannot go on.
            RestoreError: a plan failed before its end, and the world cannot be restored.
        """
        if self._writers is None or not self._writers.stored:
            return Round(None, (), "")
        self._execution.progress(0, "plan")
        self._emit("writers_tried", {"stored": [stored.label for stored in self._writers.stored]})
        start = level.world.checkpoint()
        snapshot = level.world.sense()
        tried_plans: list[Plan] = []
        attempts: list[Attempt] = []
        failures: list[WriterFailure] = []
        for result in self._time_plans(self._writers.plans(snapshot, level.info)):
            if isinstance(result, WriterFailure):
                failure: WriterFailure | None = result
            elif any(result.steps == plan.steps for plan in tried_plans):
                repeated = "its plan is that of another writer, which has failed"
                failures.append(WriterFailure(result.writer, Miss.FAILED, repeated))
                continue
            else:
                tried_plans.append(result)
                failure = self._try_plan(level, result, snapshot, start, attempts)
            self._emit("compiled_plan", _describe_tried(result, failure))
            if failure is None:
                break
            failures.append(failure)
            is_undone = self._undo_last(level.world, start, attempts)
            if not is_undone or len(tried_plans) == MAX_EXECUTED:
                break

        solved = bool(attempts) and attempts[-1].outcome.solved
        reason = failures[-1].reason if failures and not solved else ""
        last_plan = tried_plans[-1] if tried_plans else None
        return Round(last_plan, tuple(attempts), reason, snapshot=snapshot, missed=tuple(failures))

    def _time_plans(self, plans: Iterator[Plan | WriterFailure]) -> Iterator[Plan | WriterFailure]:
        """Yield the items of ``plans``, and emit an event with the seconds that each item took.

        The time to find that no item is left is emitted, too.
        """
        while True:
            started = time.perf_counter()
            result = next(plans, None)
            self._emit("duration", {"name": "compile_s", "seconds": time.perf_counter() - started})
            if result is None:
                return
            yield result

    def _try_plan(
        self, level: LevelContext, plan: Plan, snapshot: Snapshot, start: Checkpoint, attempts: list[Attempt]
    ) -> WriterFailure | None:
        """Execute ``plan`` and append the attempt to ``attempts``; return the failure, or None if the level is solved.

        If no code can be obtained for the plan, no attempt is appended.
        """
        patch = self._execution.implement(0, level, plan, snapshot, level.known, None)
        if not isinstance(patch, CodePatch):
            why = f"the coder sent the plan back: {patch.words}" if isinstance(patch, PlanObjection) else patch.reason
            return _make_failure(plan, why)
        outcome = self._execution.act(0, level.world, plan, patch.agent)
        attempts.append(Attempt(0, len(attempts) + 1, start, plan, patch.agent, outcome))
        return None if outcome.solved else _make_failure(plan, outcome.message)

    def _undo_last(self, world: World, start: Checkpoint, attempts: Sequence[Attempt]) -> bool:
        """Restore the world to ``start`` after the last attempt; return whether the world was restored.

        False means that planning goes on from the state at the end of the last attempt.

        Raises:
            RestoreError: the world cannot be restored, and the last plan was not executed to its end.
        """
        if not attempts or world.checkpoint() == start:
            return True
        if not world.can_restore:
            return False
        try:
            world.restore(start)
        except RestoreError:
            was_executed_to_end = attempts[-1].outcome.status is Status.GOAL_NOT_REACHED
            if not was_executed_to_end:
                raise
            return False
        return True

    def add_round_zero(self, level: LevelContext, tried: Round) -> LevelContext:
        """Return ``level`` for the later rounds: with the attempts of round 0 and a description of the writers."""
        description = self._writers.describe_writers(tried.missed, level.info) if self._writers else None
        return replace(level, tried=tried.attempts, writers=description)

    def conclude(self, level: LevelInfo, spec: LevelSpec, seed: int, result: LevelResult) -> DraftDecision | None:
        """Tally the writers that were tried on a finished level, and decide on the draft in the plan of the level.

        If a model later gave the same plan as a writer, the writer is not blamed. If that plan solved the level, the
        writer counts as having solved the level.

        Returns:
            The decision on the draft; None if there is no draft to decide on.
        """
        if self._writers is None or not result.rounds:
            return None
        round_0, *later_rounds = result.rounds
        case = _make_case(level, spec, seed, result) if result.solved else None
        later_steps = [later.plan.steps for later in later_rounds if later.plan]
        for attempt in round_0.attempts:
            steps = attempt.plan.steps
            if case and case.solved.plan.steps == steps and case.solved.checkpoint == attempt.start:
                self._writers.tally(attempt.plan.writer, level.category, solved=case)
            elif steps not in later_steps:
                self._writers.tally(attempt.plan.writer, level.category, solved=None)
        self._writers.blame(round_0.missed, level.category)
        draft = case.solved.plan.draft if case else None
        if case is None or draft is None:
            return None
        rejection = self._writers.consider(draft, case, result.agent, f"{level.category}/{spec.name}")
        labels = (stored.label for stored in self._writers.stored if stored.writer.name == draft.name)
        label = next(labels, "")
        decision = DraftDecision(draft.name, "" if rejection else label, rejection)
        self._emit("writer", asdict(decision))
        return decision


def _make_failure(plan: Plan, why: str) -> WriterFailure:
    plan_text = shorten_middle(plan.text, _MAX_PLAN)
    return WriterFailure(plan.writer, Miss.FAILED, one_line(f"{plan_text}: {why}"))


def _describe_tried(result: Plan | WriterFailure, failure: WriterFailure | None) -> dict[str, object]:
    """Return the data of the event for a writer that was tried.

    Args:
        result: what the writer returned.
        failure: why the writer did not solve the level; None if its plan solved the level.
    """
    label = result.writer if isinstance(result, Plan) else result.label
    if failure is None:
        return {"writer": label, "miss": "", "reason": ""}
    return {"writer": label, "miss": failure.miss.value, "reason": failure.reason}


def _make_case(level: LevelInfo, spec: LevelSpec, seed: int, result: LevelResult) -> Case | None:
    """Return a solved level as a case for problem writers; None if the last round has no snapshot."""
    last = result.attempts[-1]
    snapshot = result.rounds[-1].snapshot
    if snapshot is None:
        return None
    solved = SolvedLevel(spec, seed, last.start, last.plan)
    return Case(writer_state(snapshot, level), last.plan.problem, solved)
