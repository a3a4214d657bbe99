"""Requests and answers in the words of chat completions, the protocol that most servers speak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from spca.errors import BadAnswerError, TransientError
from spca.llm.providers.answer_fields import (
    Fields,
    read_call,
    read_content,
    read_object,
    read_objects,
    read_text,
    read_usage,
)
from spca.llm.providers.base import Finish, Form, Image, Message, Request, Response, Usage
from spca.llm.providers.conversation import conversation, data_url
from spca.llm.providers.schemas import is_closed, json_schema, schema_name

_FINISHES: Final[Mapping[str, Finish]] = {
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
}
_BROKEN_OFF: Final = frozenset(("error", "insufficient_system_resource"))


def arguments(request: Request, limit: str) -> dict[str, Any]:
    """Arguments of ``chat.completions.create``; ``limit`` is what this server calls the limit on the answer."""
    found: dict[str, Any] = {"model": request.model, "messages": list(_messages(conversation(request)))}
    if request.limits.max_output_tokens is not None:
        found[limit] = request.limits.max_output_tokens
    if request.limits.temperature is not None:
        found["temperature"] = request.limits.temperature
    if request.limits.effort is not None:
        found["reasoning_effort"] = request.limits.effort
    if request.tools:
        found["tools"] = [{"type": "function", "function": function} for function in functions(request)]
        named = {"type": "function", "function": {"name": request.tool_choice}}
        found["tool_choice"] = request.tool_choice if request.tool_choice in {"auto", "required"} else named
    elif request.schema is not None and request.form is Form.SCHEMA:
        schema = json_schema(request.schema)
        described = {"name": schema_name(request.schema), "schema": schema, "strict": is_closed(schema)}
        found["response_format"] = {"type": "json_schema", "json_schema": described}
    elif request.schema is not None and request.form is Form.JSON:
        found["response_format"] = {"type": "json_object"}
    return found


def functions(request: Request) -> list[dict[str, Any]]:
    """The tools as function descriptions, strict where their schema allows."""
    described = []
    for tool in request.tools:
        schema = json_schema(tool.parameters)
        strict = {"strict": True} if is_closed(schema) else {}
        described.append({"name": tool.name, "description": tool.description, "parameters": schema, **strict})
    return described


def read(answer: Fields, label: str) -> Response:
    """The response in ``answer``, a chat completion.

    Raises:
        TransientError: the server broke the answer off.
        BadAnswerError: there is no answer in it, or a tool call with arguments that are no JSON.
    """
    choices = read_objects(answer.get("choices"))
    if not choices:
        raise BadAnswerError(f"{label}: the answer holds no choice")
    message, reason = read_object(choices[0].get("message")), read_text(choices[0].get("finish_reason")).lower()
    if reason in _BROKEN_OFF:
        raise TransientError(f"{label}: the server broke the answer off ({reason})", lost=True)
    if not message:
        raise BadAnswerError(f"{label}: the choice of the answer holds no message")
    counts = _usage(read_object(answer.get("usage")))
    served = read_text(answer.get("model"))
    if refusal := read_text(message.get("refusal")):
        return Response(refusal, counts, Finish.REFUSAL, served=served)
    text = read_content(message.get("content"), label)
    finish = _FINISHES.get(reason, Finish.STOP)
    called = read_objects(message.get("tool_calls")) or read_objects(message.get("function_call"))
    if not called or finish is not Finish.STOP:
        return Response(text, counts, finish, served=served)
    functions = [read_object(call.get("function")) or call for call in called]
    calls = tuple(read_call(function.get("name"), function.get("arguments"), label) for function in functions)
    return Response(text, counts, Finish.TOOL_CALL, calls, served)


def _messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Those with pictures that follow each other become one: some models' templates take no two users in a row."""
    for (role, has_images), group in groupby(messages, lambda message: (message.role, bool(message.images))):
        if has_images:
            yield {"role": role, "content": [part for message in group for part in _parts(message)]}
        else:
            yield from ({"role": role, "content": message.text} for message in group)


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    yield {"type": "text", "text": message.text}
    yield from ({"type": "image_url", "image_url": _image(image)} for image in message.images)


def _image(image: Image) -> dict[str, str]:
    return {"url": data_url(image)} | ({"detail": image.detail} if image.detail else {})


def _usage(counts: Fields) -> Usage:
    prompt = read_object(counts.get("prompt_tokens_details"))
    completion = read_object(counts.get("completion_tokens_details"))
    return read_usage(
        counts.get("prompt_tokens"),
        counts.get("completion_tokens"),
        prompt.get("cached_tokens"),
        completion.get("reasoning_tokens"),
        prompt.get("cache_write_tokens"),
        counts.get("total_tokens"),
    )
