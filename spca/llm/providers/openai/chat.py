"""Requests and answers of the chat completions API, the protocol that most servers speak."""

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
    """Return the arguments of ``chat.completions.create``; ``limit`` is the name of the option for the length."""
    messages = list(_messages(conversation(request)))
    arguments: dict[str, Any] = {"model": request.model, "messages": messages}
    limits = request.limits
    arguments |= keep_set(temperature=limits.temperature, reasoning_effort=limits.effort)
    if limits.max_output_tokens is not None:
        arguments[limit] = limits.max_output_tokens
    if request.tools:
        arguments["tools"] = [{"type": "function", "function": function} for function in functions(request)]
        choice = request.tool_choice
        named_tool = {"type": "function", "function": {"name": choice}}
        arguments["tool_choice"] = choice if choice in {"auto", "required"} else named_tool
    elif request.schema is not None and request.form is Form.SCHEMA:
        arguments["response_format"] = {"type": "json_schema", "json_schema": describe_schema(request.schema)}
    elif request.schema is not None and request.form is Form.JSON:
        arguments["response_format"] = {"type": "json_object"}
    return arguments


def functions(request: Request) -> list[dict[str, Any]]:
    """Return the tools as function descriptions, marked as strict if strict mode supports their schema."""
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
        BadAnswerError: ``answer`` contains no message, or a tool call with arguments that are no JSON object.
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
    tool_calls = message.read_objects("tool_calls") or message.read_objects("function_call")
    if not tool_calls or finish is not Finish.STOP:
        return Response(text, counts, finish)
    functions = [call.read_object("function") or call for call in tool_calls]
    calls = tuple(function.read_call("arguments", label) for function in functions)
    return Response(text, counts, Finish.TOOL_CALL, calls)


def read_usage(answer: Fields, sent: str, said: str) -> Usage:
    """Return the token counts in ``answer``.

    Args:
        sent: the API's word for input in the names of fields, "prompt" or "input".
        said: the API's word for output in the names of fields, "completion" or "output".
    """
    counts = answer.read_object("usage")
    input_details = counts.read_object(f"{sent}_tokens_details")
    output_details = counts.read_object(f"{said}_tokens_details")
    return count_usage(
        sent=counts.read_count(f"{sent}_tokens"),
        said=counts.read_count(f"{said}_tokens"),
        cached=input_details.read_count("cached_tokens"),
        reasoned=output_details.read_count("reasoning_tokens"),
        written=input_details.read_count("cache_write_tokens"),
        total=counts.read_count("total_tokens"),
    )


def _messages(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Yield the messages in the form of the API.

    Successive messages with images are joined, because some models' templates refuse two user messages in a row.
    """
    groups = groupby(messages, lambda message: (message.role, bool(message.images)))
    for (role, has_images), group in groups:
        if has_images:
            parts = [part for message in group for part in _parts(message)]
            yield {"role": role, "content": parts}
        else:
            for message in group:
                yield {"role": role, "content": message.text}


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    yield {"type": "text", "text": message.text}
    for image in message.images:
        yield {"type": "image_url", "image_url": _image(image)}


def _image(image: Image) -> dict[str, str]:
    fields = {"url": data_url(image)}
    if image.detail:
        fields["detail"] = image.detail
    return fields
