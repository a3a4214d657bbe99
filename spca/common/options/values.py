"""Groups of options and kinds of their values, for ``Annotated[int | None, whole_number(0), name_value("N")]``.

cyclopts alone would round ``--count 2.5`` and read ``0x10``; these say what they expect.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from cyclopts import Group, Parameter, Token

MAX_NUMBER: Final = 10**9
UNLIMITED: Final = int(sys.float_info.max)
"""What a number without a limit may be at most: greater ones are no floats."""
_COUNTER: Final = itertools.count()


def option_group(title: str, *, leads: bool = False) -> Group:
    """Return a group that ``--help`` shows after those that were made before.

    Args:
        leads: show it before all groups that do not lead.
    """
    return Group(title, sort_key=(not leads, next(_COUNTER)))


def text_option(read: Callable[[str], object], metavar: str | None = None) -> Parameter:
    """Return the kind of an option whose value ``read`` makes of its text.

    Args:
        read: raises a ValueError whose words say what was expected. Of a repeated option it gets the last.
    """

    def convert(_type: object, tokens: Sequence[Token]) -> object:
        return read(tokens[-1].value)

    return Parameter(converter=convert, n_tokens=1, accepts_keys=False, metavar=metavar)


def read_whole_number(text: str, least: int, most: int = MAX_NUMBER) -> int:
    """Return the whole number that ``text`` writes in decimal digits.

    Raises:
        ValueError: it is no such number, or not from ``least`` to ``most``.
    """
    with suppress(ValueError):  # Python refuses to convert thousands of digits
        number = int(text)
        if text.isascii() and text.isdigit() and least <= number <= most:
            return number
    limit = "" if most == UNLIMITED else f" to {most}"
    raise ValueError(f"{text!a:.80} is not a whole number from {least}{limit}")


def read_amount(text: str, unit: str, *, zero: bool = False) -> float:
    """Return the finite number above 0, or 0 too, that ``text`` writes.

    Args:
        unit: for the message, such as "seconds".

    Raises:
        ValueError: it is no such number.
    """
    with suppress(ValueError):
        number = float(text)
        if math.isfinite(number) and (number > 0 or (zero and number == 0)):
            return number
    raise ValueError(f"{text!a:.80} is not a number of {unit} {'from' if zero else 'above'} 0")


def whole_number(least: int, most: int = MAX_NUMBER) -> Parameter:
    """Return the kind of an option that is a whole number from ``least`` to ``most``."""
    return text_option(lambda text: read_whole_number(text, least, most), "N")


def amount(unit: str, *, zero: bool = False) -> Parameter:
    """Return the kind of an option that is a finite number above 0, or 0 too; see :func:`read_amount`."""
    return text_option(lambda text: read_amount(text, unit, zero=zero))


def name_value(metavar: str) -> Parameter:
    """Return what help calls the value of an option."""
    return Parameter(metavar=metavar)


FILE: Final = name_value("FILE")
FOLDER: Final = name_value("DIR")
NAME: Final = name_value("NAME")
MODEL: Final = name_value("MODEL")
WORD: Final = name_value("WORD")
