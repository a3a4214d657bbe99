"""Kinds of objects and colours that plugins add to the vocabulary of the minigrid world.

This module is the only place that extends the tables of perception, of drawn maps and of names of objects. Codes of
words that exist never change; the added words get the next codes, in the order in which they are added.
"""

from __future__ import annotations

import re
from typing import Final

from spca.sense import map_text, object_names, perception
from spca.sense.renaming import find_meaning

_WORD: Final = re.compile(r"[a-z]{2,20}")
_RESERVED: Final = frozenset({"any", "other", "object", "agent", "left", "right", "front", "behind", "the", "an"})
"""Words with a meaning of their own in names of objects."""


def add_object_kind(kind: str, symbol: str, *, carry: bool = False, blocks: bool = True) -> None:
    """Add a kind of objects; its cells are ``KIND COLOUR``, for every colour.

    Args:
        kind: word of 2 to 20 small letters; in minigrid, the ``type`` of the objects.
        symbol: one printable ASCII character for drawn maps.
        carry: whether the agent can carry objects of the kind.
        blocks: whether objects of the kind bar the agent's way. The legends of maps tell models about both.

    Raises:
        ValueError: the word or the symbol is taken or has a wrong form, or the codes do not suffice.
    """
    _check_word(kind)
    abilities = [*(["can be carried"] if carry else []), *([] if blocks else ["can be entered"])]
    meaning = f"{kind} ({', '.join(abilities)})" if abilities else kind
    map_text.add_symbol(kind, symbol, meaning)
    perception.add_kind(kind, carry=carry)
    object_names.add_kind(kind)


def add_colour(colour: str) -> None:
    """Add a colour; every kind of objects can have it.

    Args:
        colour: word of 2 to 20 small letters; in minigrid, a key of ``COLOR_TO_IDX``.

    Raises:
        ValueError: the word is taken or has a wrong form, or the codes do not suffice.
    """
    _check_word(colour)
    perception.add_colour(colour)


def _check_word(word: str) -> None:
    """Raise ValueError if a word cannot become a kind or a colour."""
    if not _WORD.fullmatch(word):
        raise ValueError(f"{word!r} is not a word of 2 to 20 small letters")
    taken = {part for cell in perception.VOCABULARY for part in cell.split(" ")}
    if word in taken or word in _RESERVED or find_meaning(word) != word:
        raise ValueError(f"the word {word!r} is taken: choose another")
