"""The two protocols of OpenAI's servers: chat completions and responses.

After the reference at platform.openai.com/docs/api-reference.
"""

from __future__ import annotations

import base64
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spca.llm.providers.base import Image, Message, Usage
from tests.fakes.answers import Answer, Dialect, Heard
from tests.fakes.serving import Asked, Reply


def chat(answer: Answer, model: str, number: int = 1) -> dict[str, Any]:
    """A chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None, "refusal": answer.refusal}
    if answer.thought:
        message["reasoning_content"] = answer.thought
    if answer.calls:
        message["tool_calls"] = [
            {"id": f"call_{number}_{index}", "type": "function", "function": function}
            for index, function in enumerate(_functions(answer))
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
    if answer.thought or (answer.usage and answer.usage.reasoning_tokens):
        summary = [{"type": "summary_text", "text": answer.thought}] if answer.thought else []
        yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
    parts: list[dict[str, Any]] = []
    if answer.text:
        parts.append({"type": "output_text", "text": answer.text, "annotations": []})
    if answer.refusal:
        parts.append({"type": "refusal", "refusal": answer.refusal})
    if parts or not answer.calls:
        status = "completed" if answer.ended == "stop" else "incomplete"
        yield {"type": "message", "id": f"msg_{number}", "status": status, "role": "assistant", "content": parts}
    for index, function in enumerate(_functions(answer)):
        ids = {"id": f"fc_{number}_{index}", "call_id": f"call_{number}_{index}"}
        yield {"type": "function_call", "status": "completed", **ids, **function}


def _functions(answer: Answer) -> list[dict[str, str]]:
    told = [(call.name, json.dumps(call.arguments)) for call in answer.calls]
    return [{"name": name, "arguments": text[:-1] if answer.broken else text} for name, text in told]


def _usage(usage: Usage | None, before: str, after: str) -> dict[str, Any]:
    if usage is None:
        return {}
    read, written = usage.input_tokens or 0, usage.output_tokens or 0
    stored = {} if usage.cache_write_tokens is None else {"cache_write_tokens": usage.cache_write_tokens}
    return {
        "usage": {
            f"{before}_tokens": read,
            f"{before}_tokens_details": {"cached_tokens": usage.cached_tokens or 0, **stored},
            f"{after}_tokens": written,
            f"{after}_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
            "total_tokens": read + written,
        }
    }


def error(message: str, kind: str, code: str | None = None, param: str | None = None) -> dict[str, Any]:
    """The body of a refused request."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def models(names: Sequence[str], ends: Mapping[str, str] = {}) -> dict[str, Any]:
    """The list of models, with the day on which each is shut down where it is announced."""
    same = {"object": "model", "created": 1, "owned_by": "tests"}
    return {"object": "list", "data": [{"id": name, **same, "shutdown_date": ends.get(name)} for name in names]}


def hear(body: Mapping[str, Any]) -> Heard:
    """Read a request of either protocol; "developer" is the newer name of "system"."""
    form = body.get("response_format") or (body.get("text") or {}).get("format") or {}
    limits = ("max_completion_tokens", "max_tokens", "max_output_tokens")
    functions = [tool.get("function", tool) for tool in body.get("tools", ())]
    choice = body.get("tool_choice")
    return Heard(
        model=body["model"],
        messages=tuple(_message(each) for each in _conversation(body)),
        form=form.get("type", "text"),
        schema=form.get("json_schema", form).get("schema"),
        max_output_tokens=next((body[name] for name in limits if body.get(name) is not None), None),
        temperature=body.get("temperature"),
        tools={function["name"]: function["parameters"] for function in functions},
        choice=choice.get("function", choice)["name"] if isinstance(choice, dict) else choice,
        effort=body.get("reasoning_effort") or (body.get("reasoning") or {}).get("effort"),
    )


def _conversation(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    if "messages" in body:
        return list(body["messages"])
    given = body.get("input", "")
    told = [{"role": "user", "content": given}] if isinstance(given, str) else list(given)
    return [{"role": "system", "content": body["instructions"]}, *told] if body.get("instructions") else told


def _message(told: Mapping[str, Any]) -> Message:
    role = "system" if told["role"] == "developer" else str(told["role"])
    content = told.get("content") or ""
    if isinstance(content, str):
        return Message(role, content)
    pictures = [part["image_url"] for part in content if "image_url" in part]
    urls = [picture["url"] if isinstance(picture, dict) else picture for picture in pictures]
    return Message(role, "\n".join(part["text"] for part in content if "text" in part), tuple(map(_image, urls)))


def _image(url: str) -> Image:
    """The picture in a data URL."""
    head, _, data = url.partition(";base64,")
    return Image(head.removeprefix("data:"), base64.b64decode(data, validate=True))


def _heard(asked: Asked) -> Heard:
    return hear(asked.body)


def objection(heard: Heard, dialect: Dialect) -> Reply | None:
    """What OpenAI refuses of its newer models: tools over chat completions beside reasoning, efforts they lack."""
    if heard.effort in ("none", "minimal") and re.match(r"gpt-6\.\d+-sol", heard.model):
        words = f"Unsupported value: '{heard.effort}' is not supported with the '{heard.model}' model."
        return refused(400, words, "unsupported_value")
    if dialect is CHAT and heard.tools and heard.effort != "none" and re.match(r"gpt-(5\.6|6)", heard.model):
        words = "Function tools with reasoning_effort are not supported for {} in /v1/chat/completions."
        return refused(400, f"{words.format(heard.model)} Please use /v1/responses instead.", None)
    return None


def refused(status: int, words: str, code: str | None = None) -> Reply:
    """A refused request."""
    kinds = {401: "authentication_error", 429: "requests", 500: "server_error"}
    return Reply.of(error(words, kinds.get(status, "invalid_request_error"), code), status)


CHAT = Dialect("openai-chat", "/v1", "/v1/chat/completions", chat, refused, models, _heard)
RESPONSES = Dialect("openai-responses", "/v1", "/v1/responses", responses, refused, models, _heard)
