"""Names of models with and without an effort."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.errors import SettingsError
from spca.errors import ProviderConfigError
from spca.llm.catalogue.catalogue import PROVIDERS
from spca.llm.catalogue.model_ref import EFFORTS, EFFORTS_OF, IN_PROCESS, ModelRef
from spca.llm.catalogue.model_table import ModelTable
from tests.support.spca.call_requests import provider_for, ref


@pytest.mark.parametrize("effort", EFFORTS)
def test_an_effort_is_a_word_after_the_last_at(effort: str) -> None:
    assert ModelRef.parse(f"openai/gpt-6.1-sol@{effort}") == ModelRef("openai", "gpt-6.1-sol", effort)
    assert ModelRef.parse(f"lab/org/qwen@q4@{effort}") == ModelRef("lab", "org/qwen@q4", effort)


@pytest.mark.parametrize(
    ("text", "prefix", "name"),
    [
        ("openai/gemma@q4_k_m", "openai", "gemma@q4_k_m"),
        ("openai/@high", "openai", "@high"),
        ("openai/m@HIGH", "openai", "m@HIGH"),
        ("llamacpp//models/a@high", "llamacpp", "/models/a@high"),
        ("replay/runs/x@low", "replay", "runs/x@low"),
    ],
)
def test_any_other_at_belongs_to_the_name(text: str, prefix: str, name: str) -> None:
    assert ModelRef.parse(text) == ModelRef(prefix, name)


@pytest.mark.parametrize("text", ["", "/", "/o3", "o3", "o3@high", "human", "human/", "openai/@high", "a//b@low@none"])
def test_a_name_is_written_as_it_was_read(text: str) -> None:
    assert str(ModelRef.parse(text)) == text
    assert f"{ModelRef.parse(text)}" == text


@given(st.text("ab/@", max_size=9), st.sampled_from(("", "@", "@high", "@HIGH", "@none", "/low")))
def test_any_name_is_written_as_it_was_read(text: str, end: str) -> None:
    assert str(ModelRef.parse(text + end)) == text + end


def test_a_name_without_a_slash_is_no_model() -> None:
    assert ModelRef.parse("nothing") == ModelRef("nothing", "", is_bare=True)


def test_an_effort_costs_what_its_model_costs() -> None:
    table = ModelTable.load()
    assert table.price(ref("openai/gpt-6.1-sol@high")) == table.price(ref("openai/gpt-6.1-sol")) is not None
    assert table.info(ref("openai/gpt-6.1-sol@high")) == table.info(ref("openai/gpt-6.1-sol"))


@pytest.mark.parametrize("model", ["openai/gpt-6.1-sol", "lab/gemma@q4_k_m", "google/gemini-3.8-flash@high"])
def test_an_effort_is_added_once(model: str) -> None:
    named = ModelRef.parse(model).set_effort("high", "--coder-effort")
    assert str(named) == f"{model.removesuffix('@high')}@high"
    assert named.set_effort("high", "--coder-effort") == named
    with pytest.raises(SettingsError, match=rf"^--coder-effort low contradicts {named}: give one of them$"):
        named.set_effort("low", "--coder-effort")


@pytest.mark.parametrize("prefix", sorted(IN_PROCESS))
def test_files_and_embedded_models_take_none(prefix: str) -> None:
    with pytest.raises(SettingsError, match=rf"^--coder-effort low: {prefix}/x reasons as it does: "):
        ModelRef(prefix, "x").set_effort("low", "--coder-effort")


def test_every_prefix_takes_efforts_or_is_known_to_take_none() -> None:
    assert set(EFFORTS_OF) <= set(PROVIDERS)
    assert set(IN_PROCESS) <= set(PROVIDERS)
    for words in EFFORTS_OF.values():
        assert list(words) == [word for word in EFFORTS if word in words]


@pytest.mark.parametrize(
    ("model", "known"),
    [
        ("openai/gpt-6.1-sol@none", "low, medium, high, xhigh, max"),
        ("openai/gpt-6.1-sol@minimal", "low, medium, high, xhigh, max"),
        ("google/gemini-3.8-flash@max", "low, medium, high, xhigh"),
        ("ollama/qwen3@max", "none, low, medium, high"),
    ],
)
def test_an_effort_that_a_model_lacks_is_refused_before_it_is_asked(model: str, known: str) -> None:
    with pytest.raises(ProviderConfigError) as caught:
        provider_for(model)
    name, _, word = model.rpartition("@")
    assert str(caught.value) == f"{name} does not take the effort {word}: choose one of {known}, or leave it out"


def test_a_table_of_ones_own_says_what_a_model_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-real-key")
    table = ModelTable.load().prefer({})
    mine = ModelTable({"openai/gpt-6.1-sol": {"least_effort": "none"}}, {})
    assert provider_for("openai/gpt-6.1-sol@none", table=mine)[1] == "gpt-6.1-sol"
    assert provider_for("openai/gpt-6.1-sol@low", table=table)[1] == "gpt-6.1-sol"
