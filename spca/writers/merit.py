"""Which writers are tried on a level, in which order, and which are left out for their strikes (pure)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final

from spca.contracts import LevelInfo
from spca.writers.renamings import likeness
from spca.writers.stored import Case, Miss, StoredWriter, Tally, add_case

MAX_STRIKES: Final = {Miss.FAILED: 2, Miss.LATE: 2, Miss.INVALID: 6}
"""With so many wrong plans, late or invalid answers a writer is left out.

An invalid answer costs a few milliseconds, the others an attempt or up to ten seconds.
"""

_WORDS: Final = {Miss.FAILED: "wrong plans", Miss.LATE: "late answers", Miss.INVALID: "invalid answers"}


def sort_by_merit(stored: Iterable[StoredWriter], mission: str, level: LevelInfo) -> list[StoredWriter]:
    """Return writers, newest last, in the order in which they are tried on a level.

    First come those that have solved levels of its category, and of them those that have read such a mission; then
    those that have read such a mission elsewhere; then the others. Among equals those with fewer strikes come first,
    then newer ones.
    """

    def rank(writer: StoredWriter) -> tuple[int, int]:
        return _distance(writer, mission, level), _strikes(writer, level.category).strikes

    newest_first = list(stored)
    newest_first.reverse()
    return sorted(newest_first, key=rank)


def fits_level(writer: StoredWriter, level: LevelInfo) -> bool:
    """Return whether a writer has to go on solving a level of the same category and skill."""
    return any(_is_of(case, level) for case in writer.cases)


def count_solved(writer: StoredWriter, category: str, case: Case) -> StoredWriter:
    """Return a writer whose plan has solved a level: its strikes in that category are forgotten."""
    tally = Tally(solved=writer.tallies.get(category, Tally()).solved + 1)
    tallies = {**writer.tallies, category: tally}
    return replace(writer, solved=writer.solved + 1, cases=add_case(writer.cases, case), tallies=tallies)


def count_miss(writer: StoredWriter, category: str, miss: Miss) -> StoredWriter:
    """Return a writer with one more strike; a refusal is none."""
    if miss not in MAX_STRIKES:
        return writer
    before = writer.tallies.get(category, Tally())
    tally = replace(before, **{miss.value: getattr(before, miss.value) + 1})
    total = {miss.value: getattr(writer, miss.value) + 1}
    return replace(writer, tallies={**writer.tallies, category: tally}, **total)


def reason_left_out(writer: StoredWriter, category: str) -> str:
    """Return why a writer is not tried on levels of a category, "" if it is.

    Strikes count where it has solved a level since the last one that it solved there. Those of all other categories
    count together, for all of them.
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
    """Return where and why a writer is left out, "" if it is tried on every level."""
    reasons = (reason_left_out(writer, category) for category in writer.tallies)
    return "; ".join(dict.fromkeys(filter(None, reasons)))


def _distance(writer: StoredWriter, mission: str, level: LevelInfo) -> int:
    """Return how far a level is from what a writer has solved: 0 is nearest, 3 farthest."""
    wanted = _template(mission)
    alike = [case for case in writer.cases if _template(case.state["mission"]) == wanted]
    if fits_level(writer, level):
        return 0 if any(_is_of(case, level) for case in alike) else 1
    return 2 if alike else 3


def _is_of(case: Case, level: LevelInfo) -> bool:
    words = case.state["level"]
    return bool((words["category"], words["skill"]) == (level.category, level.skill))


@lru_cache(maxsize=4096)
def _template(mission: str) -> str:
    """Return a mission with its colours, balls and boxes numbered."""
    return likeness(mission)[0]


def _has_solved(writer: StoredWriter, category: str) -> bool:
    solved_since = category in writer.tallies and writer.tallies[category].solved > 0
    return solved_since or any(case.state["level"]["category"] == category for case in writer.cases)


def _strikes(writer: StoredWriter, category: str) -> Tally:
    """Return the strikes that count on levels of a category."""
    if _has_solved(writer, category):
        return writer.tallies.get(category, Tally())
    foreign = [tally for name, tally in writer.tallies.items() if not _has_solved(writer, name)]
    names = [miss.value for miss in MAX_STRIKES]
    return Tally(**{name: sum(getattr(tally, name) for tally in foreign) for name in names})
