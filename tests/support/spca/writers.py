"""A library of problem writers that plan what a test says, without source or sandbox."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from spca.contracts import AgentSource, LevelInfo, Plan, PlannerMode, ProblemWriter, Snapshot
from spca.plan.pddl import extract_actions, parse_plan
from spca.writers.stored import Case, Miss, StoredWriter, WriterFailure
from tests.support.spca.doubles import pddl

UNREADABLE = WriterFailure("shy/v001", Miss.REFUSED, "the mission is not mine")
LATE = WriterFailure("slow/v002", Miss.INVALID, "it took more than 100 ms")


def compiled(label: str, *actions: str) -> Plan:
    """A plan that a stored writer makes."""
    domain, problem = pddl(*actions)
    steps = parse_plan(f"[{', '.join(f'{action}(a1)' for action in actions)}]")
    return Plan(steps, domain, problem, extract_actions(domain), PlannerMode.COMPILED, "fake", label)


class FakeWriters:
    """Yields what it is given on every level; accepts every draft unless told why not."""

    def __init__(self, *made: Plan | WriterFailure, verdict: str = "") -> None:
        self._made, self._verdict = made, verdict
        labels = (each.writer if isinstance(each, Plan) else each.label for each in made)
        self.stored: tuple[StoredWriter, ...] = tuple(map(_stored, dict.fromkeys(labels)))
        self.asked: list[tuple[Snapshot, LevelInfo]] = []
        self.yielded = 0
        self.tallied: list[tuple[str, Case | None]] = []
        self.blamed: list[str] = []
        self.considered: list[tuple[ProblemWriter, Case, AgentSource, str]] = []

    def plans(self, snapshot: Snapshot, level: LevelInfo) -> Iterator[Plan | WriterFailure]:
        self.asked.append((snapshot, level))
        for made in self._made:
            self.yielded += 1
            yield made

    def tally(self, label: str, category: str, *, solved: Case | None) -> None:  # noqa: ARG002 - levels of one
        self.tallied.append((label, solved))

    def blame(self, missed: Sequence[WriterFailure], category: str) -> None:  # noqa: ARG002 - levels of one
        self.blamed += [each.label for each in missed if each.miss is not Miss.REFUSED]

    def consider(self, draft: ProblemWriter, case: Case, agent: AgentSource, born: str) -> str:
        self.considered.append((draft, case, agent, born))
        if not self._verdict:
            self.stored = (*self.stored, StoredWriter(draft, 1, born, (case,)))
        return self._verdict

    def describe_writers(self, missed: Sequence[WriterFailure], level: LevelInfo) -> dict[str, Any] | None:  # noqa: ARG002
        names = [each.writer.name for each in self.stored]
        told = [{"how": each.miss.value, "why": each.reason} for each in missed]
        return {"nearest": None, "others": names, "missed": told} if names else None


def _stored(label: str) -> StoredWriter:
    name, _, version = label.partition("/v")
    return StoredWriter(ProblemWriter(name, "(define (domain d))", "def make_problem(s): ..."), int(version), "a level")
