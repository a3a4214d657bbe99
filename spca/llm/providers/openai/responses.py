"""Requests and answers in the words of OpenAI's Responses API, which some models speak only."""

from __future__ import annotations

from typing import Any, Final

from spca.errors import BadAnswerError, ProviderConfigError, TransientError
from spca.llm.providers.base import Finish, Form, Message, Request, Response, Usage
from spca.llm.providers.conversation import conversation, data_url
from spca.llm.providers.counts import usage
from spca.llm.providers.openai.chat import functions, tool_call
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


def read(answer: Any, label: str) -> Response:
    """The response in ``answer``.

    Raises:
        TransientError: the server failed while it worked on it.
        ProviderConfigError: it failed because of the request.
        BadAnswerError: there is no answer in it, or a tool call with arguments that are no JSON.
    """
    counts = _usage(answer.usage)
    if answer.status in {"failed", "cancelled"}:
        return _failed(answer, label, counts)
    messages = [item for item in answer.output if item.type == "message"]
    asked = [item for item in answer.output if item.type == "function_call"]
    if not (messages or asked) and answer.status not in {"completed", "incomplete"}:
        raise BadAnswerError(f"{label}: the answer holds no output")
    parts = [part for message in messages for part in message.content]
    refusals = [str(part.refusal) for part in parts if part.type == "refusal"]
    if refusals:
        return Response("".join(refusals), counts, Finish.REFUSAL)
    text = "".join(str(part.text or "") for part in parts if part.type == "output_text")
    if answer.status == "incomplete":
        why = answer.incomplete_details.reason if answer.incomplete_details else None
        return Response(text, counts, Finish.REFUSAL if why == "content_filter" else Finish.LENGTH)
    calls = tuple(tool_call(item.name, item.arguments, label) for item in asked)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls)


def _failed(answer: Any, label: str, counts: Usage) -> Response:
    code = (answer.error.code if answer.error else None) or "server_error"
    said = quoted(answer.error.message if answer.error else f"status {answer.status}")
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


def _usage(counts: Any) -> Usage:
    if counts is None:
        return Usage()
    given, made = counts.input_tokens_details, counts.output_tokens_details
    return usage(
        counts.input_tokens,
        counts.output_tokens,
        given.cached_tokens if given else None,
        made.reasoning_tokens if made else None,
        given.cache_write_tokens if given else None,
        counts.total_tokens,
    )
