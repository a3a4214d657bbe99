"""What a gridworld mission asks for: errands and prohibitions, read from its sentence (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from spca.errors import BadAnswerError
from spca.reference.mission import COLOURS

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
        forbidden: it must not be the case.
    """

    verb: str
    thing: str = ""
    target: int = 0
    cell: tuple[int, int] | None = None
    forbidden: bool = False


def read_errands(mission: str) -> tuple[Errand, ...]:
    """The parts of a mission.

    Raises:
        BadAnswerError: quotes the part that cannot be read.
    """
    return tuple(_errand(part) for part in mission.split(" and "))


def numbered(name: str, number: int) -> str:
    """The name of the ``number``-th of several alike: ``key_blue``, ``key_blue_2`` ..."""
    return name if number == 1 else f"{name}_{number}"


def _errand(part: str) -> Errand:
    words = part.removeprefix("do not ")
    match = next((match for form in _FORMS if (match := form.fullmatch(words))), None)
    if match is None:
        raise BadAnswerError(f"the reference planner: cannot read {part!r} in the mission of a gridworld task")
    said = match.groupdict()
    name = numbered(f"{said['kind']}_{said['colour']}", int(said["number"] or 1)) if "kind" in said else ""
    cell = (int(said["row"]), int(said["column"])) if "row" in said else None
    return Errand(match["verb"], name, 0 if cell else int(said.get("target") or 1), cell, part != words)
