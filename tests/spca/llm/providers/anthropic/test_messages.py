"""Whatever is asked arrives whole, in blocks that the API takes, marked where it can be cached."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from spca.llm.providers.anthropic.messages import MAX_OUTPUT, arguments
from spca.llm.providers.base import Image, Message, Request, RequestOptions
from tests.fakes.anthropic_wire import heard, marks
from tests.fakes.serving import Asked

said = st.text(min_size=1).map(lambda text: text.encode("utf-8", "replace").decode())
pictures = st.lists(st.builds(Image, st.just("image/png"), st.binary(min_size=1)), max_size=2).map(tuple)
turns = st.lists(st.builds(Message, st.sampled_from(["user", "assistant"]), said, pictures), min_size=1, max_size=5)
systems = st.lists(st.builds(Message, st.just("system"), said), max_size=1)
limits = st.none() | st.integers(1, 200_000)


@given(systems, turns, limits, limits)
def test_a_conversation_arrives_whole(
    system: list[Message], turns: list[Message], wanted: int | None, known: int | None
) -> None:
    request = Request("m", (*system, *turns), limits=RequestOptions(wanted))
    body = json.dumps(arguments(request, known, ()))
    asked = Asked("POST", "/v1/messages", {"anthropic-version": "2026-10-21"}, body.encode())
    got = heard(asked)
    assert got.messages == request.messages
    assert got.max_output_tokens == min(filter(None, (wanted, known)), default=MAX_OUTPUT)
    assert marks(asked) == [*([1] if system else []), len(request.messages)]
    assert body.count('"cache_control"') == len(marks(asked)) <= 2
