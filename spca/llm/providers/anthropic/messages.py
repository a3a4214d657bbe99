"""Requests and answers of Anthropic's Messages API."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from spca.errors import BadAnswerError
from spca.llm.providers.answer_fields import Fields, count_usage
from spca.llm.providers.base import Finish, Form, Image, Message, Request, Response, Usage
from spca.llm.providers.conversation import add_system_line, conversation, declare_tools, tell_choice
from spca.llm.providers.schemas import is_closed, json_schema

MAX_OUTPUT: Final = 32_000
"""Maximum number of tokens of an answer if neither request nor model sets a limit.

The API requires a limit, and all of its models accept this number.
"""
FORCED: Final = "tool_choice"
"""Name of the option that forces a tool call; some models refuse the option."""
TEMPERATURE: Final = "temperature"
"""Name of the option for the temperature; some models refuse the option."""

_ANSWER: Final = "answer"
"""Name of a tool whose arguments are the structured answer, for servers without structured outputs."""
_CACHE_MARK: Final = {"cache_control": {"type": "ephemeral"}}
"""Marks a block of the prompt up to which the server is to cache the prompt."""
_FINISHES: Final[Mapping[str, Finish]] = {
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "pause_turn": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
}


def arguments(request: Request, max_output: int | None, refused: Collection[str]) -> dict[str, Any]:
    """Return the arguments of ``messages.create``.

    Args:
        request: the request.
        max_output: maximum number of tokens that the model can answer; None if unknown.
        refused: the options among :data:`FORCED` and :data:`TEMPERATURE` that the model does not accept.
    """
    limits = request.limits
    messages = list(conversation(request))
    max_tokens = _least_limit(limits.max_output_tokens, max_output)
    arguments: dict[str, Any] = {"model": request.model, "max_tokens": max_tokens}
    if limits.temperature is not None and TEMPERATURE not in refused:
        arguments["extra_body"] = {"temperature": limits.temperature}  # the SDK has dropped the argument
    output: dict[str, Any] = {}
    if limits.effort == "none":
        arguments["thinking"] = {"type": "disabled"}
    elif limits.effort is not None:
        output["effort"] = limits.effort
    if request.tools:
        arguments |= _tools(request, FORCED in refused)
        if FORCED in refused and request.tool_choice != "auto":
            messages = add_system_line(messages, tell_choice(request.tool_choice))
    elif request.schema is not None and request.form is not Form.TEXT:
        schema = json_schema(request.schema)
        if request.form is Form.SCHEMA and is_closed(schema):
            output["format"] = {"type": "json_schema", "schema": _drop_unsupported(schema)}
        else:
            tool = {"name": _ANSWER, "description": "Give the answer.", "input_schema": schema}
            arguments |= {"tools": [tool], "tool_choice": {"type": "tool", "name": _ANSWER}}
    if output:
        arguments["output_config"] = output
    return arguments | _prompt(messages)


def read(answer: Fields, request: Request, label: str) -> Response:
    """Return the response in ``answer``, which is a message of the API that answers ``request``.

    If the request has a schema and no tools, the arguments of a tool call become the text of the response.

    Raises:
        BadAnswerError: ``answer`` contains no content, or a tool call with arguments that are no JSON object.
    """
    if "content" not in answer:
        raise BadAnswerError(f"{label}: the answer holds no content")
    counts = _count_usage(answer.read_object("usage"))
    finish = _FINISHES.get(answer.read_text("stop_reason"), Finish.STOP)
    text = answer.read_content(label)
    if finish is Finish.REFUSAL:
        explanation = answer.read_object("stop_details").read_text("explanation")
        return Response(text or explanation, counts, finish)
    tool_blocks = [block for block in answer.read_objects("content") if block.read_text("type") == "tool_use"]
    if finish is Finish.LENGTH or not tool_blocks:
        return Response(text, counts, finish)
    calls = tuple(block.read_call("input", label) for block in tool_blocks)
    if not request.tools:
        return Response(json.dumps(calls[0].arguments, ensure_ascii=False), counts)
    return Response(text, counts, Finish.TOOL_CALL, calls)


def _least_limit(asked: int | None, max_output: int | None) -> int:
    """Return the smaller of the limits that are not None, or :data:`MAX_OUTPUT` if both are None."""
    limits = [limit for limit in (asked, max_output) if limit is not None]
    return min(limits, default=MAX_OUTPUT)


def _tools(request: Request, refuses_forced: bool) -> dict[str, Any]:
    """Return the tools and the choice among the tools.

    Args:
        refuses_forced: whether the model refuses a choice that forces a tool call.
    """
    if refuses_forced or request.tool_choice == "auto":
        choice = {"type": "auto"}
    elif request.tool_choice == "required":
        choice = {"type": "any"}
    else:
        choice = {"type": "tool", "name": request.tool_choice}
    declared = declare_tools(request.tools, "input_schema")
    return {"tools": declared, "tool_choice": {**choice, "disable_parallel_tool_use": True}}


def _drop_unsupported(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``schema`` after moving constraints that structured outputs refuse into the descriptions of the fields."""
    import anthropic

    transformed: dict[str, Any] = anthropic.transform_schema(dict(schema))
    return transformed


def _prompt(messages: Sequence[Message]) -> dict[str, Any]:
    """Return the conversation, with cache marks at the end of the system messages and at the end of the conversation.

    The server searches backwards from a mark for the longest beginning of the prompt that is cached. Requests with
    other questions share the system messages. A repair request or the next turn shares the whole earlier conversation.
    """
    system: list[dict[str, Any]] = []
    turns: list[dict[str, Any]] = []
    for message in messages:
        if message.role == "system":
            system += _content(message)
        else:
            turns.append({"role": message.role, "content": _content(message)})

    last_blocks = turns[-1]["content"] if turns else []
    for blocks in (system, last_blocks):
        if blocks:
            blocks[-1] |= _CACHE_MARK
    return {"messages": turns, "system": system} if system else {"messages": turns}


def _content(message: Message) -> list[dict[str, Any]]:
    """Return the blocks of a message; no text block if the message has images only, as the API refuses empty texts."""
    texts = [{"type": "text", "text": message.text}] if message.text or not message.images else []
    return [*texts, *map(_picture, message.images)]


def _picture(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": data}}


def _count_usage(counts: Fields) -> Usage:
    """Return the token counts; Anthropic counts cached tokens separately from new input, so all are added."""
    new_input = counts.read_count("input_tokens")
    cached = counts.read_count("cache_read_input_tokens")
    cache_write = counts.read_count("cache_creation_input_tokens")
    input_tokens = None if new_input is None else new_input + (cached or 0) + (cache_write or 0)
    output_tokens = counts.read_count("output_tokens")
    reasoning = counts.read_object("output_tokens_details").read_count("thinking_tokens")
    return count_usage(input_tokens, output_tokens, cached, reasoning, cache_write)
