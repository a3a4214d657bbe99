"""Auxiliary conditions of a goal: their text forms and the parsed values.

::

    collected:KEY   carrying:KEY   open:DOOR_OR_GATE   active:SWITCH   at:BLOCK:COLUMN,ROW      each also after "not "
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from gridworld.task.reading import shown

ConditionKind: TypeAlias = Literal["collected", "carrying", "open", "active", "at"]

_GRAMMAR = re.compile(
    r"(?P<negated>not )?(?:(?P<kind>collected|carrying|open|active):(?P<id>[^\s:,]+)"
    r"|at:(?P<block>[^\s:,]+):(?P<x>[0-9]{1,6}),(?P<y>[0-9]{1,6}))",
)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the mechanism ``id``.

    Attributes:
        position: column and row for kind "at"; None for the other kinds.
        negated: whether the condition must not hold.
    """

    kind: ConditionKind
    id: str
    position: tuple[int, int] | None
    negated: bool


def parse_condition(text: str) -> Condition:
    """Parse the text of a condition.

    Raises:
        ValueError: the text has none of the forms of this module.
    """
    match = _GRAMMAR.fullmatch(text)
    if match is None:
        raise ValueError(
            f"{shown(text)} is not a condition; the forms are collected:KEY, carrying:KEY, open:DOOR_OR_GATE, "
            'active:SWITCH and at:BLOCK:COLUMN,ROW, each also after "not "'
        )
    negated = match["negated"] is not None
    if match["block"] is not None:
        position = (int(match["x"]), int(match["y"]))
        return Condition("at", match["block"], position, negated)
    return Condition(cast(ConditionKind, match["kind"]), match["id"], None, negated)
