"""Groups of options and types of values, for annotations such as ``Annotated[int | None, whole_number(0)]``.

These types are stricter than those of cyclopts, which rounds ``--count 2.5`` and reads ``0x10``. Their error messages
say what is expected.
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
"""Default limit of whole numbers."""
UNLIMITED: Final = int(sys.float_info.max)
"""Limit of whole numbers that need no limit; larger numbers cannot be converted to float."""
_GROUP_NUMBERS: Final = itertools.count()
"""Counter that numbers the groups; ``--help`` sorts groups by these numbers."""


def option_group(title: str, *, leads: bool = False) -> Group:
    """Return a new group of options. ``--help`` shows groups in the order in which they were made.

    Args:
        title: heading of the group.
        leads: whether ``--help`` shows the group before all groups without ``leads``.
    """
    return Group(title, sort_key=(not leads, next(_GROUP_NUMBERS)))


def text_option(read: Callable[[str], object], metavar: str | None = None) -> Parameter:
    """Return the type of an option whose text is converted by ``read``.

    Args:
        read: converts the text, or raises a ValueError that says what is expected. If an option is repeated, ``read``
            gets the last text.
        metavar: name of the value in help.
    """

    def convert(_type: object, tokens: Sequence[Token]) -> object:
        return read(tokens[-1].value)

    return Parameter(converter=convert, n_tokens=1, accepts_keys=False, metavar=metavar)


def read_whole_number(text: str, least: int, most: int = MAX_NUMBER) -> int:
    """Return the whole number in ``text``, which must consist of decimal digits.

    Raises:
        ValueError: ``text`` is not a whole number from ``least`` to ``most``.
    """
    with suppress(ValueError):  # int() also refuses thousands of digits
        number = int(text)
        has_only_digits = text.isascii() and text.isdigit()
        if has_only_digits and least <= number <= most:
            return number
    limit = "" if most == UNLIMITED else f" to {most}"
    raise ValueError(f"{text!a:.80} is not a whole number from {least}{limit}")


def read_amount(text: str, unit: str, *, zero: bool = False) -> float:
    """Return the finite positive number in ``text``; if ``zero``, the number may also be 0.

    Args:
        unit: unit of the number for the error message, such as "seconds".

    Raises:
        ValueError: ``text`` is not a permitted number.
    """
    with suppress(ValueError):
        number = float(text)
        is_in_range = number > 0 or (zero and number == 0)
        if is_in_range and math.isfinite(number):
            return number
    limit = "from 0" if zero else "above 0"
    raise ValueError(f"{text!a:.80} is not a number of {unit} {limit}")


def whole_number(least: int, most: int = MAX_NUMBER) -> Parameter:
    """Return the type of an option whose value is a whole number from ``least`` to ``most``."""
    return text_option(lambda text: read_whole_number(text, least, most), "N")


def amount(unit: str, *, zero: bool = False) -> Parameter:
    """Return the type of an option whose value is a finite positive number (or 0, if ``zero``) of a unit."""
    return text_option(lambda text: read_amount(text, unit, zero=zero))


def name_value(metavar: str) -> Parameter:
    """Return an annotation that sets the name of an option's value in help."""
    return Parameter(metavar=metavar)


FILE: Final = name_value("FILE")
FOLDER: Final = name_value("DIR")
NAME: Final = name_value("NAME")
MODEL: Final = name_value("MODEL")
WORD: Final = name_value("WORD")
