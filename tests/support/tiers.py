"""The two tiers of tests: most run always, what repeats a whole system runs by ``scripts/soak long``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

import pytest

long: Final = partial(pytest.param, marks=pytest.mark.long)
"""A parameter of ``pytest.mark.parametrize`` that repeats what another one shows."""


def few(count: int, parameters: Iterable[Any]) -> list[Any]:
    """Parameters of which ``count``, evenly spread, run always; the others, which repeat what they show, are long.

    A tuple has a value for each name.
    """
    given = list(parameters)
    always = {index * len(given) // count for index in range(count)}
    return [each if index in always else _long(each) for index, each in enumerate(given)]


def _long(parameter: Any) -> Any:
    if hasattr(parameter, "marks"):
        return pytest.param(*parameter.values, marks=[*parameter.marks, pytest.mark.long], id=parameter.id)
    return long(*parameter) if type(parameter) is tuple else long(parameter)
