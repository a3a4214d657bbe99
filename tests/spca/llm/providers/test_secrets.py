"""Keys taken out of the words of strangers."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spca.common.redaction import HIDDEN, redact, redact_keys
from spca.llm.providers.secrets import quote_line

_KEYS = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8, max_size=60)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "A_SECRET", "my_api_key"])
def test_values_of_variables_that_hold_keys_are_hidden(name: str) -> None:
    assert redact("bad key hunter2hunter2!", {name: " hunter2hunter2 "}) == f"bad key {HIDDEN}!"


def test_other_variables_and_short_values_are_not() -> None:
    environment = {"HOME": "/home/someone", "X_TOKEN": "none", "EMPTY_API_KEY": ""}
    assert redact("none of /home/someone", environment) == "none of /home/someone"


def test_a_key_that_is_a_part_of_another_leaves_no_rest() -> None:
    assert redact("longlongkeyTAIL", {"A_API_KEY": "longlongkey", "B_API_KEY": "longlongkeyTAIL"}) == HIDDEN


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcDEF123_456",
        "Incorrect API key provided: sk-abc***wxyz.",
        "invalid x-api-key sk-ant-api03-abcDEF_123-xyz",
        "key AIzaSyA1234567890",
        "Authorization: Bearer abc.def-123",
        "GET /v1beta/models?key=abc123def&alt=json",
        "http://user:pa@ss@host:1/v1",
        "gsk_abcdef123456",
    ],
)
def test_what_looks_like_a_key_is_hidden(text: str) -> None:
    left = redact(text, {})
    assert HIDDEN in left
    for part in ("abc", "AIza", "ss@", "pa@", "123"):
        assert part not in left


def test_addresses_and_models_stay_readable() -> None:
    text = "https://api.example.com:8000/v1 knows gpt-4o, qwen2.5-coder, task-1 and mail@example.com"
    assert redact(text, {}) == text


@pytest.mark.parametrize(
    "text", ["sk-proj-abcDEF123_456", "x = 'http://user:pa@host'  # Bearer abc.def-123", "AIzaSyA1234567"]
)
def test_what_only_looks_like_a_key_stays_in_an_answer(text: str) -> None:
    assert redact_keys(text, {"A_API_KEY": "correct horse battery"}) == text


@given(st.text(), _KEYS)
def test_an_answer_loses_the_key_and_nothing_else(text: str, key: str) -> None:
    cleaned = redact_keys(f"{text}\n{key}\n{text}", {"A_API_KEY": key, "HOME": text})
    assert key not in cleaned.replace(HIDDEN, "")
    if key not in text:
        assert cleaned == f"{text}\n{HIDDEN}\n{text}"


def test_the_process_environment_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "correct horse battery")
    assert redact("it was correct horse battery.") == f"it was {HIDDEN}."


def test_a_cut_does_not_save_half_a_key() -> None:
    key = "k" * 40
    assert "kkkk" not in quote_line("x" * 280 + " " + key, {"A_API_KEY": key})


@given(st.text(max_size=2000), _KEYS)
@example("\x1b[31mred\x1b[0m\n\u202eabc\x00", "verysecret")
def test_quoted_is_one_short_printable_line_without_the_key(text: str, key: str) -> None:
    said = quote_line(f"{text}{key}{text}", {"OPENAI_API_KEY": key})
    assert key not in said.replace(HIDDEN, "")
    assert len(said) <= 300
    assert not [c for c in said if unicodedata.category(c).startswith("C")]
    assert said == said.strip()
