"""The errands of a gridworld mission, parsed from the mission's sentence (pure).

An *errand* is one thing that the mission asks for or forbids.
"""

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
    """One thing that the mission asks for or forbids.

    Attributes:
        verb: "get", "survive", "pick up", "carry", "turn on", "open" or "push".
        thing: the name of the thing to act on ("key_blue_2"), or "" if the errand names no thing.
        target: the number of the target onto which a block is pushed, or 0 if the block is pushed to a cell. Targets
            are counted from 1, row by row. Other verbs ignore the number.
        cell: the (row, column) to which a block is pushed, counted from 0; None if unknown or not needed.
        forbidden: whether the state that the errand describes must not hold at the end of the task.
        offset: the (rows down, columns right) from the agent's start to the cell; None if ``cell`` is known or not
            needed.
    """

    verb: str
    thing: str = ""
    target: int = 0
    cell: tuple[int, int] | None = None
    forbidden: bool = False
    offset: tuple[int, int] | None = None

    def from_start(self, start: tuple[int, int]) -> Errand:
        """Return the errand with ``offset`` replaced by ``cell``; ``start`` is the (row, column) where the agent
        started.
        """
        if self.offset is None:
            return self
        row, column = start
        down, right = self.offset
        return replace(self, cell=(row + down, column + right), offset=None)


def read_errands(mission: str) -> tuple[Errand, ...]:
    """Return the errands of a mission, in the order of the sentence.

    Raises:
        BadAnswerError: a part of the mission cannot be read; the message quotes this part.
    """
    return tuple(_read_errand(part) for part in mission.split(" and "))


def number_name(name: str, number: int) -> str:
    """Return the unique name of a thing: ``name`` itself for number 1, and ``name`` with the number for other numbers.

    Things of the same kind and colour are numbered from 1, so they are called ``key_blue``, ``key_blue_2``,
    ``key_blue_3`` and so on.
    """
    return name if number == 1 else f"{name}_{number}"


def _read_errand(part: str) -> Errand:
    """Return the errand in a part of a mission such as "do not open the red door".

    Raises:
        BadAnswerError: the part has none of the known forms.
    """
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
    forbidden = part != words
    if verb == "have":
        # "have the red switch off" forbids the state that "turn on the red switch" asks for.
        verb = "turn on" if groups["kind"] == "switch" else "open"
        forbidden = True
    return Errand(verb, name, target, cell, forbidden, offset)


def _read_signed_distance(way: str) -> int:
    """Return a distance as a number of cells, which is negative to the north and to the west: ``"2 north"`` -> -2."""
    number, _, direction = way.partition(" ")
    return -int(number) if direction in ("north", "west") else int(number)
