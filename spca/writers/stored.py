"""Values of compiled planning: writers that are kept, the levels they have solved, and why one did not help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from spca.code.regression import SolvedLevel
from spca.contracts import LevelInfo, ProblemWriter, Snapshot
from spca.sense.map_text import planner_state
from spca.writers.renamings import likeness


@dataclass(frozen=True, slots=True)
class Case:
    """A level that was solved by a problem of a writer's family.

    ``state`` is what a writer is given (:func:`writer_state`), ``problem`` the text that solved it, ``solved`` the plan
    and where it began, to be played again.
    """

    state: Mapping[str, Any]
    problem: str
    solved: SolvedLevel


@dataclass(frozen=True, slots=True)
class Tally:
    """What a writer did on the levels of a category.

    Attributes:
        solved: levels that its plans have solved.
        failed: its strikes since the last of them, as the next two are: plans that were carried out in vain.
        late: answers that took too long.
        invalid: answers that were no problem with a plan.
    """

    solved: int = 0
    failed: int = 0
    late: int = 0
    invalid: int = 0

    @property
    def strikes(self) -> int:
        return self.failed + self.late + self.invalid


@dataclass(frozen=True, slots=True)
class StoredWriter:
    """The newest accepted version of a writer: the level it was born on, what it must go on to solve, its tally.

    Attributes:
        solved, failed, late, invalid: on all levels of the run.
        tallies: by category.
    """

    writer: ProblemWriter
    version: int
    born: str
    cases: tuple[Case, ...] = ()
    solved: int = 0
    failed: int = 0
    late: int = 0
    invalid: int = 0
    tallies: Mapping[str, Tally] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """``unlock/v003``: also where its files lie, below ``pddl/writers``."""
        return f"{self.writer.name}/v{self.version:03d}"


class Miss(StrEnum):
    """How a writer did not help on a level.

    It raised ValueError, it is at fault, it (or the solver with its problem) took too long, its plan was carried out in
    vain, or it was not asked, because of its strikes.
    """

    REFUSED = "refused"
    INVALID = "invalid"
    LATE = "late"
    FAILED = "failed"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class WriterFailure:
    """A writer that did not help on a level, and why in one line."""

    label: str
    miss: Miss
    reason: str


def writer_state(snapshot: Snapshot, level: LevelInfo) -> dict[str, Any]:
    """Return what ``make_problem`` is given: what a planner's prompt shows of the snapshot, and the level's words."""
    words = {"category": level.category, "skill": level.skill, "level": level.level}
    return {**planner_state(snapshot), "level": words}


def add_case(cases: tuple[Case, ...], case: Case) -> tuple[Case, ...]:
    """Return the cases and one more, unless one has the same mission, problem and skill up to renaming."""
    return cases if _likeness(case) in map(_likeness, cases) else (*cases, case)


def _likeness(case: Case) -> tuple[str, ...]:
    return likeness(case.state["mission"], case.problem, case.state["level"]["skill"])
