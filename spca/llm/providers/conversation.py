"""What all providers do to a request before it is in a server's words."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from spca.llm.providers.base import Form, Image, Message, Request, Tool
from spca.llm.providers.schemas import describe_form, json_schema


def conversation(request: Request) -> tuple[Message, ...]:
    """Return the messages to send, none empty, with the form in words unless the server is given a schema.

    Text that is not Unicode (half a surrogate pair, which generated code can print) cannot be sent: its characters
    are replaced.
    """
    messages = [replace(message, text=make_sendable(message.text)) for message in request.messages]
    if request.schema is not None and request.form is not Form.SCHEMA:
        messages = add_system_line(messages, describe_form(request.schema))
    return tuple(message for message in messages if message.text or message.images or message.role != "system")


def add_system_line(messages: list[Message], line: str) -> list[Message]:
    """Return ``messages`` with ``line`` at the end of their first system message, which is made where there is none."""
    for position, message in enumerate(messages):
        if message.role == "system":
            text = f"{message.text}\n\n{line}" if message.text else line
            return [*messages[:position], replace(message, text=text), *messages[position + 1 :]]
    return [Message("system", line), *messages]


def make_sendable(text: str) -> str:
    """Return ``text`` with everything replaced that UTF-8 cannot carry."""
    return text.encode("utf-8", "replace").decode("utf-8")


def data_url(image: Image) -> str:
    """Return ``image`` as a ``data:`` address."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"


def keep_set(**options: Any) -> dict[str, Any]:
    """Return the options that are not None: what nobody has set is left to the server."""
    return {name: value for name, value in options.items() if value is not None}


def declare_tools(tools: Sequence[Tool], key: str) -> list[dict[str, Any]]:
    """Return name, description and, under ``key``, the schema of the arguments of each tool."""
    return [{"name": tool.name, "description": tool.description, key: json_schema(tool.parameters)} for tool in tools]


def tell_choice(choice: str) -> str:
    """Return in words which tool has to be called, for models whose request cannot say it."""
    which = "one of the tools" if choice == "required" else f"the tool {choice}"
    return f"Answer only by calling {which}, never in words."
