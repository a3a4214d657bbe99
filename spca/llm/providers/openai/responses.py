"""Requests and answers of OpenAI's Responses API, which is the only API of some models."""

from __future__ import annotations

from typing import Any, Final

from spca.errors import BadAnswerError, ProviderConfigError, TransientError
from spca.llm.providers.answer_fields import Fields
from spca.llm.providers.base import Finish, Form, Message, Request, Response, Usage
from spca.llm.providers.conversation import conversation, data_url, keep_set
from spca.llm.providers.openai.chat import functions, read_usage
from spca.llm.providers.schemas import describe_schema
from spca.llm.providers.secrets import quote_line

_TRANSIENT: Final = frozenset(("server_error", "rate_limit_exceeded"))
_DECLINED: Final = frozenset(("invalid_prompt", "content_filter", "image_content_policy_violation"))


def arguments(request: Request) -> dict[str, Any]:
    """Return the arguments of ``responses.create``; ``store`` is off, so that the server keeps no conversation."""
    limits = request.limits
    messages = [_message(message) for message in conversation(request)]
    arguments: dict[str, Any] = {"model": request.model, "input": messages, "store": False}
    arguments |= keep_set(max_output_tokens=limits.max_output_tokens, temperature=limits.temperature)
    if limits.effort is not None:
        arguments["reasoning"] = {"effort": limits.effort}
    if request.tools:
        # In this API "strict" is on by default, and a schema that strict mode does not support is refused.
        arguments["tools"] = [{"type": "function", "strict": False, **function} for function in functions(request)]
        choice = request.tool_choice
        named_tool = {"type": "function", "name": choice}
        arguments["tool_choice"] = choice if choice in {"auto", "required"} else named_tool
        arguments["parallel_tool_calls"] = False
    elif request.schema is not None and request.form is Form.SCHEMA:
        arguments["text"] = {"format": {"type": "json_schema", **describe_schema(request.schema)}}
    elif request.schema is not None and request.form is Form.JSON:
        arguments["text"] = {"format": {"type": "json_object"}}
    return arguments


def read(answer: Fields, label: str) -> Response:
    """Return the response in ``answer``.

    Raises:
        TransientError: the server failed while it worked on the answer.
        ProviderConfigError: the server refused the request.
        BadAnswerError: ``answer`` contains no output, or a tool call with arguments that are no JSON object.
    """
    counts = read_usage(answer, "input", "output")
    status = answer.read_text("status")
    if status in {"failed", "cancelled"}:
        return _read_failure(answer.read_object("error"), status, label, counts)
    items = answer.read_objects("output")
    messages = [item for item in items if _is_message(item)]
    function_calls = [item for item in items if item.read_text("type") == "function_call"]
    has_output = bool(messages or function_calls)
    if not has_output and status not in {"completed", "incomplete"}:
        raise BadAnswerError(f"{label}: the answer holds no output")
    parts = [part for message in messages for part in message.read_objects("content")]
    refusals = [part for part in parts if part.read_text("type") == "refusal"]
    refusal = "".join(part.read_text("refusal") for part in refusals)
    if refusal:
        return Response(refusal, counts, Finish.REFUSAL)
    text = "".join(message.read_content(label) for message in messages)
    if status == "incomplete":
        reason = answer.read_object("incomplete_details").read_text("reason")
        return Response(text, counts, Finish.REFUSAL if reason == "content_filter" else Finish.LENGTH)
    calls = tuple(item.read_call("arguments", label) for item in function_calls)
    return Response(text, counts, Finish.TOOL_CALL if calls else Finish.STOP, calls)


def _is_message(item: Fields) -> bool:
    """Return whether an item of the output is a message; some servers leave the type of messages out."""
    return "content" in item and item.read_text("type") in {"", "message"}


def _read_failure(error: Fields, status: str, label: str, counts: Usage) -> Response:
    """Return a refusal of the model as a response; raise the error for any other failure."""
    code = error.read_text("code") or "server_error"
    message = quote_line(error.read_text("message") or f"status {status}")
    if code in _DECLINED:
        return Response(message, counts, Finish.REFUSAL)
    if code in _TRANSIENT:
        raise TransientError(f"{label}: the server failed while it answered ({message})", lost=True)
    raise ProviderConfigError(f"{label}: the server refused the request ({code}: {message})")


def _message(message: Message) -> dict[str, Any]:
    """Return a message in the form of the API; the images follow the text."""
    if not message.images:
        return {"role": message.role, "content": message.text}
    parts = [{"type": "input_text", "text": message.text}]
    for image in message.images:
        part = {"type": "input_image", "image_url": data_url(image)}
        if image.detail:
            part["detail"] = image.detail
        parts.append(part)
    return {"role": message.role, "content": parts}
