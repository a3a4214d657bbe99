"""The primitives: the elementary actions of an agent, encoded as 16-bit numbers.

Agents choose codes, journals store codes, and replays repeat codes. Codes from 0 stand for primitives without an
operand. Codes from 100 stand for holding an item, codes from 2000 for crafting by a recipe, and codes from 3000 for
aiming at a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Literal

from explorer.errors import ActionError
from explorer.scene import Cell

MAX_AIM: Final = 5
"""Greatest offset along each axis, in cells, from the cell of the feet to the target of an aim."""
_HOLD = 100
_CRAFT = 2000
_AIM = 3000
_END = 4331
"""First code of each of the three ranges, and the first code after the last range."""
_SPAN: Final = 2 * MAX_AIM + 1
"""Number of possible offsets along each axis."""


class Primitive(IntEnum):
    """The primitives without an operand, by their codes."""

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
    """The meaning of a code: a primitive without an operand, or ``hold``, ``craft`` or ``aim`` with an operand.

    Attributes:
        primitive: the primitive, if ``kind`` is ``primitive``.
        operand: for ``hold``, the number of an item (:mod:`explorer.rules.items`); for ``craft``, the number of a
            recipe (:mod:`explorer.rules.recipes`).
        offset: for ``aim``, the target cell relative to the cell of the feet.
    """

    kind: Literal["primitive", "hold", "craft", "aim"]
    primitive: Primitive = Primitive.WAIT
    operand: int = 0
    offset: Cell = (0, 0, 0)


def hold(item: int) -> int:
    """Return the code for taking an item from the inventory into the hand; ``item`` is the number of the item."""
    return _require_in_range(_HOLD + item, _HOLD, _CRAFT)


def craft(recipe: int) -> int:
    """Return the code for crafting by a recipe; ``recipe`` is the number of the recipe."""
    return _require_in_range(_CRAFT + recipe, _CRAFT, _AIM)


def aim(dx: int, dy: int, dz: int) -> int:
    """Return the code for aiming the crosshair at the middle of a cell.

    Args:
        dx, dy, dz: offset from the cell of the feet to the target cell.

    Raises:
        ActionError: the offset along an axis exceeds :data:`MAX_AIM`.
    """
    if max(abs(dx), abs(dy), abs(dz)) > MAX_AIM:
        raise ActionError(f"cannot aim at {(dx, dy, dz)}: each offset must be -{MAX_AIM} to {MAX_AIM}")
    x = dx + MAX_AIM
    y = dy + MAX_AIM
    z = dz + MAX_AIM
    return _AIM + (x * _SPAN + y) * _SPAN + z


def decode(code: int) -> Decoded:
    """Return the primitive, and its operand if it has one, for which a code stands.

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
    """Return ``code`` if it is at least ``least`` and below ``end``.

    Raises:
        ActionError: the code lies outside this range.
    """
    if not least <= code < end:
        raise ActionError(f"there is no item or recipe with number {code - least}")
    return code
