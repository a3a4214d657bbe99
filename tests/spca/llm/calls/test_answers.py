"""What is taken out of a model's text."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spca.errors import BadAnswerError, RefusalError, TruncatedError
from spca.llm.calls.answers import MAX_CHARS, check_complete, parse_answer, plain, quotable
from spca.llm.providers.base import Finish, Response, ToolCall, Usage
from tests.support.spca.call_requests import Form, Other, any_text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("an answer", "an answer"),
        ("<think>hm</think>an answer", "an answer"),
        ("\n <think>\nhm\n\nhm</think>\n\n  an answer\n", "an answer\n"),
        ("<think></think>", ""),
        ("<think>a</think><think>b</think>c", "<think>b</think>c"),
        ("hm\n\nhm {x}\n</think>\n\nan answer", "an answer"),  # the prompt ended with the opening tag
        ('{"value": "</think>"}', '{"value": "</think>"}'),
        ("an answer with <think>a tag</think>", "an answer with <think>a tag</think>"),
        ("<think>never ended", "<think>never ended"),
        ("<thinking>x</thinking>y", "<thinking>x</thinking>y"),
        ("half \ud800 a pair", "half ? a pair"),
        ("\ufeffx\x00\u2028\r\n", "\ufeffx\x00\u2028\r\n"),
    ],
)
def test_leading_thoughts_are_left_out(text: str, kept: str) -> None:
    assert plain(text) == kept


@given(any_text, any_text)
def test_what_follows_a_thought_is_the_answer(thought: str, answer: str) -> None:
    said = answer.encode("utf-8", "replace").decode().lstrip()
    assert plain(f"<think>{thought}</think>{answer}") == said
    plain(thought).encode()


def test_a_hostile_text_takes_no_time() -> None:
    plain("<think>" * 50_000)
    for hostile in ("{" * 50_000, '{"a":' * 50_000, '{"a": "' * 5_000, "{" + "1" * 10_000, "[{" * 10_000):
        with pytest.raises(BadAnswerError):
            parse_answer(hostile, Form)


@pytest.mark.parametrize(("finish", "limit"), [(Finish.STOP, 16_000), (Finish.REFUSAL, 16_000), (Finish.LENGTH, 1000)])
def test_only_so_much_of_an_answer_is_quoted(finish: Finish, limit: int) -> None:
    whole = "ab" * (limit // 2)
    assert quotable(Response(whole, finish=finish)) == whole
    assert quotable(Response(f"{whole}xyz", finish=finish)) == f"{whole}\n[... 3 characters left out ...]"


@pytest.mark.parametrize("size", [MAX_CHARS + 1, 3_000_000])
def test_an_answer_that_is_too_long_is_refused(size: int) -> None:
    check_complete(Response("a" * MAX_CHARS))
    with pytest.raises(BadAnswerError, match=f"the answer has {size} characters; at most {MAX_CHARS} are read"):
        check_complete(Response("a" * size))


@pytest.mark.parametrize("blank", ["", " \n", "\t" * 20_000])
def test_a_blank_answer_is_not_quoted(blank: str) -> None:
    assert quotable(Response(blank)) == quotable(Response(blank, finish=Finish.LENGTH)) == ""


@given(any_text | st.text().map(lambda text: text * 5000), st.sampled_from(Finish))
def test_a_quotation_is_bounded_and_begins_as_the_answer(text: str, finish: Finish) -> None:
    quoted = quotable(Response(text, finish=finish))
    assert len(quoted) <= 16_050
    assert text.startswith(quoted.partition("\n[... ")[0])


def test_of_many_objects_only_the_first_ones_are_looked_at() -> None:
    good = '{"value": 1}'
    assert parse_answer("{}" * 999 + good, Form).value == 1
    with pytest.raises(BadAnswerError, match="value: Field required"):
        parse_answer("{}" * 1000 + good, Form)


@pytest.mark.parametrize("finish", [Finish.STOP, Finish.TOOL_CALL])
def test_an_answer_is_complete_when_it_ended_by_itself(finish: Finish) -> None:
    check_complete(Response("x", finish=finish))
    check_complete(Response("", finish=finish, tool_calls=(ToolCall("move", {}),)))
    with pytest.raises(BadAnswerError, match="the answer is empty"):
        check_complete(Response(" \n", finish=finish))


@pytest.mark.parametrize(("finish", "kind"), [(Finish.REFUSAL, RefusalError), (Finish.LENGTH, TruncatedError)])
@pytest.mark.parametrize("text", ["", "some words", '{"value": 1}'])
def test_a_refusal_or_a_part_is_no_answer_whatever_it_says(
    finish: Finish, kind: type[BadAnswerError], text: str
) -> None:
    with pytest.raises(BadAnswerError) as caught:
        check_complete(Response(text, finish=finish, tool_calls=(ToolCall("move", {"value": 1}),)))
    assert type(caught.value) is kind


EATEN = "reasoning used up the answer"


@pytest.mark.parametrize(
    ("text", "usage", "finish", "said"),
    [
        ("", Usage(9, 400, None, 400), Finish.LENGTH, f"{EATEN}: 400 of its 400 tokens: raise --max-output-tokens, or"),
        ("It", Usage(9, 400, None, 399), Finish.LENGTH, f"{EATEN}: 399 of its 400 tokens"),
        (" \n", Usage(9, 64, None, 60), Finish.STOP, f"{EATEN}: 60 of its 64 tokens"),
        ("", Usage(9, 400), Finish.LENGTH, f"{EATEN}: its length ran out before a word was said"),
        ("<think>\nLet me", Usage(9, 400), Finish.LENGTH, f"{EATEN}: its length ran out"),
        ("It goes on and", Usage(9, 400, None, 100), Finish.LENGTH, "the answer was cut off at the limit"),
        ("It goes on and", Usage(), Finish.LENGTH, "the answer was cut off at the limit"),
        ("", Usage(9, 0, None, 0), Finish.STOP, "the answer is empty"),
        ("", Usage(9, 9, None, 9), Finish.REFUSAL, "the model declined to answer: it gave no reason"),
    ],
)
def test_an_answer_that_reasoning_used_up_is_named_as_that(text: str, usage: Usage, finish: Finish, said: str) -> None:
    with pytest.raises(BadAnswerError) as caught:
        check_complete(Response(text, usage, finish))
    assert str(caught.value).startswith(said)
    assert isinstance(caught.value, TruncatedError) == (EATEN in said or "cut off" in said)


def test_an_answer_after_much_reasoning_is_an_answer() -> None:
    check_complete(Response("yes", Usage(9, 4000, None, 3999)))
    check_complete(Response("", Usage(9, 4000, None, 3999), Finish.TOOL_CALL, (ToolCall("move", {}),)))


@given(st.integers(), any_text, any_text)
@example(1, '{"value": 2} {', "}")
def test_the_first_object_that_fits_is_the_answer(value: int, before: str, after: str) -> None:
    text = f"{before.replace('{', '')}{json.dumps({'value': value})}{after}"
    assert parse_answer(text, Form).value == value


@given(any_text)
def test_any_string_survives_json(value: str) -> None:
    text = json.dumps({"value": value})
    if any("\ud800" <= c <= "\udfff" for c in json.loads(text)["value"]):
        with pytest.raises(BadAnswerError):
            parse_answer(text, Other)
    else:
        assert parse_answer(text, Other).value == json.loads(text)["value"]


@given(st.text(max_size=60))
def test_any_text_is_an_answer_or_a_bad_answer(text: str) -> None:
    for schema in (Form, Other):
        with suppress(BadAnswerError):
            assert isinstance(parse_answer(text, schema), schema)
