"""What models took, in words."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.llm.calls.ledger import Place, Record, RequestOutcome, sums
from spca.llm.providers.base import Usage
from spca.llm.spending import cells, count_unanswered, so_far, spent, tokens, usd
from tests.support.spca.call_requests import ref


def usage(**more: Any) -> dict[str, Any]:
    return sums([]) | more


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        (usage(), ""),
        (usage(requests=3, rejected=3), ""),
        (usage(requests=1, lost=1, cost_unknown=1), "0 tokens, ? USD"),
        (usage(requests=3, lost=2, cost_unknown=2, input_tokens=7), "7 tokens, ? USD"),
        (usage(input_tokens=1234, output_tokens=1), "1,235 tokens, 0.0000 USD"),
        (usage(input_tokens=1, cost_usd=0.00006), "1 tokens, 0.0001 USD"),
        (usage(output_tokens=1, cost_usd=12.5, cost_unknown=2), "1 tokens, 12.5000+2? USD"),
        (usage(output_tokens=1234, reasoning_tokens=1000), "1,234 tokens (1,000 reasoning), 0.0000 USD"),
        (usage(input_tokens=10, estimated=1, cost_usd=0.5), "~10 tokens, ~0.5000 USD"),
    ],
)
def test_tokens_and_dollars(taken: dict[str, Any], words: str) -> None:
    assert spent(taken) == words


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        (usage(answered=9), ""),
        (usage(rejected=2), " (2 rejected)"),
        (usage(rejected=1, lost=2, unknown=3), " (1 rejected, 2 lost, 3 unknown)"),
    ],
)
def test_requests_that_were_not_answered(taken: dict[str, Any], words: str) -> None:
    assert count_unanswered(taken) == words


@given(st.lists(st.sampled_from(RequestOutcome), max_size=5), st.booleans())
def test_what_is_not_known_is_never_shown_as_known(outcomes: list[RequestOutcome], estimated: bool) -> None:
    priced = Usage(7, 3)
    records = [
        Record(1, Place(), 1, ref("a/m"), "", "k", 0.0, 0.0, priced, estimated, Decimal(1), outcome)
        if outcome is RequestOutcome.ANSWERED
        else Record(1, Place(), 1, ref("a/m"), "", "k", 0.0, outcome=outcome)
        for outcome in outcomes
    ]
    total = sums(records)
    assert ("?" in usd(total)) == any(record.cost is None for record in records)
    assert usd(total).startswith("~") == tokens(total).startswith("~") == any(record.estimated for record in records)


@pytest.mark.parametrize(
    ("taken", "words"),
    [
        (usage(), ""),
        (usage(requests=1), "1 call"),
        (usage(requests=2, input_tokens=12_345), "2 calls, 12,345 tokens, 0.0000 USD"),
        (
            usage(requests=2, input_tokens=12_345, cost_usd=0.0456, cost_unknown=1),
            "2 calls, 12,345 tokens, 0.0456+1? USD",
        ),
    ],
)
def test_what_was_taken_so_far(taken: dict[str, Any], words: str) -> None:
    assert so_far(taken) == words


def test_what_was_taken_as_cells_of_a_table() -> None:
    taken = usage(input_tokens=12_000, output_tokens=345, reasoning_tokens=67, cost_usd=0.0456)
    assert cells(taken) == {"tokens": "12,345", "reasoning": "67", "USD": "0.0456"}
