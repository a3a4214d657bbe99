"""Missions as a language: MiniGrid's and BabyAI's sentences read into a small tree, and written back.

The grammar is BabyAI's (Chevalier-Boisvert et al., "BabyAI: A Platform to Study the Sample Efficiency of Grounded
Language Learning", ICLR 2019, figure 2) with the phrases of MiniGrid's own missions beside it::

    sequence    = ordered ("then" ordered)*            in the order said
    ordered     = group ("after you" group)*           in the reverse order
    group       = clause ("and" clause)*               in any order
    clause      = "go to" d | "pick up" d | "open" d | "put" d "next to" d | "put" d "near" d | "unlock" d
                | "get" d "from the" colour "room" | phrases for the goal square and for the matching object
    d           = [the | a] [colour] (ball | box | key | door | object) [place]
    place       = "in front of you" | "behind you" | "on your left" | "on your right"

``parse(surface(x)) == x`` for every tree. Nothing here knows an environment by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

_MAX_QUOTED: Final = 200
COLOURS: Final = ("red", "green", "blue", "purple", "yellow", "grey")
KINDS: Final = ("ball", "box", "key", "door", "object")


class MissionError(ValueError):
    """A mission that the grammar does not cover; the message quotes the part that could not be read."""


class Place(StrEnum):
    """Where something lay relative to the pose in which the agent started."""

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
    """A noun phrase. ``colour`` and ``place`` are None where nothing is said; ``definite`` tells "the" from "a"."""

    kind: str
    colour: str | None = None
    place: Place | None = None
    definite: bool = True

    def matches(self, kind: str, colour: str) -> bool:
        """Whether a thing of this kind and colour may be meant; its place is not looked at."""
        return self.kind in {kind, "object"} and self.colour in {colour, None}

    def overlaps(self, other: Description) -> bool:
        """Whether one thing may fit both descriptions."""
        same_kind = self.kind == other.kind or "object" in {self.kind, other.kind}
        return same_kind and (self.colour is None or other.colour in {self.colour, None})


@dataclass(frozen=True, slots=True)
class GoTo:
    """Stand beside it, facing it."""

    what: Description


@dataclass(frozen=True, slots=True)
class PickUp:
    """Take it into an empty hand."""

    what: Description

    def __post_init__(self) -> None:
        _movable(self.what)


@dataclass(frozen=True, slots=True)
class Open:
    """Open a door or a box."""

    what: Description

    def __post_init__(self) -> None:
        if self.what.kind not in {"door", "box"}:
            raise MissionError(f"a {self.what.kind} cannot be opened")


@dataclass(frozen=True, slots=True)
class PutNextTo:
    """Put a thing down beside another one or a door, not diagonally."""

    what: Description
    target: Description

    def __post_init__(self) -> None:
        _movable(self.what)


@dataclass(frozen=True, slots=True)
class PutNear:
    """Put a thing down in one of the eight cells around another one."""

    what: Description
    target: Description

    def __post_init__(self) -> None:
        _movable(self.what)


@dataclass(frozen=True, slots=True)
class GetKey:
    """Take a key that lies in the room behind the door of colour ``room``."""

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
    """Remember the object seen at the start and go to its like at the end of the hallway."""


@dataclass(frozen=True, slots=True)
class NoTask:
    """An empty mission: nothing is asked."""


Clause: TypeAlias = GoTo | PickUp | Open | PutNextTo | PutNear | GetKey | Unlock | ReachGoal | GoToMatch


@dataclass(frozen=True, slots=True)
class And:
    """Clauses in any order; at least two."""

    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class After:
    """``later`` is said first and done once ``first`` is."""

    later: Clause | And
    first: Clause | And | After


@dataclass(frozen=True, slots=True)
class Before:
    """``first``, then ``later``."""

    first: Clause | And | After
    later: Clause | And | After | Before


Instruction: TypeAlias = Clause | And | After | Before | NoTask
Stages: TypeAlias = tuple[tuple[Clause, ...], ...]


def _movable(what: Description) -> None:
    if what.kind == "door":
        raise MissionError("a door cannot be picked up")


def stages(instruction: Instruction) -> Stages:
    """Clauses in the order in which they are to be done; those of one stage in any order."""
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

_GOAL: Final = ("the goal", "the green goal square")
_WAYS: Final = {
    Way.PLAIN: tuple(f"{verb} {goal}" for verb in ("get to", "go to", "reach") for goal in reversed(_GOAL)),
    Way.OPENING: tuple(f"find the opening and get to {goal}" for goal in reversed(_GOAL)),
    Way.LAVA: tuple(f"avoid the lava and get to {goal}" for goal in reversed(_GOAL)),
    Way.ROOMS: tuple(f"traverse the rooms to get to {goal}" for goal in _GOAL),
}
_MATCH: Final = "go to the matching object at the end of the hallway"


_Build: TypeAlias = Callable[[Mapping[str, str]], Clause]


def _constant(clause: Clause) -> _Build:
    return lambda _: clause


def _rules() -> Iterator[tuple[re.Pattern[str], _Build]]:
    """Yield phrase patterns and what they build; slots are ``<name:type>``."""
    phrases: list[tuple[str, _Build]] = [
        ("go to <a:description>", lambda g: GoTo(_description(g["a"]))),
        ("open <a:description>", lambda g: Open(_description(g["a"]))),
        ("put <a:description> next to <b:description>", lambda g: PutNextTo(*map(_description, (g["a"], g["b"])))),
        ("put <a:description> near <b:description>", lambda g: PutNear(*map(_description, (g["a"], g["b"])))),
        ("get <a:description> from the <b:colour> room", lambda g: GetKey(_description(g["a"]), _colour(g["b"]))),
        ("unlock <a:description>", lambda g: Unlock(_description(g["a"]))),
        ("use the key to open <a:description>", lambda g: Unlock(_description(g["a"]))),
        (_MATCH, _constant(GoToMatch())),
    ]
    for verb in ("pick up", "get", "go get", "fetch", "go fetch", "you must fetch"):
        phrases.append((f"{verb} <a:description>", lambda g: PickUp(_description(g["a"]))))
    for way, wordings in _WAYS.items():
        phrases.extend((wording, _constant(ReachGoal(way))) for wording in wordings)
    for phrase, build in phrases:
        yield re.compile(re.sub(r"<(\w+):(\w+)>", lambda m: f"(?P<{m[1]}>{_SLOTS[m[2]]})", phrase) + r"\b"), build


_RULES: Final = tuple(_rules())
_THEN: Final = re.compile(r"(?:,? and)?,? then |, (?!then |and )")
_AND: Final = re.compile(r",? and (?!then )")
_AFTER: Final = re.compile(r",? after you ")


def parse(text: str) -> Instruction:
    """Read a mission.

    Raises:
        MissionError: the text, or a part of it, is not in the grammar.
    """
    words = " ".join(text.lower().split()).removesuffix(".")
    if not words:
        return NoTask()
    reader = _Reader(words)
    instruction = reader.sequence()
    if reader.rest:
        raise MissionError(f"cannot read {shorten_quote(reader.rest)} in the mission {shorten_quote(text)}")
    return instruction


class _Reader:
    """Recursive descent over one normalised sentence."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._verb: type[GoTo | PickUp | Open] | None = None

    @property
    def rest(self) -> str:
        return self._text[self._at :]

    def sequence(self) -> Clause | And | After | Before:
        first = self._read_ordered()
        return Before(first, self.sequence()) if self._skip(_THEN) else first

    def _read_ordered(self) -> Clause | And | After:
        later = self._group()
        return After(later, self._read_ordered()) if self._skip(_AFTER) else later

    def _group(self) -> Clause | And:
        clauses = [self._clause()]
        while self._skip(_AND):
            clauses.append(self._clause())
        return And(tuple(clauses)) if len(clauses) > 1 else clauses[0]

    def _clause(self) -> Clause:
        found = [(match, build) for pattern, build in _RULES if (match := pattern.match(self._text, self._at))]
        if found:
            match, build = max(found, key=lambda pair: pair[0].end())
            clause = build(match.groupdict())
            self._verb = type(clause) if isinstance(clause, GoTo | PickUp | Open) else None
        elif self._verb and (match := _DESCRIPTION.match(self._text, self._at)):
            # "open the red door then the blue door": the verb is said once.
            clause = self._verb(_description(match[0]))
        else:
            raise MissionError(f"cannot read {shorten_quote(self.rest)} in the mission {shorten_quote(self._text)}")
        self._at = match.end()
        return clause

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        match = pattern.match(self._text, self._at)
        self._at = match.end() if match else self._at
        return match is not None


def _description(text: str) -> Description:
    match = _DESCRIPTION.fullmatch(text)
    if match is None:
        raise MissionError(f"cannot read {shorten_quote(text)} as a description")
    colour = _colour(match["colour"]) if match["colour"] else None
    place = _PLACES[match["place"]] if match["place"] else None
    definite = match["article"] not in {"a", "an"}
    return Description(match["kind"], colour, place, definite=definite)


def shorten_quote(text: str) -> str:
    """Return the text, or the beginning of a long one, for a message."""
    return repr(text if len(text) <= _MAX_QUOTED else f"{text[:_MAX_QUOTED]}...")


def _colour(word: str) -> str:
    return "grey" if word == "gray" else word


def surface(instruction: Instruction | Description) -> str:
    """Return the sentence for a tree, in the wording of BabyAI where it has one."""
    match instruction:
        case Description(kind, colour, place, definite):
            article = "the" if definite else "a"
            where = next((words for words, value in _PLACES.items() if value is place), None)
            return " ".join(filter(None, (article, colour, kind, where)))
        case NoTask():
            return ""
        case Before(first, later):
            return f"{surface(first)}, then {surface(later)}"
        case After(later, first):
            return f"{surface(later)} after you {surface(first)}"
        case And(clauses):
            return " and ".join(map(surface, clauses))
        case _:
            return _clause_surface(instruction)


def _clause_surface(clause: Clause) -> str:
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
