"""The protocol of Google's Gemini servers, after the reference at ai.google.dev/api/generate-content."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Any

from spca.llm.providers.base import Image, Message, Usage
from tests.fakes.answers import Answer, Dialect, Heard
from tests.fakes.serving import Asked, Reply

_STATUS = {400: "INVALID_ARGUMENT", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
_ENDED = {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def generated(answer: Answer, model: str) -> dict[str, Any]:
    """A response of generateContent; what is refused is a blocked prompt, without candidates."""
    head = {"modelVersion": model, "responseId": "r1"} | _usage(answer.usage)
    if answer.refusal:
        return head | {"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": answer.refusal}}
    parts: list[dict[str, Any]] = []
    if answer.thought:
        parts.append({"text": answer.thought, "thought": True})
    if answer.text:
        parts.append({"text": answer.text})
    if not answer.broken:
        parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in answer.calls]
    content = {"role": "model"} | ({"parts": parts} if parts else {})
    ended = "MALFORMED_FUNCTION_CALL" if answer.broken else _ENDED[answer.ended]
    return head | {"candidates": [{"content": content, "finishReason": ended, "index": 0}]}


def _usage(usage: Usage | None) -> dict[str, Any]:
    if usage is None:
        return {}
    read, written, thought = usage.input_tokens or 0, usage.output_tokens or 0, usage.reasoning_tokens
    counts = {
        "promptTokenCount": read,
        "candidatesTokenCount": written - (thought or 0),
        "thoughtsTokenCount": thought,
        "cachedContentTokenCount": usage.cached_tokens,
        "totalTokenCount": read + written,
    }
    return {"usageMetadata": {name: count for name, count in counts.items() if count is not None}}


def refused(status: int, words: str, code: str | None = None) -> Reply:
    """A refused request; ``code`` is the reason in the details."""
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code}] if code else []
    return _error(status, words, details)


def busy(seconds: float) -> Reply:
    """Too many requests; how long to wait is told in the body."""
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": f"{seconds}s"}
    return _error(429, "You exceeded your current quota, please wait.", [info])


def _error(status: int, words: str, details: Sequence[Mapping[str, str]]) -> Reply:
    body = {"code": status, "message": words, "status": _STATUS.get(status, "INTERNAL"), "details": details}
    return Reply.of({"error": body}, status, content_type="application/json; charset=UTF-8")


def listed(names: Sequence[str], _ends: Mapping[str, str] = {}) -> dict[str, Any]:
    """The list of models; the protocol does not tell when one is shut down."""
    return {"models": [{"name": f"models/{name}", "supportedGenerationMethods": ["generateContent"]} for name in names]}


def heard(asked: Asked) -> Heard:
    """Read a request of generateContent; names may be written in both ways that the JSON of protocol buffers knows."""
    body = asked.body
    config = _field(body, "generationConfig", {})
    schema = _field(config, "responseJsonSchema") or _field(config, "responseSchema")
    plain = _field(config, "responseMimeType", "text/plain") != "application/json"
    model = re.fullmatch(r"/v1(?:beta)?/models/([^:]+):generateContent", asked.path.partition("?")[0])
    assert model, asked.path
    declared = [each for tool in body.get("tools", ()) for each in _field(tool, "functionDeclarations")]
    system = _field(body, "systemInstruction")
    told = [{**system, "role": "system"}] if system else []
    return Heard(
        model=model[1],
        messages=tuple(map(_message, [*told, *body["contents"]])),
        form="text" if plain else "json_schema" if schema else "json_object",
        schema=schema,
        max_output_tokens=_field(config, "maxOutputTokens"),
        temperature=config.get("temperature"),
        tools={each["name"]: _field(each, "parametersJsonSchema") for each in declared},
        choice=_choice(_field(_field(body, "toolConfig", {}), "functionCallingConfig", {})),
        effort=str(_field(_field(config, "thinkingConfig", {}), "thinkingLevel", "")).lower() or None,
    )


def _field(node: Mapping[str, Any], name: str, default: Any = None) -> Any:
    """A field by its JSON name or its original one."""
    return node.get(name, node.get(re.sub(r"(?=[A-Z])", "_", name).lower(), default))


def _message(told: Mapping[str, Any]) -> Message:
    role = told.get("role", "user")
    text = "\n".join(part["text"] for part in told["parts"] if "text" in part)
    pictures = [found for part in told["parts"] if (found := _field(part, "inlineData"))]
    images = tuple(Image(_field(each, "mimeType"), _decoded(each["data"])) for each in pictures)
    return Message("assistant" if role == "model" else role, text, images)


def _decoded(data: str) -> bytes:
    """Base64 of either alphabet, as JSON's mapping of protocol buffers allows."""
    return base64.b64decode(data.replace("-", "+").replace("_", "/"), validate=True)


def _choice(calling: Mapping[str, Any]) -> str | None:
    names = _field(calling, "allowedFunctionNames") or []
    if calling.get("mode") == "ANY":
        return names[0] if len(names) == 1 else "required"
    return {"AUTO": "auto"}.get(calling.get("mode", ""))


GOOGLE = Dialect("google", "", "/v1beta/models/", generated, refused, listed, heard)
