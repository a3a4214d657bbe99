"""What a gridworld mission asks for: errands and prohibitions, read from its sentence (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from spca.errors import BadAnswerError
from spca.reference.mission import COLOURS, shorten_quote

_THING: Final = (
    rf"the (?:(?P<number>\d+)(?:st|nd|rd|th) )?(?P<colour>{'|'.join(COLOURS)}) (?P<kind>key|door|switch|gate|block)"
)
_FORMS: Final = tuple(
    re.compile(form)
    for form in (
        "(?P<verb>get) to the green goal square",
        r"(?P<verb>survive) \d+ steps",
        rf"(?P<verb>pick up|carry|turn on|open) {_THING}",
        rf"(?P<verb>push) {_THING} onto the (?:(?P<target>\d+)(?:st|nd|rd|th) )?target",
        rf"(?P<verb>push) {_THING} to row (?P<row>\d+), column (?P<column>\d+)",
        rf"(?P<verb>push) {_THING} to the cell (?P<down>\d+ \w+), (?P<right>\d+ \w+) of the start",
        rf"(?P<verb>have) {_THING} (?:off|closed)",
    )
)


@dataclass(frozen=True, slots=True)
class Errand:
    """A part of a mission.

    Attributes:
        verb: get, survive, pick up, carry, turn on, open or push.
        thing: name of what it is done with ("key_blue_2"), "" for none.
        target: number of the target that a block is pushed onto, counted from 1 row by row; 0 for a cell.
        cell: (row, column) that a block is pushed to.
        offset: the same, from where the agent started; None where ``cell`` is known.
        forbidden: it must not be the case.
    """

    verb: str
    thing: str = ""
    target: int = 0
    cell: tuple[int, int] | None = None
    forbidden: bool = False
    offset: tuple[int, int] | None = None

    def from_start(self, start: tuple[int, int]) -> Errand:
        """Return the same errand with its cell on a map on which the agent started at ``start``."""
        if self.offset is None:
            return self
        row, column = start
        down, right = self.offset
        return replace(self, cell=(row + down, column + right), offset=None)


def read_errands(mission: str) -> tuple[Errand, ...]:
    """Return the parts of a mission.

    Raises:
        BadAnswerError: quotes the part that cannot be read.
    """
    return tuple(_errand(part) for part in mission.split(" and "))


def number_name(name: str, number: int) -> str:
    """Return the name of the ``number``-th of several alike: ``key_blue``, ``key_blue_2`` ..."""
    return name if number == 1 else f"{name}_{number}"


def _errand(part: str) -> Errand:
    words = part.removeprefix("do not ")
    match = next((match for form in _FORMS if (match := form.fullmatch(words))), None)
    if match is None:
        raise BadAnswerError(
            f"the reference planner: cannot read {shorten_quote(part)} in the mission of a gridworld task"
        )

    groups = match.groupdict()
    name = ""
    if "kind" in groups:
        number = int(groups["number"] or 1)
        name = number_name(f"{groups['kind']}_{groups['colour']}", number)

    cell: tuple[int, int] | None = None
    offset: tuple[int, int] | None = None
    target = 0
    if "row" in groups:
        cell = (int(groups["row"]), int(groups["column"]))
    elif "down" in groups:
        offset = (_read_signed_distance(groups["down"]), _read_signed_distance(groups["right"]))
    else:
        target = int(groups.get("target") or 1)

    verb = groups["verb"]
    if verb == "have":
        forbidden_verb = "turn on" if groups["kind"] == "switch" else "open"
        return Errand(forbidden_verb, name, forbidden=True, target=target)
    return Errand(verb, name, target, cell, part != words, offset)


def _read_signed_distance(way: str) -> int:
    """Read a distance with its sign: ``"2 north"`` -> -2."""
    number, _, direction = way.partition(" ")
    return -int(number) if direction in ("north", "west") else int(number)
