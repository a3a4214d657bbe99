"""Names of objects as planners write them: ``kind_colour``, which a side or a number may follow (pure).

A method gets such a name as a string, and no other information about the object. The planner's prompt lists these
names: ``key_blue``, ``door_any``, ``object_red``, ``object_any``, ``ball_red_2``, ``ball_red_left``, ``goal_green`` and
``a1``. Worlds may add their own kinds and colours, so every word of their missions and maps is accepted too.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from spca.contracts import LevelInfo, Snapshot
from spca.sense.perception import COLOURS, DOOR_STATES, VOCABULARY
from spca.sense.renaming import find_meaning

_CELLS: Final = [word.split(" ") for word in VOCABULARY]
KINDS: Final[set[str]] = {"object", *(kind for kind, *rest in _CELLS if rest)}
"""Kinds of things that have a colour; :func:`add_kind` adds to them."""
_PLAIN: Final = frozenset({kind for kind, *rest in _CELLS if not rest} | {"goal", "a"})
_SIDES: Final = ("left", "right", "front", "behind")
_ANY: Final = ("any", "other")
_USUAL: Final = ("key", "ball", "box", "door", "object", "goal")
_NO_COLOURS: Final[set[str]] = {
    *_SIDES,
    *DOOR_STATES,
    *KINDS,
    *_PLAIN,
    "the",
    "a",
    "an",
    "on",
    "off",
    "of",
    "to",
    "in",
    "and",
    "then",
    "it",
}
_FORM: Final = "names are kind_colour, such as key_blue, door_any or ball_red_2"


def add_kind(kind: str) -> None:
    """Let names begin with ``kind``; see :mod:`spca.sense.added_words`."""
    KINDS.add(kind)
    _NO_COLOURS.add(kind)


def words_told(snapshot: Snapshot, level: LevelInfo) -> frozenset[str]:
    """Return every word that a planner is shown, in lower case; names of objects may use these words."""
    shown = snapshot.shown
    texts = [snapshot.mission, level.skill, shown["inventory"] or "", shown["legend"], *shown["known_objects"]]
    texts += [text.partition(":")[0] for text in shown["visible_objects"]]
    return frozenset(re.findall(r"[^\W\d_]+", " ".join(texts).lower()))


def is_thing(name: str) -> bool:
    """Return whether any word of a name is a kind of thing."""
    return any(_is_kind(word) for word in name.split("_"))


def kind_of(name: str) -> str:
    """Return the kind with which a name begins, "" if it begins with no kind; ``key_2`` begins with ``key``.

    If the name uses an invented word, the true word is returned.
    """
    stem = find_meaning(_stem(name.partition("_")[0]))
    return stem if stem in KINDS else ""


def fault_of(name: str, told: frozenset[str]) -> str:
    """Return what is wrong with the name of an object, "" if the name is valid.

    Args:
        told: the words that the planner is shown, see :func:`words_told`.
    """
    kind, *rest = name.split("_")
    colour = rest[0] if rest else ""
    if _stem(kind) in _PLAIN and not is_thing("_".join(rest)):
        return ""
    if find_meaning(kind) in KINDS:
        is_told = colour in told and find_meaning(colour) not in _NO_COLOURS
        if is_told or find_meaning(colour) in (*COLOURS, *_ANY):
            return ""
        return f"'{colour}' is no colour that is known here" if _is_odd(colour) else "it names no colour"
    if is_thing(name):
        return "it names no colour" if kind_of(name) else "the kind comes first, then the colour"
    stem = _stem(kind)
    return "" if {kind, stem} & told else f"there is no kind of thing called '{stem or kind}'"


def suggest_name(name: str, told: frozenset[str]) -> str:
    """Return the name that was probably meant, "" if ``name`` contains no kind."""
    words = ["grey" if word == "gray" else word for word in name.split("_")]
    kinds = [_stem(word) for word in words if _is_kind(word)]
    if not kinds:
        return ""
    colours = [word for word in words if find_meaning(word) in (*COLOURS, *_ANY)]
    colours += [word for word in words if word in told and find_meaning(word) not in _NO_COLOURS]
    behind = [word for word in words if word in _SIDES or word.isdigit()]
    colour = colours[0] if colours else "any"
    return "_".join([kinds[0], colour, *behind])


def advice(name: str, told: frozenset[str], rename: Callable[[str], str] = str) -> str:
    """Return advice how to write a name that has a fault: a better name or, if none is found, the form of names.

    Args:
        rename: renames the words of the advice.
    """
    better = suggest_name(name, told)
    if better and better != name:
        return f"write {better}"
    return rename(f"{_FORM}; kinds are {', '.join(_USUAL)}")


def _stem(word: str) -> str:
    return word.rstrip("0123456789")


def _is_kind(word: str) -> bool:
    return find_meaning(_stem(word)) in KINDS


def _is_odd(colour: str) -> bool:
    """Return whether a word in the place of the colour is neither a number, a side, a state nor a kind."""
    return bool(colour) and not colour.isdigit() and find_meaning(colour) not in _NO_COLOURS
