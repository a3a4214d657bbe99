"""What makes two calls the same call."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from spca.llm.calls.call_keys import call_key, prompt_key
from spca.llm.providers.base import Form as Forms
from spca.llm.providers.base import Image, Message, Request, RequestOptions, Tool
from tests.support.spca.call_requests import Form, Other, messages, ref

ASKED = Request(
    "model",
    (Message("system", "be brief"), Message("user", "look", (Image("image/png", b"1"), Image("image/png", b"2")))),
    tools=(Tool("move", "Go.", Form), Tool("turn", "Turn.", Form)),
    limits=RequestOptions(100, 0.5, 10.0),
)
SYSTEM, USER = ASKED.messages
FIRST, SECOND = USER.images
MOVE, TURN = ASKED.tools


class SameForm(BaseModel):
    """Not the same class, and not the same words about it."""

    value: int


@pytest.mark.parametrize(
    "change",
    [
        {"messages": (SYSTEM,)},
        {"messages": (USER, SYSTEM)},
        {"messages": (SYSTEM, USER, USER)},
        {"messages": (SYSTEM, replace(USER, text="look "))},
        {"messages": (SYSTEM, replace(USER, role="assistant"))},
        {"messages": (SYSTEM, replace(USER, images=(FIRST,)))},
        {"messages": (SYSTEM, replace(USER, images=(SECOND, FIRST)))},
        {"messages": (SYSTEM, replace(USER, images=(FIRST, Image("image/jpeg", b"2"))))},
        {"messages": (SYSTEM, replace(USER, images=(FIRST, Image("image/png", b"3"))))},
        {"messages": (replace(SYSTEM, images=USER.images), replace(USER, images=()))},
        {"tools": ()},
        {"tools": (MOVE,)},
        {"tools": (TURN, MOVE)},
        {"tools": (MOVE, replace(TURN, name="spin"))},
        {"tools": (MOVE, replace(TURN, description="Turn!"))},
        {"tools": (MOVE, replace(TURN, parameters=Other))},
        {"tool_choice": "auto"},
        {"tool_choice": "move"},
        {"limits": RequestOptions(101, 0.5, 10.0)},
        {"limits": RequestOptions(None, 0.5, 10.0)},
        {"limits": RequestOptions(100, 0.25, 10.0)},
        {"limits": RequestOptions(100, None, 10.0)},
        {"tools": (), "schema": Form},
        {"tools": (), "schema": Other},
    ],
)
def test_all_that_an_answer_depends_on_changes_the_key(change: dict[str, Any]) -> None:
    other = replace(ASKED, **change)
    assert call_key(ref("any/model"), other) != call_key(ref("any/model"), ASKED)
    assert prompt_key(other) != prompt_key(ASKED)


@pytest.mark.parametrize(
    "change",
    [
        {"limits": RequestOptions(100, 0.5, 99.0)},
        {"form": Forms.TEXT},
        {"form": Forms.JSON},
        {"occurrence": 3},
        {"model": "replayed"},  # the name with its prefix is what counts
    ],
)
def test_how_it_is_asked_does_not(change: dict[str, Any]) -> None:
    other = replace(ASKED, **change)
    assert call_key(ref("any/model"), other) == call_key(ref("any/model"), ASKED)
    assert prompt_key(other) == prompt_key(ASKED)


def test_the_model_is_part_of_the_calls_key_only() -> None:
    assert call_key(ref("a/model"), ASKED) != call_key(ref("b/model"), ASKED)
    assert len({prompt_key(ASKED), call_key(ref("a/model"), ASKED), call_key(ref("b/model"), ASKED)}) == 3


def test_two_efforts_of_a_model_are_two_models() -> None:
    low = replace(ASKED, limits=replace(ASKED.limits, effort="low"))
    none = replace(low, limits=RequestOptions(effort="none"))
    assert len({call_key(ref("a/model"), each) for each in (ASKED, low, none)}) == 3
    assert prompt_key(low) == prompt_key(ASKED)


def test_a_schema_is_what_the_server_is_told_and_not_the_class() -> None:
    assert prompt_key(replace(ASKED, tools=(), schema=Form)) != prompt_key(replace(ASKED, tools=(), schema=SameForm))
    told = type("Form", (BaseModel,), {"__annotations__": {"value": int}, "__doc__": Form.__doc__})
    assert prompt_key(replace(ASKED, tools=(), schema=told)) == prompt_key(replace(ASKED, tools=(), schema=Form))


def test_the_choice_of_a_tool_matters_only_where_there_are_tools() -> None:
    bare = replace(ASKED, tools=())
    assert prompt_key(replace(bare, tool_choice="auto")) == prompt_key(bare)


def test_a_recorded_run_is_found_by_keys_that_do_not_change_between_versions() -> None:
    asked = Request("m", (Message("system", "é"), Message("user", "?")), limits=RequestOptions(10, 0.0))
    content = (
        '"messages":[{"role":"system","text":"é"},{"role":"user","text":"?"}]'
        ',%s"parameters":{"max_output_tokens":10,"temperature":0.0},"schema":null,"tool_choice":null,"tools":[]}'
    )
    assert prompt_key(asked) == hashlib.sha256(("{" + content % "").encode()).hexdigest()
    assert call_key(ref("any/m"), asked) == hashlib.sha256(("{" + content % '"model":"any/m",').encode()).hexdigest()


@given(st.lists(messages, max_size=3), st.lists(messages, max_size=3))
def test_only_equal_conversations_have_equal_keys(one: list[Message], other: list[Message]) -> None:
    keys = [call_key(ref("m"), Request("m", tuple(each))) for each in (one, other)]
    assert (keys[0] == keys[1]) == (one == other)
    assert all(len(key) == 64 for key in keys)
