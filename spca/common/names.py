"""Suggestions for misspelled names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def find_nearest(name: str, names: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """Return up to ``count`` of ``names`` whose spelling is similar to ``name``, the nearest first; ignore case."""
    by_folded = {candidate.casefold(): candidate for candidate in names}
    return tuple(by_folded[folded] for folded in get_close_matches(name.casefold(), by_folded, count))


def make_file_name(name: str) -> str:
    """Return a name as a part of a file's name: ids of Gymnasium may have a namespace, as in ``Lab/Id-v0``."""
    return name.replace("/", "~")
