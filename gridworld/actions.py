"""The seven actions of the external interface, numbered as in MiniGrid.

The primitives of the learning agent are :class:`spca.contracts.Primitive`.
"""

from __future__ import annotations

import operator
from enum import IntEnum
from typing import Final, SupportsIndex

from gridworld.errors import ActionError


class Action(IntEnum):
    """An action of the agent; ``DONE`` waits for one step."""

    TURN_LEFT = 0
    TURN_RIGHT = 1
    MOVE_FORWARD = 2
    PICKUP = 3
    DROP = 4
    TOGGLE = 5
    DONE = 6


ACTION_NAMES: Final[dict[int, str]] = {action.value: action.name.lower() for action in Action}
"""Names of the actions by number: ``{0: "turn_left", ...}``."""

_ACTIONS: Final = tuple(Action)
_INVALID: Final = -1


def as_action(value: SupportsIndex) -> Action:
    """Return the action whose number is ``value``, which is an int, a numpy integer or an enum member.

    Raises:
        ActionError: the value is not an integer, or no action has this number.
    """
    try:
        number = _INVALID if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = _INVALID
    if not 0 <= number < len(_ACTIONS):
        names = ", ".join(f"{known} {name}" for known, name in ACTION_NAMES.items())
        raise ActionError(f"unknown action {value!r:.80}; there are {names}")
    return _ACTIONS[number]
