"""Requests, tokens and USD from what the details of episodes tell."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gridworld.evaluation.results.spending import Spending

EPISODE = {"requests": 2, "input_tokens": 100, "output_tokens": 10, "cost_usd": 0.5, "cost_unknown": 0}
OLD = {"requests": 3, "input_tokens": 50, "output_tokens": 5, "seconds": 1.0}


def test_episodes_are_summed() -> None:
    spent = Spending.of([EPISODE, None, EPISODE | {"cached_tokens": 64, "reasoning_tokens": 4}])
    assert spent is not None
    assert (spent.requests, spent.tokens, spent.cached_tokens, spent.reasoning_tokens) == (4, 220, 64, 4)
    assert (spent.cost_usd, spent.cost_unknown, spent.usd) == (1.0, 0, "1.0000")
    assert Spending(**asdict(spent)) == spent


def test_a_run_of_the_loop_tells_its_usage_one_level_below() -> None:
    assert Spending.of([{"rounds": 1, "planner_calls": 9, "usage": EPISODE}]) == Spending.of([EPISODE])


def test_a_person_who_plays_costs_nothing() -> None:
    spent = Spending.of([{"requests": 2, "cost_usd": 0.0, "cost_unknown": 0}])
    assert spent is not None
    assert (spent.requests, spent.tokens, spent.usd) == (2, 0, "0.0000")


@pytest.mark.parametrize("details", [None, {}, [], "much", {"requests": 2}, {"usage": {"requests": 2}}])
def test_a_model_that_tells_no_tokens_tells_nothing(details: object) -> None:
    assert Spending.of([details]) is None


@pytest.mark.parametrize(
    ("episodes", "usd"),
    [
        ([EPISODE | {"cost_usd": 0.0}], "0.0000"),
        ([EPISODE | {"cost_unknown": 2}], "0.5000+2?"),
        ([EPISODE | {"cost_usd": 0.0, "cost_unknown": 2}], "?"),
        ([EPISODE | {"estimated": 1}], "~0.5000"),
        ([OLD], "?"),
        ([EPISODE, OLD], "0.5000+3?"),
    ],
)
def test_what_is_unknown_is_told_as_unknown(episodes: list[Any], usd: str) -> None:
    spent = Spending.of(episodes)
    assert spent is not None
    assert spent.usd == usd
    assert (spent.cost_usd is None) == (episodes == [OLD])


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.lists(st.integers()))
NAMES = st.sampled_from([*EPISODE, "estimated", "usage", "reasoning_tokens"])


@given(st.lists(st.one_of(VALUES, st.dictionaries(NAMES, st.one_of(VALUES, st.dictionaries(NAMES, VALUES))))))
def test_whatever_a_file_says_the_sums_are_sensible(details: list[Any]) -> None:
    spent = Spending.of(details)
    if spent is not None:
        assert spent.usd
        assert min(spent.requests, spent.tokens, spent.cost_unknown, spent.cost_usd or 0) >= 0
