"""Published prices: tiers, the cache, days; against the package's own arithmetic, and written down once more."""

from __future__ import annotations

import json
import socket
import threading
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from importlib import resources
from typing import Any

import genai_prices
import pytest
from genai_prices import data_snapshot
from hypothesis import given
from hypothesis import strategies as st

from spca.llm.catalogue import prices
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.prices import RATES, Price
from spca.llm.providers.base import Usage
from tests.support.spca.call_requests import ref

BUILT_IN = ModelTable.load()
ENTRIES: dict[str, dict[str, Any]] = json.loads(
    resources.files("spca.llm.catalogue").joinpath("models.json").read_text(encoding="utf-8")
)["models"]
KNOWN = (
    *("openai/gpt-6.1-sol", "openai/gpt-6.1-terra", "openai/gpt-6-luna", "openai/gpt-5.6-sol", "openai/gpt-5.6-luna"),
    *("openai/gpt-5.4-mini", "openai/gpt-5.2", "openai/gpt-5.5-pro", "openai/gpt-6-astra-2026-09-01"),
    *("anthropic/claude-opus-5-5", "anthropic/claude-sonnet-5-5", "anthropic/claude-haiku-5-5"),
    *("google/gemini-4-argon", "google/gemini-3.8-flash", "google/gemini-3.5-flash-lite"),
    *("google/gemini-3.1-pro-preview", "google/gemini-2.5-flash-lite", "google/gemini-3-flash-preview"),
)
NOVEMBER = "2026-11-22"


def at(day: str) -> float:
    return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()


def price(model: str, day: str = NOVEMBER, table: ModelTable = BUILT_IN) -> Price:
    found = table.price(ref(model), at(day))
    assert found is not None
    return found


def cost(model: str, usage: Usage, day: str = NOVEMBER) -> Decimal | None:
    return price(model, day).cost(usage)


days = st.dates(date(2026, 1, 1), date(2027, 6, 30))
counts = st.one_of(st.integers(0, 10**6), st.sampled_from([199_999, 200_000, 200_001, 271_999, 272_000, 272_001]))


@given(st.sampled_from(KNOWN), days, st.integers(0, 86_399), counts, counts, counts, counts)
def test_a_cost_is_what_the_package_computes(
    model: str, day: date, second: int, sent: int, cached: int, written: int, said: int
) -> None:
    cached = min(cached, sent)
    written = min(written, sent - cached)
    moment = datetime.combine(day, datetime.min.time(), UTC) + timedelta(seconds=second)
    usage: dict[str, Any] = {"input_tokens": sent, "cache_read_tokens": cached, "output_tokens": said}
    prefix, name = model.split("/")
    theirs = genai_prices.calc_price(
        genai_prices.Usage(**usage, cache_write_tokens=written),
        name,
        provider_id=prefix,
        genai_request_timestamp=moment,
    )
    ours = BUILT_IN.price(ref(model), moment.timestamp())
    assert ours is not None
    assert ours.cost(Usage(sent, said, cached, 0, written)) == theirs.total_price


@pytest.mark.parametrize(
    ("model", "rates"),
    [
        ("openai/gpt-6.2-sol", (2, None, 2.5, 10)),
        ("openai/gpt-6-astra", (10, 1, 12.5, 50)),
        ("openai/gpt-6.1-sol", (2, 0.10, 2.50, 10)),
        ("openai/gpt-6.1-terra", (1, 0.05, 1.25, 5)),
        ("openai/gpt-6-luna", (0.10, 0.01, 0.125, 0.50)),
        ("openai/gpt-5.6-sol", (4, 0.4, 5, 20)),
        ("openai/gpt-5.6-terra", (2, 0.2, 2.5, 12)),
        ("openai/gpt-5.6-luna", (0.2, 0.02, 0.25, 1.2)),
        ("openai/gpt-5.4-mini", (0.75, 0.075, None, 4.5)),
        ("openai/gpt-5", (1.25, 0.125, None, 10)),
        ("openai/gpt-5.2", (1.75, 0.175, None, 14)),
        ("openai/o3", (2, 0.5, None, 8)),
        ("anthropic/claude-opus-5-5", (4, 0.2, 5, 20)),
        ("anthropic/claude-sonnet-5-5", (2, 0.1, 2.5, 10)),
        ("anthropic/claude-haiku-5-5", (0.1, 0.01, 0.125, 0.5)),
        ("google/gemini-4-argon", (2, 0.10, None, 10)),
        ("google/gemini-3.8-flash", (0.75, 0.075, None, 3.75)),
        ("google/gemini-3.5-flash-lite", (0.30, 0.03, None, 2.50)),
        ("google/gemini-3.1-pro-preview", (2, 0.20, None, 12)),
    ],
)
def test_prices_of_november_2026(model: str, rates: tuple[float | None, ...]) -> None:
    found = price(model).tiers[0]
    assert (found.input, found.cached, found.cache_write, found.output) == tuple(
        None if rate is None else Decimal(str(rate)) for rate in rates
    )


@pytest.mark.parametrize("model", ["openai/gpt-6.1-sol", "openai/gpt-6.2-sol", "openai/gpt-5.6-luna", "openai/gpt-5.4"])
def test_above_272k_input_tokens_all_input_costs_twice_and_output_half_more(model: str) -> None:
    small, large = price(model).tiers[0], price(model).tiers[272_000]
    assert (large.input, large.output) == (2 * small.input, Decimal("1.5") * small.output)
    assert cost(model, Usage(272_000, 1000)) == small.cost(Usage(272_000, 1000))
    assert cost(model, Usage(272_001, 1000)) == large.cost(Usage(272_001, 1000))


def test_above_200k_tokens_geminis_pro_costs_twice() -> None:
    assert cost("google/gemini-3.1-pro-preview", Usage(200_000, 0)) == Decimal("0.4")
    assert cost("google/gemini-3.1-pro-preview", Usage(200_001, 0)) == Decimal("0.800004")


def test_a_price_holds_by_the_day_of_the_request_in_utc() -> None:
    usage = Usage(1_000_000, 1_000_000)
    assert cost("google/gemini-4-argon", usage, "2026-11-30T23:59:59") == 12
    assert cost("google/gemini-4-argon", usage, "2026-12-01T00:00:00") == 24
    assert cost("google/gemini-3.8-flash", usage, "2026-12-31") == Decimal("4.5")
    assert cost("google/gemini-3.8-flash", usage, "2027-01-01") == 9


def test_a_model_that_is_gone_costs_what_its_successor_does() -> None:
    assert price("google/gemini-2.5-pro", "2026-11-30") != price("google/gemini-3.8-flash", "2026-11-30")
    assert price("google/gemini-2.5-pro", "2026-12-01") == price("google/gemini-3.8-flash", "2026-12-01")
    mine = ModelTable({"google/gemini-2.5-pro": {"input": 7}}, ENTRIES)
    assert price("google/gemini-2.5-pro", "2026-12-01", mine).tiers[0].input == 7


def test_models_that_follow_one_another_in_a_circle_have_an_end() -> None:
    circle = {f"a/{one}": {"shutdown": "2020-01-01", "successor": f"a/{other}"} for one, other in ("xy", "yx")}
    assert ModelTable(circle).price(ref("a/x")) is None


@pytest.mark.parametrize("date", ["-2099-01-01", "-20990101"])
def test_a_dated_version_that_nobody_knows_costs_what_its_model_does(date: str) -> None:
    assert price(f"openai/gpt-5.2{date}") == price("openai/gpt-5.2")
    assert BUILT_IN.price(ref(f"openai/my-model{date}")) is None


def test_what_a_table_says_goes_before_in_every_tier() -> None:
    cheap = price("openai/gpt-6.1-sol", table=ModelTable({"openai/gpt-6.1-sol": {"input": 1}}))
    found = [(size, float(rates.input), float(rates.output)) for size, rates in cheap.tiers.items()]
    assert found == [(0, 1, 10), (272_000, 1, 15)]
    cheap = price("openai/gpt-6.2-sol", table=ModelTable({"openai/gpt-6.2-sol": {"input": 1}}, ENTRIES))
    assert [float(rates.input) for rates in cheap.tiers.values()] == [1, 1]
    assert [float(rates.output) for rates in cheap.tiers.values()] == [10, 15]
    own = ModelTable({"openai/gpt-6.1-sol": {"tiers": {"1000": {"input": 3}}}})
    assert [rates.input for rates in price("openai/gpt-6.1-sol", table=own).tiers.values()] == [2, 3]
    assert price("openai/gpt-6.1-sol", table=own).cost(Usage(1001, 0)) == Decimal("0.003003")
    upto = ModelTable({"openai/gpt-6.1-sol": {"price_up_to": 1000}})
    assert price("openai/gpt-6.1-sol", table=upto).cost(Usage(1001, 0)) is None


@given(st.sampled_from((*KNOWN, "openai/gpt-6.2-sol")), days, st.integers(0, 10**6), st.data())
def test_the_most_that_a_request_costs_is_no_less_than_it_costs(
    model: str, day: date, size: int, data: st.DataObject
) -> None:
    found = price(model, day.isoformat())
    cached = data.draw(st.integers(0, size))
    written = data.draw(st.integers(0, size - cached))
    spent = found.cost(Usage(size, size, cached, 0, written))
    assert spent is not None
    assert spent <= found.most(size)


def test_the_table_holds_no_price_that_is_published() -> None:
    for model, entry in ENTRIES.items():
        if set(RATES) & entry.keys() and entry["input"] is not None:
            assert prices.find_published_rates(ref(model), at(NOVEMBER)) == {}, model


def test_every_successor_is_there_and_has_a_price() -> None:
    for model, entry in ENTRIES.items():
        assert ("shutdown" in entry) == ("successor" in entry), model
        if "successor" in entry:
            following = entry["successor"]
            assert BUILT_IN.info(ref(following)).shutdown is None, model
            assert BUILT_IN.price(ref(following), at("2027-06-30")), model


def test_every_model_named_in_full_has_a_price() -> None:
    for model in ENTRIES:
        if "*" not in model:
            assert BUILT_IN.price(ref(model), at(NOVEMBER)), model


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection is made")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    threads = threading.active_count()
    prices._read_data.cache_clear()
    assert price("openai/gpt-6.1-sol").tiers
    assert threading.active_count() == threads
    assert data_snapshot._custom_snapshot is None


def test_prices_that_another_program_has_put_there_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_snapshot, "_custom_snapshot", data_snapshot.DataSnapshot([], from_auto_update=True))
    prices._read_data.cache_clear()
    assert price("openai/gpt-6.1-sol").tiers[0].input == 2
