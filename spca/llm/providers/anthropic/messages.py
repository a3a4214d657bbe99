"""Requests and answers in the words of Anthropic's Messages API."""

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
"""Tokens of an answer where nothing says how many: the API wants a limit, and every model that it serves takes this."""
FORCED: Final = "tool_choice"
TEMPERATURE: Final = "temperature"
"""What a request may hold that some models refuse."""

_ANSWER: Final = "answer"
"""The tool whose arguments are the answer, where a server has no structured outputs."""
_CACHED: Final = {"cache_control": {"type": "ephemeral"}}
_FINISHES: Final[Mapping[str, Finish]] = {
    "max_tokens": Finish.LENGTH,
    "model_context_window_exceeded": Finish.LENGTH,
    "pause_turn": Finish.LENGTH,
    "refusal": Finish.REFUSAL,
}


def arguments(request: Request, max_output: int | None, refused: Collection[str]) -> dict[str, Any]:
    """Return the arguments of ``messages.create``.

    Args:
        request: what is asked.
        max_output: tokens that the model can answer with at most; None where that is not known.
        refused: of :data:`FORCED` and :data:`TEMPERATURE`, what the model does not take.
    """
    limits = request.limits
    messages = list(conversation(request))
    found: dict[str, Any] = {"model": request.model, "max_tokens": _most(limits.max_output_tokens, max_output)}
    if limits.temperature is not None and TEMPERATURE not in refused:
        found["extra_body"] = {"temperature": limits.temperature}  # newer models have none, and the SDK no longer
    output: dict[str, Any] = {}
    if limits.effort == "none":
        found["thinking"] = {"type": "disabled"}
    elif limits.effort is not None:
        output["effort"] = limits.effort
    if request.tools:
        found |= _tools(request, FORCED in refused)
        if FORCED in refused and request.tool_choice != "auto":
            messages = add_system_line(messages, tell_choice(request.tool_choice))
    elif request.schema is not None and request.form is not Form.TEXT:
        schema = json_schema(request.schema)
        if request.form is Form.SCHEMA and is_closed(schema):
            output["format"] = {"type": "json_schema", "schema": _drop_unsupported(schema)}
        else:
            tool = {"name": _ANSWER, "description": "Give the answer.", "input_schema": schema}
            found |= {"tools": [tool], "tool_choice": {"type": "tool", "name": _ANSWER}}
    if output:
        found["output_config"] = output
    return found | _prompt(messages)


def read(answer: Fields, request: Request, label: str) -> Response:
    """Return the response in ``answer``, a message of the API, to ``request``.

    Raises:
        BadAnswerError: there is no content in it, or a tool call without arguments.
    """
    if "content" not in answer:
        raise BadAnswerError(f"{label}: the answer holds no content")
    counts = _count_usage(answer.read_object("usage"))
    finish = _FINISHES.get(answer.read_text("stop_reason"), Finish.STOP)
    text = answer.read_content(label)
    if finish is Finish.REFUSAL:
        why = answer.read_object("stop_details").read_text("explanation")
        return Response(text or why, counts, finish)
    asked = [block for block in answer.read_objects("content") if block.read_text("type") == "tool_use"]
    if finish is Finish.LENGTH or not asked:
        return Response(text, counts, finish)
    calls = tuple(block.read_call("input", label) for block in asked)
    if not request.tools:
        return Response(json.dumps(calls[0].arguments, ensure_ascii=False), counts)
    return Response(text, counts, Finish.TOOL_CALL, calls)


def _most(wanted: int | None, max_output: int | None) -> int:
    known = [each for each in (wanted, max_output) if each is not None]
    return min(known, default=MAX_OUTPUT)


def _tools(request: Request, is_free: bool) -> dict[str, Any]:
    """Return the tools and the choice among them; ``is_free``: the model does not take one that forces it."""
    if is_free or request.tool_choice == "auto":
        choice = {"type": "auto"}
    elif request.tool_choice == "required":
        choice = {"type": "any"}
    else:
        choice = {"type": "tool", "name": request.tool_choice}
    declared = declare_tools(request.tools, "input_schema")
    return {"tools": declared, "tool_choice": {**choice, "disable_parallel_tool_use": True}}


def _drop_unsupported(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` without the constraints that structured outputs refuse, which are told in descriptions instead."""
    import anthropic

    found: dict[str, Any] = anthropic.transform_schema(dict(schema))
    return found


def _prompt(messages: Sequence[Message]) -> dict[str, Any]:
    """The conversation, marked to be cached up to the end of its system part, and up to its own end.

    The server looks back from a mark for the longest beginning that it holds: other questions read the first, a repair
    or the next turn reads all that was said before it.
    """
    system = [block for message in messages if message.role == "system" for block in _content(message)]
    turns = [message for message in messages if message.role != "system"]
    said = [_content(message) for message in turns]
    for blocks in filter(None, (system, *said[-1:])):
        blocks[-1] |= _CACHED
    asked = [{"role": message.role, "content": blocks} for message, blocks in zip(turns, said, strict=True)]
    return {"messages": asked} | ({"system": system} if system else {})


def _content(message: Message) -> list[dict[str, Any]]:
    """Blocks of a message; the API refuses an empty text."""
    texts = [{"type": "text", "text": message.text}] if message.text or not message.images else []
    return [*texts, *map(_picture, message.images)]


def _picture(image: Image) -> dict[str, Any]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": data}}


def _count_usage(counts: Fields) -> Usage:
    """Anthropic counts what was read from the cache and written into it beside the rest of the prompt."""
    rest = counts.read_count("input_tokens")
    cached = counts.read_count("cache_read_input_tokens")
    written = counts.read_count("cache_creation_input_tokens")
    sent = None if rest is None else rest + (cached or 0) + (written or 0)
    thought = counts.read_object("output_tokens_details").read_count("thinking_tokens")
    return count_usage(sent, counts.read_count("output_tokens"), cached, thought, written)
