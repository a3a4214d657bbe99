"""The primitives as 16-bit codes, which agents choose, journals store and replays repeat.

Codes from 0 are primitives without an operand; the ranges from 100, 2000 and 3000 hold the codes to hold an item, to
craft by a recipe and to aim at a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Literal

from explorer.errors import ActionError
from explorer.scene import Cell

MAX_AIM: Final = 5
"""Greatest offset of an aim, in cells along each axis from the cell of the feet."""
_HOLD = 100
_CRAFT = 2000
_AIM = 3000
_END = 4331
"""First code of each range, and the first code after the last range."""
_SPAN: Final = 2 * MAX_AIM + 1
"""Number of possible offsets along an axis."""


class Primitive(IntEnum):
    """Primitives without an operand."""

    WAIT = 0
    FORWARD = 1
    BACK = 2
    LEFT = 3
    RIGHT = 4
    JUMP = 5
    TURN_LEFT = 6
    TURN_RIGHT = 7
    LOOK_UP = 8
    LOOK_DOWN = 9
    USE = 10
    DIG = 11
    ATTACK = 12
    PLACE = 13
    PLACE_AHEAD = 14
    PLACE_BELOW = 15
    DROP = 16
    DONE = 17


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded code: a primitive, or ``hold``, ``craft`` or ``aim`` with an operand.

    Attributes:
        primitive: the primitive, if ``kind`` is ``primitive``.
        operand: number of the item (:mod:`explorer.rules.items`) or of the recipe (:mod:`explorer.rules.recipes`).
        offset: target of an aim, relative to the cell of the feet.
    """

    kind: Literal["primitive", "hold", "craft", "aim"]
    primitive: Primitive = Primitive.WAIT
    operand: int = 0
    offset: Cell = (0, 0, 0)


def hold(item: int) -> int:
    """Return the code for taking the item with a number from the inventory into the hand."""
    return _require_in_range(_HOLD + item, _HOLD, _CRAFT)


def craft(recipe: int) -> int:
    """Return the code for crafting by the recipe with a number."""
    return _require_in_range(_CRAFT + recipe, _CRAFT, _AIM)


def aim(dx: int, dy: int, dz: int) -> int:
    """Return the code for aiming the crosshair at the middle of a cell, given by its offset from the cell of the feet.

    Raises:
        ActionError: the cell is more than :data:`MAX_AIM` away along an axis.
    """
    if max(abs(dx), abs(dy), abs(dz)) > MAX_AIM:
        raise ActionError(f"cannot aim at {(dx, dy, dz)}: each offset must be -{MAX_AIM} to {MAX_AIM}")
    x = dx + MAX_AIM
    y = dy + MAX_AIM
    z = dz + MAX_AIM
    return _AIM + (x * _SPAN + y) * _SPAN + z


def decode(code: int) -> Decoded:
    """Return the primitive and the operand for which a code stands.

    Raises:
        ActionError: the code does not stand for a primitive.
    """
    if 0 <= code <= Primitive.DONE:
        return Decoded("primitive", Primitive(code))
    if _HOLD <= code < _CRAFT:
        return Decoded("hold", operand=code - _HOLD)
    if _CRAFT <= code < _AIM:
        return Decoded("craft", operand=code - _CRAFT)
    if _AIM <= code < _END:
        x, rest = divmod(code - _AIM, _SPAN * _SPAN)
        y, z = divmod(rest, _SPAN)
        return Decoded("aim", offset=(x - MAX_AIM, y - MAX_AIM, z - MAX_AIM))
    raise ActionError(f"code {code} is not a primitive")


def _require_in_range(code: int, least: int, end: int) -> int:
    """Return a code of the range from ``least`` to below ``end``.

    Raises:
        ActionError: the code lies outside the range.
    """
    if not least <= code < end:
        raise ActionError(f"there is no item or recipe with number {code - least}")
    return code
