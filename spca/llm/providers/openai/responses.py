"""Requests and answers in the words of OpenAI's Responses API, which some models speak only."""

from __future__ import annotations

from typing import Any, Final

from spca.errors import BadAnswerError, ProviderConfigError, TransientError
from spca.llm.providers.answer_fields import (
    Fields,
    read_call,
    read_content,
    read_object,
    read_objects,
    read_text,
    read_usage,
)
from spca.llm.providers.base import Finish, Form, Message, Request, Response, Usage
from spca.llm.providers.conversation import conversation, data_url
from spca.llm.providers.openai.chat import functions
from spca.llm.providers.schemas import is_closed, json_schema, schema_name
from spca.llm.providers.secrets import quoted

_PASSING: Final = frozenset(("server_error", "rate_limit_exceeded"))
_DECLINED: Final = frozenset(("invalid_prompt", "content_filter", "image_content_policy_violation"))


def arguments(request: Request) -> dict[str, Any]:
    """Arguments of ``responses.create``; the server is asked to keep nothing."""
    found: dict[str, Any] = {
        "model": request.model,
        "input": [_message(message) for message in conversation(request)],
        "store": False,
    }
    if request.limits.max_output_tokens is not None:
        found["max_output_tokens"] = request.limits.max_output_tokens
    if request.limits.temperature is not None:
        found["temperature"] = request.limits.temperature
    if request.limits.effort is not None:
        found["reasoning"] = {"effort": request.limits.effort}
    if request.tools:
        # Left out, "strict" is on here, and a schema that it cannot hold is refused.
        found["tools"] = [{"type": "function", "strict": False, **function} for function in functions(request)]
        named = {"type": "function", "name": request.tool_choice}
        found["tool_choice"] = request.tool_choice if request.tool_choice in {"auto", "required"} else named
        found["parallel_tool_calls"] = False
    elif request.schema is not None and request.form is Form.SCHEMA:
        schema = json_schema(request.schema)
        described = {"name": schema_name(request.schema), "schema": schema, "strict": is_closed(schema)}
        found["text"] = {"format": {"type": "json_schema", **described}}
    elif request.schema is not None and request.form is Form.JSON:
        found["text"] = {"format": {"type": "json_object"}}
    return found


def read(answer: Fields, label: str) -> Response:
    """The response in ``answer``.

    Raises:
        TransientError: the server failed while it worked on it.
        ProviderConfigError: it failed because of the request.
        BadAnswerError: there is no answer in it, or a tool call with arguments that are no JSON.
    """
    counts, served = _usage(read_object(answer.get("usage"))), read_text(answer.get("model"))
    status = read_text(answer.get("status"))
    if status in {"failed", "cancelled"}:
        return _failed(read_object(answer.get("error")), status, label, counts)
    items = read_objects(answer.get("output"))
    contents = [item["content"] for item in items if item.get("type", "message") == "message" and "content" in item]
    asked = [item for item in items if item.get("type") == "function_call"]
    if not (contents or asked) and status not in {"completed", "incomplete"}:
        raise BadAnswerError(f"{label}: the answer holds no output")
    parts = [part for content in contents for part in read_objects(content)]
    if refusal := "".join(read_text(part.get("refusal")) for part in parts if part.get("type") == "refusal"):
        return Response(refusal, counts, Finish.REFUSAL, served=served)
    text = "".join(read_content(content, label) for content in contents)
    if status == "incomplete":
        why = read_object(answer.get("incomplete_details")).get("reason")
        return Response(text, counts, Finish.REFUSAL if why == "content_filter" else Finish.LENGTH, served=served)
    calls = tuple(read_call(item.get("name"), item.get("arguments"), label) for item in asked)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls, served)


def _failed(error: Fields, status: str, label: str, counts: Usage) -> Response:
    code = read_text(error.get("code")) or "server_error"
    said = quoted(error.get("message") or f"status {status}")
    if code in _DECLINED:
        return Response(said, counts, Finish.REFUSAL)
    if code in _PASSING:
        raise TransientError(f"{label}: the server failed while it answered ({said})", lost=True)
    raise ProviderConfigError(f"{label}: the server refused the request ({code}: {said})")


def _message(message: Message) -> dict[str, Any]:
    if not message.images:
        return {"role": message.role, "content": message.text}
    pictures = [
        {"type": "input_image", "image_url": data_url(image)} | ({"detail": image.detail} if image.detail else {})
        for image in message.images
    ]
    return {"role": message.role, "content": [{"type": "input_text", "text": message.text}, *pictures]}


def _usage(counts: Fields) -> Usage:
    given = read_object(counts.get("input_tokens_details"))
    made = read_object(counts.get("output_tokens_details"))
    return read_usage(
        counts.get("input_tokens"),
        counts.get("output_tokens"),
        given.get("cached_tokens"),
        made.get("reasoning_tokens"),
        given.get("cache_write_tokens"),
        counts.get("total_tokens"),
    )
