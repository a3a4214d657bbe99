"""What is known of models, and what a request costs to the last digit."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.errors import SettingsError
from spca.llm.calls.ledger import estimate_prompt, estimate_tokens, measure_usage
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.prices import Price, Rates
from spca.llm.providers.base import ModelInfo, Response, ToolCall, Usage
from tests.support.spca.call_requests import any_text, ref, request

BUILT_IN = ModelTable.load()


def flat(up_to: int | None = None, **rates: float) -> Price:
    """A price that is the same for every size of prompt, in USD per million tokens."""
    return Price({0: Rates(**{kind: Decimal(str(rate)) for kind, rate in rates.items()})}, up_to)


def noon(day: str) -> float:
    return datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp()


PRICE = flat(input=2, cached=0.5, output=8)


@pytest.mark.parametrize(
    ("price", "usage", "usd"),
    [
        (PRICE, Usage(1000, 100, 400, 60), "0.0022"),
        (PRICE, Usage(1, 0), "0.000002"),
        (PRICE, Usage(0, 1), "0.000008"),
        (PRICE, Usage(0, 0), "0"),
        (PRICE, Usage(1000, 0, 1000), "0.0005"),
        (PRICE, Usage(1000, 0, 2000), "0.0005"),  # a server cannot have cached more than it was sent
        (flat(input=2, output=8), Usage(1000, 0, 1000), "0.002"),
        (flat(input=2, cached=0, output=8), Usage(1000, 0, 1000), "0"),
        (flat(input=2, cached=0.5, cache_write=2.5, output=8), Usage(1000, 100, 400, 0, 200), "0.0023"),
        (flat(input=2, cached=0.5, cache_write=2.5, output=8), Usage(1000, 0, 900, 0, 900), "0.0007"),
        (PRICE, Usage(1000, 100, 400, 0, 200), "0.0022"),
        (flat(input=1.1, cached=0.275, output=4.4), Usage(1_234_567, 7_654_321, 234_567), "34.843518325"),
        (flat(input=0, output=0), Usage(), "0"),
        (flat(input=0, output=1), Usage(10, 1), "0.000001"),
        (flat(1000, input=2, output=8), Usage(1000, 0), "0.002"),
    ],
)
def test_a_cost_is_exact(price: Price, usage: Usage, usd: str) -> None:
    assert price.cost(usage) == Decimal(usd)


@pytest.mark.parametrize(
    ("price", "usage"),
    [
        (PRICE, Usage(1, None)),
        (PRICE, Usage(None, 1)),
        (PRICE, Usage()),
        (flat(input=0, output=1), Usage()),
        (flat(1000, input=2, output=8), Usage(1001, 0)),
    ],
)
def test_what_is_not_known_is_unknown_and_not_zero(price: Price, usage: Usage) -> None:
    assert price.cost(usage) is None


@pytest.mark.parametrize("entry", [{}, {"input": 2}, {"output": 2}, {"input": 0}, {"input": None, "output": 1}])
def test_a_model_without_the_price_of_input_and_output_has_none(entry: dict[str, Any]) -> None:
    assert ModelTable({"a/b": entry}).price(ref("a/b")) is None


tokens = st.integers(0, 10**7)
prices = st.integers(0, 10**6).map(lambda mills: mills / 1000)


@given(tokens, tokens, tokens, tokens, prices, prices, prices, prices)
def test_costs_add_up(
    sent: int,
    cached: int,
    written: int,
    said: int,
    per_input: float,
    per_cached: float,
    per_written: float,
    per_output: float,
) -> None:
    price = flat(input=per_input, cached=per_cached, cache_write=per_written, output=per_output)
    whole = price.cost(Usage(sent + cached + written, said, cached, 0, written))
    kinds = (Usage(sent, 0), Usage(cached, 0, cached), Usage(written, 0, 0, 0, written), Usage(0, said))
    parts = [price.cost(usage) for usage in kinds]
    assert whole is not None
    assert whole == sum((part for part in parts if part is not None), Decimal(0))
    assert whole * 10**9 == int(whole * 10**9)


@given(tokens, tokens, tokens)
def test_a_cheaper_cache_never_costs_more(sent: int, said: int, cached: int) -> None:
    usual, cheaper = PRICE.cost(Usage(sent, said)), PRICE.cost(Usage(sent, said, cached))
    assert usual is not None
    assert cheaper is not None
    assert 0 <= cheaper <= usual


def test_reported_tokens_are_no_estimate() -> None:
    usage = Usage(3, 0, None, 7)
    assert measure_usage(request("a" * 999), Response("b" * 999, usage)) == (usage, False)


def test_tokens_that_a_server_does_not_tell_are_estimated() -> None:
    usage, estimated = measure_usage(request("a" * 300, "b" * 31), Response("c" * 30))
    assert (usage, estimated) == (Usage(111, 10), True)


def test_an_estimate_replaces_only_what_was_not_told() -> None:
    asked, said = request("a" * 300), Response("b" * 30)
    assert measure_usage(asked, replace(said, usage=Usage(77, None, 5))) == (Usage(77, 10, 5), True)
    assert measure_usage(asked, replace(said, usage=Usage(None, 7, None, 3))) == (Usage(100, 7, None, 3), True)


def test_arguments_of_tools_are_output_too() -> None:
    usage, _ = measure_usage(request("?"), Response("", tool_calls=(ToolCall("move", {"steps": "x" * 300}),)))
    assert (usage.output_tokens or 0) >= 100


@given(st.lists(any_text, min_size=1, max_size=4))
def test_a_prompt_is_as_long_as_its_messages(texts: list[str]) -> None:
    assert estimate_prompt(request(*texts)) == estimate_tokens(sum(map(len, texts)))


def test_a_table_goes_before_the_built_in_one_and_after_that_of_the_user() -> None:
    user, built_in = {"a/x": {"input": 1}}, {"a/*": {"input": 9, "output": 9, "context": 9}}
    known = ModelTable(user, built_in).prefer({"a/*": {"output": 5}})
    assert (known.price(ref("a/x")), known.info(ref("a/x")).context) == (flat(input=1, output=5), 9)
    assert ModelTable(user, built_in).prefer({"a/*": {"output": None}}).price(ref("a/x")) is None
    assert ModelTable(built_in).prefer({"a/x": {"input": 5}}).price(ref("a/x")) == flat(input=5, output=9)
    assert ModelTable(user, built_in).price(ref("a/y")) == flat(input=9, output=9)


def test_a_dated_version_may_differ_from_its_model() -> None:
    old, new = BUILT_IN.info(ref("openai/gpt-4o-2024-05-13")), BUILT_IN.info(ref("openai/gpt-4o-2024-08-06"))
    assert (old.shutdown, old.successor) == (date(2026, 10, 23), "openai/gpt-6.1-sol")
    assert new == BUILT_IN.info(ref("openai/gpt-4o")) != old


@given(any_text)
def test_an_estimate_is_no_less_than_a_fourth_of_the_characters(text: str) -> None:
    assert len(text) / 4 <= estimate_tokens(len(text)) <= len(text)


def table(path: Path, content: object) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_built_in_table_knows_the_default_models() -> None:
    sol = BUILT_IN.info(ref("openai/gpt-6.1-sol"))
    assert (sol.context, sol.max_output, sol.api) == (922_000, 128_000, "responses")
    assert BUILT_IN.info(ref("openai/gpt-5.3-codex")).api == "responses"
    for free in ("reference/planner", "faulty/coder", "replay//a/run", "llamacpp//a/model.gguf", "ollama/qwen:14b"):
        price = BUILT_IN.price(ref(free))
        assert price is not None
        assert price.is_free
        assert price.cost(Usage()) == 0


RESPONSES = (
    *(
        "gpt-5.4",
        "gpt-5.4-mini",
        "gpt-5.4-mini-2026-03-17",
        "gpt-5.5",
        "gpt-5.5-pro",
        "gpt-5.6-sol",
        "gpt-5.9",
        "gpt-5.10",
    ),
    *("gpt-6-luna", "gpt-6.1-terra", "gpt-6.2-sol", "gpt-7", "gpt-9.3-x", "gpt-10", "gpt-12.1-sol"),
    *("o3-pro", "codex-mini-latest", "gpt-5.3-codex"),
)
CHAT = ("o3", "gpt-4", "gpt-4o-mini", "gpt-4.1", "gpt-5", "gpt-5-2025-08-07", "gpt-5-mini", "gpt-5.3-chat-latest")


@pytest.mark.parametrize("model", RESPONSES)
def test_newer_models_are_asked_through_the_responses_api(model: str) -> None:
    assert BUILT_IN.info(ref(f"openai/{model}")).api == "responses"


@pytest.mark.parametrize(
    "model", [*CHAT, "gpt-3.5-turbo", "gpt-35-turbo", "gpt-oss-120b", "qwen3-coder", "openai/gpt-6"]
)
def test_others_are_asked_through_chat_completions(model: str) -> None:
    assert BUILT_IN.info(ref(f"openai/{model}")).api == "chat"


@pytest.mark.parametrize("model", ["ollama/gpt-oss:120b-cloud", "openai/gpt-oss-120b", "openai/my-model"])
def test_what_others_run_at_prices_of_their_own_is_unknown(model: str) -> None:
    assert BUILT_IN.price(ref(model)) is None


@pytest.mark.parametrize("date", ["-2025-04-16", "-20250416"])
def test_a_dated_version_is_the_model_without_the_date(date: str) -> None:
    assert BUILT_IN.info(ref(f"openai/o3{date}")) == BUILT_IN.info(ref("openai/o3"))
    assert BUILT_IN.price(ref(f"openai/o3{date}"), 0) == BUILT_IN.price(ref("openai/o3"), 0) is not None


@pytest.mark.parametrize("model", ["openai/o3-2025", "openai/o33", "openai/xo3", "OpenAI/o3", "openai/", "other/o3"])
def test_a_model_that_is_only_similar_is_not_known(model: str) -> None:
    assert (BUILT_IN.info(ref(model)), BUILT_IN.price(ref(model))) == (ModelInfo(), None)


def test_what_is_more_exact_counts_and_the_rest_is_filled_in() -> None:
    known = ModelTable(
        {
            "x/big": {"input": 1},
            "x/*": {"input": 9, "context": 10},
            "x/b*": {"input": 8, "output": 7},
            "x/big-2025-01-01": {"output": 2},
        }
    )
    assert known.price(ref("x/big")) == flat(input=1, output=7)
    assert known.price(ref("x/big-2025-01-01")) == flat(input=1, output=2)
    assert known.price(ref("x/big-2024-12-31")) == flat(input=1, output=7)
    assert known.price(ref("x/bag")) == flat(input=8, output=7)
    assert (known.info(ref("x/c")), known.price(ref("x/c"))) == (ModelInfo(context=10), None)


def test_the_users_table_goes_before_the_built_in_one_field_by_field(tmp_path: Path) -> None:
    mine = {"models": {"openai/o3": {"input": 1.5}, "my/*": {"input": 0, "output": 0}, "openai/*": {"context": 5}}}
    known = ModelTable.load(table(tmp_path / "t.json", mine))
    assert known.info(ref("openai/o3")) == replace(BUILT_IN.info(ref("openai/o3")), context=5)
    assert known.price(ref("openai/o3"), noon("2026-11-22")) == flat(input=1.5, cached=0.5, output=8)
    assert known.info(ref("openai/o3-2025-04-16")) == known.info(ref("openai/o3"))
    assert known.price(ref("my/model")) == flat(input=0, output=0)
    assert known.info(ref("google/gemini-2.5-pro")) == BUILT_IN.info(ref("google/gemini-2.5-pro"))


def test_a_pattern_needs_no_prefix(tmp_path: Path) -> None:
    known = ModelTable.load(table(tmp_path / "t.json", {"models": {"*": {"input": 1, "output": 2}}}))
    assert known.price(ref("any/model")) == flat(input=1, output=2)


def test_a_table_may_carry_remarks(tmp_path: Path) -> None:
    known = ModelTable.load(table(tmp_path / "t.json", {"about": "mine", "models": {"a/b": {"input": 1, "output": 2}}}))
    assert known.price(ref("a/b")) == flat(input=1, output=2)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is not valid JSON: Expecting value"),
        ("{", "is not valid JSON: Expecting property name"),
        ("[]", "is no table of models"),
        ("{}", "is no table of models"),
        ({"models": []}, "is no table of models"),
        ({"models": None}, "is no table of models"),
        ({"models": {"a/b": 1}}, "a/b: an entry has fields from api, cache_write, cached, context, input,"),
        ({"models": {"a/b": {"prize": 1}}}, "a/b: unknown field prize: an entry has fields from api, cache_write"),
        ({"models": {"a/b": {"x\ny": 1, "z": 2}}}, r"a/b: unknown field 'x\ny': an entry"),
        ({"models": {"o3": {"input": 1}}}, "o3: a name has a prefix, such as openai/o3"),
        ({"models": {"a/b": {"input": -1}}}, "a/b: input must be USD per million tokens, not -1"),
        ({"models": {"a/b": {"input": "2"}}}, "a/b: input must be USD per million tokens, not '2'"),
        ({"models": {"a/b": {"output": True}}}, "a/b: output must be"),
        ({"models": {"a/b": {"cached": float("nan")}}}, "a/b: cached must be"),
        ({"models": {"a/b": {"cached": float("inf")}}}, "a/b: cached must be"),
        ({"models": {"a/b": {"context": 0}}}, "a/b: context must be a whole number of tokens"),
        ({"models": {"a/b": {"max_output": 1.5}}}, "a/b: max_output must be a whole number of tokens"),
        ({"models": {"a/b": {"price_up_to": "x"}}}, "a/b: price_up_to must be"),
        ({"models": {"a/b": {"api": "grpc"}}}, "a/b: api must be one of chat, responses, not 'grpc'"),
        ({"models": {"a/b@high": {}}}, "a/b@high: an entry holds for every effort of a model: leave @high out"),
        ({"models": {"a/b": {"least_effort": "no"}}}, "a/b: least_effort must be one of none, minimal, low, medium,"),
        ({"models": {"a/b": {"shutdown": "1 May"}}}, "a/b: shutdown must be a day such as 2026-12-31, not '1 May'"),
        ({"models": {"a/b": {"shutdown": "20261231"}}}, "a/b: shutdown must be a day"),
        ({"models": {"a/b": {"successor": "o3"}}}, "a/b: successor must be the name of a model with its prefix"),
        ({"models": {"a/b": {"tiers": {"0": {"input": 1}}}}}, "a/b: tiers must be rates by size of the prompt"),
        ({"models": {"a/b": {"tiers": {"9": {"input": -1}}}}}, "a/b: tiers must be"),
        ({"models": {"a/b": {"tiers": {"9": {"context": 1}}}}}, "a/b: tiers must be"),
        ({"models": {"a/b": {"tiers": [1]}}}, "a/b: tiers must be"),
        ({"models": {"a\nb": {"api": 1}}}, "api must be one of"),
        ("[" * 100_000, "is no table of models"),
        ('{"models": {"a/b": {"input": ' + "1" * 5000 + "}}}", "t.json"),
    ],
)
def test_a_malformed_table_is_one_line_that_names_the_file_and_the_entry(
    content: Any, said: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        ModelTable.load(table(tmp_path / "t.json", content))
    assert said in str(caught.value)
    assert "t.json" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "models",
    [
        {"a/b": {"input": "x" * 100_000}},
        {"a/b": {"context": [1] * 100_000}},
        {"a/b": {"x" * 100_000: 1}},
        {"x" * 100_000: {}},
        {"a/" + "x" * 100_000: {"input": -1}},
        {"a/b": {"tiers": json.loads("[" * 900 + "]" * 900)}},
    ],
)
def test_a_refusal_quotes_the_beginning_of_what_is_long(models: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text(json.dumps({"models": models}))
    with pytest.raises(SettingsError) as refusal:
        ModelTable.load(path)
    assert 300 < len(str(refusal.value)) < 1000 + len(str(path))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_a_table_that_is_not_there_is_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"--model-table .* cannot be read: (No such file|Is a directory)"
    ) as caught:
        ModelTable.load(tmp_path / name)
    assert "\n" not in str(caught.value)
