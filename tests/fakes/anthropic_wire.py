"""The protocol of Anthropic's servers, after the reference of the Messages API at platform.claude.com/docs/en/api."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

from spca.llm.providers.base import Image, Message, Usage
from tests.fakes.answers import Answer, Dialect, Heard
from tests.fakes.serving import Asked, Reply

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
}
_ENDED = {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}
_ANSWER = "answer"
"""The one tool that is no tool, but the form of an answer."""
_CACHED = {"type": "ephemeral"}


def created(answer: Answer, model: str) -> dict[str, Any]:
    """A message; thoughts come first, and the prompt is counted in three parts."""
    content: list[dict[str, Any]] = []
    if answer.thought:
        content.append({"type": "thinking", "thinking": answer.thought, "signature": "EqoB"})
    if answer.text:
        content.append({"type": "text", "text": answer.text})
    for number, call in enumerate(answer.calls):
        called = {"type": "tool_use", "id": f"toolu_{number}", "name": call.name}
        content.append({**called, "input": "{" if answer.broken else call.arguments})
    details = {"type": "refusal", "category": None, "explanation": answer.refusal} if answer.refusal else None
    ended = "refusal" if answer.refusal else "tool_use" if answer.calls else _ENDED[answer.ended]
    body: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": content}
    body |= {"stop_reason": ended, "stop_sequence": None, "stop_details": details}
    return body | ({"usage": _usage(answer.usage)} if answer.usage else {})


def _usage(usage: Usage) -> dict[str, Any]:
    cached, written = usage.cached_tokens or 0, usage.cache_write_tokens or 0
    counts: dict[str, Any] = {
        "input_tokens": None if usage.input_tokens is None else usage.input_tokens - cached - written,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "service_tier": "standard",
    }
    if written:
        counts["cache_creation"] = {"ephemeral_5m_input_tokens": written, "ephemeral_1h_input_tokens": 0}
    if usage.reasoning_tokens is not None:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return counts


def refused(status: int, words: str, code: str | None = None) -> Reply:
    """A refused request; ``code`` is the stable one in the details, which few refusals have."""
    error: dict[str, Any] = {"type": _TYPES.get(status, "api_error"), "message": words}
    if code:
        error["details"] = {"error_code": code}
    return Reply.of({"type": "error", "error": error, "request_id": "req_1"}, status)


def listed(names: Sequence[str], ends: Mapping[str, str] = {}) -> dict[str, Any]:
    """The list of models; those that will be retired say when."""
    models = [
        {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2026-01-01T00:00:00Z",
            "lifecycle": "deprecated" if name in ends else "active",
            "retires_at": f"{ends[name]}T00:00:00Z" if name in ends else None,
        }
        for name in names
    ]
    return {"data": models, "has_more": False, "first_id": None, "last_id": None}


def heard(asked: Asked) -> Heard:
    """Read a request for a message."""
    body = asked.body
    assert asked.headers["anthropic-version"], asked.path
    assert type(body["max_tokens"]) is int
    assert body["max_tokens"] > 0
    tools = {tool["name"]: tool["input_schema"] for tool in body.get("tools", ())}
    output, choice = body.get("output_config", {}), body.get("tool_choice", {})
    is_answer = list(tools) == [_ANSWER]
    schema = output["format"]["schema"] if "format" in output else None
    said: list[dict[str, Any]] = [{"role": "system", "content": body["system"]}] if body.get("system") else []
    return Heard(
        model=body["model"],
        messages=tuple(map(_message, [*said, *body["messages"]])),
        form="json_schema" if schema else "json_object" if is_answer else "text",
        schema=schema,
        max_output_tokens=body["max_tokens"],
        temperature=body.get("temperature"),
        tools={} if is_answer else tools,
        choice={"any": "required", "tool": choice.get("name")}.get(choice.get("type"), choice.get("type")),
        effort="none" if body.get("thinking") == {"type": "disabled"} else output.get("effort"),
    )


def _message(told: Mapping[str, Any]) -> Message:
    content = told["content"]
    blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    text = "\n\n".join(block["text"] for block in blocks if block["type"] == "text")
    sources = [block["source"] for block in blocks if block["type"] == "image"]
    images = tuple(Image(each["media_type"], base64.b64decode(each["data"], validate=True)) for each in sources)
    return Message(told["role"], text, images)


def marks(asked: Asked) -> list[int]:
    """How many messages there are, the system part among them, in each beginning of a request that is to be cached."""
    body = asked.body
    said = [body["system"]] if body.get("system") else []
    contents = [*said, *(message["content"] for message in body["messages"])]
    return [count for count, blocks in enumerate(contents, 1) if blocks[-1].get("cache_control") == _CACHED]


def objection(heard: Heard) -> Reply | None:
    """What Anthropic refuses of its newer models: a forced choice of a tool, no thoughts, a temperature."""
    if not re.match(r"claude-(opus|sonnet)-5-5", heard.model):
        return None
    if heard.choice not in {None, "auto"}:
        return refused(400, 'tool_choice: type "tool" and "any" are not supported for this model.')
    if heard.effort == "none":
        return refused(400, '"thinking.type.disabled" is not supported for this model.')
    return None if heard.temperature is None else refused(400, "`temperature` is deprecated for this model.")


ANTHROPIC = Dialect("anthropic", "", "/v1/messages", created, refused, listed, heard)
