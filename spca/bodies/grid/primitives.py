"""The primitives of the grid's body."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from spca.body import Primitive


class GridPrimitive(IntEnum):
    """The seven primitive actions, numbered as in MiniGrid (``minigrid.core.actions.Actions``)."""

    TURN_LEFT = 0
    TURN_RIGHT = 1
    MOVE_FORWARD = 2
    PICK_UP = 3
    DROP = 4
    TOGGLE = 5
    DONE = 6


PRIMITIVE_METHODS: Final = tuple(primitive.name.lower() for primitive in GridPrimitive)
"""Names of the agent's primitive methods; the index is the code of the primitive."""

_DOCS: Final = (
    "Turn 90 degrees to the left.",
    "Turn 90 degrees to the right.",
    "Move one cell ahead; without effect when the cell is occupied.",
    "Pick up the key, ball or box in the cell ahead; needs an empty hand.",
    "Put what is carried into the cell ahead, which must be empty.",
    "Open or close the door ahead (a locked one needs its key in hand), or open the box ahead.",
    "Declare the task complete, or wait one step.",
)

PRIMITIVES: Final = tuple(Primitive(name, doc) for name, doc in zip(PRIMITIVE_METHODS, _DOCS, strict=True))
