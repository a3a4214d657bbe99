"""The stored writers of a run.

Each level first tries the plans of the stored writers. A draft of a writer can be accepted after its level is solved.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from spca.body import Body
from spca.common.text import one_line
from spca.contracts import (
    AgentSource,
    LevelInfo,
    LevelSpec,
    Plan,
    PlannerMode,
    ProblemWriter,
    Snapshot,
    SolveResult,
    SolveStatus,
)
from spca.errors import PlanTextError
from spca.llm.feedback import shorten_middle
from spca.plan import pddl
from spca.protocols import World
from spca.sandbox.executor import SandboxExecutor
from spca.writers import merit
from spca.writers.acceptance import Acceptance
from spca.writers.running import WriterRunner, Written
from spca.writers.stored import Case, Miss, StoredWriter, WriterFailure, add_case, writer_state

_LOG: Final = logging.getLogger(__name__)

SOLVE_SECONDS: Final = 10.0
"""Longest search for a plan of one writer's problem, in seconds; short, because a level may try many writers."""

MAX_OBJECTS: Final = 300
"""Largest number of objects in a problem.

A level has fewer than 20 objects. A problem with an object for each of a map's 2,500 cells would use up the time.
"""

_MAX_REASON: Final = 400


class WriterLibrary:
    """Stored problem writers.

    Args:
        executor: executor whose sandbox runs the writers.
        solve: function that searches for a validated plan for a domain and a problem, within a given number of seconds.
        body: the body of the agent that executes the plans.
        make_world: function that creates a world from a level and a seed. If None, levels cannot be replayed,
            so a version that changes the plan of an earlier level is refused.

    Attributes:
        stored: the newest version of each writer, in order of acceptance.
        rejection: why the last draft was refused; "" if the last draft was accepted.
    """

    def __init__(
        self,
        executor: SandboxExecutor,
        solve: Callable[[str, str, float], SolveResult],
        body: Body,
        make_world: Callable[[LevelSpec, int], World] | None = None,
    ) -> None:
        self._runner = WriterRunner(executor)
        self._solve = solve
        self._vocabulary = body.vocabulary
        self._interface = body.interface
        self._acceptance = Acceptance(self._runner, self._plan, body.vocabulary, make_world)
        self.stored: tuple[StoredWriter, ...] = ()
        self._replaced: tuple[StoredWriter, ...] = ()
        self.rejection = ""
        self._labels: set[str] = set()

    def close(self) -> None:
        """End the process that runs writers; idempotent. The next use starts a new process."""
        self._runner.close()

    def load(self, stored: Iterable[StoredWriter], rejection: str = "", accepted: Iterable[str] = ()) -> None:
        """Continue with the writers of a run; of each name, only the newest version is used.

        Args:
            stored: the writers.
            rejection: why the last draft was refused; "" if it was accepted.
            accepted: labels that the run has already used; a label is never used twice.
        """
        self._labels.update(accepted)
        newest: dict[str, StoredWriter] = {}
        for writer in stored:
            known = newest.get(writer.writer.name)
            if known is None or known.version <= writer.version:
                newest.pop(writer.writer.name, None)  # so that the newer version comes last
                newest[writer.writer.name] = writer
        self.stored = tuple(newest.values())
        self._replaced = ()
        self.rejection = rejection

    @property
    def versions(self) -> tuple[StoredWriter, ...]:
        """All stored versions with their latest tallies; of one name, the newest version comes last."""
        return (*self._replaced, *self.stored)

    def plans(self, snapshot: Snapshot, level: LevelInfo) -> Iterator[Plan | WriterFailure]:
        """Yield for each writer its plan for a level, or its failure.

        The writers come in the order of :func:`spca.writers.merit.sort_by_merit`. Writers with too many strikes are not
        called; their failures come last.

        Raises:
            SandboxError: there is no working sandbox.
        """
        state = writer_state(snapshot, level)
        order = merit.sort_by_merit(self.stored, state["mission"], level, self._vocabulary)
        reasons = {stored.label: merit.reason_left_out(stored, level.category) for stored in order}
        left_out = {label: reason for label, reason in reasons.items() if reason}
        asked = [stored for stored in order if stored.label not in left_out]
        written = self._runner.each([(stored.writer.source, state) for stored in asked])
        for stored, result in zip(asked, written, strict=True):
            planned = self._plan(stored.writer, result.text) if result.miss is None else result
            if isinstance(planned, Plan):
                yield replace(planned, writer=stored.label)
            else:
                yield WriterFailure(stored.label, planned.miss or Miss.INVALID, planned.reason)
        for label, reason in left_out.items():
            yield WriterFailure(label, Miss.LEFT_OUT, reason)

    def tally(self, label: str, category: str, *, solved: Case | None) -> None:
        """Count an executed plan of the writer with this label.

        ``solved`` is the level that the plan solved; None if the plan failed.
        """

        def count(stored: StoredWriter) -> StoredWriter:
            if solved:
                return merit.count_solved(stored, category, solved, self._vocabulary)
            return merit.count_miss(stored, category, Miss.FAILED)

        self._change(label, count)

    def blame(self, missed: Iterable[WriterFailure], category: str) -> None:
        """Add a strike to each writer whose failure in ``missed`` is an invalid or late answer."""
        for miss in missed:
            if miss.miss in (Miss.INVALID, Miss.LATE):
                self._change(miss.label, partial(merit.count_miss, category=category, miss=miss.miss))

    def _change(self, label: str, change: Callable[[StoredWriter], StoredWriter]) -> None:
        """Replace the writer with this label by the result that ``change`` returns for it."""
        self.stored = tuple(change(stored) if stored.label == label else stored for stored in self.stored)

    def consider(self, draft: ProblemWriter, case: Case, agent: AgentSource, born: str) -> str:
        """Accept a draft as the newest version of its name, or refuse it.

        Return "" if the draft is accepted, else the reason in one line.

        Args:
            draft: the draft.
            case: the level that was solved by the model's problem in the same answer.
            agent: the current library of methods, which executes plans that changed.
            born: the level's id.

        Raises:
            SandboxError: there is no working sandbox.
        """
        old = next((stored for stored in self.stored if stored.writer.name == draft.name), None)
        kept = old.cases if old else ()
        objection = self._acceptance.objection(draft, case, kept, agent)
        self.rejection = _shorten(f"{draft.name}: {objection}") if objection else ""
        _LOG.info("problem writer %s: %s", draft.name, objection or "accepted")
        if not objection:
            version = StoredWriter(draft, (old.version if old else 0) + 1, born, add_case(kept, case, self._vocabulary))
            while version.label in self._labels:
                version = replace(version, version=version.version + 1)
            self._labels.add(version.label)
            self.stored = (*(stored for stored in self.stored if stored is not old), version)
            self._replaced += (old,) if old else ()
        return self.rejection

    def describe_writers(self, missed: Sequence[WriterFailure], level: LevelInfo) -> dict[str, Any] | None:
        """Return a description of the writers for a planner's prompt; None if there is nothing to describe.

        The failures ``missed`` are sorted: first come writers that have solved a level of the same category and skill,
        and among these the newest. The keys of the description are:

        - ``nearest``: the writer of the first of these failures, with the fields of a planner's answer;
        - ``others``: the names of the other writers;
        - ``missed``: how and why each writer failed on this level;
        - ``rejected``: why the last draft was refused.
        """
        if not self.stored and not self.rejection:
            return None
        newest_first = self.stored[::-1]
        order = sorted(newest_first, key=lambda stored: not merit.fits_level(stored, level))
        ranks = {stored.label: rank for rank, stored in enumerate(order)}
        missed = sorted(missed, key=lambda failure: ranks.get(failure.label, len(ranks)))
        first = missed[0].label if missed else ""
        nearest = next((stored.writer for stored in self.stored if stored.label == first), None)
        shown = nearest and {"writer_name": nearest.name, "domain": nearest.domain, "writer": nearest.source}
        failures: list[dict[str, str]] = []
        for failure in missed:
            name = failure.label.partition("/")[0]
            failures.append({"writer_name": name, "how": failure.miss.value, "why": failure.reason})

        description: dict[str, Any] = {"nearest": shown}
        description["others"] = [stored.writer.name for stored in self.stored if stored.writer is not nearest]
        description["missed"] = failures
        if self.rejection:
            description["rejected"] = self.rejection
        return description

    def _plan(self, writer: ProblemWriter, problem: str) -> Plan | Written:
        """Return the validated plan for a writer's problem; if there is no plan, return the failure."""
        statuses: list[SolveStatus] = []

        def solve(domain: str, problem: str) -> SolveResult:
            count = len(pddl.NameMap.from_pddl(domain, problem).objects)
            if count > MAX_OBJECTS:
                raise PlanTextError(f"the problem has {count} objects, at most {MAX_OBJECTS} are planned with")
            result = self._solve(domain, problem, SOLVE_SECONDS)
            statuses.append(result.status)
            return result

        plan_or_reason = pddl.plan_of(solve, writer.domain, problem, PlannerMode.COMPILED, self._interface)
        if isinstance(plan_or_reason, Plan):
            return plan_or_reason
        is_late = SolveStatus.TIMEOUT in statuses
        return Written(miss=Miss.LATE if is_late else Miss.INVALID, reason=_shorten(plan_or_reason))


def _shorten(text: str) -> str:
    return shorten_middle(one_line(text), _MAX_REASON)
