"""Token counts as servers report them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.llm.providers.base import Usage
from spca.llm.providers.counts import MOST, absurd, is_count, usage
from tests.fakes.faults import ABSURD

NAMES = st.sampled_from(["usage", "usageMetadata", "prompt_tokens", "eval_count", "prompt_tokens_details"])
numbers = st.none() | st.integers(0, 10**6)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.integers(10**300, 10**400) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | NAMES, inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("value", [0, 1, MOST, 7.0])
def test_what_a_count_is(value: object) -> None:
    assert is_count(value)


@pytest.mark.parametrize("value", [*ABSURD, None])
def test_what_is_no_count(value: object) -> None:
    assert not is_count(value)


@given(st.dictionaries(NAMES, json_values))
def test_any_body_is_judged_in_one_short_line(body: dict[str, object]) -> None:
    said = absurd(body)
    assert len(said) < 120
    assert said.isprintable()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"usage": None},
        {"usage": [1]},
        {"usage": {"cost": 0.001, "prompt_tokens": None, "service_tier": "default", "total_time": 0.3}},
        {"usage": {"prompt_tokens_details": {"cached_tokens": None}}},
        {"output": [{"input_tokens": -1}], "max_output_tokens": "none"},
    ],
)
def test_what_is_no_count_of_ours_is_let_be(body: dict[str, object]) -> None:
    assert absurd(body) == ""


def test_the_words_name_the_count_without_any_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef" * 4)
    said = absurd({"usage": {"output_tokens_details": {"reasoning_tokens": "sk-0123456789abcdef" * 4}}})
    assert "reasoning_tokens" in said
    assert "0123" not in said


@given(numbers, numbers, numbers, numbers, numbers)
def test_reasoning_is_a_part_of_the_output(
    sent: int | None, said: int | None, cached: int | None, reasoned: int | None, written: int | None
) -> None:
    found = usage(sent, said, cached, reasoned, written)
    if found == Usage():
        assert not sent
        assert not said
    elif found.output_tokens is not None:
        assert (found.reasoning_tokens or 0) <= found.output_tokens
        assert found.output_tokens in (said, (said or 0) + (reasoned or 0))
    assert found.input_tokens in (sent, None)


def test_a_total_tells_whether_reasoning_was_counted_in() -> None:
    assert usage(100, 50, 0, 30, 0, 150) == usage(100, 50, 0, 30, 0) == Usage(100, 50, 0, 30, 0)
    assert usage(100, 50, 0, 30, 0, 180) == Usage(100, 80, 0, 30, 0)
