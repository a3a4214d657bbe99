"""From encoded observations to words: vocabulary, view rotation, visible objects (pure).

The vocabulary contains the words of MiniGrid, and words that only the mechanisms of gridworld tasks need. Objects and
colours that MiniGrid does not know are called "thing" and "other". Plugins can add kinds and colours, see
:mod:`spca.sense.added_words`; their words get the codes after all others.

An egocentric image of MiniGrid has shape (view, view, 3) and is indexed [x, y]: x increases to the agent's right, y
towards the agent. The channels are object, colour and state (``minigrid.core.constants``). The agent stands at ``[view
// 2, view - 1]`` and faces decreasing y. The agent's cell shows what the agent carries, never what the agent stands on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

DIRECTIONS: Final = ("East", "South", "West", "North")
"""Names of MiniGrid's directions; the index is MiniGrid's number of the direction."""

COLOURS: Final = ["red", "green", "blue", "purple", "yellow", "grey"]
"""The names of colours; :func:`add_colour` appends to them."""
DOOR_STATES: Final = ("open", "closed", "locked")
CARRIABLE: Final = ["key", "ball", "box", "thing"]
"""The kinds that can be carried; :func:`add_kind` appends to them."""
MAX_WORDS: Final = 256
"""Largest size of the vocabulary, because the code of a cell is a byte."""
_OBJECTS: Final = ("unseen", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava", "agent")
_PLAIN: Final = ("unseen", "empty", "wall", "floor", "lava", "agent")
_SCENERY: Final = frozenset({"unseen", "empty", "wall", "floor", "agent"})


@dataclass(frozen=True, slots=True)
class VisibleObject:
    """An object in the agent's current view.

    Attributes:
        state: "open", "closed" or "locked" for a door; "off" or "on" for a switch; "closed" or "open" for a gate;
            "fixed" for a block that cannot be pushed; else None.
        forward: distance ahead of the agent in cells, from 0 on.
        right: distance to the right of the agent in cells; negative to the left.
    """

    name: str
    state: str | None
    forward: int
    right: int


def _words_of(kind: str) -> Iterator[str]:
    if kind in _PLAIN:
        yield kind
        return
    for colour in COLOURS:
        if kind == "door":
            yield from (f"door {colour} {state}" for state in DOOR_STATES)
        else:
            yield f"{kind} {colour}"


_MECHANISMS: Final = (
    "pit",
    "spike",
    "target",
    *(f"switch {colour} {state}" for colour in COLOURS for state in ("off", "on")),
    *(f"gate {colour} {state}" for colour in COLOURS for state in ("closed", "open")),
    *(f"block {colour}{state}" for colour in COLOURS for state in ("", " fixed")),
    *(f"{end} {colour}" for end in ("teleporter", "exit") for colour in COLOURS),
)
_OTHER: Final = (
    *(f"thing {colour}" for colour in (*COLOURS, "other")),
    *(f"{kind} other" for kind in ("goal", "key", "ball", "box")),
    *(f"door other {state}" for state in DOOR_STATES),
)
VOCABULARY: Final[list[str]] = [
    *(word for kind in (*_PLAIN, "goal", "door", "key", "ball", "box") for word in _words_of(kind)),
    *_MECHANISMS,
    *_OTHER,
]
"""Every cell word; the code of a cell is the index of its word. Code 0 is "unseen". Added words follow at the end."""

UNSEEN: Final = VOCABULARY.index("unseen")
EMPTY: Final = VOCABULARY.index("empty")
AGENT: Final = VOCABULARY.index("agent")


def _word(kind: str, colour: str, state: str) -> str:
    if kind in _PLAIN:
        return kind
    if kind != "door":
        return f"{kind} {colour}"
    return f"door {colour} {state}" if state else f"thing {colour}"  # a door in a state that MiniGrid does not know


class _Codebook:
    """Tables that follow from the vocabulary and from the numbers of kinds and colours in MiniGrid's images.

    Args:
        kinds: kind of each object number; the last one stands for all larger numbers.
        colours: the same for colour numbers.

    Attributes:
        words: the vocabulary as a tuple.
        array: the vocabulary as an array: ``array[codes]`` decodes a grid of codes.
        in_hand: by code of a cell, the word of what can be carried; None for all else.
        lookup: code of a cell, by ``np.minimum(triple, beyond).dot(strides)``.
    """

    def __init__(self, kinds: Sequence[str], colours: Sequence[str]) -> None:
        self.words = tuple(VOCABULARY)
        self.array: NDArray[np.str_] = np.array(VOCABULARY)
        self.in_hand = tuple(word if word.split()[0] in CARRIABLE else None for word in VOCABULARY)
        names = "|".join(COLOURS)
        self.detail = re.compile(rf"\d+|(?<![a-z])(?:{names})(?![a-z])")

        states = (*DOOR_STATES, "")
        code_of = {word: code for code, word in enumerate(VOCABULARY)}
        words = [_word(kind, colour, state) for kind in kinds for colour in colours for state in states]
        self.lookup: NDArray[np.uint8] = np.array([code_of[word] for word in words], dtype=np.uint8)

        lasts = (len(kinds) - 1, len(colours) - 1, len(states) - 1)
        self.beyond: NDArray[np.uint8] = np.array(lasts, dtype=np.uint8)
        fits_16_bits = len(words) <= np.iinfo(np.uint16).max
        strides = (len(colours) * len(states), len(states), 1)
        self.strides = np.array(strides, dtype=np.uint16 if fits_16_bits else np.uint32)


_ADDED_KINDS: Final[list[str]] = []
_ADDED_NUMBERS: Final[dict[str, dict[int, str]]] = {"kinds": {}, "colours": {}}
"""Number in images of each added kind and colour, as far as the simulator has told them; see :func:`bind_numbers`."""
_BASE_COLOURS: Final = len(COLOURS)
_book = _Codebook((*_OBJECTS, "thing"), (*COLOURS, "other"))

_FLIPS: Final = (
    (slice(None), slice(None, None, -1)),
    (slice(None, None, -1), slice(None, None, -1)),
    (slice(None, None, -1), slice(None)),
    (slice(None), slice(None)),
)


def encode_view(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the cell codes of an egocentric image: shape (view, view), rows far to near, columns left to right."""
    book = _book
    codes: NDArray[np.uint8] = book.lookup.take(np.minimum(image, book.beyond).dot(book.strides))
    return codes.T


def rotate_view(view: NDArray[np.uint8], direction: int) -> NDArray[np.uint8]:
    """Return an egocentric view (agent facing up) rotated so that its rows run north to south.

    ``direction`` is MiniGrid's index: 0 East, 1 South, 2 West, 3 North.
    """
    return (view if direction % 2 else view.T)[_FLIPS[direction]]


def facing_view(view: NDArray[np.uint8], direction: int) -> NDArray[np.uint8]:
    """Return a view with rows from north to south, rotated so that the agent faces up.

    This is the inverse of :func:`rotate_view`.
    """
    turned = view[_FLIPS[direction]]
    return turned if direction % 2 else turned.T


@cache
def agent_cell(view_size: int, direction: int) -> tuple[int, int]:
    """Return the row and column of the agent in a view rotated by :func:`rotate_view`."""
    half = view_size // 2
    last = view_size - 1
    return ((half, 0), (0, half), (half, last), (last, half))[direction]


def read_carried(view: NDArray[np.uint8]) -> str | None:
    """Return what the agent carries ("key blue"), None if it carries nothing.

    Args:
        view: cell codes of an egocentric view, whose agent cell shows what the agent carries.
    """
    size = view.shape[0]
    return _book.in_hand[int(view[size - 1, size // 2])]


def split_word(word: str) -> tuple[str, str | None]:
    """Return name and state of a cell word: ``("door red", "closed")`` for ``"door red closed"``.

    Words of one or two parts have no state; None is returned in its place.
    """
    if word.count(" ") > 1:
        name, _, state = word.rpartition(" ")
        return name, state
    return word, None


def star_details(text: str) -> str:
    """Return a text with ``*`` in place of each number and colour, so that failures of the same kind become equal."""
    return _book.detail.sub("*", text)


def visible_objects(view: NDArray[np.uint8]) -> tuple[VisibleObject, ...]:
    """Return the objects of an egocentric view (before rotation): nearest rows first, each row from left to right.

    Walls and floors are left out.
    """
    size = view.shape[0]
    found: list[VisibleObject] = []
    for forward in range(size):
        for column in range(size):
            word = VOCABULARY[view[size - 1 - forward, column]]
            own_cell = forward == 0 and column == size // 2
            if word not in _SCENERY and not own_cell:
                name, state = split_word(word)
                found.append(VisibleObject(name, state, forward, column - size // 2))
    return tuple(found)


def vocabulary() -> tuple[str, ...]:
    """Return the present vocabulary; the same tuple until words are added."""
    return _book.words


def word_array() -> NDArray[np.str_]:
    """Return the present vocabulary as an array, which decodes a grid of codes: ``word_array()[codes]``."""
    return _book.array


def grid_words(codes: NDArray[np.uint8], words: Sequence[str] = VOCABULARY) -> tuple[tuple[str, ...], ...]:
    """Return a grid of codes as rows of words."""
    return tuple(tuple(words[code] for code in row) for row in codes)


# Words that plugins add ----------------------------------------------------------------------------------------------


def add_kind(kind: str, *, carry: bool) -> None:
    """Append the words of a new kind of objects to the vocabulary; see :mod:`spca.sense.added_words`.

    Raises:
        ValueError: the codes do not suffice.
    """
    _append_words(f"{kind} {colour}" for colour in (*COLOURS, "other"))
    _ADDED_KINDS.append(kind)
    if carry:
        CARRIABLE.append(kind)
    _rebuild_codebook()


def add_colour(colour: str) -> None:
    """Append the words of all kinds in a new colour to the vocabulary; mechanisms of gridworld tasks are left out.

    Raises:
        ValueError: the codes do not suffice.
    """
    kinds = ("goal", "key", "ball", "box", "thing", *_ADDED_KINDS)
    doors = [f"door {colour} {state}" for state in DOOR_STATES]
    _append_words([*doors, *(f"{kind} {colour}" for kind in kinds)])
    COLOURS.append(colour)
    _rebuild_codebook()


def list_added_kinds() -> tuple[str, ...]:
    """Return the kinds that plugins have added, in the order of their codes."""
    return tuple(_ADDED_KINDS)


def bind_numbers(kinds: Mapping[str, int], colours: Mapping[str, int]) -> None:
    """Read the numbers of added kinds and colours from the tables of a simulator.

    A simulator may fill its tables late, so that this function is called for each world; it is fast without a change.

    Args:
        kinds: name of each type of object -> number, such as ``minigrid.core.constants.OBJECT_TO_IDX``.
        colours: the same for colours.

    Raises:
        ValueError: two kinds or two colours have the same number, or a number is none of an image.
    """
    if not _ADDED_KINDS and len(COLOURS) == _BASE_COLOURS:
        return
    numbers = {
        "kinds": _find_numbers(_ADDED_KINDS, kinds, len(_OBJECTS)),
        "colours": _find_numbers(COLOURS[_BASE_COLOURS:], colours, _BASE_COLOURS),
    }
    if numbers != _ADDED_NUMBERS:
        _ADDED_NUMBERS.update(numbers)
        _rebuild_codebook()


def _find_numbers(names: Sequence[str], table: Mapping[str, int], first: int) -> dict[int, str]:
    """Return number -> name for the names that the table of a simulator contains.

    Args:
        first: the least number that MiniGrid itself does not use.
    """
    found: dict[int, str] = {}
    for name in names:
        if name not in table:
            continue
        number = table[name]
        if not first <= number < MAX_WORDS:
            raise ValueError(f"{name} has the number {number}, which is not from {first} to {MAX_WORDS - 1}")
        if number in found:
            raise ValueError(f"{found[number]} and {name} have the same number {number}")
        found[number] = name
    return found


def _append_words(words: Iterable[str]) -> None:
    added = list(words)
    if len(VOCABULARY) + len(added) > MAX_WORDS:
        raise ValueError(f"the vocabulary has room for {MAX_WORDS} words of cells")
    VOCABULARY.extend(added)


def _rebuild_codebook() -> None:
    """Derive all tables again, after words were added or numbers became known."""
    global _book  # noqa: PLW0603 - one value, so that readers never meet tables of two vocabularies
    kinds = _list_by_number(_OBJECTS, _ADDED_NUMBERS["kinds"], "thing")
    colours = _list_by_number(COLOURS[:_BASE_COLOURS], _ADDED_NUMBERS["colours"], "other")
    _book = _Codebook(kinds, colours)


def _list_by_number(base: Sequence[str], added: Mapping[int, str], unknown: str) -> list[str]:
    """Return the names by number, with ``unknown`` in all gaps and behind the last name."""
    size = max(added, default=len(base) - 1) + 1
    names = [*base, *(added.get(number, unknown) for number in range(len(base), size))]
    return [*names, unknown][:MAX_WORDS]
