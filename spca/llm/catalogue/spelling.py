"""Which model was probably meant by a name that nobody knows (pure)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from spca.llm.catalogue.model_ref import ModelRef

_LEAST_LIKENESS: Final = 0.8
_MAX_NAME: Final = 100
_SHORT_WORD: Final = 4


def find_nearest(ref: ModelRef, known: Collection[str], *, has_prefix: bool = True) -> ModelRef | None:
    """Return the known model that ``ref`` nearly is, with its effort; None if it is known itself or like none.

    Args:
        known: names with prefixes.
        has_prefix: of a provider; else one may be missing or misspelled.
    """
    if ref.model in known or len(str(ref)) > _MAX_NAME:
        return None
    given = ref.model
    forms = {name: name for name in known}
    if has_prefix:
        given = ref.name
        forms = {name.partition("/")[2]: name for name in known if name.startswith(f"{ref.prefix}/")}
    elif ref.is_bare:
        given = ref.prefix
        forms = {name.partition("/")[2]: name for name in known}
    near = get_close_matches(given.casefold(), forms, 1, _LEAST_LIKENESS)
    return replace(ModelRef.parse(forms[near[0]]), effort=ref.effort) if near else None


def find_misspelled(ref: ModelRef, known: Collection[str]) -> ModelRef | None:
    """Return the model that is certainly meant by a misspelled name, None where the name may be that of a new model.

    Certain is what differs by a letter or two of one word: other digits or more words are how new models are named.
    """
    near = find_nearest(ref, known)
    if near is None:
        return None
    given_words = _split_words(ref)
    true_words = _split_words(near)
    if len(given_words) != len(true_words):
        return None
    changed = [pair for pair in zip(given_words, true_words, strict=True) if pair[0] != pair[1]]
    if len(changed) != 1:
        return None
    given, true = changed[0]
    is_word = given.isalpha() and true.isalpha()
    most = 1 if len(true) <= _SHORT_WORD else 2
    return near if is_word and count_changes(given, true) <= most else None


def describe_misspelled(ref: ModelRef, meant: ModelRef) -> str:
    """Return what is wrong with a misspelled name."""
    return f"{ref} is no model that is known: use {meant}, or describe it with --model-table FILE (docs/models.md)"


def _split_words(ref: ModelRef) -> list[str]:
    return ref.model.replace(":", "-").split("-")


def count_changes(given: str, meant: str) -> int:
    """Return how many letters are left out, added, replaced or swapped with the next one: the edit distance.

    It is the optimal string alignment distance (Damerau 1964, without editing a part twice).
    """
    before: list[int] = []
    last = list(range(len(meant) + 1))
    for row, letter in enumerate(given, 1):
        line = [row]
        for column, other in enumerate(meant, 1):
            cost = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and (letter, given[row - 2]) == (meant[column - 2], other):
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        before = last
        last = line
    return last[-1]
