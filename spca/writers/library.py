"""The writers of a run: tried on every level before a model is asked, accepted after a level that one came with."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from spca.common.text import one_line
from spca.contracts import (
    AgentSource,
    LevelInfo,
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
"""For a plan of one writer: a level may be tried with many."""

MAX_OBJECTS: Final = 300
"""Of a problem: a level has fewer than 20, a map of 2,500 cells keeps the solver busy until its time is up."""

_LONGEST_REASON: Final = 400


class WriterLibrary:
    """Stored problem writers.

    Args:
        executor: where writers run; they share its sandbox.
        solve: finds a validated plan for a domain and a problem, in so many seconds.
        make_world: a fresh world for an environment id and seed; None where levels cannot be played again: a version
            that changes the plan of an earlier level is then refused.

    Attributes:
        stored: the newest version of each writer, in order of acceptance.
        rejection: why the last draft was not accepted; "" once one was.
    """

    def __init__(
        self,
        executor: SandboxExecutor,
        solve: Callable[[str, str, float], SolveResult],
        make_world: Callable[[str, int], World] | None = None,
    ) -> None:
        self._runner = WriterRunner(executor)
        self._solve = solve
        self._acceptance = Acceptance(self._runner, self._plan, make_world)
        self.stored: tuple[StoredWriter, ...] = ()
        self._replaced: tuple[StoredWriter, ...] = ()
        self.rejection = ""
        self._labels: set[str] = set()

    def close(self) -> None:
        """End the process that writers run in; idempotent, and another one is begun where it is needed."""
        self._runner.close()

    def load(self, stored: Iterable[StoredWriter], rejection: str = "", accepted: Iterable[str] = ()) -> None:
        """Go on with the writers of a run; the newest version of each name counts.

        Args:
            accepted: labels that the run has given; those, and all that were stored here, are not given again.
        """
        self._labels.update(accepted)
        newest: dict[str, StoredWriter] = {}
        for writer in stored:
            known = newest.get(writer.writer.name)
            if known is None or known.version <= writer.version:
                newest.pop(writer.writer.name, None)
                newest[writer.writer.name] = writer
        self.stored = tuple(newest.values())
        self._replaced = ()
        self.rejection = rejection

    @property
    def versions(self) -> tuple[StoredWriter, ...]:
        """All that were stored here, each with its last tally; a newer version of a name after those it replaced."""
        return (*self._replaced, *self.stored)

    def plans(self, snapshot: Snapshot, level: LevelInfo) -> Iterator[Plan | WriterFailure]:
        """Yield the plans of the writers for a level, best first, and what became of those that made none.

        The order is that of :func:`spca.writers.merit.sort_by_merit`; those that are left out come last, unasked.

        Raises:
            SandboxError: there is no sandbox to run them in.
        """
        state = writer_state(snapshot, level)
        order = merit.sort_by_merit(self.stored, state["mission"], level)
        left_out = {each.label: reason for each in order if (reason := merit.reason_left_out(each, level.category))}
        asked = [each for each in order if each.label not in left_out]
        written = self._runner.each([(stored.writer.source, state) for stored in asked])
        for stored, result in zip(asked, written, strict=True):
            made = self._plan(stored.writer, result.text) if result.miss is None else result
            if isinstance(made, Plan):
                yield replace(made, writer=stored.label)
            else:
                yield WriterFailure(stored.label, made.miss or Miss.INVALID, made.reason)
        for label, reason in left_out.items():
            yield WriterFailure(label, Miss.LEFT_OUT, reason)

    def tally(self, label: str, category: str, *, solved: Case | None) -> None:
        """Count what became of a writer's plan that was carried out; None for one that did not solve the level."""

        def count(stored: StoredWriter) -> StoredWriter:
            if solved:
                return merit.count_solved(stored, category, solved)
            return merit.count_miss(stored, category, Miss.FAILED)

        self._change(label, count)

    def blame(self, missed: Iterable[WriterFailure], category: str) -> None:
        """Count the answers of a level that were invalid or late against those who gave them."""
        for miss in missed:
            if miss.miss in (Miss.INVALID, Miss.LATE):
                self._change(miss.label, partial(merit.count_miss, category=category, miss=miss.miss))

    def _change(self, label: str, change: Callable[[StoredWriter], StoredWriter]) -> None:
        """Replace the writer of a label by what is made of it."""
        self.stored = tuple(change(stored) if stored.label == label else stored for stored in self.stored)

    def consider(self, draft: ProblemWriter, case: Case, agent: AgentSource, born: str) -> str:
        """Accept a draft as the newest version of its name, or return why not, in one line.

        Args:
            case: the level that it came with, solved by the problem of the same answer.
            agent: the library by now; plans that change are carried out with it.
            born: the level's id.

        Raises:
            SandboxError: there is no sandbox to run it in.
        """
        old = next((stored for stored in self.stored if stored.writer.name == draft.name), None)
        kept = old.cases if old else ()
        objection = self._acceptance.objection(draft, case, kept, agent)
        self.rejection = _short(f"{draft.name}: {objection}") if objection else ""
        _LOG.info("problem writer %s: %s", draft.name, objection or "accepted")
        if not objection:
            version = StoredWriter(draft, (old.version if old else 0) + 1, born, add_case(kept, case))
            while version.label in self._labels:
                version = replace(version, version=version.version + 1)
            self._labels.add(version.label)
            self.stored = (*(stored for stored in self.stored if stored is not old), version)
            self._replaced += (old,) if old else ()
        return self.rejection

    def describe_writers(self, missed: Sequence[WriterFailure], level: LevelInfo) -> dict[str, Any] | None:
        """Return what a planner is told of the writers, None where there is nothing.

        Those that have solved levels of such a category and skill come first, newer before older ones. ``nearest``:
        the first one, in the fields of an answer; ``others``: names; ``missed``: why each did not
        help on this level; ``rejected``: why the last draft was not accepted.
        """
        if not self.stored and not self.rejection:
            return None
        newest_first = self.stored[::-1]
        order = sorted(newest_first, key=lambda stored: not merit.fits_level(stored, level))
        ranks = {stored.label: rank for rank, stored in enumerate(order)}
        missed = sorted(missed, key=lambda each: ranks.get(each.label, len(ranks)))
        first = missed[0].label if missed else ""
        nearest = next((each.writer for each in self.stored if each.label == first), None)
        shown = nearest and {"writer_name": nearest.name, "domain": nearest.domain, "writer": nearest.source}
        told: dict[str, Any] = {"nearest": shown}
        told["others"] = [each.writer.name for each in self.stored if each.writer is not nearest]
        told["missed"] = [
            {"writer_name": each.label.partition("/")[0], "how": each.miss.value, "why": each.reason} for each in missed
        ]
        return told | ({"rejected": self.rejection} if self.rejection else {})

    def _plan(self, writer: ProblemWriter, problem: str) -> Plan | Written:
        """Return the validated plan of a writer's problem, or why there is none."""
        statuses = list[SolveStatus]()

        def solve(domain: str, problem: str) -> SolveResult:
            count = len(pddl.NameMap.from_pddl(domain, problem).objects)
            if count > MAX_OBJECTS:
                raise PlanTextError(f"the problem has {count} objects, at most {MAX_OBJECTS} are planned with")
            result = self._solve(domain, problem, SOLVE_SECONDS)
            statuses.append(result.status)
            return result

        found = pddl.plan_of(solve, writer.domain, problem, PlannerMode.COMPILED)
        if isinstance(found, Plan):
            return found
        is_late = SolveStatus.TIMEOUT in statuses
        return Written(miss=Miss.LATE if is_late else Miss.INVALID, reason=_short(found))


def _short(text: str) -> str:
    return shorten_middle(one_line(text), _LONGEST_REASON)
