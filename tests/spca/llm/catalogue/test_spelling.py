"""Which model was probably meant, and which certainly."""

from __future__ import annotations

import pytest

from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.servers import Server
from spca.llm.catalogue.spelling import count_changes, find_misspelled, find_nearest
from tests.support.spca.call_requests import ref

TABLE = ModelTable.load()
KNOWN = TABLE.list_names()
SOL = "openai/gpt-6.1-sol"


@pytest.mark.parametrize(
    ("model", "near", "certain"),
    [
        ("openai/gpt-6.1-soll", SOL, True),
        ("openai/gpt-6.1-slo", SOL, True),
        ("openai/gpt-6.1-soll@high", f"{SOL}@high", True),
        ("openai/gpt-4o-minii", "openai/gpt-4o-mini", True),
        ("anthropic/claude-opos-5-5", "anthropic/claude-opus-5-5", True),
        ("google/gemini-3.8-flahs", "google/gemini-3.8-flash", True),
        # as new models are named: other digits, more words
        ("openai/gpt-6.3-sol", "openai/gpt-6.2-sol", False),
        ("anthropic/claude-opus-5-6", "anthropic/claude-opus-5-5", False),
        ("openai/gpt-6.1-sol-mini", SOL, False),
        ("openai/gpt6.1-sol", SOL, False),
        # known, dated, or like none
        (SOL, "", False),
        (f"{SOL}@high", "", False),
        ("openai/any", "", False),
        ("openai/qwen3", "", False),
        (f"openai/{'x' * 5000}", "", False),
        # prefixes whose models nobody lists
        ("ollama/gpt-4o-minii", "", False),
        ("lab/gpt-6.1-soll", "", False),
        ("reference/plannr", "", False),
    ],
)
def test_a_name_and_what_it_nearly_is(model: str, near: str, certain: bool) -> None:
    expected = ref(near) if near else None
    assert find_nearest(ref(model), KNOWN) == expected
    assert find_misspelled(ref(model), KNOWN) == (expected if certain else None)


@pytest.mark.parametrize("model", ["gpt-6.1-sol", "gpt-6.1-soll", "opnai/gpt-6.1-sol", "OpenAI/gpt-6.1-sol"])
def test_a_prefix_may_be_missing_or_misspelled(model: str) -> None:
    assert find_nearest(ref(model), KNOWN, has_prefix=False) == ref(SOL)


def test_a_server_of_the_users_own_may_have_any_names() -> None:
    soll = ref("openai/gpt-6.1-soll")
    assert Catalogue(TABLE).suggest(soll) == f" (did you mean {SOL}?)"
    assert Catalogue(TABLE, {"openai": Server("https://eu.api.openai.com/v1")}).suggest(soll) != ""
    assert Catalogue(TABLE, {"openai": Server("http://gpu:8000/v1")}).suggest(soll) == ""


def test_a_name_in_a_table_of_the_users_own_is_known() -> None:
    table = TABLE.prefer({"openai/gpt-6.1-soll": {"input": 1, "output": 2}})
    assert find_nearest(ref("openai/gpt-6.1-soll"), table.list_names()) is None


@pytest.mark.parametrize(
    ("given", "meant", "changes"),
    [("sol", "sol", 0), ("soll", "sol", 1), ("so", "sol", 1), ("slo", "sol", 1), ("sal", "sol", 1), ("", "sol", 3)],
)
def test_changes_are_counted(given: str, meant: str, changes: int) -> None:
    assert count_changes(given, meant) == changes
