"""Requests and answers in the words of chat completions, the protocol that most servers speak."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from spca.errors import BadAnswerError, TransientError
from spca.llm.providers.base import Finish, Form, Image, Message, Request, Response, ToolCall, Usage
from spca.llm.providers.conversation import conversation, data_url
from spca.llm.providers.counts import usage
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


def read(answer: Any, label: str) -> Response:
    """The response in ``answer``, a chat completion.

    Raises:
        TransientError: the server broke the answer off.
        BadAnswerError: there is no answer in it, or a tool call with arguments that are no JSON.
    """
    if not answer.choices:
        raise BadAnswerError(f"{label}: the answer holds no choice")
    choice = answer.choices[0]
    message, counts = choice.message, _usage(answer.usage)
    if choice.finish_reason in _BROKEN_OFF:
        raise TransientError(f"{label}: the server broke the answer off ({choice.finish_reason})", lost=True)
    if message.refusal:
        return Response(str(message.refusal), counts, Finish.REFUSAL)
    finish, text = _FINISHES.get(choice.finish_reason, Finish.STOP), _text(message.content)
    if message.tool_calls and finish is Finish.STOP:
        calls = tuple(tool_call(call.function.name, call.function.arguments, label) for call in message.tool_calls)
        return Response(text, counts, Finish.TOOL_CALL, calls)
    return Response(text, counts, finish, served=str(answer.model or ""))


def tool_call(name: object, arguments_text: object, label: str) -> ToolCall:
    """Return a call from its arguments as JSON text, which may be empty."""
    try:
        parsed = json.loads(str(arguments_text or "{}"))
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise BadAnswerError(f"{label}: the arguments of the call of {name} are not a JSON object")
    return ToolCall(str(name), parsed)


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


def _text(content: Any) -> str:
    if isinstance(content, list):  # some servers answer in parts, as they are asked
        return "".join(str(part.get("text") or "") for part in content if part.get("type") == "text")
    return str(content or "")


def _usage(counts: Any) -> Usage:
    if counts is None:
        return Usage()
    prompt, completion = counts.prompt_tokens_details, counts.completion_tokens_details
    return usage(
        counts.prompt_tokens,
        counts.completion_tokens,
        prompt.cached_tokens if prompt else None,
        completion.reasoning_tokens if completion else None,
        prompt.cache_write_tokens if prompt else None,
        counts.total_tokens,
    )
