"""The seven actions of the external interface, numbered as in MiniGrid."""

from __future__ import annotations

import operator
from enum import IntEnum
from typing import Final, SupportsIndex

from gridworld.errors import ActionError


class Action(IntEnum):
    """What a model may do; ``DONE`` waits."""

    TURN_LEFT = 0
    TURN_RIGHT = 1
    MOVE_FORWARD = 2
    PICKUP = 3
    DROP = 4
    TOGGLE = 5
    DONE = 6


ACTION_NAMES: Final[dict[int, str]] = {action.value: action.name.lower() for action in Action}
"""Names by id: ``{0: "turn_left", ...}``."""

_ACTIONS: Final = tuple(Action)


def as_action(value: SupportsIndex) -> Action:
    """Return the action of a number: an int, a numpy integer or an enum member.

    Raises:
        ActionError: anything else, or a number that is no action.
    """
    try:
        number = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = -1
    if not 0 <= number < len(_ACTIONS):
        names = ", ".join(f"{number} {name}" for number, name in ACTION_NAMES.items())
        raise ActionError(f"unknown action {value!r:.80}; there are {names}")
    return _ACTIONS[number]
