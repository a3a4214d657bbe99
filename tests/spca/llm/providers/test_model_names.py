"""Names of models with and without an effort."""

from __future__ import annotations

import pytest

from spca.llm.calls.prices import ModelTable
from spca.llm.providers.model_names import EFFORTS, ModelName


@pytest.mark.parametrize("effort", EFFORTS)
def test_an_effort_is_a_word_after_the_last_at(effort: str) -> None:
    assert ModelName.parse(f"openai/gpt-6.1-sol@{effort}") == ModelName("openai", "gpt-6.1-sol", effort)
    assert ModelName.parse(f"lab/org/qwen@q4@{effort}") == ModelName("lab", "org/qwen@q4", effort)


@pytest.mark.parametrize(
    ("text", "prefix", "name"),
    [
        ("openai/gemma@q4_k_m", "openai", "gemma@q4_k_m"),
        ("openai/@high", "openai", "@high"),
        ("openai/m@HIGH", "openai", "m@HIGH"),
        ("llamacpp//models/a@high", "llamacpp", "/models/a@high"),
        ("replay/runs/x@low", "replay", "runs/x@low"),
        ("nothing", "nothing", ""),
    ],
)
def test_any_other_at_belongs_to_the_name(text: str, prefix: str, name: str) -> None:
    assert ModelName.parse(text) == ModelName(prefix, name)


def test_an_effort_costs_what_its_model_costs() -> None:
    table = ModelTable.load()
    assert table.price("openai/gpt-6.1-sol@high") == table.price("openai/gpt-6.1-sol") is not None
    assert table.info("openai/gpt-6.1-sol@high") == table.info("openai/gpt-6.1-sol")
