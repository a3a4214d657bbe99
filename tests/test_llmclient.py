"""The client: routing by prefix, and what it makes of answers."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from llmclient import PROVIDERS, ChatGPTClient, provider_for
from spca.errors import BadAnswerError, ProviderConfigError, ProviderError, UserError
from spca.providers.base import Message, Usage
from tests.doubles import Scripted, ScriptedProvider


class Pair(BaseModel):
    domain: str
    problem: str


def asking(*answers: Scripted) -> ChatGPTClient[Pair]:
    return ChatGPTClient("any/model", Pair, provider=ScriptedProvider(*answers))


GOOD = '{"domain": "(define d)", "problem": "(define p)"}'
PAIR = Pair(domain="(define d)", problem="(define p)")


@pytest.mark.parametrize("prefix", PROVIDERS)
def test_the_prefix_chooses_the_provider(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    provider, name = provider_for(f"{prefix}/planner")
    assert (type(provider).__name__, name) == (PROVIDERS[prefix][1], "planner")


@pytest.mark.parametrize("model", ["o3", "", "/", "/o3", "openai/", "gpt/o3", "OpenAI/o3"])
def test_an_unknown_prefix_is_a_users_mistake_that_names_the_known_ones(model: str) -> None:
    with pytest.raises(ProviderConfigError, match=r"openai/\.\.\.") as caught:
        ChatGPTClient(model)
    assert isinstance(caught.value, UserError)
    assert repr(model) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_without_schema_answers_text_as_it_came() -> None:
    client = ChatGPTClient("any/model", provider=ScriptedProvider("```python\ndef f(self):\n    yield 0\n```"))
    assert client.chat_completion([Message("user", "?")]) == "```python\ndef f(self):\n    yield 0\n```"


def test_messages_may_be_mappings() -> None:
    provider = ScriptedProvider("yes")
    ChatGPTClient("any/model", provider=provider).chat_completion(
        [{"role": "system", "content": "a"}, Message("user", "b")]
    )
    assert provider.requests[0].messages == (Message("system", "a"), Message("user", "b"))
    assert provider.requests[0].schema is None


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here you are:\n\n{GOOD}\n\nGood luck!",
        f"I fill the {{template}} as asked.\n{GOOD}",
        f'First a draft: {{"domain": "x"}}. Now the whole: {GOOD} Done {{really}}.',
        GOOD.replace("(define d)", "(define\\nd)").replace("\\n", " "),
    ],
    ids=["bare", "fenced", "chatter", "braces before", "draft first", "odd spacing"],
)
def test_an_answer_is_found_in_what_surrounds_it(text: str) -> None:
    assert asking(text).chat_completion([]) == PAIR


def test_line_breaks_inside_a_string_are_forgiven() -> None:
    assert asking('{"domain": "(define\n\td)", "problem": ""}').chat_completion([]).domain == "(define\n\td)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no JSON object"),
        ("I cannot do that.", "no JSON object"),
        ('["domain"]', "no JSON object"),
        (GOOD[:30], "not valid JSON"),
        (GOOD.replace(":", "="), "not valid JSON"),
        ('{"domain": "(define d)"}', "problem: Field required"),
        ('{"domain": "(define d)", "problem": 7}', "problem: Input should be a valid string"),
        ('{"domain": "(define d)", "problem": null}', "problem: Input should be a valid string"),
        ('{"domain": "\\ud800", "problem": ""}', "hex escape|surrogate"),
        ('{"x": ' + "[" * 990 + "]" * 990 + "}", "not valid"),
        ("{" * 5000, "not valid JSON"),
        ('{"a":' * 20_000, "not valid JSON"),
    ],
)
def test_a_bad_answer_says_what_is_wrong(text: str, said: str) -> None:
    client = asking(text)
    with pytest.raises(BadAnswerError, match=said):
        client.chat_completion([])
    assert client.last_text == text


def test_the_error_of_broken_json_is_that_of_the_longest_attempt() -> None:
    with pytest.raises(BadAnswerError, match="column 66"):
        asking('The {map} says: {"domain": "(define d)", "problem": "(define p)" "more": 1}').chat_completion([])


def test_usage_and_text_are_those_of_the_last_answer() -> None:
    client = asking(GOOD, ProviderError("down"))
    client.chat_completion([Message("user", "a"), Message("user", "b")])
    assert (client.last_usage, client.last_text) == (Usage(2, 1), GOOD)
    with pytest.raises(ProviderError, match="down"):
        client.chat_completion([])
    assert (client.last_usage, client.last_text) == (Usage(), "")


def test_text_that_cannot_be_written_to_a_file_is_replaced() -> None:
    client = ChatGPTClient("any/model", provider=ScriptedProvider("x = '\ud800'"))
    assert client.chat_completion([]).encode() == b"x = '?'"


words = st.text(st.characters(exclude_characters="{}", codec="utf-8"), max_size=40)


@given(st.text(st.characters(codec="utf-8")), st.text(st.characters(codec="utf-8")), words, words)
def test_any_texts_survive_the_way_through_json_and_chatter(domain: str, problem: str, before: str, after: str) -> None:
    text = before + json.dumps({"domain": domain, "problem": problem}) + after
    assert asking(text).chat_completion([]) == Pair(domain=domain, problem=problem)
