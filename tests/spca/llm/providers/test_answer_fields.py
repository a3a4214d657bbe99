"""Fields of an answer as servers send them, above all counts of tokens."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.errors import ProviderError
from spca.llm.providers import google, ollama
from spca.llm.providers.answer_fields import Fields, count_usage
from spca.llm.providers.anthropic import messages
from spca.llm.providers.base import Message, Request, Response, Usage
from spca.llm.providers.openai import chat, responses
from tests.fakes.faults import DIALECTS, MISSING, ODD_VALUES, answering

numbers = st.none() | st.integers(0, 10**6)
json_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.integers(10**300, 10**400) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
REQUEST = Request("m", (Message("user", "?"),))
READERS: dict[str, Callable[[Fields, str], Response]] = {
    "openai-chat": chat.read,
    "openai-responses": responses.read,
    "anthropic": lambda answer, label: messages.read(answer, REQUEST, label),
    "google": google.read,
    "ollama": ollama.read,
}


@pytest.mark.parametrize("value", [0, 1, 10**8])
def test_a_count_is_a_whole_number(value: int) -> None:
    assert Fields({"tokens": value}).read_count("tokens") == value


@pytest.mark.parametrize("value", [-1, True, "7", 1.5, [7], {}, None])
def test_a_count_that_cannot_be_is_unknown(value: object) -> None:
    assert Fields({"tokens": value}).read_count("tokens") is None


@given(numbers, numbers, numbers, numbers, numbers)
def test_reasoning_is_a_part_of_the_output(
    sent: int | None, said: int | None, cached: int | None, reasoned: int | None, written: int | None
) -> None:
    found = count_usage(sent, said, cached, reasoned, written)
    if found == Usage():
        assert not sent
        assert not said
    elif found.output_tokens is not None:
        assert (found.reasoning_tokens or 0) <= found.output_tokens
        assert found.output_tokens in (said, (said or 0) + (reasoned or 0))
    assert found.input_tokens in (sent, None)


def test_a_total_tells_whether_reasoning_was_counted_in() -> None:
    assert count_usage(100, 50, 0, 30, 0, 150) == count_usage(100, 50, 0, 30, 0) == Usage(100, 50, 0, 30, 0)
    assert count_usage(100, 50, 0, 30, 0, 180) == Usage(100, 80, 0, 30, 0)


CONTENT = {"choices", "message", "output", "content", "candidates", "parts", "text"}
SIGNS = {"type", "thought", "refusal", "error", "promptFeedback"}
"""Fields that tell an answer from thoughts, or say that there is none."""


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all fields of an answer, the content itself apart."""
    items = enumerate(node) if isinstance(node, list) else node.items() if isinstance(node, dict) else ()
    for name, each in items:
        if isinstance(name, str) and name not in CONTENT | SIGNS:
            yield (*path, name)
        yield from places(each, (*path, name))


@pytest.mark.parametrize("dialect", READERS)
def test_no_field_beside_the_content_spoils_an_answer(dialect: str) -> None:
    whole = json.loads(answering(DIALECTS[dialect], "yes", usage=Usage(11, 7, 5, 3, 2), thought="Hm.").body)
    tried = 0
    for path in places(whole):
        for value in ODD_VALUES.values():
            body = copy.deepcopy(whole)
            holder = body
            for name in path[:-1]:
                holder = holder[name]
            if value is MISSING:
                del holder[path[-1]]
            else:
                holder[path[-1]] = value
            assert READERS[dialect](Fields(body), "m").text == "yes", (path, value)
            tried += 1
    assert tried > 50


@given(st.sampled_from(sorted(READERS)), st.dictionaries(st.sampled_from(sorted(CONTENT | SIGNS)), json_values))
def test_any_body_is_a_response_or_an_error_of_ours(dialect: str, body: dict[str, Any]) -> None:
    with suppress(ProviderError):
        assert isinstance(READERS[dialect](Fields(body), "m").text, str)
