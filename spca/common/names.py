"""Names as a user writes them: lists with commas, and misspelled ones."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def split_names(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a list with commas, each as it is known, case ignored; one that is not known as it was given.

    Known names may have commas: the longest that fits is meant.
    """
    by_folded = {name.casefold(): name for name in known}
    most = 1 + max((name.count(",") for name in by_folded), default=0)
    parts, names = text.split(","), list[str]()
    while parts:
        longest_first = (",".join(parts[:count]) for count in range(min(most, len(parts)), 0, -1))
        tried = [form for joined in longest_first for form in (joined, joined.strip())]
        name = next((form for form in tried if form.casefold() in by_folded), tried[-1])
        names.append(by_folded.get(name.casefold(), name))
        del parts[: 1 + name.count(",")]
    return tuple(names)


def find_nearest(name: str, names: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Return up to ``count`` of ``names`` that are spelled like ``name``, the nearest first, case ignored."""
    by_folded = {candidate.casefold(): candidate for candidate in names}
    return tuple(by_folded[folded] for folded in get_close_matches(name.casefold(), by_folded, count))
