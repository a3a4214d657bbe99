"""Values of any type: what is not of the right one is missing."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.report.read import lenient

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(ANY)
def test_whatever_is_there_a_value_of_the_type_asked_for_comes(value: Any) -> None:
    assert isinstance(lenient.table(value), dict)
    assert isinstance(lenient.items(value), list)
    assert isinstance(lenient.text(value), str)
    assert 0 <= lenient.count(value) <= 2**53
    number = lenient.number(value)
    assert number is None or math.isfinite(number)


@given(st.integers(0, 2**53))
def test_counts_are_kept(value: int) -> None:
    assert lenient.count(value) == lenient.whole(value) == value
    assert lenient.number(value) == value


@pytest.mark.parametrize("value", [True, "1", 1.5, -1, 2**53 + 1, 10**400, None])
def test_what_is_no_count_is_none(value: object) -> None:
    assert lenient.whole(value) is None


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "1e999"])
def test_numbers_that_are_not_finite_are_missing(text: str) -> None:
    assert lenient.parse_lenient(f'{{"a": [{text}]}}') == {"a": [None]}


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "1" * 5000, '{"a": 1}x'])
def test_what_is_no_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of json, whose words are its own
        lenient.parse_lenient(text)


@given(ANY.filter(lambda value: "NaN" not in json.dumps(value) and "Infinity" not in json.dumps(value)))
def test_json_is_read_as_it_is(value: Any) -> None:
    assert lenient.parse_lenient(json.dumps(value)) == value
