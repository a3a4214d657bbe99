"""The protocol of Ollama's servers, after docs/api.md of github.com/ollama/ollama."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from spca.llm.providers.base import Image, Message
from tests.fakes.answers import Answer, Dialect, Heard
from tests.fakes.serving import Asked, Reply


def chatted(answer: Answer, model: str) -> dict[str, Any]:
    """A response of /api/chat; the protocol knows neither refusals nor cached or reasoning tokens."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text}
    if answer.thought:
        message["thinking"] = answer.thought
    if answer.calls:
        spoilt = "{" if answer.broken else None
        message["tool_calls"] = [
            {"function": {"name": call.name, "arguments": spoilt or call.arguments}} for call in answer.calls
        ]
    body: dict[str, Any] = {
        "model": model,
        "created_at": "2026-01-01T00:00:00.000000Z",
        "message": message,
        "done": True,
        "done_reason": answer.ended,
        "total_duration": 1,
        "load_duration": 1,
        "prompt_eval_duration": 1,
        "eval_duration": 1,
    }
    if answer.usage is not None:
        body |= {"prompt_eval_count": answer.usage.input_tokens, "eval_count": answer.usage.output_tokens}
    return body


def refused(status: int, words: str, _code: str | None = None) -> Reply:
    """A refused request."""
    return Reply.of({"error": words}, status, content_type="application/json; charset=utf-8")


def listed(names: Sequence[str], _ends: Mapping[str, str] = {}) -> dict[str, Any]:
    """The list of models; the protocol does not tell when one is shut down."""
    return {"models": [{"name": name, "model": name, "size": 1, "digest": "d"} for name in names]}


def heard(asked: Asked) -> Heard:
    """Read a request of /api/chat."""
    body = asked.body
    assert body.get("stream") is False
    form, options = body.get("format"), body.get("options", {})
    functions = [tool["function"] for tool in body.get("tools") or ()]
    return Heard(
        model=body["model"],
        messages=tuple(map(_message, body["messages"])),
        form="json_schema" if isinstance(form, dict) else "json_object" if form == "json" else "text",
        schema=form if isinstance(form, dict) else None,
        max_output_tokens=options.get("num_predict"),
        temperature=options.get("temperature"),
        tools={function["name"]: function["parameters"] for function in functions},
        choice=None,
        effort={False: "none", True: "medium", None: None}.get(body.get("think"), body.get("think")),
    )


def _message(told: Mapping[str, Any]) -> Message:
    """The protocol does not tell the type of a picture."""
    pictures = tuple(Image("", base64.b64decode(data, validate=True)) for data in told.get("images") or ())
    return Message(told["role"], told.get("content", ""), pictures)


OLLAMA = Dialect("ollama", "", "/api/chat", chatted, refused, listed, heard)
