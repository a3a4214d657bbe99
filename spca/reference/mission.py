"""Missions as a language: parse MiniGrid's and BabyAI's sentences into a small tree, and write a tree as a sentence.

The grammar is BabyAI's (Chevalier-Boisvert et al., "BabyAI: A Platform to Study the Sample Efficiency of Grounded
Language Learning", ICLR 2019, figure 2) plus the phrases of MiniGrid's own missions::

    sequence    = ordered ("then" ordered)*            done in the order of the sentence
    ordered     = group ("after you" group)*           done in the reverse order
    group       = clause ("and" clause)*               done in any order
    clause      = "go to" d | "pick up" d | "open" d | "put" d "next to" d | "put" d "near" d | "unlock" d
                | "get" d "from the" colour "room" | phrases for the goal square and for the matching object
    d           = [the | a] [colour] (ball | box | key | door | object) [place]
    place       = "in front of you" | "behind you" | "on your left" | "on your right"

For every tree ``x``, ``parse(surface(x)) == x``. This module does not depend on the names of environments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

_MAX_QUOTE_LENGTH: Final = 200
COLOURS: Final = ("red", "green", "blue", "purple", "yellow", "grey")
KINDS: Final = ("ball", "box", "key", "door", "object")


class MissionError(ValueError):
    """A mission is not in the grammar; the message quotes the part that could not be read."""


class Place(StrEnum):
    """The side of the agent on which a thing lay at the start of the episode."""

    LEFT = "left"
    RIGHT = "right"
    FRONT = "front"
    BEHIND = "behind"


class Way(StrEnum):
    """What a mission says about the way to the goal square."""

    PLAIN = "plain"
    OPENING = "opening"
    LAVA = "lava"
    ROOMS = "rooms"


@dataclass(frozen=True, slots=True)
class Description:
    """A noun phrase of a mission, for example "the red ball on your left".

    ``colour`` and ``place`` are None if the phrase does not mention them. ``definite`` is False if the article is "a".
    """

    kind: str
    colour: str | None = None
    place: Place | None = None
    definite: bool = True

    def matches(self, kind: str, colour: str) -> bool:
        """Return whether the description fits a thing of this kind and colour; the place is ignored."""
        return self.kind in {kind, "object"} and self.colour in {colour, None}

    def overlaps(self, other: Description) -> bool:
        """Return whether a single thing may fit both descriptions; places are ignored."""
        kinds_agree = self.kind == other.kind or "object" in {self.kind, other.kind}
        colours_agree = self.colour == other.colour or None in {self.colour, other.colour}
        return kinds_agree and colours_agree


@dataclass(frozen=True, slots=True)
class GoTo:
    """Stand in a cell beside a thing, facing the thing."""

    what: Description


@dataclass(frozen=True, slots=True)
class PickUp:
    """Take a thing into the empty hand."""

    what: Description

    def __post_init__(self) -> None:
        _check_movable(self.what)


@dataclass(frozen=True, slots=True)
class Open:
    """Open a door or a box."""

    what: Description

    def __post_init__(self) -> None:
        if self.what.kind not in {"door", "box"}:
            raise MissionError(f"a {self.what.kind} cannot be opened")


@dataclass(frozen=True, slots=True)
class PutNextTo:
    """Put a thing down in one of the four cells that share an edge with another thing or a door."""

    what: Description
    target: Description

    def __post_init__(self) -> None:
        _check_movable(self.what)


@dataclass(frozen=True, slots=True)
class PutNear:
    """Put a thing down in one of the eight cells around another thing."""

    what: Description
    target: Description

    def __post_init__(self) -> None:
        _check_movable(self.what)


@dataclass(frozen=True, slots=True)
class GetKey:
    """Take a key that lies in the room behind the door whose colour is ``room``."""

    key: Description
    room: str

    def __post_init__(self) -> None:
        if self.key.kind != "key":
            raise MissionError(f"a {self.key.kind} is no key")


@dataclass(frozen=True, slots=True)
class Unlock:
    """Open a door that is locked."""

    door: Description

    def __post_init__(self) -> None:
        if self.door.kind != "door":
            raise MissionError(f"a {self.door.kind} cannot be unlocked")


@dataclass(frozen=True, slots=True)
class ReachGoal:
    """Step onto the goal square."""

    way: Way = Way.PLAIN


@dataclass(frozen=True, slots=True)
class GoToMatch:
    """Remember the object seen at the start, and go to the same kind of object at the end of the hallway."""


@dataclass(frozen=True, slots=True)
class NoTask:
    """An empty mission, which asks for nothing."""


Clause: TypeAlias = GoTo | PickUp | Open | PutNextTo | PutNear | GetKey | Unlock | ReachGoal | GoToMatch


@dataclass(frozen=True, slots=True)
class And:
    """At least two clauses, to be done in any order."""

    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class After:
    """The sentence "``later`` after you ``first``": ``first`` is done before ``later``."""

    later: Clause | And
    first: Clause | And | After


@dataclass(frozen=True, slots=True)
class Before:
    """The sentence "``first``, then ``later``": ``first`` is done before ``later``."""

    first: Clause | And | After
    later: Clause | And | After | Before


Instruction: TypeAlias = Clause | And | After | Before | NoTask
Stages: TypeAlias = tuple[tuple[Clause, ...], ...]
"""The clauses of a mission, grouped into stages. The stages are done in order; the clauses of a stage may be done in
any order.
"""


def _check_movable(what: Description) -> None:
    """Raise MissionError if the description is of a door, which cannot be picked up."""
    if what.kind == "door":
        raise MissionError("a door cannot be picked up")


def stages(instruction: Instruction) -> Stages:
    """Return the clauses of a mission, grouped into stages that have to be done in order."""
    match instruction:
        case NoTask():
            return ()
        case Before(first, later) | After(later, first):
            return stages(first) + stages(later)
        case And(clauses):
            return (clauses,)
        case _:
            return ((instruction,),)


_PLACES: Final = {
    "in front of you": Place.FRONT,
    "behind you": Place.BEHIND,
    "on your left": Place.LEFT,
    "on your right": Place.RIGHT,
}
_COLOUR: Final = rf"(?:{'|'.join((*COLOURS, 'gray'))})"
_DESCRIPTION: Final = re.compile(
    rf"(?:(?P<article>the|an?) )?(?:(?P<colour>{_COLOUR}) )?(?P<kind>{'|'.join(KINDS)})\b"
    rf"(?: (?P<place>{'|'.join(_PLACES)})\b)?"
)
_SLOTS: Final = {"colour": _COLOUR, "description": re.sub(r"\?P<\w+>", "?:", _DESCRIPTION.pattern)}

_GOAL_PHRASES: Final = ("the goal", "the green goal square")
_WAYS: Final = {
    Way.PLAIN: tuple(f"{verb} {goal}" for verb in ("get to", "go to", "reach") for goal in reversed(_GOAL_PHRASES)),
    Way.OPENING: tuple(f"find the opening and get to {goal}" for goal in reversed(_GOAL_PHRASES)),
    Way.LAVA: tuple(f"avoid the lava and get to {goal}" for goal in reversed(_GOAL_PHRASES)),
    Way.ROOMS: tuple(f"traverse the rooms to get to {goal}" for goal in _GOAL_PHRASES),
}
"""The wordings of missions that ask to reach the goal square, for each way; :func:`surface` uses the first wording."""
_MATCH: Final = "go to the matching object at the end of the hallway"


_ClauseBuilder: TypeAlias = Callable[[Mapping[str, str]], Clause]
"""A function that makes a clause from the texts in the slots of a phrase, keyed by the name of the slot."""


def _build_always(clause: Clause) -> _ClauseBuilder:
    """Return a builder that always returns ``clause``, whatever texts it gets."""
    return lambda _: clause


def _compile_phrases() -> Iterator[tuple[re.Pattern[str], _ClauseBuilder]]:
    """Yield the pair (pattern, clause builder) for each phrase of the grammar.

    In a phrase, a slot for a colour or a description is written ``<name:type>``.
    """
    phrases: list[tuple[str, _ClauseBuilder]] = [
        ("go to <a:description>", lambda slots: GoTo(_read_description(slots["a"]))),
        ("open <a:description>", lambda slots: Open(_read_description(slots["a"]))),
        (
            "put <a:description> next to <b:description>",
            lambda slots: PutNextTo(_read_description(slots["a"]), _read_description(slots["b"])),
        ),
        (
            "put <a:description> near <b:description>",
            lambda slots: PutNear(_read_description(slots["a"]), _read_description(slots["b"])),
        ),
        (
            "get <a:description> from the <b:colour> room",
            lambda slots: GetKey(_read_description(slots["a"]), _normalise_colour(slots["b"])),
        ),
        ("unlock <a:description>", lambda slots: Unlock(_read_description(slots["a"]))),
        ("use the key to open <a:description>", lambda slots: Unlock(_read_description(slots["a"]))),
        (_MATCH, _build_always(GoToMatch())),
    ]
    for verb in ("pick up", "get", "go get", "fetch", "go fetch", "you must fetch"):
        phrases.append((f"{verb} <a:description>", lambda slots: PickUp(_read_description(slots["a"]))))
    for way, wordings in _WAYS.items():
        phrases.extend((wording, _build_always(ReachGoal(way))) for wording in wordings)

    for phrase, build in phrases:
        pattern = re.sub(r"<(\w+):(\w+)>", lambda slot: f"(?P<{slot[1]}>{_SLOTS[slot[2]]})", phrase)
        yield re.compile(pattern + r"\b"), build


_PHRASES: Final = tuple(_compile_phrases())
# A comma alone means "then" too, as in "open a door, go to a ball".
_THEN: Final = re.compile(r"(?:,? and)?,? then |, (?!then |and )")
_AND: Final = re.compile(r",? and (?!then )")
_AFTER: Final = re.compile(r",? after you ")


def parse(text: str) -> Instruction:
    """Return the tree of a mission; case, extra spaces and a final full stop are ignored.

    An empty text gives :class:`NoTask`.

    Raises:
        MissionError: the text or a part of the text is not in the grammar.
    """
    words = " ".join(text.lower().split()).removesuffix(".")
    if not words:
        return NoTask()
    parser = _MissionParser(words)
    instruction = parser.read_sequence()
    if parser.unread:
        raise MissionError(f"cannot read {shorten_quote(parser.unread)} in the mission {shorten_quote(text)}")
    return instruction


class _MissionParser:
    """A recursive descent parser with a method for each rule of the grammar.

    ``_position`` is the position in the text; every such method moves it past the text that the method has read.
    """

    def __init__(self, text: str) -> None:
        """Start at the first character of ``text``, which has to be in lower case with single spaces."""
        self._text = text
        self._position = 0
        self._last_verb: type[GoTo | PickUp | Open] | None = None
        """The class of the last clause, which a description without a verb takes over; None if this is not allowed."""

    @property
    def unread(self) -> str:
        """The text that has not been read yet."""
        return self._text[self._position :]

    def read_sequence(self) -> Clause | And | After | Before:
        """Read the rule: ordered ("then" ordered)*; return its tree."""
        first = self._read_ordered()
        return Before(first, self.read_sequence()) if self._skip(_THEN) else first

    def _read_ordered(self) -> Clause | And | After:
        """Read the rule: group ("after you" group)*; return its tree."""
        later = self._read_group()
        return After(later, self._read_ordered()) if self._skip(_AFTER) else later

    def _read_group(self) -> Clause | And:
        """Read the rule: clause ("and" clause)*; return its tree."""
        clauses = [self._read_clause()]
        while self._skip(_AND):
            clauses.append(self._read_clause())
        return And(tuple(clauses)) if len(clauses) > 1 else clauses[0]

    def _read_clause(self) -> Clause:
        """Read the longest phrase that matches at the position; return its clause.

        If no phrase matches, a description without a verb is read with the verb of the previous clause.

        Raises:
            MissionError: the text at the position is neither a phrase nor such a description.
        """
        candidates = []
        for pattern, build in _PHRASES:
            match = pattern.match(self._text, self._position)
            if match:
                candidates.append((match, build))

        if candidates:
            match, build = max(candidates, key=lambda candidate: candidate[0].end())
            clause = build(match.groupdict())
            self._last_verb = type(clause) if isinstance(clause, GoTo | PickUp | Open) else None
        elif self._last_verb and (match := _DESCRIPTION.match(self._text, self._position)):
            # In "open the red door then the blue door", the second clause leaves out the verb.
            clause = self._last_verb(_read_description(match[0]))
        else:
            raise MissionError(f"cannot read {shorten_quote(self.unread)} in the mission {shorten_quote(self._text)}")
        self._position = match.end()
        return clause

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        """Move past the pattern if the pattern matches at the position; return whether the pattern matches."""
        match = pattern.match(self._text, self._position)
        if match is None:
            return False
        self._position = match.end()
        return True


def _read_description(text: str) -> Description:
    match = _DESCRIPTION.fullmatch(text)
    if match is None:
        raise MissionError(f"cannot read {shorten_quote(text)} as a description")
    colour = _normalise_colour(match["colour"]) if match["colour"] else None
    place = _PLACES[match["place"]] if match["place"] else None
    definite = match["article"] not in {"a", "an"}
    return Description(match["kind"], colour, place, definite=definite)


def shorten_quote(text: str) -> str:
    """Return the text in quotes, for use in an error message.

    A text of more than 200 characters is cut and ends in "...".
    """
    is_short = len(text) <= _MAX_QUOTE_LENGTH
    return repr(text if is_short else f"{text[:_MAX_QUOTE_LENGTH]}...")


def _normalise_colour(word: str) -> str:
    return "grey" if word == "gray" else word


def surface(instruction: Instruction | Description) -> str:
    """Return the sentence that says what a tree says, in BabyAI's wording if BabyAI has one."""
    match instruction:
        case Description(kind, colour, place, definite):
            article = "the" if definite else "a"
            place_words = next((words for words, value in _PLACES.items() if value is place), None)
            return " ".join(filter(None, (article, colour, kind, place_words)))
        case NoTask():
            return ""
        case Before(first, later):
            return f"{surface(first)}, then {surface(later)}"
        case After(later, first):
            return f"{surface(later)} after you {surface(first)}"
        case And(clauses):
            return " and ".join(map(surface, clauses))
        case _:
            return _write_clause(instruction)


def _write_clause(clause: Clause) -> str:
    match clause:
        case GoTo(what):
            words = f"go to {surface(what)}"
        case PickUp(what):
            words = f"pick up {surface(what)}"
        case Open(what):
            words = f"open {surface(what)}"
        case PutNextTo(what, target):
            words = f"put {surface(what)} next to {surface(target)}"
        case PutNear(what, target):
            words = f"put {surface(what)} near {surface(target)}"
        case GetKey(key, room):
            words = f"get {surface(key)} from the {room} room"
        case Unlock(door):
            words = f"unlock {surface(door)}"
        case ReachGoal(way):
            words = _WAYS[way][0]
        case GoToMatch():
            words = _MATCH
    return words
