"""The two protocols of OpenAI's servers, as bodies: chat completions and responses.

After the reference at platform.openai.com/docs/api-reference; the same bodies go through the official SDK in the tests.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spca.providers.base import Message, ToolCall, Usage


@dataclass(frozen=True, slots=True)
class Answer:
    """What a fake model says; ``ended`` is "stop", "length" or "content_filter"; ``usage`` None is left out."""

    text: str = ""
    usage: Usage | None = None
    refusal: str | None = None
    calls: tuple[ToolCall, ...] = ()
    ended: str = "stop"


def chat(answer: Answer, model: str, number: int = 1) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": answer.refusal}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{index}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for index, call in enumerate(answer.calls)
        ]
    ended = "tool_calls" if answer.calls and answer.ended == "stop" else answer.ended
    body = {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": ended, "logprobs": None}],
    }
    return body | _usage(answer.usage, "prompt", "completion")


def responses(answer: Answer, model: str, number: int = 1) -> dict[str, Any]:
    """A response object; reasoning is an item of its own before the message."""
    reasons = {"length": "max_output_tokens", "content_filter": "content_filter"}
    incomplete = answer.ended in reasons
    body = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": int(time.time()),
        "status": "incomplete" if incomplete else "completed",
        "error": None,
        "incomplete_details": {"reason": reasons[answer.ended]} if incomplete else None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": list(_items(answer, number)),
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }
    return body | _usage(answer.usage, "input", "output")


def _items(answer: Answer, number: int) -> Iterator[dict[str, Any]]:
    if answer.usage and answer.usage.reasoning_tokens:
        yield {"type": "reasoning", "id": f"rs_{number}", "summary": []}
    parts: list[dict[str, Any]] = []
    if answer.text:
        parts.append({"type": "output_text", "text": answer.text, "annotations": []})
    if answer.refusal:
        parts.append({"type": "refusal", "refusal": answer.refusal})
    if parts or not answer.calls:
        status = "completed" if answer.ended == "stop" else "incomplete"
        yield {"type": "message", "id": f"msg_{number}", "status": status, "role": "assistant", "content": parts}
    for index, call in enumerate(answer.calls):
        yield {
            "type": "function_call",
            "id": f"fc_{number}_{index}",
            "call_id": f"call_{number}_{index}",
            "name": call.name,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }


def _usage(usage: Usage | None, before: str, after: str) -> dict[str, Any]:
    if usage is None:
        return {}
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    return {
        "usage": {
            f"{before}_tokens": read,
            f"{before}_tokens_details": {"cached_tokens": usage.cached_tokens or 0},
            f"{after}_tokens": written,
            f"{after}_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
            "total_tokens": read + written,
        }
    }


def error(message: str, kind: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """The body of a refused request."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def models(names: Sequence[str]) -> dict[str, Any]:
    """The list of models."""
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": 1, "owned_by": "tests"} for name in names],
    }


def conversation(body: Mapping[str, Any]) -> tuple[Message, ...]:
    """The messages of a request in either protocol, texts only; "developer" is "system" under its newer name."""
    if "messages" in body:
        told = list(body["messages"])
    else:
        given = body.get("input", "")
        told = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
        if body.get("instructions"):
            told.insert(0, {"role": "system", "content": body["instructions"]})
    return tuple(
        Message("system" if each["role"] == "developer" else each["role"], _text(each["content"])) for each in told
    )


def _text(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    if isinstance(content, str) or content is None:
        return content or ""
    return "\n".join(str(part["text"]) for part in content if "text" in part)


def form_asked(body: Mapping[str, Any]) -> str:
    """ "json_schema", "json_object" or "text": the form of answer that a request in either protocol asks for."""
    asked = body.get("response_format") or (body.get("text") or {}).get("format") or {}
    return str(asked.get("type", "text"))


def limit_asked(body: Mapping[str, Any]) -> int | None:
    """Tokens that the answer may have."""
    names = ("max_completion_tokens", "max_tokens", "max_output_tokens")
    return next((int(body[name]) for name in names if body.get(name) is not None), None)
