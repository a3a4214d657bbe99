"""Keys of calls: two calls with the same key count as the same call (pure)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Message, Request


def call_key(model: ModelRef, request: Request) -> str:
    """Return the SHA-256 (hex) of model, effort and :func:`question`; the key ignores the time-out and the form.

    The effort is part of the key because a model with another effort answers like another model.
    """
    return _digest({"model": str(model), **effort(request), **question(request)})


def prompt_key(request: Request) -> str:
    """Return the SHA-256 (hex) of :func:`question` alone, by which a replay finds answers of any model."""
    return _digest(question(request))


def question(request: Request) -> dict[str, Any]:
    """Return the parts of a request that the answer depends on, as JSON values."""
    tools = []
    for tool in request.tools:
        parameters = tool.parameters.model_json_schema()
        tools.append({"name": tool.name, "description": tool.description, "parameters": parameters})
    limits = request.limits
    messages = [_message(message) for message in request.messages]
    schema = request.schema.model_json_schema() if request.schema else None
    return {
        "messages": messages,
        "schema": schema,
        "tools": tools,
        "tool_choice": request.tool_choice if tools else None,
        "parameters": {"max_output_tokens": limits.max_output_tokens, "temperature": limits.temperature},
    }


def effort(request: Request) -> dict[str, str]:
    """Return the requested reasoning effort as ``{"effort": ...}``, or an empty mapping if the request names none."""
    return {} if request.limits.effort is None else {"effort": request.limits.effort}


def _message(message: Message) -> dict[str, Any]:
    """Return the fields of a message, with the SHA-256 of each image in place of its bytes."""
    images = []
    for image in message.images:
        described = {"media_type": image.media_type, "sha256": hashlib.sha256(image.data).hexdigest()}
        if image.detail:
            described["detail"] = image.detail
        images.append(described)

    fields: dict[str, Any] = {"role": message.role, "text": message.text}
    if images:
        fields["images"] = images
    return fields


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
