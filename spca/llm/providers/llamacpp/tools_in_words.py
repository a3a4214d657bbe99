"""Tools for servers without tool calls: the system message describes the tools, and a JSON answer calls a tool."""

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
    """Return an instruction that tells the model how to call ``tools``."""
    declarations = declare_tools(tools, "arguments")
    compact = [json.dumps(declaration, ensure_ascii=False, separators=(",", ":")) for declaration in declarations]
    lines = "\n".join(compact)
    form = '{"name": "...", "arguments": {...}}'
    return f"You can call a function by answering with nothing but {form}. The functions, with JSON schemas:\n{lines}"


def find_call(text: str, tools: Sequence[Tool]) -> ToolCall | None:
    """Return the tool call in ``text``, None if ``text`` is not a JSON object that calls one of ``tools``."""
    try:
        call = json.loads(text) if tools else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(call, dict):
        return None
    name = call.get("name")
    arguments = call.get("arguments")
    names = {tool.name for tool in tools}
    if isinstance(arguments, dict) and name in names:
        return ToolCall(name, arguments)
    return None
