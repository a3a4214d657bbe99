"""Requests and answers in the words of chat completions, the protocol that most servers speak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final

from spca.errors import BadAnswerError, TransientError
from spca.llm.providers.answer_fields import Fields, count_usage
from spca.llm.providers.base import Finish, Form, Image, Message, Request, Response, Usage
from spca.llm.providers.conversation import conversation, data_url, declare_tools, keep_set
from spca.llm.providers.schemas import describe_schema, is_closed

_FINISHES: Final[Mapping[str, Finish]] = {
    "length": Finish.LENGTH,
    "max_tokens": Finish.LENGTH,
    "model_length": Finish.LENGTH,
    "content_filter": Finish.REFUSAL,
}
_BROKEN_OFF: Final = frozenset(("error", "insufficient_system_resource"))


def arguments(request: Request, limit: str) -> dict[str, Any]:
    """Return the arguments of ``chat.completions.create``; ``limit`` is the server's name for that on the answer."""
    found: dict[str, Any] = {"model": request.model, "messages": list(_messages(conversation(request)))}
    limits = request.limits
    found |= keep_set(temperature=limits.temperature, reasoning_effort=limits.effort)
    if limits.max_output_tokens is not None:
        found[limit] = limits.max_output_tokens
    if request.tools:
        found["tools"] = [{"type": "function", "function": function} for function in functions(request)]
        named = {"type": "function", "function": {"name": request.tool_choice}}
        found["tool_choice"] = request.tool_choice if request.tool_choice in {"auto", "required"} else named
    elif request.schema is not None and request.form is Form.SCHEMA:
        found["response_format"] = {"type": "json_schema", "json_schema": describe_schema(request.schema)}
    elif request.schema is not None and request.form is Form.JSON:
        found["response_format"] = {"type": "json_object"}
    return found


def functions(request: Request) -> list[dict[str, Any]]:
    """Return the tools as function descriptions, strict where their schema allows."""
    described: list[dict[str, Any]] = []
    for function in declare_tools(request.tools, "parameters"):
        if is_closed(function["parameters"]):
            described.append({**function, "strict": True})
        else:
            described.append(function)
    return described


def read(answer: Fields, label: str) -> Response:
    """Return the response in ``answer``, a chat completion.

    Raises:
        TransientError: the server broke the answer off.
        BadAnswerError: there is no answer in it, or a tool call with arguments that are no JSON.
    """
    choices = answer.read_objects("choices")
    if not choices:
        raise BadAnswerError(f"{label}: the answer holds no choice")
    message = choices[0].read_object("message")
    reason = choices[0].read_text("finish_reason").lower()
    if reason in _BROKEN_OFF:
        raise TransientError(f"{label}: the server broke the answer off ({reason})", lost=True)
    if not message:
        raise BadAnswerError(f"{label}: the choice of the answer holds no message")
    counts = read_usage(answer, "prompt", "completion")
    if refusal := message.read_text("refusal"):
        return Response(refusal, counts, Finish.REFUSAL)
    text = message.read_content(label)
    finish = _FINISHES.get(reason, Finish.STOP)
    called = message.read_objects("tool_calls") or message.read_objects("function_call")
    if not called or finish is not Finish.STOP:
        return Response(text, counts, finish)
    functions = [call.read_object("function") or call for call in called]
    calls = tuple(function.read_call("arguments", label) for function in functions)
    return Response(text, counts, Finish.TOOL_CALL, calls)


def read_usage(answer: Fields, sent: str, said: str) -> Usage:
    """Return the counts in ``answer``; the two APIs of OpenAI call them by the words ``sent`` and ``said``."""
    counts = answer.read_object("usage")
    before = counts.read_object(f"{sent}_tokens_details")
    after = counts.read_object(f"{said}_tokens_details")
    return count_usage(
        counts.read_count(f"{sent}_tokens"),
        counts.read_count(f"{said}_tokens"),
        before.read_count("cached_tokens"),
        after.read_count("reasoning_tokens"),
        before.read_count("cache_write_tokens"),
        counts.read_count("total_tokens"),
    )


def _messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Join successive messages with pictures: some models' templates take no two users in a row."""
    groups = groupby(messages, lambda message: (message.role, bool(message.images)))
    for (role, has_images), group in groups:
        if has_images:
            yield {"role": role, "content": [part for message in group for part in _parts(message)]}
        else:
            yield from ({"role": role, "content": message.text} for message in group)


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    yield {"type": "text", "text": message.text}
    yield from ({"type": "image_url", "image_url": _image(image)} for image in message.images)


def _image(image: Image) -> dict[str, str]:
    return {"url": data_url(image)} | ({"detail": image.detail} if image.detail else {})
