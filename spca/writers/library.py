"""The writers of a run: tried on every level before a model is asked, accepted after a level that one came with."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from spca.common.text import one_line
from spca.contracts import AgentSource, LevelInfo, Plan, PlannerMode, ProblemWriter, Snapshot, SolveResult
from spca.llm.feedback import shortened
from spca.plan import pddl
from spca.protocols import World
from spca.sandbox.executor import SandboxExecutor
from spca.writers.acceptance import Acceptance
from spca.writers.running import WriterRunner
from spca.writers.stored import Case, Miss, Missed, StoredWriter, with_case, writer_state

_LOG: Final = logging.getLogger(__name__)

SOLVE_SECONDS: Final = 10.0
"""For a plan of one writer: a level may be tried with many."""

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
        self._runner, self._solve = WriterRunner(executor), solve
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
        self.stored, self._replaced, self.rejection = tuple(newest.values()), (), rejection

    @property
    def versions(self) -> tuple[StoredWriter, ...]:
        """All that were stored here, each with its last tally; a newer version of a name after those it replaced."""
        return (*self._replaced, *self.stored)

    def plans(self, snapshot: Snapshot, level: LevelInfo) -> Iterator[Plan | Missed]:
        """Yield the plans of the writers for a level, best first, and what became of those that made none.

        First come writers that solved a level of the same category and skill, newer before older ones.

        Raises:
            SandboxError: there is no sandbox to run them in.
        """
        state = writer_state(snapshot, level)
        newest_first = self.stored[::-1]
        order = sorted(newest_first, key=lambda stored: not _fits(stored, level))
        written = self._runner.each([(stored.writer.source, state) for stored in order])
        for stored, result in zip(order, written, strict=True):
            if result.miss is not None:
                yield Missed(stored.label, result.miss, result.reason)
                continue
            plan = self._plan(stored.writer, result.text)
            if isinstance(plan, Plan):
                yield replace(plan, writer=stored.label)
            else:
                yield Missed(stored.label, Miss.INVALID, plan)

    def tally(self, label: str, *, solved: Case | None) -> None:
        """Count what became of a writer's plan that was carried out; None for one that did not solve the level."""
        self.stored = tuple(stored if stored.label != label else _counted(stored, solved) for stored in self.stored)

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
            version = StoredWriter(draft, (old.version if old else 0) + 1, born, with_case(kept, case))
            while version.label in self._labels:
                version = replace(version, version=version.version + 1)
            self._labels.add(version.label)
            self.stored = (*(stored for stored in self.stored if stored is not old), version)
            self._replaced += (old,) if old else ()
        return self.rejection

    def told(self, missed: Sequence[Missed]) -> dict[str, Any] | None:
        """Return what a planner is told of the writers, None where there is nothing.

        ``nearest``: the first one tried, in the fields of an answer; ``others``: names; ``missed``: why each did not
        help on this level; ``rejected``: why the last draft was not accepted.
        """
        if not self.stored and not self.rejection:
            return None
        first = missed[0].label if missed else ""
        nearest = next((each.writer for each in self.stored if each.label == first), None)
        shown = nearest and {"writer_name": nearest.name, "domain": nearest.domain, "writer": nearest.source}
        told: dict[str, Any] = {"nearest": shown}
        told["others"] = [each.writer.name for each in self.stored if each.writer is not nearest]
        told["missed"] = [
            {"writer_name": each.label.partition("/")[0], "how": each.miss.value, "why": each.reason} for each in missed
        ]
        return told | ({"rejected": self.rejection} if self.rejection else {})

    def _plan(self, writer: ProblemWriter, problem: str) -> Plan | str:
        """Return the validated plan of a writer's problem, or why there is none."""

        def solve(domain: str, problem: str) -> SolveResult:
            return self._solve(domain, problem, SOLVE_SECONDS)

        found = pddl.plan_of(solve, writer.domain, problem, PlannerMode.COMPILED)
        return found if isinstance(found, Plan) else _short(found)


def _fits(stored: StoredWriter, level: LevelInfo) -> bool:
    words = [case.state["level"] for case in stored.cases]
    return any((each["category"], each["skill"]) == (level.category, level.skill) for each in words)


def _counted(stored: StoredWriter, solved: Case | None) -> StoredWriter:
    if solved is None:
        return replace(stored, failed=stored.failed + 1)
    return replace(stored, solved=stored.solved + 1, cases=with_case(stored.cases, solved))


def _short(text: str) -> str:
    return shortened(one_line(text), _LONGEST_REASON)
