"""From encoded observations to words: vocabulary, view rotation, visible objects (pure).

The vocabulary contains the words of MiniGrid, and words that only the mechanisms of gridworld tasks need. Objects and
colours that MiniGrid does not know are called "thing" and "other".

An egocentric image of MiniGrid has shape (view, view, 3) and is indexed [x, y]: x increases to the agent's right, y
towards the agent. The channels are object, colour and state (``minigrid.core.constants``). The agent stands at ``[view
// 2, view - 1]`` and faces decreasing y. The agent's cell shows what the agent carries, never what the agent stands on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from spca.contracts import VisibleObject

COLOURS: Final = ("red", "green", "blue", "purple", "yellow", "grey")
DOOR_STATES: Final = ("open", "closed", "locked")
CARRIABLE: Final = ("key", "ball", "box", "thing")
_OBJECTS: Final = ("unseen", "empty", "wall", "floor", "door", "key", "ball", "box", "goal", "lava", "agent")
_PLAIN: Final = ("unseen", "empty", "wall", "floor", "lava", "agent")
_SCENERY: Final = frozenset({"unseen", "empty", "wall", "floor", "agent"})


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
VOCABULARY: Final[tuple[str, ...]] = (
    *(word for kind in (*_PLAIN, "goal", "door", "key", "ball", "box") for word in _words_of(kind)),
    *_MECHANISMS,
    *_OTHER,
)
"""Every cell word; the code of a cell is the index of its word. Code 0 is "unseen"."""

WORDS: Final[NDArray[np.str_]] = np.array(VOCABULARY)
"""The vocabulary as an array: ``WORDS[codes]`` decodes a grid of codes."""

UNSEEN: Final = VOCABULARY.index("unseen")
EMPTY: Final = VOCABULARY.index("empty")
AGENT: Final = VOCABULARY.index("agent")

_DETAIL: Final = re.compile(rf"\d+|(?<![a-z])(?:{'|'.join(COLOURS)})(?![a-z])")
"""Matches numbers and colours; two failures that differ only in numbers and colours have the same reason."""


def _word(kind: str, colour: str, state: str) -> str:
    if kind in _PLAIN:
        return kind
    if kind != "door":
        return f"{kind} {colour}"
    return f"door {colour} {state}" if state else f"thing {colour}"  # a door in a state that MiniGrid does not know


def _build_lookup() -> NDArray[np.uint8]:
    kinds = (*_OBJECTS, "thing")
    colours = (*COLOURS, "other")
    states = (*DOOR_STATES, "")
    words = [_word(kind, colour, state) for kind in kinds for colour in colours for state in states]
    return np.array([VOCABULARY.index(word) for word in words], dtype=np.uint8)


_LOOKUP: Final[NDArray[np.uint8]] = _build_lookup()
_BEYOND: Final = np.array([len(_OBJECTS), len(COLOURS), len(DOOR_STATES)], dtype=np.uint8)
"""The lowest object, colour and state numbers that MiniGrid does not define; larger numbers are lowered to these."""

_STRIDES: Final = np.array([(_BEYOND[1] + 1) * (_BEYOND[2] + 1), _BEYOND[2] + 1, 1], dtype=np.uint16)
_FLIPS: Final = (
    (slice(None), slice(None, None, -1)),
    (slice(None, None, -1), slice(None, None, -1)),
    (slice(None, None, -1), slice(None)),
    (slice(None), slice(None)),
)
_IN_HAND: Final = tuple(word if word.split()[0] in CARRIABLE else None for word in VOCABULARY)


def encode_view(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the cell codes of an egocentric image: shape (view, view), rows far to near, columns left to right."""
    codes: NDArray[np.uint8] = _LOOKUP.take(np.minimum(image, _BEYOND).dot(_STRIDES))
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
    return _IN_HAND[int(view[size - 1, size // 2])]


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
    return _DETAIL.sub("*", text)


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


def grid_words(codes: NDArray[np.uint8], words: Sequence[str] = VOCABULARY) -> tuple[tuple[str, ...], ...]:
    """Return a grid of codes as rows of words."""
    return tuple(tuple(words[code] for code in row) for row in codes)
