"""Auxiliary conditions are read in exactly the forms of the rules."""

from __future__ import annotations

import pytest

from gridworld.task.conditions import Condition, parse_condition


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("collected:k", Condition("collected", "k", None, False)),
        ("not carrying:key_1", Condition("carrying", "key_1", None, True)),
        ("open:d", Condition("open", "d", None, False)),
        ("active:s-1", Condition("active", "s-1", None, False)),
        ("at:b:3,12", Condition("at", "b", (3, 12), False)),
        ("not at:b:0,0", Condition("at", "b", (0, 0), True)),
    ],
)
def test_every_form_is_read(text: str, condition: Condition) -> None:
    assert parse_condition(text) == condition


@pytest.mark.parametrize(
    "text",
    [
        *("", "k", "open:", "open:a b", "open:a:b", "closed:d", "not  open:d", "not not open:d", "open:d\n", " open:d"),
        *("Open:d", "open:d:1,2", "at:b", "at:b:1", "at:b:1,-1", "at:b:1,2,3", "at:b:1,\u0663", "at:b:1,9999999"),
        "x" * 10_000,
    ],
)
def test_nothing_else_is(text: str) -> None:
    with pytest.raises(ValueError, match="is not a condition; the forms are") as caught:
        parse_condition(text)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
