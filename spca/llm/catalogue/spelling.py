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

    matches = get_close_matches(given.casefold(), forms, 1, _LEAST_LIKENESS)
    if not matches:
        return None
    nearest = ModelRef.parse(forms[matches[0]])
    return replace(nearest, effort=ref.effort)


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

    pairs = zip(given_words, true_words, strict=True)
    changed = [(given, true) for given, true in pairs if given != true]
    if len(changed) != 1:
        return None

    given, true = changed[0]
    if not (given.isalpha() and true.isalpha()):
        return None
    max_changes = 1 if len(true) <= _SHORT_WORD else 2
    return near if count_changes(given, true) <= max_changes else None


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
            deletion = last[column] + 1
            insertion = line[-1] + 1
            replacement = last[column - 1] + (letter != other)
            cost = min(deletion, insertion, replacement)

            has_previous = row > 1 and column > 1
            if has_previous and letter == meant[column - 2] and given[row - 2] == other:
                swap = before[column - 2] + 1
                cost = min(cost, swap)
            line.append(cost)
        before = last
        last = line
    return last[-1]
