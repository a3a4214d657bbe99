"""What status, headers and body of a refusal mean, in the words of the servers that are known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from spca.errors import (
    BadAnswerError,
    PromptTooLongError,
    ProviderConfigError,
    ProviderError,
    RefusalError,
    TransientError,
    UnknownApiError,
    UnknownModelError,
    UnsupportedFormError,
)
from spca.llm.providers.base import Form, Message, Request
from spca.llm.providers.failures import Reply, Service, explain_refusal, retry_after, words


class Answer(BaseModel):
    text: str


SERVICE = Service("openai/m", "OPENAI_API_KEY", "http://127.0.0.1:1/v1")
FREE = Request("m", (Message("user", "hello"),))
FORMED = Request("m", (Message("user", "hello"),), schema=Answer)
TOLD = Request("m", (Message("user", "hello"),), schema=Answer, form=Form.TEXT)

TOO_LONG: list[tuple[int, Any]] = [
    (400, {"error": {"message": "This model's maximum context length is 4096 tokens (response_format)"}}),
    (
        400,
        {"error": {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"}},
    ),
    (400, {"error": {"message": "You passed 9 input tokens. However, the model's context length is only 8 tokens"}}),
    (
        400,
        {"error": {"code": 400, "message": "The input token count (9) exceeds the maximum number of tokens allowed"}},
    ),
    (413, {"error": {"message": "Request too large for m: Limit 9, Requested 10"}}),
    (400, {"error": {"code": "context_length_exceeded", "message": "no"}}),
]

NOT_THE_FORM: list[tuple[int, Any]] = [
    (400, {"error": {"message": "Unsupported value: 'temperature' does not support 0.5 with this model."}}),
    (400, {"error": {"message": "Invalid image format", "param": "messages"}}),
    (422, {"detail": [{"loc": ["body", "messages"], "msg": "Field required"}]}),
    (400, "no such thing"),
]

THE_FORM: list[tuple[int, Any]] = [
    (400, {"error": {"message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported"}}),
    (400, {"error": {"message": "Invalid schema", "param": "text.format.schema"}}),
    (422, {"detail": "guided_json is not available"}),
    (500, {"error": "invalid JSON schema in format"}),
    (500, {"error": "failed to load model vocabulary required for format"}),
    (400, {"error": {"code": 400, "message": "failed to parse grammar", "type": "invalid_request_error"}}),
    (400, {"error": {"code": 400, "message": "JSON mode is not enabled for models/m", "status": "INVALID_ARGUMENT"}}),
    (400, {"error": {"message": "The specified schema produces a constraint that has too many states for serving."}}),
    (400, {"error": {"code": 400, "message": "Request contains an invalid argument.", "status": "INVALID_ARGUMENT"}}),
]


@pytest.mark.parametrize(("status", "body"), TOO_LONG)
@pytest.mark.parametrize("request_", [FREE, FORMED, TOLD], ids=["free", "formed", "told"])
def test_a_prompt_that_is_too_long_is_told_apart(status: int, body: Any, request_: Request) -> None:
    error = failed(Reply(status, {}, body), request_)
    assert type(error) is PromptTooLongError
    assert words(body) in str(error)
    assert "use one with more context" in str(error)


def failed(reply: Reply, request: Request = FREE) -> ProviderError:
    found = explain_refusal(reply, SERVICE, request)
    assert isinstance(found, ProviderError)
    return found


@pytest.mark.parametrize(("status", "body"), THE_FORM)
def test_a_form_that_is_not_known_can_be_weakened_until_it_is_text(status: int, body: Any) -> None:
    assert isinstance(failed(Reply(status, {}, body), FORMED), UnsupportedFormError)
    assert not isinstance(failed(Reply(status, {}, body), TOLD), UnsupportedFormError)
    assert not isinstance(failed(Reply(status, {}, body), FREE), UnsupportedFormError)


@pytest.mark.parametrize(("status", "body"), NOT_THE_FORM)
def test_a_weaker_form_is_not_asked_for_what_it_cannot_mend(status: int, body: Any) -> None:
    error = failed(Reply(status, {}, body), FORMED)
    assert type(error) is ProviderConfigError
    assert words(body) in str(error)


@pytest.mark.parametrize(
    ("status", "body", "kind", "said"),
    [
        (401, {"error": {"message": "no"}}, ProviderConfigError, "OPENAI_API_KEY"),
        (403, "", ProviderConfigError, "OPENAI_API_KEY"),
        (400, [{"error": {"details": [{"reason": "API_KEY_INVALID"}]}}], ProviderConfigError, "OPENAI_API_KEY"),
        (
            404,
            "404 page not found",
            UnknownApiError,
            "http://127.0.0.1:1/v1 (404 page not found): is the address wh",
        ),
        (404, {"detail": "Not Found"}, UnknownApiError, "Most end in /v1"),
        (405, {"detail": "Method Not Allowed"}, UnknownApiError, "Most end in /v1"),
        (404, {"error": {"message": "The model `m` does not exist"}}, UnknownModelError, "--planner-model"),
        (404, {"error": "Model 'm' not found, try pulling it first"}, UnknownModelError, "--planner-model"),
        (404, {"error": {"code": "model_not_found", "message": "?"}}, UnknownModelError, "--coder-model"),
        (403, {"error": {"code": "model_not_found", "message": "no access"}}, UnknownModelError, "--coder-model"),
        (402, {"error": "pay"}, ProviderConfigError, "billing"),
        (429, {"error": {"code": "insufficient_quota", "message": "pay"}}, ProviderConfigError, "billing"),
        (429, {"error": {"message": "Request too large for m: Limit 9, Requested 10"}}, PromptTooLongError, "context"),
        (308, "", ProviderConfigError, "redirects are not followed"),
    ],
)
def test_what_cannot_be_retried_names_the_fix(status: int, body: Any, kind: type[ProviderError], said: str) -> None:
    error = failed(Reply(status, {}, body))
    assert type(error) is kind
    assert said in str(error)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529])
def test_what_passes_is_retried(status: int) -> None:
    error = failed(Reply(status, {"retry-after": "3"}, "busy"), FORMED)
    assert isinstance(error, TransientError)
    assert (error.status, error.retry_after, error.lost) == (status, 3.0, status in {504, 524})


@pytest.mark.parametrize("code", ["content_policy_violation", "content_filter", "invalid_prompt"])
def test_a_declined_prompt_is_a_refusal(code: str) -> None:
    error = failed(Reply(400, {}, {"error": {"code": code, "message": "not this"}}), FORMED)
    assert type(error) is RefusalError
    assert str(error) == "not this"


@pytest.mark.parametrize(
    ("headers", "body", "seconds"),
    [
        ({}, None, None),
        ({"retry-after": "7"}, None, 7.0),
        ({"retry-after": "1.5"}, None, 1.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, None, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, None, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 -0000"}, None, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, None, 0.0),
        ({"retry-after": "-5"}, None, None),
        ({"retry-after": "inf"}, None, None),
        ({"retry-after": "soon"}, None, None),
        ({}, {"error": {"details": [{"@type": "t/google.rpc.RetryInfo", "retryDelay": "34.5s"}]}}, 34.5),
        ({}, [{"error": {"details": [3, {"@type": "t/google.rpc.RetryInfo"}]}}], None),
    ],
)
def test_the_wait_that_a_server_asks_for(headers: dict[str, str], body: Any, seconds: float | None) -> None:
    assert retry_after(Reply(429, headers, body), now=10.0) == seconds


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "details", "param", "detail"]) | st.text(), inner
        )
    ),
    max_leaves=12,
)


@given(st.integers(300, 599), st.text(), _json, st.sampled_from([FREE, FORMED, TOLD]))
def test_no_body_and_no_header_is_too_strange(status: int, wait: str, body: Any, request: Request) -> None:
    found = explain_refusal(Reply(status, {"retry-after": wait, "location": wait}, body), SERVICE, request)
    assert isinstance(found, ProviderError)
    assert len(str(found)) < 1200
    if isinstance(found, TransientError) and found.retry_after is not None:
        assert found.retry_after >= 0


def test_an_answer_that_broke_its_grammar_is_a_bad_answer() -> None:
    said = "The model produced output that does not match the expected peg-native format"
    reply = Reply(500, {}, {"error": {"code": 500, "message": said, "type": "server_error"}})
    error = failed(reply, FORMED)
    assert type(error) is BadAnswerError
    assert said in str(error)
