"""Kinds of values of options."""

from __future__ import annotations

import pytest

from spca.common.options.values import UNLIMITED, read_amount, read_whole_number


@pytest.mark.parametrize(("text", "number"), [("1", 1), ("007", 7), ("1000000000", 10**9)])
def test_whole_numbers(text: str, number: int) -> None:
    assert read_whole_number(text, 1) == number


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "", "²", "\uff11", "1_0", "0x10", "1000000001", "9" * 5000])
def test_what_is_no_whole_number(text: str) -> None:
    with pytest.raises(ValueError, match=r"^'.*' is not a whole number from 1 to 1000000000$|^'9{79} is not"):
        read_whole_number(text, 1)


def test_a_whole_number_without_a_limit() -> None:
    assert read_whole_number("4294967295", 0, UNLIMITED) == 4294967295
    for text in ("-1", "9" * 400):
        with pytest.raises(ValueError, match=r"^'(-1'|9{79}) is not a whole number from 0$"):
            read_whole_number(text, 0, UNLIMITED)


@pytest.mark.parametrize(("text", "number"), [("0", 0.0), (".5", 0.5), ("1e-3", 0.001)])
def test_amounts(text: str, number: float) -> None:
    assert read_amount(text, "USD", zero=True) == number


@pytest.mark.parametrize("text", ["-1", "nan", "inf", "1e999", "x", "", "0", "-0.0"])
def test_what_is_no_amount(text: str) -> None:
    with pytest.raises(ValueError, match=r"^'.*' is not a number of seconds above 0$"):
        read_amount(text, "seconds")
