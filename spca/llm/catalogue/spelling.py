"""Find the known model that a misspelled name probably means (pure)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from spca.llm.catalogue.model_ref import ModelRef

_LEAST_SIMILARITY: Final = 0.8
"""Minimum ratio of :class:`difflib.SequenceMatcher` between a given name and a known name."""
_MAX_NAME: Final = 100
"""Maximum number of characters of a name that is compared."""
_SHORT_WORD: Final = 4
"""Maximum number of letters of a short word; in a short word, only one letter may differ."""


def find_nearest(ref: ModelRef, known: Collection[str], *, has_prefix: bool = True) -> ModelRef | None:
    """Return the known model with the nearest name, with the effort of ``ref``.

    Return None if ``ref`` is a known model, or no known name is similar.

    Args:
        known: names with prefixes.
        has_prefix: whether the prefix is that of a provider; if not, the prefix may be missing or misspelled.
    """
    if ref.model in known or len(str(ref)) > _MAX_NAME:
        return None

    if has_prefix:  # compare only the names after the same prefix
        given = ref.name
        own_names = [name for name in known if name.startswith(f"{ref.prefix}/")]
        name_of = {name.partition("/")[2]: name for name in own_names}
    elif ref.is_bare:  # the prefix is missing: compare the names after all prefixes
        given = ref.prefix
        name_of = {name.partition("/")[2]: name for name in known}
    else:
        given = ref.model
        name_of = {name: name for name in known}

    matches = get_close_matches(given.casefold(), name_of, 1, _LEAST_SIMILARITY)
    if not matches:
        return None
    nearest = ModelRef.parse(name_of[matches[0]])
    return replace(nearest, effort=ref.effort)


def find_misspelled(ref: ModelRef, known: Collection[str]) -> ModelRef | None:
    """Return the model that a misspelled name certainly means, None if the name may be that of a new model.

    The model is certain if one word differs, by one or two letters. Names of new models differ in digits or in the
    number of words instead.
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
    """Return a message about a misspelled name."""
    return f"{ref} is no model that is known: use {meant}, or describe it with --model-table FILE (docs/models.md)"


def _split_words(ref: ModelRef) -> list[str]:
    return ref.model.replace(":", "-").split("-")


def count_changes(given: str, meant: str) -> int:
    """Return the edit distance of two words: letters that are deleted, inserted, replaced or swapped with a neighbour.

    The measure is the optimal string alignment distance (Damerau 1964, without editing a part twice).
    """
    # Three rows of the table of distances between the beginnings of ``given`` (rows) and ``meant`` (columns).
    two_rows_above: list[int] = []
    row_above = list(range(len(meant) + 1))
    for i, given_letter in enumerate(given, 1):
        row = [i]
        for j, meant_letter in enumerate(meant, 1):
            deletion = row_above[j] + 1
            insertion = row[-1] + 1
            replacement = row_above[j - 1] + (given_letter != meant_letter)
            cost = min(deletion, insertion, replacement)

            is_swap = i > 1 and j > 1 and given_letter == meant[j - 2] and meant_letter == given[i - 2]
            if is_swap:
                swap = two_rows_above[j - 2] + 1
                cost = min(cost, swap)
            row.append(cost)
        two_rows_above = row_above
        row_above = row
    return row_above[-1]
