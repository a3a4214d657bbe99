"""Requests and answers in the words of OpenAI's Responses API, which some models speak only."""

from __future__ import annotations

from typing import Any, Final

from spca.errors import BadAnswerError, ProviderConfigError, TransientError
from spca.llm.providers.answer_fields import Fields
from spca.llm.providers.base import Finish, Form, Message, Request, Response, Usage
from spca.llm.providers.conversation import conversation, data_url, keep_set
from spca.llm.providers.openai.chat import functions, read_usage
from spca.llm.providers.schemas import describe_schema
from spca.llm.providers.secrets import quote_line

_PASSING: Final = frozenset(("server_error", "rate_limit_exceeded"))
_DECLINED: Final = frozenset(("invalid_prompt", "content_filter", "image_content_policy_violation"))


def arguments(request: Request) -> dict[str, Any]:
    """Return the arguments of ``responses.create``; the server is asked to keep nothing."""
    limits = request.limits
    asked = [_message(message) for message in conversation(request)]
    found: dict[str, Any] = {"model": request.model, "input": asked, "store": False}
    found |= keep_set(max_output_tokens=limits.max_output_tokens, temperature=limits.temperature)
    if limits.effort is not None:
        found["reasoning"] = {"effort": limits.effort}
    if request.tools:
        # Left out, "strict" is on here, and a schema that it cannot hold is refused.
        found["tools"] = [{"type": "function", "strict": False, **function} for function in functions(request)]
        named = {"type": "function", "name": request.tool_choice}
        found["tool_choice"] = request.tool_choice if request.tool_choice in {"auto", "required"} else named
        found["parallel_tool_calls"] = False
    elif request.schema is not None and request.form is Form.SCHEMA:
        found["text"] = {"format": {"type": "json_schema", **describe_schema(request.schema)}}
    elif request.schema is not None and request.form is Form.JSON:
        found["text"] = {"format": {"type": "json_object"}}
    return found


def read(answer: Fields, label: str) -> Response:
    """Return the response in ``answer``.

    Raises:
        TransientError: the server failed while it worked on it.
        ProviderConfigError: it failed because of the request.
        BadAnswerError: there is no answer in it, or a tool call with arguments that are no JSON.
    """
    counts = read_usage(answer, "input", "output")
    status = answer.read_text("status")
    if status in {"failed", "cancelled"}:
        return _read_failure(answer.read_object("error"), status, label, counts)
    items = answer.read_objects("output")
    messages = [item for item in items if "content" in item and item.read_text("type") in {"", "message"}]
    asked = [item for item in items if item.read_text("type") == "function_call"]
    if not (messages or asked) and status not in {"completed", "incomplete"}:
        raise BadAnswerError(f"{label}: the answer holds no output")
    parts = [part for message in messages for part in message.read_objects("content")]
    refusal = "".join(part.read_text("refusal") for part in parts if part.read_text("type") == "refusal")
    if refusal:
        return Response(refusal, counts, Finish.REFUSAL)
    text = "".join(message.read_content(label) for message in messages)
    if status == "incomplete":
        why = answer.read_object("incomplete_details").read_text("reason")
        return Response(text, counts, Finish.REFUSAL if why == "content_filter" else Finish.LENGTH)
    calls = tuple(item.read_call("arguments", label) for item in asked)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls)


def _read_failure(error: Fields, status: str, label: str, counts: Usage) -> Response:
    code = error.read_text("code") or "server_error"
    said = quote_line(error.read_text("message") or f"status {status}")
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
