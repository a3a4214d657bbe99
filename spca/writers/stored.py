"""Data of compiled planning: stored writers, the levels that they solved, and failures of writers."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from spca.body import WordGroups
from spca.code.regression import SolvedLevel
from spca.contracts import LevelInfo, ProblemWriter, Snapshot
from spca.writers.renamings import likeness

MAX_CASES: Final = 100
"""Largest number of cases of a writer; a draft is tried on all of them, and a record lists them."""


@dataclass(frozen=True, slots=True)
class Case:
    """A level that was solved with the problem of a version of a writer, or with the model's problem in the same
    answer.

    Attributes:
        state: the writer's input (:func:`writer_state`).
        problem: the PDDL text that solved the level.
        solved: the plan and the state in which it began, for a replay.
    """

    state: Mapping[str, Any]
    problem: str
    solved: SolvedLevel


@dataclass(frozen=True, slots=True)
class Tally:
    """Successes and strikes of a writer on the levels of a category.

    A solved level resets the strikes (``failed``, ``late`` and ``invalid``) to 0.

    Attributes:
        solved: number of levels that the writer's plans have solved.
        failed: number of executed plans that did not solve the level.
        late: number of answers that took too long.
        invalid: number of answers that were not a solvable problem.
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
    """An accepted version of a writer.

    Attributes:
        writer: the source with its name and domain.
        version: number of the version.
        born: id of the level on which the version was accepted.
        cases: levels that later versions must still solve.
        solved, failed, late, invalid: counts over all levels of the run; the meanings are as in :class:`Tally`.
        tallies: the counts by category.
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
        """Name and version, such as ``unlock/v003``; also the path of the writer's files below ``pddl/writers``."""
        return f"{self.writer.name}/v{self.version:03d}"


class Miss(StrEnum):
    """How a writer failed to solve a level.

    REFUSED: the writer raised ValueError. INVALID: its answer was not a solvable problem. LATE: the writer took too
    long, or the solver did with the writer's problem. FAILED: its plan was executed and did not solve the level.
    LEFT_OUT: the writer was not called, because of its strikes.
    """

    REFUSED = "refused"
    INVALID = "invalid"
    LATE = "late"
    FAILED = "failed"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class WriterFailure:
    """The failure of a writer on a level; the reason is one line."""

    label: str
    miss: Miss
    reason: str


def writer_state(snapshot: Snapshot, level: LevelInfo) -> dict[str, Any]:
    """Return the input of ``make_problem``.

    It contains the snapshot as a planner's prompt shows it, and words that describe the level.
    """
    words = {"category": level.category, "skill": level.skill, "level": level.level}
    return {"mission": snapshot.mission, **snapshot.shown, "level": words}


def add_case(cases: tuple[Case, ...], case: Case, vocabulary: WordGroups | None) -> tuple[Case, ...]:
    """Return ``cases`` with ``case`` appended, unless ``cases`` already contains an equal case.

    Cases are equal if mission, problem and skill are the same up to a renaming of words. If there are
    :data:`MAX_CASES` cases, a case of a new category and skill replaces the oldest case of the most frequent category
    and skill; other cases are not appended.
    """
    known = {_find_likeness(kept, vocabulary) for kept in cases}
    if _find_likeness(case, vocabulary) in known:
        return cases
    if len(cases) < MAX_CASES:
        return (*cases, case)
    sizes = Counter(map(_find_kind, cases))
    if _find_kind(case) in sizes:
        return cases
    [(most_frequent, _)] = sizes.most_common(1)
    oldest = next(kept for kept in cases if _find_kind(kept) == most_frequent)
    return (*(kept for kept in cases if kept is not oldest), case)


def _find_kind(case: Case) -> tuple[str, str]:
    """Return category and skill of a case."""
    return case.state["level"]["category"], case.state["level"]["skill"]


def _find_likeness(case: Case, vocabulary: WordGroups | None) -> bytes:
    return _hash_likeness(vocabulary, case.state["mission"], case.problem, case.state["level"]["skill"])


@lru_cache(maxsize=2048)
def _hash_likeness(vocabulary: WordGroups | None, *texts: str) -> bytes:
    """Return a hash that is equal for texts that differ only by a renaming of words."""
    return hashlib.sha256(repr(likeness(vocabulary, *texts)).encode(errors="surrogatepass")).digest()
