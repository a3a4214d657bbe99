"""The order in which writers are tried on a level, and which writers are not tried because of their strikes (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from spca.body import WordGroups
from spca.contracts import LevelInfo
from spca.writers.renamings import likeness
from spca.writers.stored import Case, Miss, StoredWriter, Tally, add_case

MAX_STRIKES: Final = {Miss.FAILED: 2, Miss.LATE: 2, Miss.INVALID: 6}
"""Number of strikes of each kind from which on a writer is not tried.

An invalid answer costs only a few milliseconds, so more of them are allowed. A wrong plan costs an attempt, and a late
answer up to ten seconds.
"""

_WORDS: Final = {Miss.FAILED: "wrong plans", Miss.LATE: "late answers", Miss.INVALID: "invalid answers"}


def sort_by_merit(
    stored: Iterable[StoredWriter], mission: str, level: LevelInfo, vocabulary: WordGroups | None
) -> list[StoredWriter]:
    """Return the writers in the order in which the level tries them; in ``stored`` the newest writer is last.

    First come writers that have solved a similar mission in levels of the same category and skill. Then come other
    writers that have solved levels of this category and skill. Then come writers that have solved a similar mission
    elsewhere, then all others. Among equal writers, those with fewer strikes come first, then newer writers.
    """

    def rank(writer: StoredWriter) -> tuple[int, int]:
        return _distance(writer, mission, level, vocabulary), _strikes(writer, level.category).strikes

    newest_first = list(stored)
    newest_first.reverse()
    return sorted(newest_first, key=rank)


def fits_level(writer: StoredWriter, level: LevelInfo) -> bool:
    """Return whether one of the writer's cases is a level of the same category and skill as ``level``."""
    return any(_has_same_category_and_skill(case, level) for case in writer.cases)


def count_solved(writer: StoredWriter, category: str, case: Case, vocabulary: WordGroups | None) -> StoredWriter:
    """Return the writer with one more solved level; its strikes in this category are removed."""
    tally = Tally(solved=writer.tallies.get(category, Tally()).solved + 1)
    tallies = {**writer.tallies, category: tally}
    return replace(writer, solved=writer.solved + 1, cases=add_case(writer.cases, case, vocabulary), tallies=tallies)


def count_miss(writer: StoredWriter, category: str, miss: Miss) -> StoredWriter:
    """Return the writer with one more strike of the kind ``miss``; a refusal does not count as a strike."""
    if miss not in MAX_STRIKES:
        return writer
    before = writer.tallies.get(category, Tally())
    tally = replace(before, **{miss.value: getattr(before, miss.value) + 1})
    total = {miss.value: getattr(writer, miss.value) + 1}
    return replace(writer, tallies={**writer.tallies, category: tally}, **total)


def reason_left_out(writer: StoredWriter, category: str) -> str:
    """Return why a writer is not tried on levels of a category; "" if the writer is tried.

    If the writer has solved a level of the category, only its strikes in this category since that level count.
    Otherwise its strikes in all categories of which it has solved no level count together.
    """
    tally = _strikes(writer, category)
    where = f"in {category} since it last solved a level there"
    if not _has_solved(writer, category):
        where = "in categories of which it has solved no level"

    reasons: list[str] = []
    for miss, most in MAX_STRIKES.items():
        count = getattr(tally, miss.value)
        if count >= most:
            reasons.append(f"{count} {_WORDS[miss]} {where}")
    return "; ".join(reasons)


def reasons_left_out(writer: StoredWriter) -> str:
    """Return in which categories a writer is not tried, and why; "" if the writer is tried on every level."""
    reasons = (reason_left_out(writer, category) for category in writer.tallies)
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def _distance(writer: StoredWriter, mission: str, level: LevelInfo, vocabulary: WordGroups | None) -> int:
    """Return how much a level differs from the levels that the writer has solved: from 0 (most similar) to 3."""
    wanted = _make_template(mission, vocabulary)
    similar = [case for case in writer.cases if _make_template(case.state["mission"], vocabulary) == wanted]
    if fits_level(writer, level):
        return 0 if any(_has_same_category_and_skill(case, level) for case in similar) else 1
    return 2 if similar else 3


def _has_same_category_and_skill(case: Case, level: LevelInfo) -> bool:
    words = case.state["level"]
    return bool((words["category"], words["skill"]) == (level.category, level.skill))


@lru_cache(maxsize=4096)
def _make_template(mission: str, vocabulary: WordGroups | None) -> str:
    """Return a mission in which numbers replace the words that a renaming exchanges."""
    return likeness(vocabulary, mission)[0]


def _has_solved(writer: StoredWriter, category: str) -> bool:
    """Return whether any version of a writer has solved a level of the category."""
    is_counted = category in writer.tallies and writer.tallies[category].solved > 0
    return is_counted or any(case.state["level"]["category"] == category for case in writer.cases)


def _strikes(writer: StoredWriter, category: str) -> Tally:
    """Return the strikes that count on levels of a category, see :func:`reason_left_out`."""
    if _has_solved(writer, category):
        return writer.tallies.get(category, Tally())
    unsolved = [tally for name, tally in writer.tallies.items() if not _has_solved(writer, name)]
    sums: dict[str, int] = {}
    for miss in MAX_STRIKES:
        sums[miss.value] = sum(getattr(tally, miss.value) for tally in unsolved)
    return Tally(**sums)
