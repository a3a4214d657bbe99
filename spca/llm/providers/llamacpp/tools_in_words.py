"""Tools for models whose server cannot be given any: told in the system message, called by an answer in JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from spca.llm.providers import schemas
from spca.llm.providers.base import Tool, ToolCall
from spca.llm.providers.conversation import declare_tools


def call_schema(tool: Tool) -> schemas.Schema:
    """Return the schema of an answer that calls ``tool``."""
    properties = {"name": {"enum": [tool.name]}, "arguments": schemas.json_schema(tool.parameters)}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def describe_tools(tools: Sequence[Tool]) -> str:
    """Return what the model must know of ``tools``."""
    described = declare_tools(tools, "arguments")
    lines = "\n".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in described)
    form = '{"name": "...", "arguments": {...}}'
    return f"You can call a function by answering with nothing but {form}. The functions, with JSON schemas:\n{lines}"


def find_call(text: str, tools: Sequence[Tool]) -> ToolCall | None:
    """Return the call that ``text`` is, None where it is words."""
    try:
        call = json.loads(text) if tools else None
    except (ValueError, RecursionError):
        return None
    if (
        isinstance(call, dict)
        and isinstance(call.get("arguments"), dict)
        and call.get("name") in {t.name for t in tools}
    ):
        return ToolCall(call["name"], call["arguments"])
    return None
