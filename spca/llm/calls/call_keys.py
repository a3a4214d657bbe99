"""What makes two calls the same call (pure)."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Message, Request


def call_key(model: ModelRef, request: Request) -> str:
    """Return the sha256 of model, effort, messages, schema, tools and parameters, without the time-out and the form.

    Two efforts of a model answer like two models.
    """
    return _digest({"model": str(model), **effort(request), **question(request)})


def prompt_key(request: Request) -> str:
    """Return the same key without the model: what a recorded answer is found by, whoever is asked again."""
    return _digest(question(request))


def question(request: Request) -> dict[str, Any]:
    """Return all of a request that its answer depends on, as JSON values."""
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters.model_json_schema()}
        for tool in request.tools
    ]
    return {
        "messages": [_message(message) for message in request.messages],
        "schema": request.schema.model_json_schema() if request.schema else None,
        "tools": tools,
        "tool_choice": request.tool_choice if tools else None,
        "parameters": {
            "max_output_tokens": request.limits.max_output_tokens,
            "temperature": request.limits.temperature,
        },
    }


def effort(request: Request) -> dict[str, str]:
    """Return the reasoning effort that is asked for as a field; nothing where it is left to the model."""
    return {} if request.limits.effort is None else {"effort": request.limits.effort}


def _message(message: Message) -> dict[str, Any]:
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
