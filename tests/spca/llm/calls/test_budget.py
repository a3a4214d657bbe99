"""Caps on what a run may spend."""

from __future__ import annotations

import re
from contextlib import suppress
from decimal import Decimal
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.errors import BudgetReached
from spca.llm.calls.budget import Caps
from spca.llm.calls.ledger import Place, Record, RequestOutcome
from spca.llm.providers.base import Usage
from tests.support.spca.call_requests import CATALOGUE, PAID, ref

ANSWERED, REJECTED, LOST, UNKNOWN = RequestOutcome
numbers = count(1)


def record(
    cost: str | None = "0", tokens: int | None = 0, outcome: RequestOutcome = ANSWERED, asked: int = 0, model: str = "m"
) -> Record:
    usage = Usage() if tokens is None else Usage(tokens, 0)
    price = None if cost is None else Decimal(cost)
    return Record(
        next(numbers),
        Place(),
        1,
        ref(model),
        "",
        "k",
        0.0,
        usage=usage,
        cost=price,
        outcome=outcome,
        asked_tokens=asked,
    )


def reached(caps: Caps, *records: Record) -> str:
    """The flag of the cap that was reached, "" while there is none."""
    try:
        caps.check(records, CATALOGUE)
    except BudgetReached as error:
        return error.flag
    return ""


@pytest.mark.parametrize(
    ("caps", "words", "flag"),
    [
        (Caps(calls=1), "budget: 1 request was sent (--max-calls 1)", "--max-calls"),
        (Caps(tokens=9), "budget: 10 tokens were used (--max-tokens 9)", "--max-tokens"),
        (Caps(cost_usd=0.01), "budget: 0.0123 USD were spent (--max-cost 0.01)", "--max-cost"),
    ],
)
def test_a_reached_cap_is_told_with_its_flag(caps: Caps, words: str, flag: str) -> None:
    with pytest.raises(BudgetReached) as caught:
        caps.check([record("0.01234", 10), record("0", None, REJECTED)][: caps.calls], CATALOGUE)
    assert (str(caught.value), caught.value.flag) == (words, flag)


@pytest.mark.parametrize("outcome", [LOST, UNKNOWN])
def test_a_total_that_is_partly_a_guess_is_told_as_one(outcome: RequestOutcome) -> None:
    sent = [record("0.01234", 10), record(None, None, outcome), record("0", None, REJECTED)]
    for caps, words in (
        (Caps(tokens=9), "budget: up to 20 tokens may have been used (--max-tokens 9)"),
        (Caps(cost_usd=0.01), "budget: up to 0.0247 USD may have been spent (--max-cost 0.01)"),
    ):
        with pytest.raises(BudgetReached, match=f"^{re.escape(words)}$"):
            caps.check(sent, CATALOGUE)


@pytest.mark.parametrize(
    ("cost", "stops"), [("0.4999999999999", False), ("0.5", True), ("0.5000000000001", True), ("9", True)]
)
def test_the_cap_on_cost_is_exact(cost: str, stops: bool) -> None:
    assert bool(reached(Caps(cost_usd=0.5), record(cost))) is stops


def test_costs_are_summed_as_decimals() -> None:
    tenths = [record("0.1")] * 3
    assert not reached(Caps(cost_usd=0.3), *tenths[:2])
    assert reached(Caps(cost_usd=0.3), *tenths) == "--max-cost"
    assert not reached(Caps(cost_usd=0.30000001), *tenths)


def test_the_cap_on_requests_counts_every_request() -> None:
    every = [record(outcome=outcome) for outcome in RequestOutcome]
    assert not reached(Caps(calls=4), *every[:3])
    assert reached(Caps(calls=4), *every) == "--max-calls"
    assert reached(Caps(calls=4), *every, record()) == "--max-calls"


@pytest.mark.parametrize(("tokens", "stops"), [(99, False), (100, True), (101, True)])
def test_the_cap_on_tokens_is_exact(tokens: int, stops: bool) -> None:
    assert reached(Caps(tokens=100), record(tokens=tokens)) == ("--max-tokens" if stops else "")


def test_without_caps_nothing_is_reached() -> None:
    assert not reached(Caps(), *[record("1e9", 10**12)] * 3)
    assert not reached(Caps(0.0, 1, 1))


@pytest.mark.parametrize("outcome", [LOST, UNKNOWN])
def test_what_may_have_been_billed_counts_like_the_dearest(outcome: RequestOutcome) -> None:
    known = [record("0.1", 10), record("0.3", 30), record("0.2", 20)]
    lost = record(None, None, outcome)
    assert not reached(Caps(cost_usd=1.2000001, tokens=121), *known, lost, lost)
    assert reached(Caps(cost_usd=1.2), *known, lost, lost) == "--max-cost"
    assert reached(Caps(tokens=120), lost, *known, lost) == "--max-tokens"


def test_a_price_that_became_unknown_counts_like_the_dearest() -> None:
    assert reached(Caps(cost_usd=0.2), record("0.1", 10), record(None, 300_000)) == "--max-cost"


@pytest.mark.parametrize("outcome", [LOST, UNKNOWN])
def test_what_got_lost_counts_at_least_as_its_prompt_and_an_answer_as_long(outcome: RequestOutcome) -> None:
    lost = record(None, None, outcome, asked=1000, model=PAID)  # 0.002 + 0.008 USD
    assert not reached(Caps(cost_usd=0.0201, tokens=4001), lost, lost)
    assert reached(Caps(cost_usd=0.02), lost, lost) == "--max-cost"
    assert reached(Caps(tokens=4000), lost, lost) == "--max-tokens"
    small = record("0.001", 5)
    assert not reached(Caps(cost_usd=0.0111, tokens=2006), small, lost)
    assert reached(Caps(cost_usd=0.011), lost, small) == "--max-cost"
    assert reached(Caps(tokens=2005), lost, small) == "--max-tokens"


def test_the_dearest_goes_before_a_smaller_guess() -> None:
    lost, dear = record(None, None, LOST, asked=1000, model=PAID), record("0.5", 5000)
    assert not reached(Caps(cost_usd=1.01, tokens=10001), lost, dear)
    assert reached(Caps(cost_usd=1.0), lost, dear) == "--max-cost"
    assert reached(Caps(tokens=10000), lost, dear) == "--max-tokens"


def test_what_was_answered_counts_as_it_was() -> None:
    answered = record("0.001", 5, asked=10**6, model=PAID)
    assert not reached(Caps(cost_usd=0.0011, tokens=6), answered)


def test_a_prompt_of_a_model_without_a_price_costs_what_is_known() -> None:
    assert not reached(Caps(cost_usd=0.001), record(None, None, LOST, asked=10**6, model="unpriced/m"))


def test_what_a_server_refused_costs_nothing() -> None:
    refused = [record("0", None, REJECTED, asked=10**6, model=PAID)] * 50
    assert not reached(Caps(cost_usd=0.2, tokens=20), record("0.1", 10), *refused)


def test_free_models_never_reach_a_cap_on_cost() -> None:
    for cap in (0.0, 1e-9, 5.0):
        assert not reached(Caps(cost_usd=cap), *[record("0", 10**6)] * 20, record("0", None, LOST))
        assert not reached(Caps(cost_usd=cap), *[record(None, None, UNKNOWN)] * 3, record("0", 5))
        assert not reached(Caps(cost_usd=cap), record(None, None, UNKNOWN, asked=10**6, model="free/model"))


def test_the_smallest_cap_lets_one_call_pass() -> None:
    assert not reached(Caps(cost_usd=0.0))
    assert reached(Caps(cost_usd=0.0), record("0.000001")) == "--max-cost"


records = st.lists(
    st.builds(
        record,
        st.none() | st.integers(0, 10**7).map(lambda value: f"{value / 10**6:.6f}"),
        st.none() | st.integers(0, 1000),
        st.sampled_from(RequestOutcome),
        st.integers(0, 10**6),
        st.sampled_from(["m", PAID, "free/model"]),
    ),
    max_size=8,
)


@given(records, records, st.floats(0.001, 30), st.integers(1, 8), st.integers(1, 3000))
def test_a_cap_once_reached_stays_reached(
    early: list[Record], later: list[Record], usd: float, calls: int, tokens: int
) -> None:
    for caps in (Caps(cost_usd=usd), Caps(calls=calls), Caps(tokens=tokens)):
        if reached(caps, *early):
            assert reached(caps, *early, *later)


@given(records, st.floats(0.001, 30))
def test_known_costs_are_never_underrated(early: list[Record], usd: float) -> None:
    with suppress(BudgetReached):
        Caps(cost_usd=usd).check(early, CATALOGUE)
        assert sum(r.cost or 0 for r in early if r.outcome is not REJECTED) < Decimal(str(usd))
