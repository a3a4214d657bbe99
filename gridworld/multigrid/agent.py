"""The native actions of MultiGrid, and the corresponding actions of the external interface."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import Final, SupportsIndex

from gridworld import actions
from gridworld.errors import ActionError


class Action(IntEnum):
    """A native action of MultiGrid; the numbers 1 and 7 are not used."""

    FORWARD = 0
    TURN_LEFT = 2
    TURN_RIGHT = 3
    PICKUP = 4
    DROP = 5
    TOGGLE = 6
    WAIT = 8


NATIVE_ACTIONS: Final[Mapping[actions.Action, Action]] = MappingProxyType(
    {
        actions.Action.TURN_LEFT: Action.TURN_LEFT,
        actions.Action.TURN_RIGHT: Action.TURN_RIGHT,
        actions.Action.MOVE_FORWARD: Action.FORWARD,
        actions.Action.PICKUP: Action.PICKUP,
        actions.Action.DROP: Action.DROP,
        actions.Action.TOGGLE: Action.TOGGLE,
        actions.Action.DONE: Action.WAIT,
    }
)
"""The native action of each external action."""

_EXTERNAL: Final[Mapping[int, actions.Action]] = MappingProxyType(
    {native.value: external for external, native in NATIVE_ACTIONS.items()}
)


def to_external(action: SupportsIndex) -> actions.Action:
    """Return the external action of a native action, which is an int, a numpy integer or an enum member.

    Raises:
        ActionError: the value is not an integer, or no native action has this number.
    """
    try:
        external = None if isinstance(action, bool) else _EXTERNAL.get(operator.index(action))
    except TypeError:
        external = None
    if external is None:
        names = ", ".join(f"{native.value} {native.name}" for native in Action)
        raise ActionError(f"unknown native action {action!r:.80}; there are {names}")
    return external
